//! A database for each test, gone after it.

use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// Which database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file in a temporary folder.
    Sqlite,
    /// A database of its own in the cluster that `cargo xtask test` starts.
    Postgres,
}

/// A database of one test.
pub struct Database {
    /// Its url.
    pub url: String,
    kind: Kind,
    name: String,
    _folder: tempfile::TempDir,
}

static NUMBER: AtomicU32 = AtomicU32::new(0);

impl Database {
    /// Makes one.
    ///
    /// # Panics
    /// Where it cannot be made; without the cluster the PostgreSQL tests fail, never skip.
    pub fn new(kind: Kind) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let name = format!("t{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let url = match kind {
            Kind::Sqlite => format!("sqlite:{}", folder.path().join("holdfast.db").display()),
            Kind::Postgres => {
                let base = cluster();
                psql(&base, &format!("CREATE DATABASE {name}"));
                let (server, _) = base.rsplit_once('/').expect("a url with a database");
                format!("{server}/{name}")
            }
        };
        Self { url, kind, name, _folder: folder }
    }

    /// Runs SQL around the engine, for tests that plant something.
    ///
    /// # Panics
    /// Where the SQL is refused.
    pub fn sql(&self, sql: &str) {
        match self.kind {
            Kind::Postgres => psql(&self.url, sql),
            Kind::Sqlite => {
                let path = self.url.trim_start_matches("sqlite:");
                // Python's standard library has SQLite; the command-line tool may be missing.
                let script = "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2]); c.commit()";
                run(Command::new("python3").args(["-c", script, path, sql]));
            }
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if self.kind == Kind::Postgres {
            // A test that failed may have left connections; the cluster itself is thrown away.
            let sql = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
            let _ = Command::new("psql").args([&cluster(), "-qc", &sql]).output();
        }
    }
}

fn cluster() -> String {
    std::env::var("HOLDFAST_TEST_POSTGRES").expect(
        "HOLDFAST_TEST_POSTGRES is not set: run the tests by `cargo xtask test`, which starts a cluster",
    )
}

fn psql(url: &str, sql: &str) {
    run(Command::new("psql").args([url, "-v", "ON_ERROR_STOP=1", "-qc", sql]));
}

fn run(command: &mut Command) {
    let output = command.output().expect("the command starts");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
