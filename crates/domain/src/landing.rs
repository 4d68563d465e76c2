//! Look before resend (DESIGN.md §5): what follows from what is known about a request whose fate
//! is in doubt, as one pure function.

use crate::time::{Millis, Span};

/// What is known about a request in doubt to which no task was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InDoubt {
    /// Now.
    pub now: Millis,
    /// End of the landing grace of the newest permitted send.
    pub grace_end: Millis,
    /// First and newest sound look past the grace that found nothing while the effect was absent.
    pub empty: Option<(Millis, Millis)>,
    /// The settle time of the step's booking systems.
    pub settle: Span,
    /// Whether an empty look can mean anything at this agent (rules b and d of *earned*).
    pub agent_can_be_believed: bool,
    /// Whether it is vouched to deduplicate by messageId over its own restarts.
    pub deduplicates: bool,
    /// Whether the step makes a booking.
    pub has_effect: bool,
    /// Whether the trip is ending.
    pub ending: bool,
    /// Whether the agent may get a resend (not disabled), and the message's budget allows one.
    pub may_resend: bool,
    /// A complete look past the grace found nothing, whether or not it may be believed.
    pub looked_past_grace: bool,
    /// The booking is present, or has been unknown or unprovable for longer than the limit.
    pub booking: Booking,
}

/// What the records say about a request in doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Booking {
    /// Nothing yet that decides.
    Open,
    /// It stands: the request did land.
    Present,
    /// Nothing decided for longer than the limit.
    TooLong,
}

/// What follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landing {
    /// Look again later.
    LookAgain,
    /// Commit an intent and send the same message again.
    Resend,
    /// Earned, and the trip is ending: it never landed.
    NeverLanded,
    /// The booking shows that it landed; the task is lost.
    Adopt,
    /// No rule may decide; looks go on.
    Stuck,
}

/// Two looks past the grace, a settle time apart, found nothing while the booking was absent.
pub fn looked_twice(doubt: &InDoubt) -> bool {
    doubt
        .empty
        .is_some_and(|(first, last)| first >= doubt.grace_end && first < last && last - first >= doubt.settle)
}

/// The rows of §5 for a request in doubt with nothing found.
pub fn judge(doubt: InDoubt) -> Landing {
    // A list may lag behind: before the grace is over the task may still turn up beside its booking.
    if doubt.now < doubt.grace_end {
        return Landing::LookAgain;
    }
    if doubt.booking == Booking::Present {
        return Landing::Adopt;
    }
    if !doubt.has_effect {
        return match (doubt.looked_past_grace, doubt.ending) {
            (false, _) if doubt.booking == Booking::TooLong => Landing::Stuck,
            (false, _) => Landing::LookAgain,
            (true, true) => Landing::NeverLanded,
            (true, false) if doubt.may_resend => Landing::Resend,
            (true, false) => Landing::Stuck,
        };
    }
    let earned_by_looks = doubt.agent_can_be_believed && looked_twice(&doubt);
    // A deduplicating agent makes a resend harmless; it does not prove that nothing landed.
    let may_send_again = earned_by_looks || (doubt.deduplicates && doubt.looked_past_grace);
    match (doubt.ending, earned_by_looks, may_send_again && doubt.may_resend) {
        (true, true, _) => Landing::NeverLanded,
        (false, _, true) => Landing::Resend,
        _ if doubt.booking == Booking::TooLong => Landing::Stuck,
        _ => Landing::LookAgain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE_END: Millis = Millis(10_000);
    const SETTLE: Span = Span(3_000);

    fn earned() -> InDoubt {
        InDoubt {
            now: Millis(20_000),
            grace_end: GRACE_END,
            empty: Some((Millis(11_000), Millis(14_000))),
            settle: SETTLE,
            agent_can_be_believed: true,
            deduplicates: false,
            has_effect: true,
            ending: false,
            may_resend: true,
            looked_past_grace: true,
            booking: Booking::Open,
        }
    }

    #[test]
    fn earned_by_two_looks_a_settle_time_apart() {
        assert_eq!(judge(earned()), Landing::Resend);
    }

    #[test]
    fn each_part_of_earned_is_needed() {
        let one_look = InDoubt { empty: Some((Millis(14_000), Millis(14_000))), ..earned() };
        assert_eq!(judge(one_look), Landing::LookAgain);
        let too_close = InDoubt { empty: Some((Millis(11_000), Millis(13_999))), ..earned() };
        assert_eq!(judge(too_close), Landing::LookAgain);
        let before_grace = InDoubt { empty: Some((Millis(9_999), Millis(14_000))), ..earned() };
        assert_eq!(judge(before_grace), Landing::LookAgain);
        let not_believed = InDoubt { agent_can_be_believed: false, ..earned() };
        assert_eq!(judge(not_believed), Landing::LookAgain);
        let grace_not_over = InDoubt { now: Millis(9_999), ..earned() };
        assert_eq!(judge(grace_not_over), Landing::LookAgain);
    }

    #[test]
    fn an_ending_trip_never_resends() {
        assert_eq!(judge(InDoubt { ending: true, ..earned() }), Landing::NeverLanded);
        let dedup = InDoubt { ending: true, deduplicates: true, empty: None, ..earned() };
        assert_eq!(judge(dedup), Landing::LookAgain);
    }

    #[test]
    fn not_earned_and_nothing_decided_ends_stuck_and_a_booking_is_adopted() {
        let stuck = InDoubt { empty: None, booking: Booking::TooLong, ..earned() };
        assert_eq!(judge(stuck), Landing::Stuck);
        assert_eq!(judge(InDoubt { booking: Booking::Present, ..earned() }), Landing::Adopt);
    }

    #[test]
    fn durable_deduplication_earns_by_one_look_past_the_grace() {
        let dedup = InDoubt { deduplicates: true, empty: None, agent_can_be_believed: false, ..earned() };
        assert_eq!(judge(dedup), Landing::Resend);
        assert_eq!(judge(InDoubt { looked_past_grace: false, ..dedup }), Landing::LookAgain);
    }

    #[test]
    fn a_spent_budget_is_as_not_earned() {
        let spent = InDoubt { may_resend: false, booking: Booking::TooLong, ..earned() };
        assert_eq!(judge(spent), Landing::Stuck);
    }

    #[test]
    fn a_step_without_an_effect_need_not_earn_it() {
        let plain = InDoubt { has_effect: false, empty: None, agent_can_be_believed: false, ..earned() };
        assert_eq!(judge(plain), Landing::Resend);
        assert_eq!(judge(InDoubt { ending: true, ..plain }), Landing::NeverLanded);
        assert_eq!(judge(InDoubt { looked_past_grace: false, ..plain }), Landing::LookAgain);
    }
}
