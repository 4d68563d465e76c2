//! Opens a database: connects, checks that its version is ours, and migrates it.

use super::dialect::Dialect;
use super::{Store, StoreError};
use crate::clock::Clock;
use sqlx::any::AnyPoolOptions;
use sqlx::migrate::MigrateError;
use sqlx::{AnyConnection, Connection as _, Executor as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

/// Why the engine could not be opened or started.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The url names no database that is known here.
    #[error("database url {0:?} is not understood: use sqlite:PATH or postgres://…")]
    Url(String),
    /// The database cannot be reached or written.
    #[error("cannot open the database {what}: {why}")]
    Unusable {
        /// Which, without a password.
        what: String,
        /// What it said.
        why: String,
    },
    /// Another process serves from this database file.
    #[error("the database {0} is held by another running holdfast; stop that one first")]
    Held(String),
    /// The database was written by a newer version.
    #[error("the database {0} was written by a newer version of holdfast; use that version, or a backup")]
    Newer(String),
    /// Waits that do not go together.
    #[error("{0}")]
    Waits(String),
    /// A shipped workflow definition is not sound.
    #[error("workflow: {0}")]
    Workflow(String),
    /// The database failed afterwards.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Store {
    /// Connects and migrates.
    pub(crate) async fn open(url: &str, make: bool, clock: Arc<dyn Clock>) -> Result<Self, OpenError> {
        sqlx::any::install_default_drivers();
        let dialect = Dialect::of(url).ok_or_else(|| OpenError::Url(without_password(url)))?;
        let what = without_password(url);
        let unusable = |why: String| OpenError::Unusable { what: what.clone(), why };
        let (connect, connections) = match dialect {
            Dialect::Sqlite => (sqlite_url(url, make), 8),
            Dialect::Postgres => (url.to_owned(), 16),
        };
        // Alone first: a pool would try again for a while, and then say only that it gave up.
        let mut first = AnyConnection::connect(&connect).await.map_err(|error| unusable(plain(&error)))?;
        prepare(&mut first, dialect).await.map_err(|error| unusable(error.to_string()))?;
        first.close().await.map_err(|error| unusable(error.to_string()))?;
        let pool = AnyPoolOptions::new()
            .max_connections(connections)
            .acquire_timeout(Duration::from_secs(15))
            .after_connect(move |conn, _| Box::pin(prepare(conn, dialect)))
            // SQLite rolls back by itself when the disk is full, and the driver does not notice: such
            // a connection would refuse every later transaction.
            .before_acquire(|conn, _| Box::pin(async move { Ok(!conn.is_in_transaction()) }))
            .connect(&connect)
            .await
            .map_err(|error| unusable(error.to_string()))?;
        let migrator = match dialect {
            Dialect::Sqlite => sqlx::migrate!("../../migrations/sqlite"),
            Dialect::Postgres => sqlx::migrate!("../../migrations/postgres"),
        };
        migrator.run(&pool).await.map_err(|error| match error {
            MigrateError::VersionMissing(_) | MigrateError::VersionTooNew(..) => {
                OpenError::Newer(what.clone())
            }
            other => unusable(other.to_string()),
        })?;
        Ok(Self { pool, dialect, clock, offset: AtomicI64::new(0), write_gate: tokio::sync::Mutex::new(()) })
    }

    /// Closes every connection.
    pub(crate) async fn close(&self) {
        self.pool.close().await;
    }

    /// Whether the database answers.
    pub(crate) async fn answers(&self) -> bool {
        sqlx::query("SELECT 1").execute(&self.pool).await.is_ok()
    }
}

/// What every connection is told first.
async fn prepare(conn: &mut AnyConnection, dialect: Dialect) -> Result<(), sqlx::Error> {
    if dialect == Dialect::Sqlite {
        conn.execute(
            "PRAGMA busy_timeout = 10000; PRAGMA journal_mode = WAL; \
             PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;",
        )
        .await?;
    }
    Ok(())
}

/// The database file of a SQLite url.
pub(crate) fn sqlite_path(url: &str) -> Option<PathBuf> {
    let rest = url.strip_prefix("sqlite:")?;
    let path = rest.strip_prefix("//").unwrap_or(rest);
    Some(PathBuf::from(path.split('?').next().unwrap_or(path)))
}

/// With `make`, a file that is not there is made; else it must be there.
fn sqlite_url(url: &str, make: bool) -> String {
    let mode = if make { "rwc" } else { "rw" };
    if url.contains('?') { url.to_owned() } else { format!("{url}?mode={mode}") }
}

/// The driver's words, and what they usually mean.
fn plain(error: &sqlx::Error) -> String {
    let text = error.to_string();
    if text.contains("unable to open database file") {
        return format!("{text}: is the path right, the folder there, and both readable and writable?");
    }
    text
}

/// The url for messages and logs: never a password.
pub(crate) fn without_password(url: &str) -> String {
    match url::Url::parse(url) {
        Ok(mut parsed) if Dialect::of(url) == Some(Dialect::Postgres) => {
            // A password may also be among the query's parameters.
            parsed.set_query(None);
            if parsed.password().is_some() && parsed.set_password(Some("***")).is_err() {
                return "(a url that cannot be shown)".to_owned();
            }
            parsed.to_string()
        }
        _ if Dialect::of(url) == Some(Dialect::Postgres) => "(a url that cannot be shown)".to_owned(),
        _ => url.to_owned(),
    }
}
