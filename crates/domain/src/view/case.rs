//! The read models of the support desk: what is stuck, what is known of it and by whom, and what
//! support may do about it.

use super::{EffectView, EventView, StepView};
use serde::{Deserialize, Serialize};

/// A case of the support desk: a stuck attempt or a stuck undo.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseView {
    /// The stuck row's id.
    pub id: String,
    /// The trip that it belongs to.
    pub trip: String,
    /// That trip's title.
    pub trip_title: String,
    /// Its step's name.
    pub step: String,
    /// Its step's name for people.
    pub step_title: String,
    /// `attempt` or `undo`.
    pub kind: String,
    /// Whether it is still stuck.
    pub open: bool,
    /// Why no rule may decide; once that has cleared, what became of it.
    pub reason: String,
    /// The kind of the reason, for example `in_doubt` or `credential`; `cleared` once it has gone.
    pub cause: String,
    /// UTC milliseconds.
    pub since: i64,
    /// How long ago that is.
    pub age_seconds: i64,
    /// The agent's name.
    pub agent: String,
    /// The attempt: for an undo, the one that made the booking.
    pub delegation: String,
    /// "attempt 2 of 3" is ordinal 2.
    pub ordinal: i64,
    /// Our messageId of the request.
    pub message_id: String,
    /// Our contextId, where the agent takes ours.
    pub context_id: Option<String>,
    /// The agent's task id, once known.
    pub task_id: Option<String>,
    /// What the booking is looked up by.
    pub reference: Option<String>,
    /// The booking system in whose records it was found.
    pub booking_system: Option<String>,
    /// That system's own number.
    pub confirmation: Option<String>,
    /// How reading the agent has gone lately.
    pub reads: ReadsView,
    /// The newest request of a person to read everything again.
    pub check_asked: Option<CheckAsked>,
    /// What a person has signed for.
    pub signed: Option<SignedView>,
}

/// How reading the agent has gone lately.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadsView {
    /// UTC milliseconds of the newest good read.
    pub good_at: Option<i64>,
    /// UTC milliseconds of the newest try.
    pub tried_at: Option<i64>,
    /// Failed reads since the newest good one.
    pub failed: i64,
    /// What the newest failed one said.
    pub reason: Option<String>,
}

/// A request of a person to read everything again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckAsked {
    /// UTC milliseconds.
    pub at: i64,
    /// Who, by e-mail.
    pub by: String,
    /// Why.
    pub reason: Option<String>,
}

/// What a person has signed for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedView {
    /// What they found, in words.
    pub outcome: String,
    /// Who, by e-mail.
    pub by: String,
    /// Why, and where it can be seen.
    pub evidence: String,
}

/// One case whole, open or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseDetail {
    /// The case.
    pub case: CaseView,
    /// What is known of it, each with who says so: the agent first, then the records.
    pub words: Vec<WordView>,
    /// Its step with all attempts.
    pub step: StepView,
    /// The bookings of that step, expected and found.
    pub effects: Vec<EffectView>,
    /// What support may do, and what not and why.
    pub actions: Vec<CaseActionView>,
    /// Names of the registered booking systems.
    pub booking_systems: Vec<String>,
    /// The newest events about this step and the trip as a whole, newest first.
    pub history: Vec<EventView>,
    /// The number of the trip's newest event.
    pub seq: i64,
}

/// What somebody says of the matter, and how old that is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WordView {
    /// `agent` or `records`.
    pub from: String,
    /// Whose word it is.
    pub who: String,
    /// One sentence about what they said or show.
    pub said: String,
    /// Their own text. Outside text.
    pub quote: Option<String>,
    /// What stands in the way of a newer or clearer word.
    pub note: Option<String>,
    /// UTC milliseconds.
    pub at: Option<i64>,
}

/// An action on a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseActionView {
    /// `check_now` or `record_outcome`.
    pub action: String,
    /// Why it cannot be taken, where it cannot.
    pub refused: Option<String>,
    /// What can be signed for, with `record_outcome`.
    pub outcomes: Vec<CaseOutcomeView>,
}

/// Something that can be signed for, or cannot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseOutcomeView {
    /// `booked`, `not_booked` or `undone`.
    pub outcome: String,
    /// Why it cannot be signed for, where it cannot.
    pub refused: Option<String>,
}
