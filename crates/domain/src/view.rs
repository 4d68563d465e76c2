//! The read models: what pages, the live stream and the API show. Built by `engine::query`
//! from the journal's rows, rendered by `app`. They hold no secret and no HTML; every text in
//! them may come from outside and is shown as text.

mod case;

pub use case::{
    CaseActionView, CaseDetail, CaseOutcomeView, CaseView, CheckAsked, ReadsView, SignedView, WordView,
};

use crate::money::{Money, MoneyLine};
use serde::{Deserialize, Serialize};

/// A trip's derived state (DESIGN.md §11). Where several fit, the earlier of
/// `NeedsSupport`, `NeedsAnswer` wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TripState {
    /// Steps are under way.
    Running,
    /// A question is open.
    NeedsAnswer,
    /// Something is stuck.
    NeedsSupport,
    /// The end is decided, sends are still open.
    Cancelling,
    /// Only compensations are left.
    Undoing,
    /// Closed: every required step is done.
    Done,
    /// Closed: by the traveller's wish, everything undone.
    Cancelled,
    /// Closed: a required step failed for good, everything undone.
    Failed,
}

impl TripState {
    /// Whether nothing more will happen.
    pub fn is_closed(self) -> bool {
        matches!(self, Self::Done | Self::Cancelled | Self::Failed)
    }
    /// The word on the screen.
    pub fn label(self) -> &'static str {
        match self {
            Self::Running => "In progress",
            Self::NeedsAnswer => "Needs your answer",
            Self::NeedsSupport => "With our support",
            Self::Cancelling => "Cancelling",
            Self::Undoing => "Undoing bookings",
            Self::Done => "Done",
            Self::Cancelled => "Cancelled",
            Self::Failed => "Could not be completed",
        }
    }
}

/// A step's derived state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    /// Not started yet.
    Waiting,
    /// An agent works on it.
    Running,
    /// The agent has ended; the records are being asked.
    Verifying,
    /// Verified present, or done where it has no effect.
    Done,
    /// Left out.
    Skipped,
    /// Failed for good.
    Failed,
    /// Was done and has been undone.
    Undone,
}

/// One line of the list of trips.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TripSummary {
    /// The trip's id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its state.
    pub state: TripState,
    /// The workflow's name.
    pub workflow: String,
    /// UTC milliseconds.
    pub created_at: i64,
    /// One sentence: where it stands.
    pub sentence: String,
    /// Number of open questions.
    pub open_questions: u32,
    /// First date of travel, where the inputs have one (`YYYY-MM-DD`).
    pub start: Option<String>,
}

/// A whole trip: the page, the live stream's event and the API's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TripView {
    /// The trip's id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its state.
    pub state: TripState,
    /// One sentence: where it stands and what happens next.
    pub sentence: String,
    /// The workflow's name.
    pub workflow: String,
    /// UTC milliseconds.
    pub created_at: i64,
    /// UTC milliseconds, once closed.
    pub closed_at: Option<i64>,
    /// Label and value of every input given.
    pub inputs: Vec<(String, String)>,
    /// Its steps, in the workflow's order.
    pub steps: Vec<StepView>,
    /// Bookings, expected and found.
    pub effects: Vec<EffectView>,
    /// Questions, open ones first.
    pub questions: Vec<QuestionView>,
    /// Sums, a line for each currency.
    pub money: Vec<MoneyLine>,
    /// The newest 50 events, newest first.
    pub history: Vec<EventView>,
    /// Whether a cancel can still be asked for.
    pub can_cancel: bool,
    /// The number of the newest event.
    pub seq: i64,
}

/// One step of a trip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepView {
    /// Its name in the workflow.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// The skill that it needs.
    pub skill: String,
    /// Its state.
    pub state: StepState,
    /// One sentence: what is known, by whom, and how old it is.
    pub sentence: String,
    /// How many attempts it may use.
    pub attempt_budget: i64,
    /// Its attempts, oldest first.
    pub delegations: Vec<DelegationView>,
}

/// One attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DelegationView {
    /// The delegation's id.
    pub id: String,
    /// "attempt 2 of 3" is ordinal 2.
    pub ordinal: i64,
    /// The agent's name.
    pub agent: String,
    /// Our messageId of the request.
    pub message_id: String,
    /// Our contextId, where the agent takes ours.
    pub context_id: Option<String>,
    /// The agent's task id, once known.
    pub task_id: Option<String>,
    /// What the booking is looked up by.
    pub reference: Option<String>,
    /// The agent's last word, for example `WORKING`.
    pub remote_state: Option<String>,
    /// UTC milliseconds of our newest good read.
    pub observed_at: Option<i64>,
    /// `not_sent`, `intent`, `in_doubt`, `landed` or `refused`: of the request.
    pub send_state: String,
    /// How often the request was sent.
    pub send_number: i64,
    /// How it was closed, once it was.
    pub outcome: Option<String>,
    /// What the agent said when it ended badly.
    pub failure: Option<String>,
    /// Why no rule may decide, where it is stuck.
    pub stuck_reason: Option<String>,
    /// The attempt before it.
    pub previous: Option<String>,
}

