//! The journal row: one attempt at one step by one agent.

use crate::ids::{AgentId, ContextId, DelegationId, MessageId, Reference, StepName, TaskId};
use crate::task::TaskState;
use crate::time::Millis;
use serde::{Deserialize, Serialize};

/// What the attempt is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// The step itself.
    Step,
    /// The undo of an effect, by an agent.
    Undo,
}

/// How a delegation was closed (DESIGN.md §11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Done: by a present verdict, or by the agent's word where the step has no effect.
    Completed,
    /// The agent said FAILED.
    Failed,
    /// The agent said REJECTED.
    Rejected,
    /// The task was cancelled.
    Canceled,
    /// The step's deadline passed.
    Deadline,
    /// The agent said COMPLETED and the records show nothing.
    FalseClaim,
    /// Refused for good: nothing was done (§7).
    Refused,
    /// It could never be sent.
    Unreachable,
    /// Earned: it never arrived.
    NeverLanded,
    /// The agent does not know the task any more.
    Lost,
}

/// How the agent's part ended, before the records were asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndedAs {
    /// COMPLETED.
    Completed,
    /// FAILED.
    Failed,
    /// REJECTED.
    Rejected,
    /// CANCELED, and we had not asked for it.
    Canceled,
    /// CANCELED after our cancel.
    CanceledByUs,
    /// Over at the step's deadline.
    Deadline,
    /// TaskNotFound, believed; or never found while a booking was.
    Lost,
    /// A direct Message instead of a task.
    Message,
}

impl EndedAs {
    /// The word of the agent, for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
            Self::Rejected => "REJECTED",
            Self::Canceled | Self::CanceledByUs => "CANCELED",
            Self::Deadline => "nothing before the deadline",
            Self::Lost => "that it does not know the task",
            Self::Message => "a message without a task",
        }
    }
}

/// Why no rule may decide alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "reason", content = "text")]
pub enum StuckReason {
    /// In doubt, nothing found, and "nothing landed" is not earned.
    InDoubt(String),
    /// The verdict stays unknown.
    UnknownVerdict(String),
    /// A direct message, and no booking by the step's deadline.
    MessageOnly,
    /// A cancelled task that does not end.
    CancelIgnored,
    /// A state that this version does not know.
    UnknownState(String),
    /// The credential is refused; clears by itself when it works again.
    Credential(String),
    /// A reply whose fate cannot be found out.
    ReplyInDoubt,
    /// A booking turned up after the trip's end.
    LateBooking,
    /// The booking of a step that was done is gone from the records.
    BookingGone,
}

impl StuckReason {
    /// One sentence for people.
    pub fn sentence(&self) -> String {
        match self {
            Self::InDoubt(text) => format!("It is not known whether the request arrived: {text}"),
            Self::UnknownVerdict(text) => {
                format!("The booking records cannot tell whether there is a booking: {text}")
            }
            Self::MessageOnly => {
                "The agent answered with a message instead of a task, and the records show no booking."
                    .to_owned()
            }
            Self::CancelIgnored => "The agent was asked to cancel and has not ended its task.".to_owned(),
            Self::UnknownState(word) => format!("The agent reports a state that is not known here: {word}"),
            Self::Credential(text) => format!("The agent refuses our credential: {text}"),
            Self::ReplyInDoubt => "It is not known whether the answer reached the agent.".to_owned(),
            Self::LateBooking => {
                "A booking turned up after the trip had ended. It is being undone.".to_owned()
            }
            Self::BookingGone => {
                "The records do not show the booking any more, though its step was done.".to_owned()
            }
        }
    }
}

/// What a person signed for where no rule may decide: support's acceptance of a named risk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signed {
    /// What they found.
    pub outcome: SignedOutcome,
    /// Who, by e-mail.
    pub by: String,
    /// Why, and where it can be seen.
    pub evidence: String,
}

