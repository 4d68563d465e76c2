//! Cases of the desk in words.

use crate::format;
use domain::view::{CaseView, ReadsView};

/// The kind of reason that a case is stuck for.
pub fn cause(cause: &str) -> &'static str {
    match cause {
        "in_doubt" => "Request in doubt",
        "unknown_verdict" => "Records unclear",
        "message_only" => "Message instead of a task",
        "cancel_ignored" => "Cancel ignored",
        "unknown_state" => "Unknown state",
        "credential" => "Credential refused",
        "reply_in_doubt" => "Answer in doubt",
        "late_booking" => "Late booking",
        "booking_gone" => "Booking gone",
        "undo" => "Undo stuck",
        "cleared" => "Cleared",
        _ => "Another reason",
    }
}

/// What stands between the step's name and the trip's.
pub fn between(kind: &str) -> &'static str {
    if kind == "undo" { ", undo, " } else { ", " }
}

/// That reading the agent fails, where it does: how often, and what the newest failure said.
pub fn failing(reads: &ReadsView) -> Option<String> {
    (reads.failed > 0).then(|| {
        let times =
            if reads.failed == 1 { "once".to_owned() } else { format!("{} times in a row", reads.failed) };
        let why = reads.reason.as_deref().unwrap_or("no reason given");
        format::outside(&format!("Reading failed {times}: {why}"))
    })
}

/// Whether the agent has been asked since a check was asked for.
pub fn read_since(case: &CaseView) -> bool {
    case.check_asked.as_ref().is_some_and(|asked| case.reads.tried_at >= Some(asked.at))
}

/// What has come of a check that was asked for: nothing reads as solved that is not.
pub fn after_check(case: &CaseView) -> &'static str {
    match (case.open, read_since(case)) {
        (false, _) => "not stuck any more",
        (true, true) => "the agent was asked again, still stuck",
        (true, false) => "not verified yet",
    }
}

/// Something that can be signed for.
pub fn outcome(outcome: &str) -> &'static str {
    match outcome {
        "booked" => "Booked: the records show a booking",
        "not_booked" => "Not booked: there is none, and none will come",
        "undone" => "Undone: the booking is gone",
        _ => "Something else",
    }
}
