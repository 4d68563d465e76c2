//! The one SQLite file of the demo world, its tables, and the small settings kept in it.

use anyhow::{Context, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{Row, SqlitePool};
use std::path::Path;
use std::time::Duration;

/// The setting that outlives a reset: the addresses of the world.
pub const PORTS: &str = "ports";

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS settings (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS tasks (
  agent TEXT NOT NULL, id TEXT NOT NULL, context_id TEXT NOT NULL, state TEXT NOT NULL,
  status_at BIGINT NOT NULL, version BIGINT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (agent, id));
CREATE INDEX IF NOT EXISTS tasks_by_context ON tasks (agent, context_id, status_at, id);
CREATE INDEX IF NOT EXISTS tasks_by_time ON tasks (agent, status_at, id);
CREATE TABLE IF NOT EXISTS jobs (
  agent TEXT NOT NULL, task_id TEXT NOT NULL, message_id TEXT NOT NULL, body TEXT NOT NULL,
  PRIMARY KEY (agent, task_id));
CREATE INDEX IF NOT EXISTS jobs_by_message ON jobs (agent, message_id);
CREATE TABLE IF NOT EXISTS requests (
  id INTEGER PRIMARY KEY, agent TEXT NOT NULL, at BIGINT NOT NULL, method TEXT NOT NULL,
  message_id TEXT, context_id TEXT, task_id TEXT, metadata TEXT, body TEXT NOT NULL,
  answered_at BIGINT, answer_status BIGINT);
CREATE INDEX IF NOT EXISTS requests_by_agent ON requests (agent, id);
CREATE TABLE IF NOT EXISTS bookings (
  system TEXT NOT NULL, id TEXT NOT NULL, reference TEXT NOT NULL, status TEXT NOT NULL,
  booked_at BIGINT NOT NULL, cancelled_at BIGINT, body TEXT NOT NULL, PRIMARY KEY (system, id));
CREATE INDEX IF NOT EXISTS bookings_by_reference ON bookings (system, reference);
CREATE TABLE IF NOT EXISTS operations (
  id INTEGER PRIMARY KEY, system TEXT NOT NULL, booking TEXT NOT NULL, at BIGINT NOT NULL,
  operation TEXT NOT NULL, idempotency_key TEXT, answer_status BIGINT NOT NULL, note TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS operations_by_system ON operations (system, id);
CREATE TABLE IF NOT EXISTS push_configs (
  agent TEXT NOT NULL, task_id TEXT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL,
  PRIMARY KEY (agent, task_id, id));
CREATE TABLE IF NOT EXISTS idempotency_keys (
  system TEXT NOT NULL, key TEXT NOT NULL, operation TEXT NOT NULL,
  answer_status BIGINT NOT NULL, answer TEXT NOT NULL, PRIMARY KEY (system, key));
";

const EMPTY: &str = "
BEGIN IMMEDIATE;
DELETE FROM tasks; DELETE FROM jobs; DELETE FROM requests; DELETE FROM bookings;
DELETE FROM operations; DELETE FROM idempotency_keys; DELETE FROM push_configs;
DELETE FROM settings WHERE key <> 'ports';
COMMIT;
";

/// The world's memory. One connection, so that a transaction is alone by construction.
#[derive(Clone, Debug)]
pub struct Store {
    pool: SqlitePool,
}

impl Store {
    /// Opens or makes the file `world.sqlite` in a folder.
    pub async fn open(dir: &Path) -> Result<Self> {
        let file = dir.join("world.sqlite");
        let options = SqliteConnectOptions::new()
            .filename(&file)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Normal)
            .busy_timeout(Duration::from_secs(5));
        let pool = SqlitePoolOptions::new()
            .max_connections(1)
            .connect_with(options)
            .await
            .with_context(|| format!("cannot open {}", file.display()))?;
        sqlx::raw_sql(SCHEMA).execute(&pool).await.context("cannot make the tables")?;
        Ok(Self { pool })
    }

    /// The pool, for the modules that own a table.
    pub fn pool(&self) -> &SqlitePool {
        &self.pool
    }

    /// Waits for what is under way and closes the file.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    /// Forgets everything but the addresses.
    pub async fn empty(&self) -> Result<()> {
        sqlx::raw_sql(EMPTY).execute(&self.pool).await?;
        Ok(())
    }

    /// Reads a setting.
    pub async fn setting<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>> {
        let row = sqlx::query("SELECT value FROM settings WHERE key = $1")
            .bind(key)
            .fetch_optional(&self.pool)
            .await?;
        row.map(|row| Ok(serde_json::from_str(row.try_get("value")?)?)).transpose()
    }

    /// Writes a setting.
    pub async fn set<T: Serialize + Sync>(&self, key: &str, value: &T) -> Result<()> {
        sqlx::query(
            "INSERT INTO settings (key, value) VALUES ($1, $2)
             ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        )
        .bind(key)
        .bind(serde_json::to_string(value)?)
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// Removes a setting.
    pub async fn unset(&self, key: &str) -> Result<()> {
        sqlx::query("DELETE FROM settings WHERE key = $1").bind(key).execute(&self.pool).await?;
        Ok(())
    }

    /// Changes a setting as one step: `change` says what it becomes, if anything, and what comes
    /// of it.
    pub async fn change<T, R>(&self, key: &str, change: impl FnOnce(Option<T>) -> (Option<T>, R)) -> Result<R>
    where
        T: DeserializeOwned + Serialize,
    {
        let mut tx = self.pool.begin_with("BEGIN IMMEDIATE").await?;
        let row = sqlx::query("SELECT value FROM settings WHERE key = $1")
            .bind(key)
            .fetch_optional(&mut *tx)
            .await?;
        let value = row.map(|row| anyhow::Ok(serde_json::from_str(row.try_get("value")?)?)).transpose()?;
        let (value, outcome) = change(value);
        match value {
            None => sqlx::query("DELETE FROM settings WHERE key = $1").bind(key).execute(&mut *tx).await?,
            Some(value) => {
                sqlx::query(
                    "INSERT INTO settings (key, value) VALUES ($1, $2)
                     ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                )
                .bind(key)
                .bind(serde_json::to_string(&value)?)
                .execute(&mut *tx)
                .await?
            }
        };
        tx.commit().await?;
        Ok(outcome)
    }

    /// The next number of a count that begins with 0.
    pub async fn count(&self, key: &str) -> Result<u64> {
        self.change(key, |next: Option<u64>| (Some(next.unwrap_or(0) + 1), next.unwrap_or(0))).await
    }

    /// Removes all settings whose key begins with something.
    pub async fn unset_all(&self, prefix: &str) -> Result<()> {
        sqlx::query("DELETE FROM settings WHERE substr(key, 1, length($1)) = $1")
            .bind(prefix)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Reads a setting that is good for so many `times`, and uses one of them up; a setting
    /// without `times` stays as it is.
    pub async fn draw<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>> {
        let mut tx = self.pool.begin_with("BEGIN IMMEDIATE").await?;
        let row = sqlx::query("SELECT value FROM settings WHERE key = $1")
            .bind(key)
            .fetch_optional(&mut *tx)
            .await?;
        let Some(row) = row else { return Ok(None) };
        let mut value: Value = serde_json::from_str(row.try_get("value")?)?;
        let drawn = serde_json::from_value(value.clone())?;
        match value.get("times").and_then(Value::as_u64) {
            None => {}
            Some(0 | 1) => {
                sqlx::query("DELETE FROM settings WHERE key = $1").bind(key).execute(&mut *tx).await?;
            }
            Some(left) => {
                value["times"] = (left - 1).into();
                sqlx::query("UPDATE settings SET value = $2 WHERE key = $1")
                    .bind(key)
                    .bind(value.to_string())
                    .execute(&mut *tx)
                    .await?;
            }
        }
        tx.commit().await?;
        Ok(Some(drawn))
    }
}
