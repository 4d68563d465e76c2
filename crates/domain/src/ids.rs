//! Identifiers. Each is a newtype over text, so that a task id can never be passed where a
//! message id is due. Our own are UUIDv7; those of agents are whatever the agent chose.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! id {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text)
            }
        }
    )*};
}

id! {
    /// One person who may sign in.
    UserId,
    /// One run of a workflow for one traveller.
    TripId,
    /// The name of a step, unique inside its workflow.
    StepName,
    /// One attempt at one step by one agent: the journal row.
    DelegationId,
    /// The row of a request, reply or cancel of ours.
    OutboxId,
    /// The A2A `messageId` of a request or reply; a resend carries the same one.
    MessageId,
    /// The A2A `contextId`, made by us, one for each delegation.
    ContextId,
    /// The agent's id of its task. Outside text: never trusted, never parsed.
    TaskId,
    /// What a booking is looked up by; one for each delegation.
    Reference,
    /// One question that a person must answer.
    QuestionId,
    /// One booking, expected or found.
    EffectId,
    /// One undo of an effect.
    CompensationId,
    /// A registered agent.
    AgentId,
    /// A registered booking system.
    BookingSystemId,
    /// One process that drives trips.
    HolderId,
}

/// Makes new ids. The engine's version makes UUIDv7, a test's counts.
pub trait IdSource {
    /// A new id, never given before.
    fn next_id(&mut self) -> String;
}
