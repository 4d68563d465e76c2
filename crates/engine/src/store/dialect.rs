//! What differs between SQLite and PostgreSQL.

/// Which database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// The embedded default: one process.
    Sqlite,
    /// For several instances of the server.
    Postgres,
}

impl Dialect {
    /// From the url's scheme.
    pub(crate) fn of(url: &str) -> Option<Self> {
        if url.starts_with("sqlite:") {
            Some(Self::Sqlite)
        } else if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            Some(Self::Postgres)
        } else {
            None
        }
    }

    /// Ends a subselect of rows to be taken, so that two takers do not wait for each other.
    pub(crate) fn skip_locked(self) -> &'static str {
        match self {
            Self::Sqlite => "",
            Self::Postgres => " FOR UPDATE SKIP LOCKED",
        }
    }

    /// Begins a transaction that reads all of its tables as of one moment.
    pub(crate) fn begin_snapshot(self) -> &'static str {
        match self {
            Self::Sqlite => "BEGIN",
            Self::Postgres => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        }
    }

    /// The texts of the JSON list that is the first parameter, as the right side of `IN`.
    pub(crate) fn in_list(self) -> &'static str {
        match self {
            Self::Sqlite => "(SELECT value FROM json_each($1))",
            Self::Postgres => "(SELECT json_array_elements_text(CAST($1 AS json)))",
        }
    }
}

/// Whether any row can be named by this text: PostgreSQL takes no zero byte, not even to compare.
pub(super) fn can_name(text: &str) -> bool {
    !text.contains('\0')
}
