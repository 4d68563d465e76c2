//! Questions: what a person must answer, kept until answered or withdrawn (DESIGN.md §9).

use crate::ids::{DelegationId, QuestionId, StepName};
use crate::time::Millis;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who asks and in what way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// The agent's INPUT_REQUIRED.
    Input,
    /// The agent's AUTH_REQUIRED.
    Auth,
    /// Ours, about a step.
    Decision,
}

impl QuestionKind {
    /// The word stored and shown.
    pub fn word(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Auth => "auth",
            Self::Decision => "decision",
        }
    }
}

/// Where a question stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionState {
    /// Can be answered.
    Open,
    /// Answered by a person.
    Answered,
    /// No longer needed.
    Withdrawn,
    /// Its deadline passed.
    Expired,
}

impl QuestionState {
    /// The word stored and shown.
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Answered => "answered",
            Self::Withdrawn => "withdrawn",
            Self::Expired => "expired",
        }
    }
}

/// One offered answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// What is sent.
    pub value: String,
    /// What is shown.
    pub label: String,
}

/// One question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// Its id.
    pub id: QuestionId,
    /// The step that it is about.
    pub step: StepName,
    /// The delegation whose agent asks; none for a decision.
    pub delegation: Option<DelegationId>,
    /// Who asks and in what way.
    pub kind: QuestionKind,
    /// What makes it the same question when it is read again: the status message's id, the
    /// agent's timestamp and the text. The protocol gives no correlation id.
    pub key: String,
    /// What is asked, as text.
    pub text: String,
    /// A link of the agent's (http or https only).
    pub link: Option<String>,
    /// Offered answers; empty means free text.
    pub choices: Vec<Choice>,
    /// The whole status message, as our copy holds it.
    pub message: Value,
    /// Where it stands.
    pub state: QuestionState,
    /// When it was first seen.
    pub asked_at: Millis,
    /// Until when an answer counts.
    pub deadline: Option<Millis>,
    /// The answer: the text typed or the value chosen.
    pub answer: Option<String>,
    /// Who answered, by e-mail.
    pub answered_by: Option<String>,
    /// When it was answered.
    pub answered_at: Option<Millis>,
    /// When the task was seen to have moved on from it. The same words after that are a new
    /// question.
    pub left_at: Option<Millis>,
    /// What came of it, for people.
    pub note: Option<String>,
}

/// The choices offered when a step has failed for good.
pub const GO_ON: &str = "go_on";
/// See [`GO_ON`].
pub const CANCEL_TRIP: &str = "cancel_trip";
