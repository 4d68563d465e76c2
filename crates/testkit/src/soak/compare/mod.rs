//! What must be true at the end of a soak. Each check compares two sides that cannot copy from
//! each other, and each has a test that plants what it must catch.

mod ends;
mod ledgers;
mod people;
#[cfg(test)]
mod sample;
mod wire;

pub(crate) use ends::reasons;

use super::facts::Facts;
use serde::Serialize;
use std::fmt;

/// Something that must never be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// The check that found it.
    pub check: &'static str,
    /// The trip that it is about.
    pub trip: Option<String>,
    /// What is wrong.
    pub what: String,
    /// The rows that show it.
    pub rows: Vec<String>,
}

impl Violation {
    fn new(check: &'static str, trip: Option<&str>, what: impl Into<String>) -> Self {
        Self { check, trip: trip.map(str::to_owned), what: what.into(), rows: Vec::new() }
    }

    /// With a row as evidence.
    fn row(mut self, row: &impl Serialize) -> Self {
        self.rows.push(serde_json::to_string(row).unwrap_or_else(|error| error.to_string()));
        self
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: trip {}: {}", self.check, self.trip.as_deref().unwrap_or("none"), self.what)?;
        for row in &self.rows {
            write!(f, "\n    {row}")?;
        }
        Ok(())
    }
}

/// Everything that is wrong.
pub fn all(facts: &Facts) -> Vec<Violation> {
    let mut found = Vec::new();
    found.extend(ends::check(facts));
    found.extend(people::check(facts));
    found.extend(ledgers::check(facts));
    found.extend(wire::check(facts));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sound_world_has_no_violation() {
        assert_eq!(all(&sample::facts()), []);
    }
}
