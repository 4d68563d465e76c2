//! An agent's card: what it says of itself to everyone.

use super::Profile;
use super::content::Trade;
use a2a::{AgentCapabilities, AgentCard, AgentInterface, AgentProvider, AgentSkill};

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

/// What it can do beyond the least: streams, no pushes.
pub fn capabilities() -> AgentCapabilities {
    AgentCapabilities {
        streaming: Some(true),
        push_notifications: Some(false),
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
