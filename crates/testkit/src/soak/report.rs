//! What a soak says in the end: a table, and every violation with its evidence.

use super::compare::{self, Violation};
use super::facts::Facts;
use domain::view::TripState;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// The most violations that are printed in full.
const SHOWN: usize = 10;

/// What happened, counted.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Kills by SIGKILL.
    pub kills: u32,
    /// Of these, while the server started.
    pub kills_at_start: u32,
    /// Starts, the first ones included.
    pub starts: u32,
    /// Ends by the server's own rule, since it was paused for longer than its heartbeat is good.
    pub lost_heartbeats: u32,
    /// Trips by their state at the end.
    pub trips: BTreeMap<String, usize>,
    /// Why trips wait for support.
    pub stuck: BTreeMap<String, usize>,
    rows: Vec<(&'static str, usize)>,
}

impl Counts {
    /// Counts what is known at the end.
    pub fn count(&mut self, facts: &Facts) {
        for trip in &facts.trips {
            let state = serde_json::to_value(trip.state).ok();
            let state = state.and_then(|state| state.as_str().map(str::to_owned)).unwrap_or_default();
            *self.trips.entry(state).or_default() += 1;
            if trip.state == TripState::NeedsSupport {
                for reason in compare::reasons(trip) {
                    *self.stuck.entry(reason).or_default() += 1;
                }
            }
        }
        let sends = facts.calls.iter().filter(|call| call.is_send());
        let arrived = sends.clone().count();
        let different: std::collections::HashSet<_> = sends.map(|call| &call.message_id).collect();
        let effects = || facts.trips.iter().flat_map(|trip| &trip.effects);
        let ghost_tasks = facts.journal.tasks.iter().filter(|task| task.role != "kept").count();
        let calls = |method: &str| facts.calls.iter().filter(|call| call.method == method).count();
        self.rows = vec![
            ("trips", facts.trips.len()),
            ("delegations", facts.journal.attempts.len()),
            ("sends that reached an agent", arrived),
            ("of these, resends", arrived - different.len()),
            ("looks (ListTasks)", calls("ListTasks")),
            ("reads (GetTask)", calls("GetTask")),
            ("cancels of tasks", calls("CancelTask")),
            ("ghost tasks", ghost_tasks),
            ("ghost bookings", effects().filter(|effect| effect.ghost).count()),
            ("questions", facts.trips.iter().map(|trip| trip.questions.len()).sum()),
            ("bookings made", facts.bookings.len()),
            ("bookings that stand", facts.bookings.iter().filter(|booking| booking.stands).count()),
            ("compensations", effects().filter(|effect| effect.compensation.is_some()).count()),
            ("cancels of bookings", facts.undos.len()),
        ];
    }
}

/// The outcome of a soak.
#[derive(Clone, Debug)]
pub struct Report {
    /// What happened.
    pub counts: Counts,
    /// What must never be.
    pub violations: Vec<Violation>,
    /// Where chance began.
    pub seed: u64,
    /// How long it took.
    pub took: Duration,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = &self.counts;
        writeln!(f, "| what | how many |")?;
        writeln!(f, "|---|---:|")?;
        writeln!(f, "| kills (while starting) | {} ({}) |", counts.kills, counts.kills_at_start)?;
        writeln!(f, "| starts | {} |", counts.starts)?;
        writeln!(f, "| ends by a lost heartbeat | {} |", counts.lost_heartbeats)?;
        for (what, number) in &counts.rows {
            writeln!(f, "| {what} | {number} |")?;
        }
        for (state, number) in &counts.trips {
            writeln!(f, "| trips at the end: {state} | {number} |")?;
        }
        writeln!(f, "| stuck, with a reason | {} |", counts.stuck.values().sum::<usize>())?;
        writeln!(f, "| violations | {} |", self.violations.len())?;
        for (reason, number) in &counts.stuck {
            writeln!(f, "stuck {number} times: {reason}")?;
        }
        for violation in self.violations.iter().take(SHOWN) {
            writeln!(f, "VIOLATION {violation}")?;
        }
        if self.violations.len() > SHOWN {
            writeln!(f, "… and {} more", self.violations.len() - SHOWN)?;
        }
        write!(f, "seed {}, {:.0} s", self.seed, self.took.as_secs_f64())
    }
}
