//! What ran and how long it took.

use std::time::{Duration, Instant};

use anyhow::Result;

/// The steps so far.
#[derive(Default)]
pub struct Steps(Vec<(&'static str, Duration)>);

impl Steps {
    /// Does a step and remembers how long it took.
    pub fn time<T>(&mut self, name: &'static str, step: impl FnOnce() -> Result<T>) -> Result<T> {
        let begun = Instant::now();
        let done = step();
        self.0.push((name, begun.elapsed()));
        done
    }

    /// Prints a line for each.
    pub fn print(&self) {
        for (name, took) in &self.0 {
            crate::process::say(format_args!("{:>7.1} s  {name}", took.as_secs_f64()));
        }
    }
}
