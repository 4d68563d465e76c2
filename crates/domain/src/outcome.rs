//! What an outcome leads to (DESIGN.md §6), as one pure function over what the records show.

use crate::delegation::{EndedAs, Outcome, StuckReason};

/// What the reads of a delegation's booking amount to, for this rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Records {
    /// Not read since the end was seen.
    Unread,
    /// Present at the newest read, the settle time not yet over.
    Present,
    /// Present, and still so at the settle time.
    SettledPresent,
    /// Absent at the newest read, not settled.
    Absent,
    /// Absent by two or more reads over the settle time.
    SettledAbsent,
    /// The newest read cannot tell.
    Unknown,
    /// The reads have not been able to tell for longer than the limit.
    UnknownTooLong,
}

/// What follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Read again.
    ReadAgain,
    /// The booking stands: the step is done, or the booking is to be undone if the trip ends.
    Stands(Outcome),
    /// There is no booking: closed; a running trip makes a new attempt.
    Nothing(Outcome),
    /// No rule may decide; reads go on.
    Stuck(StuckReason),
}

/// The circumstances that the table of §6 asks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Circumstances {
    /// Whether the step makes a booking at all.
    pub has_effect: bool,
    /// Whether the agent is trusted to reject truthfully.
    pub rejects_truthfully: bool,
    /// Whether the step's deadline has passed.
    pub past_deadline: bool,
}

/// The table of §6. Whether the trip is ending changes what a caller does with the answer
/// (compensate instead of done, close instead of a new attempt), not the answer.
pub fn judge(ended: EndedAs, records: Records, around: Circumstances) -> Judgement {
    if !around.has_effect {
        return without_effect(ended);
    }
    match (ended, records) {
        (_, Records::Unread | Records::Unknown) => Judgement::ReadAgain,
        (EndedAs::Message, Records::UnknownTooLong | Records::Absent | Records::SettledAbsent) => {
            if around.past_deadline {
                Judgement::Stuck(StuckReason::MessageOnly)
            } else {
                Judgement::ReadAgain
            }
        }
        (_, Records::UnknownTooLong) => {
            Judgement::Stuck(StuckReason::UnknownVerdict("the reads could not tell for too long".to_owned()))
        }
        (EndedAs::Completed | EndedAs::Message, Records::Present | Records::SettledPresent) => {
            Judgement::Stands(Outcome::Completed)
        }
        // Undone as found: waiting would only delay the undo, and it is verified gone anyway.
        (EndedAs::CanceledByUs, Records::Present | Records::SettledPresent) => {
            Judgement::Stands(Outcome::Canceled)
        }
        // An agent may undo its own booking late (traces.md V6).
        (_, Records::Present) => Judgement::ReadAgain,
        (ended, Records::SettledPresent) => Judgement::Stands(bad_outcome(ended)),
        (EndedAs::Rejected, Records::Absent) if around.rejects_truthfully => {
            Judgement::Nothing(Outcome::Rejected)
        }
        (_, Records::Absent) => Judgement::ReadAgain,
        (ended, Records::SettledAbsent) => Judgement::Nothing(bad_outcome(ended)),
    }
}

fn without_effect(ended: EndedAs) -> Judgement {
    match ended {
        EndedAs::Completed | EndedAs::Message => Judgement::Stands(Outcome::Completed),
        ended => Judgement::Nothing(bad_outcome(ended)),
    }
}

fn bad_outcome(ended: EndedAs) -> Outcome {
    match ended {
        // Settled absent behind the word COMPLETED.
        EndedAs::Completed | EndedAs::Message => Outcome::FalseClaim,
        EndedAs::Failed => Outcome::Failed,
        EndedAs::Rejected => Outcome::Rejected,
        EndedAs::Canceled | EndedAs::CanceledByUs => Outcome::Canceled,
        EndedAs::Deadline => Outcome::Deadline,
        EndedAs::Lost => Outcome::Lost,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AROUND: Circumstances =
        Circumstances { has_effect: true, rejects_truthfully: true, past_deadline: false };

    fn outcome_of(ended: EndedAs, records: Records) -> Judgement {
        judge(ended, records, AROUND)
    }

    #[test]
    fn the_table_of_section_6() {
        use EndedAs as E;
        use Judgement as J;
        use Outcome as O;
        use Records as R;
        let rows = [
            (E::Completed, R::Unread, J::ReadAgain),
            (E::Completed, R::Present, J::Stands(O::Completed)),
            (E::Completed, R::Absent, J::ReadAgain),
            (E::Completed, R::SettledAbsent, J::Nothing(O::FalseClaim)),
            (E::Completed, R::Unknown, J::ReadAgain),
            (E::Failed, R::Present, J::ReadAgain),
            (E::Failed, R::SettledPresent, J::Stands(O::Failed)),
            (E::Failed, R::Absent, J::ReadAgain),
            (E::Failed, R::SettledAbsent, J::Nothing(O::Failed)),
            (E::Canceled, R::SettledPresent, J::Stands(O::Canceled)),
            (E::Canceled, R::Absent, J::ReadAgain),
            (E::Canceled, R::SettledAbsent, J::Nothing(O::Canceled)),
            (E::CanceledByUs, R::Present, J::Stands(O::Canceled)),
            (E::CanceledByUs, R::Absent, J::ReadAgain),
            (E::CanceledByUs, R::SettledAbsent, J::Nothing(O::Canceled)),
            (E::Deadline, R::SettledAbsent, J::Nothing(O::Deadline)),
            (E::Deadline, R::Present, J::ReadAgain),
            (E::Lost, R::Present, J::ReadAgain),
            (E::Lost, R::SettledPresent, J::Stands(O::Lost)),
            (E::Lost, R::SettledAbsent, J::Nothing(O::Lost)),
            (E::Rejected, R::Absent, J::Nothing(O::Rejected)),
            (E::Rejected, R::Present, J::ReadAgain),
            (E::Rejected, R::SettledPresent, J::Stands(O::Rejected)),
            (E::Message, R::Present, J::Stands(O::Completed)),
            (E::Message, R::SettledAbsent, J::ReadAgain),
        ];
        for (ended, records, right) in rows {
            assert_eq!(outcome_of(ended, records), right, "{ended:?} with {records:?}");
        }
    }

    #[test]
    fn a_liar_is_not_believed_when_it_rejects() {
        let around = Circumstances { rejects_truthfully: false, ..AROUND };
        assert_eq!(judge(EndedAs::Rejected, Records::Absent, around), Judgement::ReadAgain);
        assert_eq!(
            judge(EndedAs::Rejected, Records::SettledAbsent, around),
            Judgement::Nothing(Outcome::Rejected)
        );
    }

    #[test]
    fn unknown_for_too_long_is_stuck_and_a_message_waits_for_the_deadline() {
        assert!(matches!(outcome_of(EndedAs::Failed, Records::UnknownTooLong), Judgement::Stuck(_)));
        let late = Circumstances { past_deadline: true, ..AROUND };
        assert_eq!(
            judge(EndedAs::Message, Records::SettledAbsent, late),
            Judgement::Stuck(StuckReason::MessageOnly)
        );
    }

    #[test]
    fn without_an_effect_the_agents_word_counts() {
        let around = Circumstances { has_effect: false, ..AROUND };
        assert_eq!(judge(EndedAs::Completed, Records::Unread, around), Judgement::Stands(Outcome::Completed));
        assert_eq!(judge(EndedAs::Failed, Records::Unread, around), Judgement::Nothing(Outcome::Failed));
    }
}
