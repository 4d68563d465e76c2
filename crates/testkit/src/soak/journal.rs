//! Reads the journal's rows around the engine, so that no bug of the engine's can hide them.

use super::facts::Journal;
use anyhow::{Context as _, Result};
use serde_json::Value;
use std::path::Path;
use tokio::process::Command;

/// Where the journal is.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its url.
    pub url: String,
}

impl Source {
    /// The rows that a comparison needs.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn read(&self) -> Result<Journal> {
        let ids = self.rows("SELECT id FROM trips ORDER BY created_at, id").await?;
        let trips = ids.iter().filter_map(|row| row["id"].as_str().map(str::to_owned)).collect();
        let attempts = "SELECT id, trip_id AS trip, step, ordinal, reference, closed_at FROM delegations \
             WHERE purpose = 'step'";
        let messages = "SELECT trip_id AS trip, delegation_id AS delegation, kind, message_id, task_id, \
             send_number FROM messages";
        let undos = "SELECT idempotency_key, send_number FROM compensations";
        let questions = "SELECT id, trip_id AS trip, delegation_id AS delegation, question_key AS key, \
             asked_at, answered_at FROM questions WHERE delegation_id IS NOT NULL";
        Ok(Journal {
            trips,
            attempts: self.typed(attempts).await?,
            messages: self.typed(messages).await?,
            tasks: self.typed("SELECT task_id, role FROM tasks").await?,
            undos: self.typed(undos).await?,
            questions: self.typed(questions).await?,
        })
    }

    async fn typed<T: serde::de::DeserializeOwned>(&self, sql: &str) -> Result<Vec<T>> {
        let rows = self.rows(sql).await?;
        rows.into_iter().map(|row| serde_json::from_value(row).context("a row of the journal")).collect()
    }

    /// Writes whole tables as JSON into a folder, where the database itself will not be kept.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn dump(&self, folder: &Path) -> Result<()> {
        for table in [
            "trips",
            "steps",
            "delegations",
            "messages",
            "tasks",
            "questions",
            "effects",
            "compensations",
            "events",
        ] {
            let rows = self.rows(&format!("SELECT * FROM {table}")).await?;
            std::fs::write(folder.join(format!("{table}.json")), serde_json::to_vec_pretty(&rows)?)?;
        }
        Ok(())
    }

    async fn rows(&self, sql: &str) -> Result<Vec<Value>> {
        let mut command = match self.url.strip_prefix("sqlite:") {
            Some(path) => {
                // Python's standard library has SQLite; the command-line tool may be missing.
                let script = "import json,sqlite3,sys\n\
                    c=sqlite3.connect(sys.argv[1])\nc.row_factory=sqlite3.Row\n\
                    print(json.dumps([dict(r) for r in c.execute(sys.argv[2])]))";
                let mut python = Command::new("python3");
                python.args(["-c", script, path, sql]);
                python
            }
            None => {
                let whole = format!("SELECT COALESCE(json_agg(row_to_json(q)), '[]') FROM ({sql}) q");
                let mut psql = Command::new("psql");
                psql.args([&self.url, "-v", "ON_ERROR_STOP=1", "-qAtc", &whole]);
                psql
            }
        };
        let output = command.output().await.context("the database's client does not start")?;
        let said = String::from_utf8_lossy(&output.stderr);
        anyhow::ensure!(output.status.success(), "{sql}: {said}");
        serde_json::from_slice(&output.stdout).with_context(|| sql.to_owned())
    }
}
