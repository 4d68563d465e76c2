//! Agents, their skills, what is vouched and learned of them, booking systems and workflows:
//! data that admins edit and the loop reads.

use crate::a2a::{Card, Credential, Endpoint, Target};
use crate::accounts::Viewer;
use crate::booking::BookingSystem;
use crate::store::{AgentRow, FactRow};
use crate::{Engine, Inner, StoreError};
use domain::ids::AgentId;
use domain::time::Span;
use domain::view::FieldError;
use domain::world::{AgentProfile, BookingProfile, Fact, World};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub use domain::world::AgentState;

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

/// How long the registry as read is good for: edits of other instances show after this.
const FRESH: Duration = Duration::from_secs(1);

/// The registry as last read.
#[derive(Default)]
pub(crate) struct Cache(Mutex<Option<(Instant, Arc<Read>)>>);

impl Cache {
    /// The next look reads the database.
    pub(crate) fn forget(&self) {
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = None;
    }

    fn fresh(&self) -> Option<Arc<Read>> {
        let held = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        held.as_ref().filter(|(at, _)| at.elapsed() < FRESH).map(|(_, read)| read.clone())
    }

    fn keep(&self, read: Arc<Read>) {
        let mut held = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *held = Some((Instant::now(), read));
    }
}

struct Read {
    world: Arc<World>,
    endpoints: BTreeMap<String, Endpoint>,
    systems: Vec<BookingSystem>,
}

impl Inner {
    /// Agents and booking systems as the registry knows them now.
    pub(crate) async fn world(&self) -> Result<Arc<World>, StoreError> {
        Ok(self.registry_now().await?.world.clone())
    }

    /// Where an agent is spoken to, and as whom.
    pub(crate) async fn target(&self, agent: &AgentId) -> Result<Target, String> {
        let registry = self.registry_now().await.map_err(|error| error.to_string())?;
        let endpoint = registry.endpoints.get(agent.as_str()).cloned();
        let endpoint = endpoint.ok_or_else(|| "the agent is not registered any more".to_owned())?;
        Ok(Target { endpoint, credential: Credential::None })
    }

    /// A booking system by its name.
    pub(crate) async fn booking_system(&self, name: &str) -> Result<BookingSystem, String> {
        let registry = self.registry_now().await.map_err(|error| error.to_string())?;
        let system = registry.systems.iter().find(|system| system.name == name).cloned();
        system.ok_or_else(|| format!("the booking system {name} is not registered"))
    }

    async fn registry_now(&self) -> Result<Arc<Read>, StoreError> {
        if let Some(read) = self.registry.fresh() {
            return Ok(read);
        }
        let agents = self.store.agents().await?;
        let facts = self.store.facts().await?;
        let mut endpoints = BTreeMap::new();
        let mut profiles = Vec::new();
        for agent in &agents {
            endpoints.insert(agent.id.clone(), understood(&agent.id, &agent.endpoint)?);
            profiles.push(profile(agent, &facts, self.waits.landing_grace)?);
        }
        let mut systems = Vec::new();
        for (id, _, definition) in self.store.booking_systems().await? {
            systems.push(understood::<BookingSystem>(&id, &definition)?);
        }
        let booking_systems = systems.iter().map(booking_profile).collect();
        let world = Arc::new(World { agents: profiles, booking_systems, waits: self.waits });
        let read = Arc::new(Read { world, endpoints, systems });
        self.registry.keep(read.clone());
        Ok(read)
    }
}

fn understood<T: serde::de::DeserializeOwned>(id: &str, text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::Row(format!("{id}: {error}")))
}

fn booking_profile(system: &BookingSystem) -> BookingProfile {
    BookingProfile {
        name: system.name.clone(),
        settle: Span::seconds(system.settle_seconds),
        cancels: system.cancel.is_some(),
    }
}