/// One booking.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectView {
    /// The effect's id.
    pub id: String,
    /// Its step's name.
    pub step: String,
    /// Its step's name for people.
    pub step_title: String,
    /// Its delegation.
    pub delegation: String,
    /// What it is looked up by.
    pub reference: String,
    /// The booking system's own number, as the records show it.
    pub confirmation: Option<String>,
    /// The booking system's name.
    pub booking_system: Option<String>,
    /// `expected`, `present`, `absent`, `settled_absent`, `unknown` or `undone`.
    pub verdict: String,
    /// Whether it is a second booking that nobody wanted.
    pub ghost: bool,
    /// UTC milliseconds of the newest read.
    pub checked_at: Option<i64>,
    /// Its price, as the records show it.
    pub price: Option<Money>,
    /// The fee that an undo costs, or has cost.
    pub fee: Option<Money>,
    /// One sentence, both words where they differ: what the agent said, what the records show.
    pub sentence: String,
    /// Its undo, where there is one.
    pub compensation: Option<CompensationView>,
}

/// One undo.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompensationView {
    /// `planned`, `requested`, `accepted`, `verified`, `stuck` or `signed`.
    pub state: String,
    /// Its place in the undo order, from 1.
    pub rung: i64,
    /// UTC milliseconds.
    pub requested_at: Option<i64>,
    /// UTC milliseconds.
    pub accepted_at: Option<i64>,
    /// UTC milliseconds.
    pub verified_at: Option<i64>,
    /// What the latest failed try said, or why it is stuck.
    pub reason: Option<String>,
}

/// One question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QuestionView {
    /// The question's id.
    pub id: String,
    /// The trip that it belongs to.
    pub trip: String,
    /// That trip's title.
    pub trip_title: String,
    /// Its step's name.
    pub step: String,
    /// Its step's name for people.
    pub step_title: String,
    /// Who asks: an agent's name, or "Holdfast" for a decision.
    pub asked_by: String,
    /// `input`, `auth` or `decision`.
    pub kind: String,
    /// What is asked. Outside text.
    pub text: String,
    /// A link of the agent's, http or https only.
    pub link: Option<String>,
    /// What may be chosen; empty means free text.
    pub choices: Vec<ChoiceView>,
    /// `open`, `answered`, `withdrawn` or `expired`.
    pub state: String,
    /// UTC milliseconds.
    pub asked_at: i64,
    /// UTC milliseconds until which an answer counts.
    pub deadline: Option<i64>,
    /// The answer given.
    pub answer: Option<String>,
    /// Who gave it.
    pub answered_by: Option<String>,
    /// UTC milliseconds.
    pub answered_at: Option<i64>,
    /// What came of it: the reply's way to the agent, or why it was withdrawn.
    pub note: Option<String>,
}

/// One choice of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChoiceView {
    /// What is sent.
    pub value: String,
    /// What is shown.
    pub label: String,
}

/// One line of history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventView {
    /// The event's number within the trip, without gaps.
    pub seq: i64,
    /// UTC milliseconds.
    pub at: i64,
    /// Who: a person's e-mail, an agent's name, "Holdfast".
    pub actor: String,
    /// What happened, in words.
    pub what: String,
    /// Why: the rule or the reason given.
    pub why: Option<String>,
    /// The step that it is about.
    pub step: Option<String>,
}

/// What a cancel will do, shown before it is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CancelPreview {
    /// The trip's id.
    pub trip: String,
    /// Its title.
    pub title: String,
    /// Bookings to be undone, in that order.
    pub undo: Vec<UndoPreview>,
    /// Steps whose requests are still open: these are called off first.
    pub open_steps: Vec<String>,
    /// Whether a cancel can be asked for; if not, why.
    pub refused: Option<String>,
}

/// One booking that a cancel would undo.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UndoPreview {
    /// Its step's name for people.
    pub step_title: String,
    /// The booking system's own number.
    pub confirmation: Option<String>,
    /// The booking system's name.
    pub booking_system: Option<String>,
    /// What it cost.
    pub price: Option<Money>,
    /// What is kept of it.
    pub fee: Option<Money>,
    /// What comes back.
    pub refund: Option<Money>,
}

/// One input of a workflow: a field of the form of a new trip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InputView {
    /// The field's name.
    pub name: String,
    /// The field's label.
    pub label: String,
    /// `text`, `long_text`, `date` or `integer`.
    pub kind: String,
    /// Whether it must be given.
    pub required: bool,
    /// What may help to fill it in.
    pub hint: Option<String>,
    /// What it starts with.
    pub default: Option<String>,
    /// Smallest integer allowed.
    pub min: Option<i64>,
    /// Largest integer allowed.
    pub max: Option<i64>,
    /// Most characters allowed.
    pub max_chars: Option<usize>,
}

/// What the form of a new trip needs to know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkflowView {
    /// The workflow's name.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// Its inputs, in order.
    pub inputs: Vec<InputView>,
    /// Name and title of each step that may be chosen.
    pub steps: Vec<(String, String)>,
}

/// One field that was filled in wrongly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldError {
    /// The field's name.
    pub field: String,
    /// What is wrong and what would be right.
    pub message: String,
}

/// A form that came back: what was typed, and what was wrong with it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FormState {
    /// Field name and value as typed; a name may occur several times (checkboxes).
    pub values: Vec<(String, String)>,
    /// What was wrong, by field; the field is empty for the form as a whole.
    pub errors: Vec<FieldError>,
}

/// Who is signed in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewerView {
    /// The person's id.
    pub id: String,
    /// Their e-mail.
    pub email: String,
    /// `traveller`, `support` or `admin`.
    pub role: String,
}
