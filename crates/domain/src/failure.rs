//! What a failed call means (DESIGN.md §7): the classes in which "not sent", "unknown whether
//! sent" and "refused" can never be mixed up.
//!
//! [`classify`] is pure: it sees what the wire showed ([`Evidence`]) and takes the ErrorInfo
//! reason first, then the protocol's code, then the HTTP status, because agents agree on them
//! in that order. Its table is in `tests/failure_table.rs`.

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
    /// The agent's card.
    FetchCard,
}

impl Operation {
    /// Whether it only asks: a read that failed may simply be asked again.
    pub fn is_read(self) -> bool {
        matches!(self, Self::GetTask | Self::ListTasks | Self::Subscribe | Self::FetchCard)
    }
}

/// What follows from a failure, for the one who called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "class")]
pub enum FailureClass {
    /// Nothing left us: the same message may be sent again after a new commit.
    NotSent,
    /// It may have arrived and may have been acted on: in doubt, look first. Of a read it only
    /// says that the read failed.
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

/// The longest wait that a `Retry-After` may ask of us; longer ones are cut to this.
pub const LONGEST_RETRY_AFTER: Span = Span::seconds(600);

/// How far a request got, as far as the transport can prove it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// No byte of the request's body was handed to a connection: DNS, connect, TLS, an address
    /// that is refused, or an end before the request was written.
    NotWritten,
    /// Some of it may have been read by the agent.
    AfterWrite,
}

/// What the wire showed of a failed call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// How far the request got.
    pub phase: Phase,
    /// The HTTP status, where an answer's head was read.
    pub http_status: Option<u16>,
    /// The code of the JSON-RPC error object, where there was one.
    pub code: Option<i64>,
    /// The reason of its ErrorInfo, where there was one.
    pub reason: Option<String>,
    /// The wait of a `Retry-After` header.
    pub retry_after: Option<Span>,
    /// The answer was not what the protocol says (HTML, cut JSON, a wrong id, too large).
    pub unparsable: bool,
}

impl Evidence {
    /// Nothing left us.
    pub fn not_written() -> Self {
        Self {
            phase: Phase::NotWritten,
            http_status: None,
            code: None,
            reason: None,
            retry_after: None,
            unparsable: false,
        }
    }
    /// The request may have left, and nothing readable came back.
    pub fn lost() -> Self {
        Self { phase: Phase::AfterWrite, ..Self::not_written() }
    }
    /// An answer with this HTTP status and no word of the protocol.
    pub fn status(status: u16) -> Self {
        Self { http_status: Some(status), ..Self::lost() }
    }
    /// An error object with this code.
    pub fn rpc(code: i64) -> Self {
        Self { code: Some(code), http_status: Some(200), ..Self::lost() }
    }
}

/// The errors that the protocol names; everything else is [`Word::Foreign`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    TaskNotFound,
    TaskNotCancelable,
    Unsupported,
    MethodNotFound,
    /// Version, content type, extension, invalid request: refused before anything was done.
    Unfit,
    /// Internal error and invalid agent response: the work may have run.
    Broken,
    /// Known, and says nothing about whether a task was started (invalid params, push, …).
    Vague,
    /// An error object with a code that the protocol does not define.
    Foreign,
}

impl Word {
    /// The meaning of an ErrorInfo reason.
    fn from_reason(reason: &str) -> Option<Self> {
        Some(match reason {
            "TASK_NOT_FOUND" => Self::TaskNotFound,
            "TASK_NOT_CANCELABLE" => Self::TaskNotCancelable,
            "UNSUPPORTED_OPERATION" => Self::Unsupported,
            "METHOD_NOT_FOUND" => Self::MethodNotFound,
            "VERSION_NOT_SUPPORTED"
            | "CONTENT_TYPE_NOT_SUPPORTED"
            | "EXTENSION_SUPPORT_REQUIRED"
            | "INVALID_REQUEST" => Self::Unfit,
            "INVALID_AGENT_RESPONSE" | "INTERNAL_ERROR" => Self::Broken,
            "PUSH_NOTIFICATION_NOT_SUPPORTED"
            | "EXTENDED_AGENT_CARD_NOT_CONFIGURED"
            | "INVALID_PARAMS"
            | "PARSE_ERROR" => Self::Vague,
            _ => return None,
        })
    }

    /// The meaning of a JSON-RPC code.
    fn from_code(code: i64) -> Option<Self> {
        Some(match code {
            -32001 => Self::TaskNotFound,
            -32002 => Self::TaskNotCancelable,
            -32004 => Self::Unsupported,
            -32601 => Self::MethodNotFound,
            -32009 | -32005 | -32008 | -32600 => Self::Unfit,
            -32603 | -32006 => Self::Broken,
            -32003 | -32007 | -32602 | -32700 => Self::Vague,
            _ => return None,
        })
    }
}

/// What a failed call means (DESIGN.md §7). Pure, total, and on the careful side: whatever is
/// not proven to be harmless is [`FailureClass::Unknown`].
pub fn classify(operation: Operation, evidence: &Evidence) -> FailureClass {
    if evidence.phase == Phase::NotWritten {
        return FailureClass::NotSent;
    }
    let word = if evidence.unparsable {
        None
    } else {
        let reason = evidence.reason.as_deref().and_then(Word::from_reason);
        reason.or_else(|| evidence.code.and_then(Word::from_code))
    };
    if let Some(word) = word {
        return of_word(operation, word);
    }
    match evidence.http_status {
        Some(401 | 403) => FailureClass::Credential,
        Some(429) => refused_for_now(evidence),
        Some(503) if evidence.retry_after.is_some() => refused_for_now(evidence),
        Some(500..) | None => FailureClass::Unknown,
        Some(_) if evidence.code.is_some() && !evidence.unparsable => of_word(operation, Word::Foreign),
        Some(_) => FailureClass::Unknown,
    }
}

fn refused_for_now(evidence: &Evidence) -> FailureClass {
    let cut = |wait: Span| wait.clamp(Span(0), LONGEST_RETRY_AFTER);
    FailureClass::RefusedForNow { retry_after: evidence.retry_after.map(cut) }
}

/// The agent's own word, by what was asked.
fn of_word(operation: Operation, word: Word) -> FailureClass {
    use FailureClass as Class;
    if word == Word::Broken {
        return Class::Unknown;
    }
    match operation {
        Operation::FirstRequest => match word {
            Word::Unfit | Word::MethodNotFound => Class::RefusedForGood,
            _ => Class::LookFirst,
        },
        Operation::Reply => Class::State,
        Operation::CancelTask => match word {
            Word::MethodNotFound | Word::Unsupported => Class::Capability,
            _ => Class::State,
        },
        Operation::GetTask => match word {
            Word::TaskNotFound => Class::TaskNotFound,
            Word::MethodNotFound => Class::Capability,
            _ => Class::Unknown,
        },
        Operation::ListTasks => match word {
            Word::MethodNotFound | Word::Unsupported => Class::Capability,
            _ => Class::Unknown,
        },
        Operation::Subscribe => match word {
            Word::MethodNotFound | Word::Unsupported => Class::Capability,
            Word::TaskNotFound | Word::TaskNotCancelable => Class::State,
            _ => Class::Unknown,
        },
        Operation::FetchCard => Class::Unknown,
    }
}