/// An agent with the facts that hold for its present card version. What was seen stands above what
/// is vouched, but for deduplication, which cannot be seen.
fn profile(agent: &AgentRow, facts: &[FactRow], landing_grace: Span) -> Result<AgentProfile, StoreError> {
    let vouched: Vouched = understood(&agent.id, &agent.vouched)?;
    let mut known = BTreeMap::new();
    for (fact, yes) in [
        (Fact::CarriesReference, vouched.carries_reference),
        (Fact::KeepsContextId, vouched.keeps_context_id),
        (Fact::AnswersWithTasks, vouched.answers_with_tasks),
        (Fact::DeduplicatesDurably, vouched.deduplicates_durably),
    ] {
        if yes {
            known.insert(fact, true);
        }
    }
    let own = facts.iter().filter(|f| f.agent == agent.id && f.card_version == agent.card_version);
    for fact in own.filter(|f| f.fact != Fact::DeduplicatesDurably) {
        known.insert(fact.fact, fact.holds);
    }
    let grace = agent.landing_grace_seconds.map_or(landing_grace, Span::seconds);
    Ok(AgentProfile {
        id: AgentId(agent.id.clone()),
        name: agent.name.clone(),
        state: state_of(&agent.state),
        principal: agent.principal.clone(),
        skills: agent.skills.keys().cloned().collect(),
        streaming: agent.streaming,
        facts: known,
        failures: agent.failures,
        preference: agent.preference,
        cost: agent.cost,
        landing_grace: grace,
    })
}

fn state_of(word: &str) -> AgentState {
    match word {
        "draining" => AgentState::Draining,
        "enabled" => AgentState::Enabled,
        // A word that is not known gets no work.
        _ => AgentState::Disabled,
    }
}

fn state_word(state: AgentState) -> &'static str {
    match state {
        AgentState::Enabled => "enabled",
        AgentState::Draining => "draining",
        AgentState::Disabled => "disabled",
    }
}

impl Engine {
    /// Every agent, by name.
    ///
    /// # Errors
    /// The database failed.
    pub async fn agents(&self) -> Result<Vec<AgentView>, StoreError> {
        self.inner.store.agents().await?.iter().map(agent_view).collect()
    }

    /// Fetches the card, checks it and stores the agent.
    ///
    /// # Errors
    /// [`RegistryError`]; nothing was stored.
    pub async fn add_agent(&self, who: &Viewer, new: &NewAgent) -> Result<AgentView, RegistryError> {
        let invalid = |field: &str, message: String| {
            RegistryError::Invalid(vec![FieldError { field: field.to_owned(), message }])
        };
        let url = url::Url::parse(new.card_url.trim())
            .map_err(|error| invalid("card_url", format!("This is no address: {error}.")))?;
        self.inner.policy.check_url(&url).map_err(|why| invalid("card_url", why))?;
        if new.landing_grace_seconds.is_some_and(|s| !(1..=86_400).contains(&s)) {
            return Err(invalid("landing_grace_seconds", "Give 1 to 86400 seconds.".to_owned()));
        }
        let (card, raw) = self.inner.agents.card(&url, &Credential::None).await.map_err(|failure| {
            invalid("card_url", format!("The card could not be read: {}", failure.text))
        })?;
        let endpoint = card.endpoint.clone().ok_or_else(|| {
            invalid("card_url", "The card offers no JSON-RPC interface of protocol version 1.0.".to_owned())
        })?;
        let endpoint_url = url::Url::parse(&endpoint.url).map_err(|error| {
            invalid("card_url", format!("The card's interface has no sound address: {error}."))
        })?;
        self.inner.policy.check_url(&endpoint_url).map_err(|why| invalid("card_url", why))?;
        let skills = skills_of(&card, &new.skills).map_err(|message| invalid("skills", message))?;
        let row = AgentRow {
            id: crate::clock::new_id(),
            name: crate::a2a::cut(&card.name, 120),
            card_url: url.to_string(),
            endpoint: json_text(&endpoint)?,
            card: raw.to_string(),
            card_version: crate::a2a::cut(&card.version, 120),
            streaming: card.streaming,
            principal: "holdfast".to_owned(),
            state: state_word(new.state).to_owned(),
            preference: new.preference,
            cost: new.cost,
            failures: 0,
            landing_grace_seconds: new.landing_grace_seconds,
            vouched: json_text(&new.vouched)?,
            vouched_by: who.email.clone(),
            skills,
        };
        if !self.inner.store.insert_agent(&row).await? {
            return Err(RegistryError::Exists(row.card_url));
        }
        self.inner.registry.forget();
        Ok(agent_view(&row)?)
    }

