//! The circuit breaker of one agent, pure: state, event and now in, state out.
//!
//! It counts only what says that nobody is there (no connection, no answer). An agent's own
//! error is an answer. While it is open nothing is sent; after the backoff one call, the probe,
//! finds out, and everything else still fails at once.

use domain::time::{Millis, Span};

/// When a breaker opens, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerRules {
    /// So many calls without an answer in a row open it.
    pub failures: u32,
    /// The longest first backoff; each further opening doubles it. Jitter is full.
    pub first: Span,
    /// No backoff is longer.
    pub longest: Span,
}

impl Default for BreakerRules {
    fn default() -> Self {
        Self { failures: 5, first: Span::seconds(1), longest: Span::seconds(30) }
    }
}

impl BreakerRules {
    /// The longest wait of the `openings`th opening in a row.
    fn backoff(&self, openings: u32) -> Span {
        let doubled = self.first.times(1_i64 << openings.saturating_sub(1).min(30));
        Span(doubled.0.min(self.longest.0))
    }
}

/// Where a breaker stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Breaker {
    /// Calls go through; so many in a row had no answer.
    Closed { failures: u32 },
    /// Calls fail at once. From `until` on, the next one is the probe.
    Open { openings: u32, until: Millis },
    /// The probe is on its way; every other call fails at once.
    Probing { openings: u32 },
}

/// What a breaker hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The probe has begun.
    ProbeBegun,
    /// The probe was given up before it told anything.
    ProbeDropped,
    /// The agent answered, with whatever.
    Answered,
    /// There was no connection, or no answer.
    Lost { probe: bool },
}

/// Whether a call may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// It may.
    Pass,
    /// It may, as the probe.
    Probe,
    /// It may not; the next try is in so long.
    Refused(Span),
}

impl Breaker {
    pub(crate) const NEW: Self = Self::Closed { failures: 0 };

    /// Whether a call may go now.
    pub(crate) fn admission(self, now: Millis) -> Admission {
        match self {
            Self::Closed { .. } => Admission::Pass,
            Self::Open { until, .. } if until <= now => Admission::Probe,
            Self::Open { until, .. } => Admission::Refused(until - now),
            Self::Probing { .. } => Admission::Refused(Span(0)),
        }
    }

    /// The state after an event. `jitter` draws a wait no longer than the one it is given.
    pub(crate) fn after(
        self,
        event: Event,
        now: Millis,
        rules: &BreakerRules,
        jitter: impl FnOnce(Span) -> Span,
    ) -> Self {
        let open = |openings: u32| Self::Open { openings, until: now + jitter(rules.backoff(openings)) };
        match (self, event) {
            (_, Event::Answered) => Self::NEW,
            (Self::Closed { failures }, Event::Lost { .. }) if failures + 1 >= rules.failures => open(1),
            (Self::Closed { failures }, Event::Lost { .. }) => Self::Closed { failures: failures + 1 },
            (Self::Open { openings, until }, Event::ProbeBegun) if until <= now => Self::Probing { openings },
            (Self::Probing { openings }, Event::Lost { probe: true }) => open(openings.saturating_add(1)),
            (Self::Probing { openings }, Event::ProbeDropped) => Self::Open { openings, until: now },
            // Calls that were under way before it opened tell nothing new by failing too.
            (state, _) => state,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: BreakerRules = BreakerRules { failures: 3, first: Span(1000), longest: Span(30_000) };
    const NOW: Millis = Millis(50_000);

    fn after(state: Breaker, event: Event) -> Breaker {
        state.after(event, NOW, &RULES, |longest| longest)
    }

    fn closed(failures: u32) -> Breaker {
        Breaker::Closed { failures }
    }

    fn open(openings: u32, until: i64) -> Breaker {
        Breaker::Open { openings, until: Millis(until) }
    }

    fn probing(openings: u32) -> Breaker {
        Breaker::Probing { openings }
    }

    #[test]
    fn every_state_with_every_event() {
        let (probe, other) = (Event::Lost { probe: true }, Event::Lost { probe: false });
        let table = [
            (closed(0), Event::Answered, closed(0)),
            (closed(2), Event::Answered, closed(0)),
            (closed(0), other, closed(1)),
            (closed(1), other, closed(2)),
            (closed(2), other, open(1, 51_000)),
            (closed(1), Event::ProbeBegun, closed(1)),
            (closed(1), Event::ProbeDropped, closed(1)),
            (open(1, 60_000), Event::Answered, closed(0)),
            (open(1, 60_000), other, open(1, 60_000)),
            (open(1, 60_000), probe, open(1, 60_000)),
            (open(1, 60_000), Event::ProbeBegun, open(1, 60_000)),
            (open(2, 50_000), Event::ProbeBegun, probing(2)),
            (open(2, 50_000), Event::ProbeDropped, open(2, 50_000)),
            (probing(1), Event::Answered, closed(0)),
            (probing(1), probe, open(2, 52_000)),
            (probing(5), probe, open(6, 80_000)),
            (probing(u32::MAX), probe, open(u32::MAX, 80_000)),
            (probing(2), other, probing(2)),
            (probing(2), Event::ProbeBegun, probing(2)),
            (probing(2), Event::ProbeDropped, open(2, 50_000)),
        ];
        for (before, event, expected) in table {
            assert_eq!(after(before, event), expected, "{before:?} and {event:?}");
        }
    }

    #[test]
    fn who_may_go() {
        let table = [
            (closed(2), Admission::Pass),
            (open(1, 50_001), Admission::Refused(Span(1))),
            (open(1, 50_000), Admission::Probe),
            (open(9, 0), Admission::Probe),
            (probing(1), Admission::Refused(Span(0))),
        ];
        for (state, expected) in table {
            assert_eq!(state.admission(NOW), expected, "{state:?}");
        }
    }

    #[test]
    fn backoffs_double_up_to_the_longest() {
        let waits: Vec<i64> = (1..=7).map(|n| RULES.backoff(n).0).collect();
        assert_eq!(waits, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    }

    #[test]
    fn the_jitter_decides_within_the_backoff() {
        let half = |longest: Span| Span(longest.0 / 2);
        let state = probing(1).after(Event::Lost { probe: true }, NOW, &RULES, half);
        assert_eq!(state, open(2, 51_000));
    }
}
