//! All SQL. One [`Store`] over `sqlx::Any` serves SQLite and PostgreSQL; what differs is in
//! [`dialect`]. State and its event are one transaction, and every write of the loop compares the
//! trip's fence and `seq` with those read at load.

mod accounts;
mod cases;
mod cell;
mod check;
pub(crate) mod dialect;
mod lease;
mod load;
mod open;
mod people;
mod queries;
mod record;
mod registry;
mod rows;

pub(crate) use cases::{CHECK_ASKED, CaseRow};
pub(crate) use lease::Leased;
pub use open::OpenError;
pub(crate) use open::sqlite_path;
pub(crate) use people::{AnswerWrite, NewTripRow, Recorded};
pub(crate) use record::{ReadRow, RecordError};
pub(crate) use registry::{AgentRow, FactRow};

use crate::clock::Clock;
use dialect::Dialect;
use domain::time::Millis;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// A failure of the journal. Nothing of the failed transaction was recorded.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database refused or was not reachable.
    #[error("database: {0}")]
    Database(String),
    /// A row does not say what this version expects.
    #[error("row not understood: {0}")]
    Row(String),
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error.to_string())
    }
}

/// The journal.
pub(crate) struct Store {
    pool: sqlx::AnyPool,
    dialect: Dialect,
    clock: Arc<dyn Clock>,
    /// PostgreSQL's clock less ours: times are those of the database.
    offset: AtomicI64,
    /// SQLite has one writer: waiting here is fairer than its busy timeout.
    write_gate: tokio::sync::Mutex<()>,
}

impl Store {
    /// Now, by the database's clock on PostgreSQL, by ours on SQLite.
    pub(crate) fn now(&self) -> Millis {
        Millis(self.clock.now().0 + self.offset.load(Ordering::Relaxed))
    }
}

/// A transaction that may write, with SQLite's writer gate held as long as it lives.
pub(crate) struct Write<'a> {
    tx: sqlx::Transaction<'static, sqlx::Any>,
    _gate: Option<tokio::sync::MutexGuard<'a, ()>>,
}

impl Write<'_> {
    fn conn(&mut self) -> &mut sqlx::AnyConnection {
        &mut self.tx
    }
    async fn commit(self) -> Result<(), StoreError> {
        Ok(self.tx.commit().await?)
    }
}

impl Store {
    /// Begins a transaction, in a task of its own: a caller that is dropped in the middle (a closed
    /// page, a lost race) would leave a connection in the pool with a transaction that the driver
    /// does not know of. Once begun, dropping it rolls it back.
    async fn begin(
        &self,
        statement: &'static str,
    ) -> Result<sqlx::Transaction<'static, sqlx::Any>, StoreError> {
        let pool = self.pool.clone();
        let begun = tokio::spawn(async move { pool.begin_with(statement).await });
        Ok(begun.await.map_err(|error| StoreError::Database(error.to_string()))??)
    }

    /// Begins a transaction that may write: with the write lock from its start on SQLite, where a
    /// deferred one would fail at its first write (faults.md F-29).
    async fn write(&self) -> Result<Write<'_>, StoreError> {
        match self.dialect {
            Dialect::Sqlite => {
                let gate = self.write_gate.lock().await;
                let tx = self.begin("BEGIN IMMEDIATE").await?;
                Ok(Write { tx, _gate: Some(gate) })
            }
            Dialect::Postgres => Ok(Write { tx: self.begin("BEGIN").await?, _gate: None }),
        }
    }
}
