//! States in words, and the sign beside them. A state is never shown by colour alone.

use domain::view::{DelegationView, EffectView, StepState, TripState};
use leptos::prelude::*;

/// The badge of a trip's state.
#[component]
pub fn TripBadge(
    /// The state.
    state: TripState,
) -> impl IntoView {
    let (tone, icon) = match state {
        TripState::Running => ("calm", "running"),
        TripState::NeedsAnswer => ("ask", "ask"),
        TripState::NeedsSupport => ("ask", "support"),
        TripState::Cancelling | TripState::Undoing => ("calm", "undo"),
        TripState::Done => ("good", "done"),
        TripState::Cancelled => ("plain", "undone"),
        TripState::Failed => ("bad", "failed"),
    };
    view! {
        <span class=format!("badge badge-{tone}")>
            <span class=format!("icon icon-{icon}") aria-hidden="true"></span>
            {state.label()}
        </span>
    }
}

/// A step's state, with its newest attempt: the word on the screen and the name of its sign.
pub fn step(state: StepState, newest: Option<&DelegationView>) -> (&'static str, &'static str) {
    let word = newest.and_then(|one| one.remote_state.as_deref()).unwrap_or_default();
    let sent = newest.map(|one| one.send_state.as_str()).unwrap_or_default();
    let stuck = newest.is_some_and(|one| one.stuck_reason.is_some());
    match state {
        StepState::Running | StepState::Verifying if stuck => ("With our support", "support"),
        StepState::Running if sent == "in_doubt" => ("Checking whether it arrived", "verifying"),
        StepState::Running if sent == "intent" || sent == "not_sent" => ("Being handed over", "running"),
        StepState::Running if word.contains("REQUIRED") => ("Waits for your answer", "ask"),
        StepState::Waiting => ("Not started", "waiting"),
        StepState::Running => ("An agent works on it", "running"),
        StepState::Verifying => ("Checking the records", "verifying"),
        StepState::Done => ("Done", "done"),
        StepState::Skipped => ("Left out", "skipped"),
        StepState::Failed => ("Could not be booked", "failed"),
        StepState::Undone => ("Undone", "undone"),
    }
}

/// What is known of a booking, by whom; `attempt` is the delegation that made it. The word on
/// the screen, the tone and the sign.
pub fn verdict(
    effect: &EffectView,
    attempt: Option<&DelegationView>,
) -> (&'static str, &'static str, &'static str) {
    let claimed =
        attempt.and_then(|one| one.remote_state.as_deref()).is_some_and(|word| word.contains("COMPLETED"));
    match effect.verdict.as_str() {
        "present" if effect.ghost => ("A second booking that nobody wanted", "ask", "support"),
        "present" => ("Verified in the booking system’s records", "good", "done"),
        "undone" => ("Undone, and verified gone", "plain", "undone"),
        "settled_absent" => ("Verified: there is no booking", "plain", "skipped"),
        "absent" => ("Not in the records yet", "calm", "verifying"),
        "expected" if claimed => ("Claimed by the agent, not verified yet", "calm", "verifying"),
        "expected" => ("Not booked yet", "plain", "waiting"),
        _ => ("Unknown: the records gave no clear answer", "ask", "ask"),
    }
}

/// How an attempt ended.
pub fn outcome(outcome: &str) -> &'static str {
    match outcome {
        "completed" => "booked it",
        "failed" => "failed",
        "rejected" => "declined",
        "canceled" => "was called off",
        "deadline" => "ran out of time",
        "false_claim" => "claimed a booking that is not in the records",
        "refused" => "refused the request",
        "unreachable" => "could not be reached",
        "never_landed" => "never received the request",
        "lost" => "lost the task",
        _ => "ended",
    }
}

/// How far a compensation has come: 0 planned, 1 requested, 2 accepted, 3 verified gone.
pub fn rung(state: &str, requested: bool, accepted: bool) -> u8 {
    match state {
        "verified" => 3,
        "accepted" => 2,
        "requested" => 1,
        _ if accepted => 2,
        _ if requested => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::rung;

    #[test]
    fn a_stuck_rung_keeps_how_far_it_came() {
        assert_eq!(rung("planned", false, false), 0);
        assert_eq!(rung("stuck", true, false), 1);
        assert_eq!(rung("stuck", true, true), 2);
        assert_eq!(rung("verified", true, true), 3);
    }
}
