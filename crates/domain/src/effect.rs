//! Effects: bookings expected or found under a delegation's reference, and what the independent
//! reads of them amount to (DESIGN.md §6, Verdicts).

use crate::ids::{DelegationId, EffectId, Reference};
use crate::money::Money;
use crate::time::{Millis, Span};
use serde::{Deserialize, Serialize};

/// What the newest reads amount to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Not read yet.
    Expected,
    /// The records show it.
    Present,
    /// One clean read did not show it: decides nothing alone.
    Absent,
    /// Not shown over the settle time.
    SettledAbsent,
    /// The reads cannot tell.
    Unknown,
    /// Was present, and its undo is verified.
    Undone,
}

impl Verdict {
    /// The word stored and shown.
    pub fn word(self) -> &'static str {
        match self {
            Self::Expected => "expected",
            Self::Present => "present",
            Self::Absent => "absent",
            Self::SettledAbsent => "settled_absent",
            Self::Unknown => "unknown",
            Self::Undone => "undone",
        }
    }
}

/// One booking.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// Its id.
    pub id: EffectId,
    /// The delegation under whose reference it is.
    pub delegation: DelegationId,
    /// What it is looked up by.
    pub reference: Reference,
    /// A second booking under the same reference: to be undone by its own confirmation.
    pub ghost: bool,
    /// The booking system in whose records it was found.
    pub booking_system: Option<String>,
    /// That system's own number.
    pub confirmation: Option<String>,
    /// What the reads amount to.
    pub verdict: Verdict,
    /// First present read of the run of present reads that stands now.
    pub present_first: Option<Millis>,
    /// Newest present read of that run.
    pub present_last: Option<Millis>,
    /// First absent read of the run of absent reads that stands now.
    pub absent_first: Option<Millis>,
    /// Newest absent read of that run.
    pub absent_last: Option<Millis>,
    /// Since when reads cannot tell.
    pub unknown_since: Option<Millis>,
    /// What the newest read said, where it could not tell.
    pub note: Option<String>,
    /// Newest read of any kind.
    pub checked_at: Option<Millis>,
    /// Reads that could not tell, in a row.
    pub unknown_reads: i64,
    /// When it was first verified: the undo order is the reverse of this.
    pub verified_at: Option<Millis>,
    /// Its price, as the records show it.
    pub price: Option<Money>,
    /// What an undo keeps, or has kept, of it.
    pub fee: Option<Money>,
}

impl Effect {
    /// A booking that a request is about to ask for.
    pub fn expected(id: EffectId, delegation: DelegationId, reference: Reference) -> Self {
        Self {
            id,
            delegation,
            reference,
            ghost: false,
            booking_system: None,
            confirmation: None,
            verdict: Verdict::Expected,
            present_first: None,
            present_last: None,
            absent_first: None,
            absent_last: None,
            unknown_since: None,
            note: None,
            checked_at: None,
            unknown_reads: 0,
            verified_at: None,
            price: None,
            fee: None,
        }
    }

    /// Notes a clean read that shows the booking. A present after an absent wins.
    pub fn seen_present(&mut self, at: Millis) {
        self.present_first.get_or_insert(at);
        self.present_last = Some(at);
        self.absent_first = None;
        self.absent_last = None;
        self.verified_at.get_or_insert(at);
        self.clean(at, Verdict::Present);
    }

    /// Notes a clean read that does not show it.
    pub fn seen_absent(&mut self, at: Millis) {
        self.absent_first.get_or_insert(at);
        self.absent_last = Some(at);
        self.present_first = None;
        self.present_last = None;
        self.clean(at, Verdict::Absent);
    }

    /// Notes a read that cannot tell, without changing what earlier reads amounted to: after the
    /// trip's end there is nothing left to decide by it.
    pub fn note_unreadable(&mut self, at: Millis, why: &str) {
        self.unknown_since.get_or_insert(at);
        self.unknown_reads += 1;
        self.note = Some(why.to_owned());
        self.checked_at = Some(at);
    }

    /// The newest read that could tell.
    pub fn clean_at(&self) -> Option<Millis> {
        self.present_last.max(self.absent_last)
    }

    /// Notes a read that cannot tell. It breaks no run of clean reads.
    pub fn seen_unknown(&mut self, at: Millis, why: &str) {
        self.note_unreadable(at, why);
        if !self.is_settled_gone() {
            self.verdict = Verdict::Unknown;
        }
    }

    /// Only a present read reopens what was settled: a further absent one says the same, and one
    /// that cannot tell says nothing.
    fn is_settled_gone(&self) -> bool {
        matches!(self.verdict, Verdict::SettledAbsent | Verdict::Undone)
    }

    fn clean(&mut self, at: Millis, verdict: Verdict) {
        self.unknown_since = None;
        self.unknown_reads = 0;
        self.note = None;
        self.checked_at = Some(at);
        if verdict == Verdict::Present || !self.is_settled_gone() {
            self.verdict = verdict;
        }
    }

    /// Forgets the run of absent reads: a new phase (an undo was asked for) wants its own.
    pub fn begin_phase(&mut self) {
        self.absent_first = None;
        self.absent_last = None;
    }

    /// Two or more clean absent reads, the last at least `settle` after `since`.
    pub fn settled_absent(&self, since: Millis, settle: Span) -> bool {
        match (self.absent_first, self.absent_last) {
            (Some(first), Some(last)) => first < last && last >= since + settle,
            _ => false,
        }
    }

    /// Present now, and still so at least `settle` after `since`.
    pub fn settled_present(&self, since: Millis, settle: Span) -> bool {
        self.present_last.is_some_and(|last| last >= since + settle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect() -> Effect {
        Effect::expected("e".into(), "d".into(), "r".into())
    }

    #[test]
    fn settled_absent_takes_two_reads_and_the_settle_time() {
        let (since, settle) = (Millis(1000), Span(500));
        let mut effect = effect();
        effect.seen_absent(Millis(2000));
        assert!(!effect.settled_absent(since, settle), "one read decides nothing");
        effect.seen_absent(Millis(2001));
        assert!(effect.settled_absent(since, settle));
        effect.seen_present(Millis(2002));
        assert!(!effect.settled_absent(since, settle), "a present after an absent wins");
    }

    #[test]
    fn two_absent_reads_before_the_settle_time_settle_nothing() {
        let mut effect = effect();
        effect.seen_absent(Millis(1100));
        effect.seen_absent(Millis(1200));
        assert!(!effect.settled_absent(Millis(1000), Span(500)));
    }

    #[test]
    fn what_was_settled_is_reopened_by_a_present_read_alone() {
        for settled in [Verdict::SettledAbsent, Verdict::Undone] {
            let mut effect = effect();
            effect.verdict = settled;
            effect.seen_absent(Millis(1));
            effect.seen_unknown(Millis(2), "a 500");
            assert_eq!(effect.verdict, settled);
            effect.seen_present(Millis(3));
            assert_eq!(effect.verdict, Verdict::Present);
        }
    }
}
