//! A child process that stays, can be started again, and never outlives us.

use std::process::{Child, Command, ExitStatus};

use anyhow::{Context, Result};

use crate::process;

/// The app or the demo world.
pub struct Service {
    /// How it is called in messages.
    pub name: &'static str,
    command: Box<dyn Fn() -> Command>,
    child: Child,
}

impl Service {
    /// Starts it.
    pub fn start(name: &'static str, command: impl Fn() -> Command + 'static) -> Result<Self> {
        let child = process::start(&mut command())?;
        Ok(Self { name, command: Box::new(command), child })
    }

    /// Starts it again after it has ended.
    pub fn start_again(&mut self) -> Result<()> {
        self.child = process::start(&mut (self.command)())?;
        Ok(())
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How it ended, if it did.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>> {
        self.child.try_wait().with_context(|| format!("{} cannot be waited for", self.name))
    }

    /// Kills it with SIGKILL, as a crash would.
    pub fn kill(&mut self) -> Result<ExitStatus> {
        self.child.kill().with_context(|| format!("{} cannot be killed", self.name))?;
        self.child.wait().with_context(|| format!("{} cannot be waited for", self.name))
    }

    /// Ends it in order.
    pub fn stop(&mut self) {
        process::stop(&mut self.child);
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.stop();
    }
}
