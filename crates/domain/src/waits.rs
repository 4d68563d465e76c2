//! The waits of DESIGN.md §16: every length of time that a rule depends on, in one place.

use crate::time::Span;

/// All waits. Each is a setting `HOLDFAST_WAIT_<NAME>` in seconds, named like its field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waits {
    /// How long one send may take; written as `may_send_until` before it.
    pub send_limit: Span,
    /// How long a holder's heartbeat is good for.
    pub heartbeat: Span,
    /// How often it is renewed.
    pub heartbeat_renewal: Span,
    /// How long after `may_send_until` a request may still turn up at the agent.
    pub landing_grace: Span,
    /// Settle time of a booking system without one of its own.
    pub settle: Span,
    /// How far an agent's clock may be off.
    pub clock_margin: Span,
    /// After how long without an event a stream is checked by GetTask.
    pub stream_idle: Span,
    /// How long a cancelled task may stay open before it is stuck.
    pub cancel_limit: Span,
    /// How long a capability learned to be missing is believed.
    pub capability_expiry: Span,
    /// First polling interval.
    pub poll: Span,
    /// Longest polling interval.
    pub poll_longest: Span,
    /// The timer that makes every unfinished trip due.
    pub reconcile: Span,
    /// How long a verdict may stay unknown before the row is stuck.
    pub unknown_verdict: Span,
    /// After how long without a change a step counts as stalled.
    pub stall_limit: Span,
    /// A step's deadline where the workflow gives none.
    pub deadline: Span,
    /// How long a message that cannot leave us is tried.
    pub not_sent_patience: Span,
    /// How long a state that we do not know is polled before the row is stuck.
    pub unknown_state: Span,
    /// First of the watch times after the end; the others are 10, 60, 360 and 1440 times as long.
    pub watch: Span,
    /// First backoff between two tries of one thing; doubles.
    pub retry: Span,
    /// Longest backoff.
    pub retry_longest: Span,
}

impl Default for Waits {
    fn default() -> Self {
        let s = Span::seconds;
        Self {
            send_limit: s(10),
            heartbeat: s(30),
            heartbeat_renewal: s(10),
            landing_grace: s(60),
            settle: s(120),
            clock_margin: s(600),
            stream_idle: s(60),
            cancel_limit: s(120),
            capability_expiry: s(86_400),
            poll: s(5),
            poll_longest: s(300),
            reconcile: s(60),
            unknown_verdict: s(900),
            stall_limit: s(300),
            deadline: s(7200),
            not_sent_patience: s(300),
            unknown_state: s(900),
            watch: s(60),
            retry: s(2),
            retry_longest: s(60),
        }
    }
}

impl Waits {
    /// The short waits of the demo world and of tests.
    pub fn demo() -> Self {
        let s = Span::seconds;
        Self {
            send_limit: s(2),
            heartbeat: s(3),
            heartbeat_renewal: s(1),
            landing_grace: s(3),
            settle: s(3),
            stream_idle: s(10),
            cancel_limit: s(20),
            poll: s(1),
            poll_longest: s(20),
            reconcile: s(10),
            unknown_verdict: s(30),
            stall_limit: s(60),
            not_sent_patience: s(60),
            unknown_state: s(60),
            watch: s(5),
            retry: Span(500),
            retry_longest: s(10),
            ..Self::default()
        }
    }

    /// Sets the wait called `name` (a field's name, in any case) to `seconds`.
    ///
    /// # Errors
    /// A sentence that says which name or value is wrong and what would be right.
    pub fn set(&mut self, name: &str, seconds: f64) -> Result<(), String> {
        if !(seconds.is_finite() && seconds > 0.0 && seconds <= 31_536_000.0) {
            return Err(format!("{name} is {seconds}: give seconds above 0 and at most a year"));
        }
        #[expect(clippy::cast_possible_truncation, reason = "bounded above by a year of milliseconds")]
        let span = Span((seconds * 1000.0).round() as i64);
        let lower = name.to_ascii_lowercase();
        match self.fields().into_iter().find(|(field, _)| *field == lower) {
            Some((_, place)) => {
                *place = span;
                Ok(())
            }
            None => Err(format!("there is no wait called {name}; known are: {}", Self::names().join(", "))),
        }
    }

    /// The names of all waits.
    pub fn names() -> Vec<&'static str> {
        Self::default().fields().into_iter().map(|(name, _)| name).collect()
    }

    fn fields(&mut self) -> [(&'static str, &mut Span); 20] {
        [
            ("send_limit", &mut self.send_limit),
            ("heartbeat", &mut self.heartbeat),
            ("heartbeat_renewal", &mut self.heartbeat_renewal),
            ("landing_grace", &mut self.landing_grace),
            ("settle", &mut self.settle),
            ("clock_margin", &mut self.clock_margin),
            ("stream_idle", &mut self.stream_idle),
            ("cancel_limit", &mut self.cancel_limit),
            ("capability_expiry", &mut self.capability_expiry),
            ("poll", &mut self.poll),
            ("poll_longest", &mut self.poll_longest),
            ("reconcile", &mut self.reconcile),
            ("unknown_verdict", &mut self.unknown_verdict),
            ("stall_limit", &mut self.stall_limit),
            ("deadline", &mut self.deadline),
            ("not_sent_patience", &mut self.not_sent_patience),
            ("unknown_state", &mut self.unknown_state),
            ("watch", &mut self.watch),
            ("retry", &mut self.retry),
            ("retry_longest", &mut self.retry_longest),
        ]
    }

    /// The relation that safety leans on and that one process can check (§16).
    ///
    /// # Errors
    /// A sentence that says which waits do not go together.
    pub fn check(&self) -> Result<(), String> {
        let needed = self.send_limit.0 + self.heartbeat_renewal.0 / 2;
        if self.heartbeat.0 > needed {
            return Ok(());
        }
        Err(format!(
            "heartbeat ({} ms) must be longer than send_limit plus half of heartbeat_renewal ({needed} ms): \
             else a send could outlive the right to make it",
            self.heartbeat.0
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sets_hold_the_relation() {
        assert_eq!(Waits::default().check(), Ok(()));
        assert_eq!(Waits::demo().check(), Ok(()));
    }

    #[test]
    fn a_heartbeat_shorter_than_a_send_is_refused() {
        let mut waits = Waits::default();
        waits.set("HEARTBEAT", 10.0).unwrap();
        assert!(waits.check().is_err());
    }

    #[test]
    fn an_unknown_name_is_refused_and_lists_the_known_ones() {
        assert!(Waits::default().set("heart_beat", 1.0).unwrap_err().contains("heartbeat"));
    }
}
