//! What a failed call means (DESIGN.md §7): the classes in which "not sent", "unknown whether
//! sent" and "refused" can never be mixed up.

use crate::time::Span;
use serde::{Deserialize, Serialize};

/// The operation that failed: the same answer means different things to different calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// SendMessage without a task id.
    FirstRequest,
    /// SendMessage on a known task.
    Reply,
    /// GetTask.
    GetTask,
    /// ListTasks.
    ListTasks,
    /// CancelTask.
    CancelTask,
    /// SubscribeToTask.
    Subscribe,
}

/// What follows from a failure, for the one who called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "class")]
pub enum FailureClass {
    /// Nothing left us: the same message may be sent again after a new commit.
    NotSent,
    /// It may have arrived and may have been acted on: in doubt, look first.
    Unknown,
    /// Refused for now (429, 503 with Retry-After); wait as told, look before the next try.
    RefusedForNow {
        /// What the agent asked us to wait, capped.
        retry_after: Option<Span>,
    },
    /// 401 or 403: parked until the credential changes.
    Credential,
    /// Nothing was done and nothing will be: a new attempt at another agent.
    RefusedForGood,
    /// An error answer to a first request that does not say whether a task was started.
    LookFirst,
    /// The agent cannot do this operation: use another path.
    Capability,
    /// The protocol's own TaskNotFound.
    TaskNotFound,
    /// The task is in a state that does not allow it (also TaskNotCancelable): re-read it.
    State,
}

/// One failed call, with what the outside said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What follows from it.
    pub class: FailureClass,
    /// The protocol's or HTTP's code, where there was one.
    pub code: Option<i64>,
    /// The ErrorInfo reason, where there was one.
    pub reason: Option<String>,
    /// For people: what happened, in one line, without secrets, capped.
    pub text: String,
}
