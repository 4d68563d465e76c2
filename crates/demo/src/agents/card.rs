//! An agent's card: what it says of itself to everyone.

use super::Profile;
use super::content::Trade;
use crate::store::Store;
use a2a::{AgentCapabilities, AgentCard, AgentInterface, AgentProvider, AgentSkill};
use a2a_server::AgentCardProducer;
use anyhow::Result;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, PoisonError, RwLock};

/// What an agent offers beyond the least. What it does not offer, it refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardChoice {
    /// Whether it lists tasks; cards cannot say so.
    pub lists: bool,
    /// Whether it streams.
    pub streaming: bool,
    /// Whether it pushes.
    pub push: bool,
}

impl Default for CardChoice {
    fn default() -> Self {
        Self { lists: true, streaming: true, push: false }
    }
}

/// A change of what an agent offers; what is missing stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CardChange {
    lists: Option<bool>,
    streaming: Option<bool>,
    push: Option<bool>,
}

/// What an agent offers at present, for all its parts.
#[derive(Clone, Debug, Default)]
pub struct CardSwitch(Arc<RwLock<CardChoice>>);

impl CardSwitch {
    /// What it offers.
    pub fn get(&self) -> CardChoice {
        *self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads what was chosen before a restart, or after everything was forgotten.
    pub async fn load(&self, store: &Store, profile: &Profile) -> Result<()> {
        self.put(store.setting(&key(profile)).await?.unwrap_or_default());
        Ok(())
    }

    /// Chooses.
    pub async fn change(&self, store: &Store, profile: &Profile, change: CardChange) -> Result<()> {
        let now = self.get();
        let next = CardChoice {
            lists: change.lists.unwrap_or(now.lists),
            streaming: change.streaming.unwrap_or(now.streaming),
            push: change.push.unwrap_or(now.push),
        };
        store.set(&key(profile), &next).await?;
        self.put(next);
        Ok(())
    }

    fn put(&self, choice: CardChoice) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = choice;
    }
}

fn key(profile: &Profile) -> String {
    format!("agent/{}/card", profile.name)
}

/// Serves the card as it is at present.
#[derive(Debug)]
pub struct Cards {
    /// Whose.
    pub profile: &'static Profile,
    /// Where it is.
    pub url: String,
    /// What it offers.
    pub switch: CardSwitch,
}

impl AgentCardProducer for Cards {
    fn card(&self) -> AgentCard {
        let choice = self.switch.get();
        let mut card = card(self.profile, &self.url);
        card.capabilities.streaming = Some(choice.streaming);
        card.capabilities.push_notifications = Some(choice.push);
        // The server crate makes the ETag of the version: another card, another version.
        if choice != CardChoice::default() {
            let name = |on: bool, name: &'static str| if on { name } else { "" };
            card.version = format!(
                "{}+{}{}{}",
                card.version,
                name(choice.lists, "l"),
                name(choice.streaming, "s"),
                name(choice.push, "p")
            );
        }
        card
    }
}

/// The card of an agent at an address.
pub fn card(profile: &Profile, url: &str) -> AgentCard {
    AgentCard {
        name: profile.title.to_owned(),
        description: profile.description.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        supported_interfaces: vec![
            AgentInterface::new(url, "JSONRPC"),
            AgentInterface::new(format!("{url}/rest"), "HTTP+JSON"),
        ],
        capabilities: capabilities(),
        default_input_modes: modes(),
        default_output_modes: modes(),
        skills: vec![skill(profile)],
        provider: Some(AgentProvider { organization: profile.title.to_owned(), url: url.to_owned() }),
        documentation_url: None,
        icon_url: None,
        security_schemes: None,
        security_requirements: None,
        signatures: None,
    }
}

/// What it can do beyond the least: the gate and the push store refuse what is switched off.
pub fn capabilities() -> AgentCapabilities {
    AgentCapabilities {
        streaming: Some(true),
        push_notifications: Some(true),
        extensions: None,
        extended_agent_card: Some(false),
    }
}

/// The media types that it reads and writes.
pub fn modes() -> Vec<String> {
    vec!["text/plain".to_owned(), "application/json".to_owned()]
}

fn skill(profile: &Profile) -> AgentSkill {
    let (name, description, tags, example) = match profile.trade {
        Trade::Flight => (
            "Book a return flight",
            "Finds and books a return flight for a party, and says its confirmation and price.",
            ["travel", "flight"],
            "Fly two people from Lisbon to Berlin on 2027-03-01, back on 2027-03-05.",
        ),
        Trade::Hotel => (
            "Book a hotel",
            "Finds and books rooms for a party, and says their confirmation and price.",
            ["travel", "hotel"],
            "Two people in Berlin from 2027-03-01 to 2027-03-05.",
        ),
        Trade::Car(..) => (
            "Rent a car",
            "Books a rental car, and says its confirmation and price.",
            ["travel", "car"],
            "A car in Berlin from 2027-03-01 to 2027-03-05.",
        ),
    };
    AgentSkill {
        id: profile.skill.to_owned(),
        name: name.to_owned(),
        description: description.to_owned(),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        examples: Some(vec![example.to_owned()]),
        input_modes: None,
        output_modes: None,
        security_requirements: None,
    }
}
