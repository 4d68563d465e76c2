//! What a decision must know besides the trip: the agents and booking systems as the registry
//! knows them now, and the waits.

use crate::ids::AgentId;
use crate::time::Span;
use crate::waits::Waits;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Whether an agent gets work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentState {
    /// Gets new attempts.
    #[default]
    Enabled,
    /// Gets no new attempts.
    Draining,
    /// Gets no resends either.
    Disabled,
}

/// What can be known of an agent (DESIGN.md §7, `agent_facts`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// ListTasks works.
    Lists,
    /// It keeps the contextId that we choose.
    KeepsContextId,
    /// It answers with tasks, never with a bare message.
    AnswersWithTasks,
    /// Its bookings carry our reference.
    CarriesReference,
    /// SubscribeToTask works.
    Streams,
    /// It deduplicates by messageId, over its own restarts.
    DeduplicatesDurably,
    /// It rejects truthfully.
    RejectsTruthfully,
}

impl Fact {
    /// The word stored and shown.
    pub fn word(self) -> &'static str {
        match self {
            Self::Lists => "lists",
            Self::KeepsContextId => "keeps_context_id",
            Self::AnswersWithTasks => "answers_with_tasks",
            Self::CarriesReference => "carries_reference",
            Self::Streams => "streams",
            Self::DeduplicatesDurably => "deduplicates_durably",
            Self::RejectsTruthfully => "rejects_truthfully",
        }
    }
    /// Reads the stored word.
    pub fn from_word(word: &str) -> Option<Self> {
        [
            Self::Lists,
            Self::KeepsContextId,
            Self::AnswersWithTasks,
            Self::CarriesReference,
            Self::Streams,
            Self::DeduplicatesDurably,
            Self::RejectsTruthfully,
        ]
        .into_iter()
        .find(|fact| fact.word() == word)
    }
}

/// One agent as decisions see it: only facts that hold now and for its present version.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentProfile {
    /// Its id.
    pub id: AgentId,
    /// Its name for people.
    pub name: String,
    /// Whether it gets work.
    pub state: AgentState,
    /// The account that we act as there.
    pub principal: String,
    /// Our skills that it serves.
    pub skills: Vec<String>,
    /// Its card says that it streams.
    pub streaming: bool,
    /// Known facts; a missing one is not known.
    pub facts: BTreeMap<Fact, bool>,
    /// Attempts of late that ended badly.
    pub failures: i64,
    /// Higher is asked earlier.
    pub preference: i64,
    /// Lower is asked earlier, after preference.
    pub cost: i64,
    /// How long a request may still turn up after the last permitted send.
    pub landing_grace: Span,
}

impl AgentProfile {
    /// Whether the fact is known and true.
    pub fn is(&self, fact: Fact) -> bool {
        self.facts.get(&fact) == Some(&true)
    }
    /// Whether the fact is known and false.
    pub fn is_not(&self, fact: Fact) -> bool {
        self.facts.get(&fact) == Some(&false)
    }
}

/// One booking system as decisions see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookingProfile {
    /// Its name: what a workflow's effect refers to.
    pub name: String,
    /// How long its records may lag behind, and an agent behind its last word.
    pub settle: Span,
    /// Whether it cancels at all.
    pub cancels: bool,
}

/// What a decision must know besides the trip.
#[derive(Clone, Debug)]
pub struct World {
    /// Every registered agent.
    pub agents: Vec<AgentProfile>,
    /// Every registered booking system.
    pub booking_systems: Vec<BookingProfile>,
    /// The waits.
    pub waits: Waits,
}

impl World {
    /// An agent by its id.
    pub fn agent(&self, id: &AgentId) -> Option<&AgentProfile> {
        self.agents.iter().find(|agent| &agent.id == id)
    }

    /// An agent's name for people; its id where it is not registered any more.
    pub fn agent_name(&self, id: &AgentId) -> String {
        self.agent(id).map_or_else(|| id.0.clone(), |agent| agent.name.clone())
    }

    /// The landing grace of an agent.
    pub fn landing_grace(&self, id: &AgentId) -> Span {
        self.agent(id).map_or(self.waits.landing_grace, |agent| agent.landing_grace)
    }

    /// The longest settle time among the named booking systems.
    pub fn settle(&self, names: &[String]) -> Span {
        self.booking_systems
            .iter()
            .filter(|system| names.contains(&system.name))
            .map(|system| system.settle)
            .max()
            .unwrap_or(self.waits.settle)
    }
}