/// What a person found about a stuck delegation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignedOutcome {
    /// There is this booking.
    Booked {
        /// In whose records.
        booking_system: String,
        /// Under which number.
        confirmation: String,
    },
    /// There is no booking, and none will come.
    NotBooked,
}

/// What was found while a request was in doubt (§5, *earned*).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Doubt {
    /// Newest complete look of any kind.
    pub looked_at: Option<Millis>,
    /// Whether that look showed no task of ours.
    pub look_found_nothing: bool,
    /// First sound, complete look past the grace that found nothing while the effect was absent.
    pub empty_first: Option<Millis>,
    /// Newest such look.
    pub empty_last: Option<Millis>,
    /// Why "nothing found" was not counted at the newest look, for people.
    pub not_counted: Option<String>,
    /// How often "nothing landed" was earned and the message sent again.
    pub resends: i64,
    /// The agent's error answer to the request, where it gave one that leaves open what it did.
    pub refusal: Option<String>,
    /// The request is to be sent once more without our contextId.
    pub context_dropped: bool,
    /// Not to be tried again before.
    pub not_before: Option<Millis>,
    /// The look before the close of a trip whose message was resent.
    pub final_look_at: Option<Millis>,
    /// How often the protocol's own TaskNotFound was read for the known task.
    pub not_found_reads: i64,
    /// When the first of these was read.
    pub not_found_first: Option<Millis>,
}

/// How reading the agent has gone lately (faults.md F-35).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReadHealth {
    /// When the agent was last asked about this delegation.
    pub tried_at: Option<Millis>,
    /// Failed reads since the last good one.
    pub failed: i64,
    /// What the newest failed one said.
    pub reason: Option<String>,
}

/// One attempt at one step by one agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Delegation {
    /// Its id.
    pub id: DelegationId,
    /// The step.
    pub step: StepName,
    /// What it is for.
    pub purpose: Purpose,
    /// The agent.
    pub agent: AgentId,
    /// The account that we act as; reads and sends use the same one.
    pub principal: String,
    /// "attempt 2 of 3" is ordinal 2.
    pub ordinal: i64,
    /// The messageId of its request.
    pub message_id: MessageId,
    /// Our contextId; none where the agent refuses ours.
    pub context_id: Option<ContextId>,
    /// What its booking is looked up by.
    pub reference: Option<Reference>,
    /// The attempt before it.
    pub previous: Option<DelegationId>,
    /// When it was journaled.
    pub created_at: Millis,
    /// The agent's task, once known.
    pub task_id: Option<TaskId>,
    /// The agent's last word.
    pub remote_state: Option<TaskState>,
    /// The agent's clock at that word.
    pub status_timestamp: Option<Millis>,
    /// Our clock at the newest good read.
    pub observed_at: Option<Millis>,
    /// Our clock at the newest change seen.
    pub changed_at: Option<Millis>,
    /// How the agent's part ended.
    pub ended: Option<EndedAs>,
    /// Our clock when that was first seen.
    pub ended_at: Option<Millis>,
    /// The agent's own words at its end: a claim.
    pub claim: Option<String>,
    /// The confirmation number that it claims.
    pub claimed_confirmation: Option<String>,
    /// How the delegation was closed; open while none.
    pub outcome: Option<Outcome>,
    /// When it was closed.
    pub closed_at: Option<Millis>,
    /// Short, cleaned reason handed to the next agent.
    pub failure_summary: Option<String>,
    /// Why no rule may decide.
    pub stuck: Option<StuckReason>,
    /// Since when.
    pub stuck_since: Option<Millis>,
    /// What a person signed for; the next pass acts on it.
    pub signed: Option<Signed>,
    /// The step's deadline has passed and the task is being called off.
    pub called_off: bool,
    /// What was found while in doubt.
    pub doubt: Doubt,
    /// How reading has gone lately.
    pub reads: ReadHealth,
}

impl Delegation {
    /// Whether it has no outcome yet.
    pub fn is_open(&self) -> bool {
        self.outcome.is_none()
    }
}
