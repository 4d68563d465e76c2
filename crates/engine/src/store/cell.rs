//! Rows in and out: a row to be written is a list of named cells, a row that was read is asked for
//! its columns by name. Enums are stored as the words of their serde names.

use super::StoreError;
use domain::time::Millis;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::Row as _;
use sqlx::any::AnyRow;

/// One value to be written.
pub(super) enum Cell {
    Text(Option<String>),
    Number(Option<i64>),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(Some(text.to_owned()))
    }
}
impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(Some(text))
    }
}
impl From<Option<String>> for Cell {
    fn from(text: Option<String>) -> Self {
        Self::Text(text)
    }
}
impl From<i64> for Cell {
    fn from(number: i64) -> Self {
        Self::Number(Some(number))
    }
}
impl From<bool> for Cell {
    fn from(flag: bool) -> Self {
        Self::Number(Some(i64::from(flag)))
    }
}
impl From<Millis> for Cell {
    fn from(at: Millis) -> Self {
        Self::Number(Some(at.0))
    }
}
impl From<Option<Millis>> for Cell {
    fn from(at: Option<Millis>) -> Self {
        Self::Number(at.map(|at| at.0))
    }
}

/// A unit-like enum or a newtype over text, as its serde text.
pub(super) fn word<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        other => unreachable!("{other:?} is no word: only enums of plain names and ids are stored so"),
    }
}

/// The same, where there may be none.
pub(super) fn maybe_word<T: Serialize>(value: Option<&T>) -> Option<String> {
    value.map(word)
}

/// A structure as one JSON text.
pub(super) fn json<T: Serialize>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Row(error.to_string()))
}

/// A row to be inserted, or to replace the one with the same key.
pub(super) struct Put {
    pub(super) table: &'static str,
    /// The columns of the key, comma-separated.
    pub(super) key: &'static str,
    pub(super) cells: Vec<(&'static str, Cell)>,
}

impl Put {
    /// Writes the row. The statement's text depends on table and column names alone, so the
    /// driver prepares each once.
    pub(super) async fn run(self, conn: &mut sqlx::AnyConnection) -> Result<(), StoreError> {
        let names: Vec<&str> = self.cells.iter().map(|(name, _)| *name).collect();
        let places: Vec<String> = (1..=names.len()).map(|n| format!("${n}")).collect();
        let keys: Vec<&str> = self.key.split(", ").collect();
        let sets: Vec<String> =
            names.iter().filter(|n| !keys.contains(n)).map(|n| format!("{n} = excluded.{n}")).collect();
        let sql = format!(
            "INSERT INTO {} ({}) VALUES ({}) ON CONFLICT ({}) DO UPDATE SET {}",
            self.table,
            names.join(", "),
            places.join(", "),
            self.key,
            sets.join(", ")
        );
        let mut query = sqlx::query(sqlx::AssertSqlSafe(sql));
        for (_, cell) in self.cells {
            query = match cell {
                Cell::Text(text) => query.bind(text),
                Cell::Number(number) => query.bind(number),
            };
        }
        query.execute(conn).await?;
        Ok(())
    }
}

/// A row that was read.
pub(super) struct Got<'a>(pub(super) &'a AnyRow);

impl Got<'_> {
    pub(super) fn text(&self, column: &str) -> Result<String, StoreError> {
        self.0.try_get(column).map_err(|error| named(column, &error))
    }
    pub(super) fn maybe_text(&self, column: &str) -> Result<Option<String>, StoreError> {
        self.0.try_get(column).map_err(|error| named(column, &error))
    }
    pub(super) fn number(&self, column: &str) -> Result<i64, StoreError> {
        self.0.try_get(column).map_err(|error| named(column, &error))
    }
    pub(super) fn flag(&self, column: &str) -> Result<bool, StoreError> {
        Ok(self.number(column)? != 0)
    }
    pub(super) fn at(&self, column: &str) -> Result<Millis, StoreError> {
        self.number(column).map(Millis)
    }
    pub(super) fn maybe_number(&self, column: &str) -> Result<Option<i64>, StoreError> {
        self.0.try_get(column).map_err(|error| named(column, &error))
    }
    pub(super) fn maybe_at(&self, column: &str) -> Result<Option<Millis>, StoreError> {
        Ok(self.maybe_number(column)?.map(Millis))
    }
    pub(super) fn word<T: DeserializeOwned>(&self, column: &str) -> Result<T, StoreError> {
        let text = self.text(column)?;
        from_word(column, text)
    }
    pub(super) fn maybe_word<T: DeserializeOwned>(&self, column: &str) -> Result<Option<T>, StoreError> {
        self.maybe_text(column)?.map(|text| from_word(column, text)).transpose()
    }
    pub(super) fn json<T: DeserializeOwned>(&self, column: &str) -> Result<T, StoreError> {
        serde_json::from_str(&self.text(column)?).map_err(|error| named(column, &error))
    }
    pub(super) fn maybe_json<T: DeserializeOwned>(&self, column: &str) -> Result<Option<T>, StoreError> {
        let text = self.maybe_text(column)?;
        text.map(|text| serde_json::from_str(&text).map_err(|error| named(column, &error))).transpose()
    }
}

fn from_word<T: DeserializeOwned>(column: &str, word: String) -> Result<T, StoreError> {
    serde_json::from_value(serde_json::Value::String(word)).map_err(|error| named(column, &error))
}

fn named(column: &str, error: &dyn std::fmt::Display) -> StoreError {
    StoreError::Row(format!("{column}: {error}"))
}
