//! One instance of the real binary: started, killed at some moment, started again. Its logs are
//! kept for as long as they may be needed.

use super::doors::Doors;
use crate::process::App;
use anyhow::{Context as _, Result};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::process::Child;

/// How long a start may take.
const START: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(20);
/// The logs of so many lives are kept, besides those with something to see in them.
const KEPT_LOGS: u32 = 40;
const SIGKILL: i32 = 9;
/// What a process says that ends because it was paused for too long: no fault, the rule.
const TRIPS_LOST: &str = "the right to drive trips was lost";

/// How a life ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By our SIGKILL.
    Killed,
    /// By itself, since its heartbeat had run out.
    LostItsTrips,
    /// By itself, and nobody knows why: with the end of its log.
    ByItself(String),
}

/// One instance.
pub struct Instance {
    app: App,
    number: usize,
    doors: Arc<Doors>,
    logs: PathBuf,
    life: u32,
    child: Option<Child>,
}

impl Instance {
    /// An instance that does not run yet. `app` says what it is started with.
    pub fn new(app: App, number: usize, doors: Arc<Doors>, logs: PathBuf) -> Self {
        Self { app, number, doors, logs, life: 0, child: None }
    }

    /// How often it was started.
    pub fn starts(&self) -> u32 {
        self.life
    }

    /// Starts it; it is not ready when this returns.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(&mut self) -> Result<()> {
        self.life += 1;
        let log = std::fs::File::create(self.log_file(self.life)).context("a log file")?;
        let mut command = self.app.command(&["serve"]);
        command.stdout(log.try_clone()?).stderr(log);
        self.child = Some(command.spawn().context("the app does not start")?);
        Ok(())
    }

    /// Waits until it answers, and opens its door. `Some` where it ended before that.
    ///
    /// # Errors
    /// It does neither in time.
    pub async fn ready(&mut self) -> Result<Option<Ended>> {
        let begun = Instant::now();
        loop {
            if let Some(ended) = self.ended()? {
                return Ok(Some(ended));
            }
            let log = self.log(self.life);
            if let Some(address) = crate::process::address_in(&log)
                && self.doors.is_healthy(&address).await
            {
                self.doors.set(self.number, Some(address));
                return Ok(None);
            }
            anyhow::ensure!(begun.elapsed() < START, "not ready after {START:?}:\n{}", tail(&log));
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Whether it has ended by itself, and how.
    fn ended(&mut self) -> Result<Option<Ended>> {
        let Some(child) = self.child.as_mut() else { return Ok(None) };
        let Some(status) = child.try_wait()? else { return Ok(None) };
        self.child = None;
        self.doors.set(self.number, None);
        let log = self.log(self.life);
        if log.contains(TRIPS_LOST) {
            return Ok(Some(Ended::LostItsTrips));
        }
        Ok(Some(Ended::ByItself(format!("{status}\n{}", tail(&log)))))
    }

    /// Kills it with SIGKILL, unless it has ended before.
    ///
    /// # Errors
    /// It cannot be killed.
    pub async fn kill(&mut self) -> Result<Ended> {
        self.doors.set(self.number, None);
        if let Some(ended) = self.ended()? {
            return Ok(ended);
        }
        let mut child = self.child.take().context("nothing runs")?;
        child.start_kill()?;
        let status = child.wait().await?;
        if status.signal() != Some(SIGKILL) {
            return Ok(Ended::ByItself(format!("{status}\n{}", tail(&self.log(self.life)))));
        }
        self.forget_old_log();
        Ok(Ended::Killed)
    }

    /// Panics that its lives have written, with their files' names.
    pub fn panics(&self) -> Vec<String> {
        let mut found = Vec::new();
        for life in 1..=self.life {
            let log = self.log(life);
            for line in log.lines().filter(|line| is_panic(line)) {
                let file = self.log_file(life);
                let name = file.file_name().unwrap_or_default().to_string_lossy();
                found.push(format!("{name}: {line}"));
            }
        }
        found
    }

    fn forget_old_log(&self) {
        let Some(old) = self.life.checked_sub(KEPT_LOGS) else { return };
        if !self.log(old).lines().any(is_panic) {
            // Where it is gone already, nothing is lost.
            let _ = std::fs::remove_file(self.log_file(old));
        }
    }

    fn log(&self, life: u32) -> String {
        std::fs::read_to_string(self.log_file(life)).unwrap_or_default()
    }

    fn log_file(&self, life: u32) -> PathBuf {
        self.logs.join(format!("app-{}-life-{life}.log", self.number))
    }
}

fn is_panic(line: &str) -> bool {
    line.contains("panicked at") || line.contains("an action panicked")
}

fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(15)..].join("\n")
}
