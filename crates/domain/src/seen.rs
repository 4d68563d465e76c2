//! Observations: answers of the outside, as `decide` sees them. The engine keeps each as received
//! in `reads`; here is only what decisions need.

use crate::booking::{BookingRead, CancelAnswer};
use crate::failure::Failure;
use crate::ids::{CompensationId, DelegationId, OutboxId, TaskId};
use crate::task::{AgentMessage, Snapshot};
use crate::time::Millis;

/// One answer of the outside, with our time.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// When it was received.
    pub at: Millis,
    /// What it was.
    pub what: What,
}

/// How a snapshot came to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// GetTask.
    Read,
    /// A stream; it may have been assembled from updates.
    Stream,
}

/// What a list read was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListScope {
    /// By our contextId.
    Context,
    /// Everything the agent shows us.
    Everything,
}

/// What a send came back with.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The task.
    Task(Snapshot),
    /// A bare message.
    Message(AgentMessage),
    /// A failure, by its class.
    Failed(Failure),
}

/// The kinds of answers.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// What became of a send of a request or a reply.
    Sent {
        /// The message.
        out: OutboxId,
        /// Which of its sends.
        number: i64,
        /// What came back.
        answer: Answer,
    },
    /// What became of a CancelTask.
    CancelSent {
        /// The message.
        out: OutboxId,
        /// Which of its sends.
        number: i64,
        /// What came back.
        answer: Result<Snapshot, Failure>,
    },
    /// One read of a task.
    Task {
        /// Whose.
        delegation: DelegationId,
        /// Which.
        task: TaskId,
        /// How it came.
        source: Source,
        /// What it showed.
        answer: Result<Snapshot, Failure>,
    },
    /// One complete or incomplete list read for a delegation in doubt.
    List {
        /// Whose.
        delegation: DelegationId,
        /// What was asked for.
        scope: ListScope,
        /// Tasks of our context or with our messageId, or why the list is not to be had.
        answer: Result<Listed, Failure>,
    },
    /// The stream of a live task was not to be had, twice: polling goes on alone.
    NoStream {
        /// Whose.
        delegation: DelegationId,
    },
    /// One lookup of a reference in every booking system of its step.
    Booking {
        /// Whose reference.
        delegation: DelegationId,
        /// Per booking system.
        reads: Vec<(String, BookingRead)>,
    },
    /// What a booking system answered to an undo.
    Undo {
        /// Which.
        compensation: CompensationId,
        /// Which of its calls.
        number: i64,
        /// What came back.
        answer: CancelAnswer,
    },
}

/// What a list read showed.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// Every distinct task shown.
    pub tasks: Vec<Snapshot>,
    /// Why the list is not complete, where it is not.
    pub incomplete: Option<String>,
    /// How many of the tasks belong to no delegation of this installation: each could be ours.
    pub strangers: i64,
}
