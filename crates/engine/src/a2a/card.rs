//! An agent's card, read leniently: an unknown security scheme or extension, a missing list or
//! a v0.3 card is shown as it is and fails nothing (a2a-facts.md §13.1). The raw JSON is kept
//! beside it by the caller.

use super::limits::{Limits, cut};
use super::{Binding, Endpoint, convert};
use a2a::{TRANSPORT_PROTOCOL_JSONRPC, VERSION};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

/// What a card says, as far as it matters to us.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// The agent's name.
    pub name: String,
    /// What it says about itself.
    pub description: String,
    /// The agent's own version; remembered facts are kept by it.
    pub version: String,
    /// Who runs it.
    pub provider: Option<String>,
    /// The interfaces, in the card's order.
    pub interfaces: Vec<CardInterface>,
    /// The first interface that we speak: JSON-RPC, version 1.0.
    pub endpoint: Option<Endpoint>,
    /// Whether it says that it streams.
    pub streaming: bool,
    /// Whether it says that it pushes.
    pub push: bool,
    /// Its skills.
    pub skills: Vec<CardSkill>,
    /// Its security schemes: the name and the kind as the card has it.
    pub security: Vec<(String, String)>,
    /// URIs of extensions that it requires.
    pub required_extensions: Vec<String>,
}

/// One way to speak to an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardInterface {
    /// Where.
    pub url: String,
    /// The binding's name.
    pub binding: String,
    /// The protocol's version.
    pub version: String,
    /// The tenant that requests must name.
    pub tenant: Option<String>,
}

/// One thing that an agent says it can do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardSkill {
    /// Its id in the card.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
}

/// The most interfaces, skills and schemes that are kept of a card.
const MOST: usize = 200;

/// Reads a card that was fetched from `from`; relative URLs in it are taken from there.
pub fn read(raw: &Value, from: &Url) -> Result<Card, String> {
    if !raw.is_object() {
        return Err("the card is no JSON object".to_owned());
    }
    let text = |value: &Value, name: &str| -> String {
        let text = value.get(name).and_then(Value::as_str).unwrap_or_default();
        cut(text, Limits::default().text_bytes)
    };
    let interfaces = interfaces(raw, from);
    let name = text(raw, "name");
    if name.is_empty() && interfaces.is_empty() {
        return Err("this is no agent card: it has neither a name nor an interface".to_owned());
    }
    let flags = raw.get("capabilities").unwrap_or(&Value::Null);
    let flag = |name: &str| flags.get(name).and_then(Value::as_bool).unwrap_or(false);
    let required = convert::list(flags.get("extensions"))
        .iter()
        .filter(|extension| extension.get("required").and_then(Value::as_bool) == Some(true));
    let skills = convert::list(raw.get("skills")).iter().take(MOST).filter_map(|skill| {
        let id = convert::id(skill.get("id"))?;
        Some(CardSkill { id, name: text(skill, "name"), description: text(skill, "description") })
    });
    Ok(Card {
        name,
        description: text(raw, "description"),
        version: text(raw, "version"),
        provider: raw
            .get("provider")
            .map(|provider| text(provider, "organization"))
            .filter(|name| !name.is_empty()),
        endpoint: choose(&interfaces),
        interfaces,
        streaming: flag("streaming"),
        push: flag("pushNotifications"),
        skills: skills.collect(),
        security: security(raw.get("securitySchemes")),
        required_extensions: required.take(MOST).map(|extension| text(extension, "uri")).collect(),
    })
}