    /// Every booking system, by name.
    ///
    /// # Errors
    /// The database failed.
    pub async fn booking_systems(&self) -> Result<Vec<BookingSystemView>, StoreError> {
        let agents = self.agents().await?;
        let rows = self.inner.store.booking_systems().await?;
        rows.into_iter()
            .map(|(id, name, definition)| {
                let system: BookingSystem = understood(&id, &definition)?;
                let warnings = warnings(&system, &agents);
                Ok(BookingSystemView { definition: understood(&id, &definition)?, id, name, warnings })
            })
            .collect()
    }

    /// Checks and stores a booking system (the body of DESIGN.md §11).
    ///
    /// # Errors
    /// [`RegistryError`]; nothing was stored.
    pub async fn add_booking_system(
        &self,
        who: &Viewer,
        definition: &serde_json::Value,
    ) -> Result<BookingSystemView, RegistryError> {
        let system: BookingSystem = serde_json::from_value(definition.clone()).map_err(|error| {
            RegistryError::Invalid(vec![FieldError { field: String::new(), message: error.to_string() }])
        })?;
        let mut errors = system.validate(&self.inner.policy);
        if !matches!(system.credential, Credential::None) {
            let message =
                "Credentials cannot be stored by this version; use a system that needs none.".to_owned();
            errors.push(FieldError { field: "credential".to_owned(), message });
        }
        if !errors.is_empty() {
            return Err(RegistryError::Invalid(errors));
        }
        let id = crate::clock::new_id();
        let text = json_text(&system)?;
        if !self.inner.store.insert_booking_system(&id, &system.name, &text, &who.email).await? {
            return Err(RegistryError::Exists(system.name));
        }
        self.inner.registry.forget();
        let warnings = warnings(&system, &self.agents().await?);
        let definition = understood(&id, &text)?;
        Ok(BookingSystemView { id, name: system.name, definition, warnings })
    }
}

fn json_text<T: Serialize>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Row(error.to_string()))
}

/// Their skill by ours, each checked against the card.
fn skills_of(card: &Card, map: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, String> {
    if map.is_empty() {
        return Err("Map at least one of the card's skills to one of ours.".to_owned());
    }
    let mut skills = BTreeMap::new();
    for (theirs, ours) in map {
        if !card.skills.iter().any(|skill| &skill.id == theirs) {
            let known: Vec<&str> = card.skills.iter().map(|skill| skill.id.as_str()).collect();
            return Err(format!("The card has no skill {theirs:?}; it has: {}.", known.join(", ")));
        }
        if skills.insert(ours.clone(), theirs.clone()).is_some() {
            return Err(format!("Two of the card's skills are mapped to {ours:?}."));
        }
    }
    Ok(skills)
}

fn agent_view(agent: &AgentRow) -> Result<AgentView, StoreError> {
    let endpoint: Endpoint = understood(&agent.id, &agent.endpoint)?;
    Ok(AgentView {
        id: agent.id.clone(),
        name: agent.name.clone(),
        card_url: agent.card_url.clone(),
        endpoint_url: endpoint.url,
        skills: agent.skills.keys().cloned().collect(),
        vouched: understood(&agent.id, &agent.vouched)?,
        state: state_of(&agent.state),
        preference: agent.preference,
        cost: agent.cost,
    })
}

/// The lookup must not be the agent that booked (§8): told where they share host and port.
fn warnings(system: &BookingSystem, agents: &[AgentView]) -> Vec<String> {
    let place = |text: &str| {
        url::Url::parse(text).ok().and_then(|u| Some((u.host_str()?.to_owned(), u.port_or_known_default())))
    };
    let own = place(&system.base_url);
    let shared = agents.iter().filter(|agent| own.is_some() && place(&agent.endpoint_url) == own);
    shared
        .map(|agent| {
            format!("The lookup is on the own host of the agent {}: it would vouch for itself.", agent.name)
        })
        .collect()
}
