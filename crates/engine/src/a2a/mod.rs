//! The client of agents: A2A v1.0 over JSON-RPC.
//!
//! The way in is [`AgentClient`], whose only implementation outside tests is [`HttpAgents`].
//! Every call ends in an answer or in a [`Failure`](domain::failure::Failure) whose class says
//! what may be done next (DESIGN.md §7); nothing is retried in here. No type of the official
//! `a2a` crate leaves this module: its decoders are stricter than agents are (`convert`).

mod agent_traffic;
mod breaker;
pub mod card;
mod client;
mod convert;
mod credential;
mod events;
pub mod follow_state;
mod http;
mod limits;
mod list;
mod places;
mod rpc;
mod sse;
mod throttle;

pub use breaker::BreakerRules;
pub use card::{Card, CardInterface, CardSkill};
pub use client::{AgentClient, Answer, HttpAgents, StreamItem};
pub use credential::{Credential, KeyPlace};
pub use follow_state::{Applied, Followed};
pub use http::Http;
pub(crate) use http::{Call, Connection};
pub use limits::Limits;
pub(crate) use limits::{cut, shallow};
pub use list::{Completeness, ListFilter, Listing};
pub use throttle::{AgentState, AgentTraffic, ThrottleSettings, Throttled};

use serde::{Deserialize, Serialize};

/// The protocol binding that is spoken at an endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Binding {
    /// JSON-RPC 2.0 over HTTP.
    #[default]
    #[serde(rename = "JSONRPC")]
    JsonRpc,
}

/// Where an agent is spoken to: the chosen interface of its card. Journaled with a delegation,
/// so that recovery talks to the same place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    /// The interface's URL, used as it is.
    pub url: String,
    /// The tenant that every request must carry, where the interface names one.
    #[serde(default)]
    pub tenant: Option<String>,
    /// The binding.
    #[serde(default)]
    pub binding: Binding,
    /// The protocol's version as the card has it, for example `1.0`.
    pub version: String,
}

/// An endpoint and the principal to act as there.
#[derive(Clone, Debug)]
pub struct Target {
    /// Where.
    pub endpoint: Endpoint,
    /// As whom. Reads and sends of one delegation use the same principal (DESIGN.md §5).
    pub credential: Credential,
}
