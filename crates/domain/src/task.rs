//! Our copy of an agent's task: the last snapshot, always replaced, never merged.
//!
//! The wire's own types end in `engine::a2a`; what arrives here has been checked for size and
//! shape, and keeps unknown states as text.

use crate::ids::{ContextId, DelegationId, MessageId, TaskId};
use crate::time::Millis;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The state that the agent reports. `Unknown` keeps a word that we do not know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// Taken, not begun.
    Submitted,
    /// Being worked on; may also mean that nobody works (DESIGN.md §5, Stalled).
    Working,
    /// Waits for an answer of ours.
    InputRequired,
    /// Waits for a permission given elsewhere or by an answer.
    AuthRequired,
    /// Ended, as the agent says, well.
    Completed,
    /// Ended badly.
    Failed,
    /// Ended by a cancel.
    Canceled,
    /// Refused by the agent.
    Rejected,
    /// A state that this version does not know: polled, then stuck.
    Unknown(String),
}

impl TaskState {
    /// Whether the task can never move again.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Canceled | Self::Rejected)
    }
    /// Whether the agent waits for a person.
    pub fn is_interrupted(&self) -> bool {
        matches!(self, Self::InputRequired | Self::AuthRequired)
    }
    /// The word shown and stored: the protocol's own, without its prefix.
    pub fn word(&self) -> &str {
        match self {
            Self::Submitted => "SUBMITTED",
            Self::Working => "WORKING",
            Self::InputRequired => "INPUT_REQUIRED",
            Self::AuthRequired => "AUTH_REQUIRED",
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
            Self::Canceled => "CANCELED",
            Self::Rejected => "REJECTED",
            Self::Unknown(word) => word,
        }
    }
    /// Reads the protocol's word, with or without the `TASK_STATE_` prefix, in any case,
    /// also in the spelling of v0.3 (`input-required`).
    pub fn from_word(word: &str) -> Self {
        let upper = word.to_ascii_uppercase().replace('-', "_");
        match upper.strip_prefix("TASK_STATE_").unwrap_or(&upper) {
            "SUBMITTED" => Self::Submitted,
            "WORKING" => Self::Working,
            "INPUT_REQUIRED" => Self::InputRequired,
            "AUTH_REQUIRED" => Self::AuthRequired,
            "COMPLETED" => Self::Completed,
            "FAILED" => Self::Failed,
            "CANCELED" => Self::Canceled,
            "REJECTED" => Self::Rejected,
            _ => Self::Unknown(word.to_owned()),
        }
    }
}

/// A message of the agent, as far as it matters to us.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentMessage {
    /// The agent's id of it, where it gave one.
    pub message_id: Option<MessageId>,
    /// Its text parts, joined by line ends.
    pub text: String,
    /// Its data parts.
    pub data: Vec<Value>,
}

/// One artifact of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Artifact {
    /// Unique inside the task.
    pub artifact_id: String,
    /// Its name, where it has one.
    pub name: Option<String>,
    /// Its text parts, joined by line ends.
    pub text: String,
    /// Its data parts.
    pub data: Vec<Value>,
}

/// A whole task as one read showed it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The agent's id of the task.
    pub task_id: TaskId,
    /// The context that it says the task belongs to.
    pub context_id: Option<ContextId>,
    /// The state of its status.
    pub state: TaskState,
    /// The agent's clock at that status; often missing.
    pub timestamp: Option<Millis>,
    /// The status message: the question, where the task waits for a person.
    pub message: Option<AgentMessage>,
    /// Its artifacts, keyed by their ids.
    pub artifacts: Vec<Artifact>,
    /// Ids of the messages in its history. A hit proves arrival; a miss proves nothing.
    pub history_ids: Vec<MessageId>,
}

/// What a task is to its delegation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskRole {
    /// The one that counts.
    Kept,
    /// A second task for the same request.
    Ghost,
    /// A task that the agent made in answer to a reply (faults.md F-19).
    Fork,
}

/// The row of `tasks`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskCopy {
    /// The delegation that it belongs to.
    pub delegation: DelegationId,
    /// What it is to it.
    pub role: TaskRole,
    /// The last snapshot.
    pub snapshot: Snapshot,
    /// When we read it.
    pub observed_at: Millis,
}
