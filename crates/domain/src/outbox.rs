//! Messages of ours: requests, replies and cancels, written before they are sent (DESIGN.md §4).

use crate::ids::{DelegationId, MessageId, OutboxId, QuestionId, TaskId};
use crate::time::Millis;
use serde::{Deserialize, Serialize};

/// What is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutKind {
    /// The first message of a delegation.
    Request,
    /// An answer on its task.
    Reply,
    /// A CancelTask.
    Cancel,
}

/// Where a message stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SendState {
    /// Nothing has left us.
    NotSent,
    /// A commit has permitted a send. Found at load, and not in flight here, it is in doubt.
    Intent,
    /// Sent or not: unknown.
    InDoubt,
    /// Known to be at the agent.
    Landed,
    /// Refused, or no longer wanted; nothing will be sent.
    Refused,
}

impl SendState {
    /// The word stored and shown.
    pub fn word(self) -> &'static str {
        match self {
            Self::NotSent => "not_sent",
            Self::Intent => "intent",
            Self::InDoubt => "in_doubt",
            Self::Landed => "landed",
            Self::Refused => "refused",
        }
    }
    /// Whether its fate is settled.
    pub fn is_settled(self) -> bool {
        matches!(self, Self::Landed | Self::Refused)
    }
}

/// One message of ours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutMessage {
    /// The row's id.
    pub id: OutboxId,
    /// Its delegation.
    pub delegation: DelegationId,
    /// What is sent.
    pub kind: OutKind,
    /// The A2A messageId; a cancel has none.
    pub message_id: Option<MessageId>,
    /// The A2A Message as JSON, byte for byte as sent; empty for a cancel.
    pub body: String,
    /// Where it stands.
    pub state: SendState,
    /// How often a commit has permitted a send.
    pub number: i64,
    /// Until when the newest permitted send may still be under way.
    pub may_send_until: Option<Millis>,
    /// The task that a cancel is for; none for a request or a reply.
    pub task: Option<TaskId>,
    /// The question that a reply answers.
    pub question: Option<QuestionId>,
    /// When it was written.
    pub created_at: Millis,
    /// Not to be tried again before.
    pub retry_at: Option<Millis>,
    /// How often it was refused or could not leave in a row.
    pub setbacks: i64,
    /// What the newest setback said.
    pub note: Option<String>,
}

impl OutMessage {
    /// A message that is written and not permitted yet: nothing has left us. A request or reply
    /// gets its `message_id`, a cancel its `task`, a reply its `question`.
    pub fn unsent(id: OutboxId, delegation: DelegationId, kind: OutKind, body: String, now: Millis) -> Self {
        Self {
            id,
            delegation,
            kind,
            message_id: None,
            body,
            state: SendState::NotSent,
            number: 0,
            may_send_until: None,
            task: None,
            question: None,
            created_at: now,
            retry_at: None,
            setbacks: 0,
            note: None,
        }
    }
}