/// The interfaces of a v1.0 card, or the one of a v0.3 card.
fn interfaces(raw: &Value, from: &Url) -> Vec<CardInterface> {
    let text =
        |value: &Value, name: &str| cut(value.get(name).and_then(Value::as_str).unwrap_or_default(), 2048);
    let absolute = |url: String| from.join(&url).map_or(url, String::from);
    let listed = convert::list(raw.get("supportedInterfaces"));
    if !listed.is_empty() {
        let read = |value: &Value| CardInterface {
            url: absolute(text(value, "url")),
            binding: text(value, "protocolBinding"),
            version: text(value, "protocolVersion"),
            tenant: Some(text(value, "tenant")).filter(|tenant| !tenant.is_empty()),
        };
        return listed.iter().take(MOST).map(read).collect();
    }
    let url = text(raw, "url");
    if url.is_empty() {
        return Vec::new();
    }
    let or = |text: String, default: &str| if text.is_empty() { default.to_owned() } else { text };
    vec![CardInterface {
        url: absolute(url),
        binding: or(text(raw, "preferredTransport"), TRANSPORT_PROTOCOL_JSONRPC),
        version: or(text(raw, "protocolVersion"), "0.3"),
        tenant: None,
    }]
}

/// The first interface that we speak. Patch digits of the version play no part.
fn choose(interfaces: &[CardInterface]) -> Option<Endpoint> {
    let speaks = |interface: &&CardInterface| {
        let version = interface.version.trim();
        let same =
            version == VERSION || version.strip_prefix(VERSION).is_some_and(|rest| rest.starts_with('.'));
        same && interface.binding.eq_ignore_ascii_case(TRANSPORT_PROTOCOL_JSONRPC)
            && !interface.url.is_empty()
    };
    let chosen = interfaces.iter().find(speaks)?;
    Some(Endpoint {
        url: chosen.url.clone(),
        tenant: chosen.tenant.clone(),
        binding: Binding::JsonRpc,
        version: chosen.version.clone(),
    })
}

/// Names and kinds of the security schemes: the wrapper's name in v1.0, `type` in v0.3.
fn security(schemes: Option<&Value>) -> Vec<(String, String)> {
    let Some(schemes) = schemes.and_then(Value::as_object) else { return Vec::new() };
    let kind = |scheme: &Value| -> String {
        let stated = scheme.get("type").and_then(Value::as_str);
        let wrapper = scheme.as_object().and_then(|object| object.keys().next()).map(String::as_str);
        cut(stated.or(wrapper).unwrap_or("unknown"), 100)
    };
    schemes.iter().take(MOST).map(|(name, scheme)| (cut(name, 100), kind(scheme))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn card(raw: &Value) -> Card {
        read(raw, &Url::parse("https://agent.example/.well-known/agent-card.json").expect("url"))
            .expect("reads")
    }

    #[test]
    fn the_first_interface_that_we_speak_is_chosen() {
        let card = card(&json!({
            "name": "Air", "version": "7", "supportedInterfaces": [
                {"url": "https://a/grpc", "protocolBinding": "GRPC", "protocolVersion": "1.0"},
                {"url": "https://a/old", "protocolBinding": "JSONRPC", "protocolVersion": "0.3"},
                {"url": "/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0", "tenant": "t"},
                {"url": "https://a/second", "protocolBinding": "JSONRPC", "protocolVersion": "1.0", "tenant": ""},
            ],
            "capabilities": {"streaming": true, "pushNotifications": null},
            "skills": [{"id": "book", "name": "Book", "tags": null}, {"name": "no id"}],
            "securitySchemes": {"new": {"quantumSecurityScheme": {}}},
        }));
        let endpoint = card.endpoint.expect("chosen");
        assert_eq!(
            (endpoint.url.as_str(), endpoint.tenant.as_deref()),
            ("https://agent.example/rpc", Some("t"))
        );
        assert!(card.streaming && !card.push);
        assert_eq!(card.skills.len(), 1);
        assert_eq!(card.security, [("new".to_owned(), "quantumSecurityScheme".to_owned())]);
    }

    #[test]
    fn an_old_card_is_shown_and_has_no_endpoint() {
        let card = card(&json!({"name": "Old", "url": "https://a/", "protocolVersion": "0.3.0"}));
        assert_eq!(card.endpoint, None);
        assert_eq!(card.interfaces[0].version, "0.3.0");
    }

    #[test]
    fn what_is_no_card_is_refused() {
        let from = Url::parse("https://agent.example/").expect("url");
        for raw in [json!([]), json!({}), json!({"error": "no"})] {
            read(&raw, &from).expect_err("no card");
        }
    }
}
