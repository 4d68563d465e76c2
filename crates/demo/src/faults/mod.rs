//! What can go wrong on the wire between a client and an agent, as a layer in front of the real
//! router: the request is written down, faults may act before it is taken, then it is taken
//! whole, whether or not the client is still there, and faults may act on its answer.
//!
//! A new fault is a variant of [`Fault`] and an arm in the module of the place where it acts:
//! `ask` (the request), `answer` (instead of or before the answer), `content` (what it says),
//! `delivery` (how its bytes come) or `stream` (its events).

pub mod answer;
pub mod ask;
pub mod content;
pub mod delivery;
pub mod errors;
pub mod framing;
pub mod gate;
pub mod kinds;
pub mod list;
pub mod stream;

pub use gate::{Gate, pass};
pub use kinds::Fault;

use serde::{Deserialize, Serialize};

/// A chosen fault: for which operation, and how often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultChoice {
    /// What goes wrong.
    pub fault: Fault,
    /// With which operation, by its JSON-RPC name; `*` for any, `stream` for those that stream,
    /// `send` for those that send a message. Missing: where the fault belongs.
    #[serde(default)]
    pub method: String,
    /// The HTTP status of the status and error faults.
    #[serde(default)]
    pub status: Option<u16>,
    /// Sent as Retry-After with a status fault.
    #[serde(default)]
    pub retry_after: Option<u32>,
    /// How many calls it meets; all where missing.
    #[serde(default)]
    pub times: Option<u32>,
    /// How many calls pass before it meets one.
    #[serde(default)]
    pub skip: u32,
    /// How long the faults that wait do so.
    #[serde(default)]
    pub ms: Option<u64>,
    /// How much: bytes, depth, page size, messages kept, events let through.
    #[serde(default)]
    pub size: Option<usize>,
    /// How far the agent's clock is ahead; behind where negative.
    #[serde(default)]
    pub seconds: Option<i64>,
    /// The state that stands in for the true one.
    #[serde(default)]
    pub state: Option<String>,
    /// The code of a protocol error.
    #[serde(default)]
    pub code: Option<i32>,
}

impl FaultChoice {
    /// A fault at an operation, without anything else about it.
    pub fn new(fault: Fault, method: &str) -> Self {
        Self {
            fault,
            method: method.to_owned(),
            status: None,
            retry_after: None,
            times: None,
            skip: 0,
            ms: None,
            size: None,
            seconds: None,
            state: None,
            code: None,
        }
    }

    /// The same, with the operation named where it was not.
    pub fn settled(mut self) -> Self {
        if self.method.is_empty() {
            self.fault.home().clone_into(&mut self.method);
        }
        self
    }

    /// Whether it is meant for an operation.
    pub fn meets(&self, method: &str) -> bool {
        match self.method.as_str() {
            "*" => true,
            "stream" => streams(method),
            "send" => sends(method),
            named => named == method,
        }
    }

    fn ms_or(&self, usual: u64) -> std::time::Duration {
        std::time::Duration::from_millis(self.ms.unwrap_or(usual))
    }

    fn size_or(&self, usual: usize) -> usize {
        self.size.unwrap_or(usual)
    }
}

/// Whether an operation is answered by a stream.
pub fn streams(method: &str) -> bool {
    matches!(method, "SendStreamingMessage" | "SubscribeToTask")
}

/// Whether an operation sends a message.
pub fn sends(method: &str) -> bool {
    matches!(method, "SendMessage" | "SendStreamingMessage")
}

/// The chosen one of a kind, if any.
fn chosen(faults: &[FaultChoice], fault: Fault) -> Option<&FaultChoice> {
    faults.iter().find(|choice| choice.fault == fault)
}

fn is_chosen(faults: &[FaultChoice], fault: Fault) -> bool {
    chosen(faults, fault).is_some()
}
