//! Agents, their skills, what is vouched and learned of them, booking systems and workflows:
//! data that admins edit and the loop reads.

use crate::accounts::Viewer;
use crate::{Engine, StoreError};
use domain::view::FieldError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The body of `POST /agents`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewAgent {
    /// Where its card is.
    pub card_url: String,
    /// From the card's skill ids to ours.
    pub skills: BTreeMap<String, String>,
    /// What an admin vouches for.
    #[serde(default)]
    pub vouched: Vouched,
    /// Higher is asked earlier.
    #[serde(default)]
    pub preference: i64,
    /// Lower is asked earlier, after preference.
    #[serde(default)]
    pub cost: i64,
    /// How long after the last permitted send a request may still turn up; the default of the
    /// installation where it is missing.
    #[serde(default)]
    pub landing_grace_seconds: Option<i64>,
    /// `enabled`, `draining` or `disabled`.
    #[serde(default)]
    pub state: AgentState,
}

/// Whether an agent gets work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentState {
    /// Gets new attempts.
    #[default]
    Enabled,
    /// Gets no new attempts.
    Draining,
    /// Gets no resends either; reads, cancels and undo go on.
    Disabled,
}

/// An admin's dated statement about an agent (DESIGN.md §5, *earned*).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Vouched {
    /// Its bookings carry our reference.
    pub carries_reference: bool,
    /// It keeps the contextId that we choose.
    pub keeps_context_id: bool,
    /// It answers with tasks, never with a bare message.
    pub answers_with_tasks: bool,
    /// It deduplicates by messageId, also over its own restarts.
    pub deduplicates_durably: bool,
}

/// One agent as the API shows it. Holds no secret.
#[derive(Clone, Debug, Serialize)]
pub struct AgentView {
    /// Its id.
    pub id: String,
    /// Its name, from the card.
    pub name: String,
    /// Where its card is.
    pub card_url: String,
    /// Where calls go.
    pub endpoint_url: String,
    /// Our skills that it serves.
    pub skills: Vec<String>,
    /// What is vouched.
    pub vouched: Vouched,
    /// Whether it gets work.
    pub state: AgentState,
    /// Higher is asked earlier.
    pub preference: i64,
    /// Lower is asked earlier.
    pub cost: i64,
}

/// One booking system as the API shows it. Holds no secret.
#[derive(Clone, Debug, Serialize)]
pub struct BookingSystemView {
    /// Its id.
    pub id: String,
    /// Its name: what a workflow's effect refers to.
    pub name: String,
    /// Its definition as given, without the credential.
    pub definition: serde_json::Value,
    /// What an admin should look at again.
    pub warnings: Vec<String>,
}

/// Why a registry entry was not made.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// Fields are wrong: each with what would be right.
    #[error("some fields need another value")]
    Invalid(Vec<FieldError>),
    /// The name or card url is registered already.
    #[error("{0} is registered already")]
    Exists(String),
    /// The database failed.
    #[error("the database failed")]
    Store(#[from] StoreError),
}

impl Engine {
    /// Every agent, by name.
    pub async fn agents(&self) -> Result<Vec<AgentView>, StoreError> {
        unimplemented!()
    }
    /// Fetches the card, checks it and stores the agent.
    pub async fn add_agent(&self, who: &Viewer, new: &NewAgent) -> Result<AgentView, RegistryError> {
        let _ = (who, new);
        unimplemented!()
    }
    /// Every booking system, by name.
    pub async fn booking_systems(&self) -> Result<Vec<BookingSystemView>, StoreError> {
        unimplemented!()
    }
    /// Checks and stores a booking system (the body of DESIGN.md §11).
    pub async fn add_booking_system(
        &self,
        who: &Viewer,
        definition: &serde_json::Value,
    ) -> Result<BookingSystemView, RegistryError> {
        let _ = (who, definition);
        unimplemented!()
    }
}
