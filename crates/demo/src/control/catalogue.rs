//! Everything that can be played, with one sentence each: as JSON and on the page.

use super::Problem;
use super::page::text;
use crate::agents::behaviour::{Kind, Quirk};
use crate::bookings::behaviour::{Cancel, Lookup};
use crate::faults::Fault;
use crate::seed::Seed;
use crate::world::World;
use serde_json::{Value, json};
use std::fmt::Write;

/// What is played by a call of its own: the call and what it does.
const CALLS: [(&str, &str, &str); 8] = [
    ("PUT", "/agents/{name}/up", "Puts an agent down or up; a down agent refuses connections."),
    ("PUT", "/agents/{name}/card", "What an agent offers: lists, streaming, push."),
    ("POST", "/agents/{name}/restart", "Restarts one agent: forget its tasks, orphan them, down_ms."),
    ("POST", "/agents/{name}/forget", "An agent knows nothing any more: of one task, or of all."),
    ("POST", "/agents/{name}/push/forget", "An agent drops all its push configs."),
    ("POST", "/agents/{name}/tasks/{task}/authorise", "Gives the permission that a task waits for."),
    ("POST", "/ledgers/{name}/bookings", "Writes a booking into a ledger, of whatever reference."),
    ("POST", "/seed", "Faults by chance, from a seed, at a rate."),
];

type Entry = (&'static str, &'static str, Option<&'static str>, bool);

fn sections() -> [(&'static str, &'static str, Vec<Entry>); 5] {
    let wire = Fault::ALL.iter().map(|f| (f.name(), f.description(), Some(f.home()), f.is_seeded()));
    let kinds = Kind::ALL.iter().map(|k| (k.name(), k.description(), None, k.is_seeded()));
    let quirks = Quirk::ALL.iter().map(|q| (q.name(), q.description(), None, q.is_seeded()));
    let lookups = Lookup::ALL.iter().map(|l| (l.name(), l.description(), None, l.is_seeded()));
    let cancels = Cancel::ALL.iter().map(|c| (c.name(), c.description(), None, c.is_seeded()));
    [
        ("wire", "PUT /agents/{name}/faults", wire.collect()),
        ("behaviours", "PUT /agents/{name}/behaviour: behaviour", kinds.collect()),
        ("also", "PUT /agents/{name}/behaviour: also", quirks.collect()),
        ("lookups", "PUT /booking-systems/{name}/behaviour: lookup", lookups.collect()),
        ("cancels", "PUT /booking-systems/{name}/behaviour: cancel", cancels.collect()),
    ]
}

/// The catalogue as JSON.
pub fn json() -> Value {
    let mut all = json!({});
    for (section, by, entries) in sections() {
        let entries: Vec<Value> = entries
            .into_iter()
            .map(|(name, does, home, seeded)| {
                json!({ "name": name, "does": does, "method": home, "seeded": seeded, "by": by })
            })
            .collect();
        all[section] = entries.into();
    }
    let calls =
        CALLS.iter().map(|(verb, path, does)| json!({ "call": format!("{verb} {path}"), "does": does }));
    all["calls"] = calls.collect::<Vec<_>>().into();
    all
}

/// The catalogue on the page, with what is chosen at present.
pub async fn table(world: &World, html: &mut String) -> Result<(), Problem> {
    write!(html, "<h2>What can be played</h2>")?;
    for place in &world.agents {
        let chosen = place.who.gate.faults().await?;
        if !chosen.is_empty() {
            let names: Vec<_> = chosen.iter().map(|choice| choice.fault.name()).collect();
            write!(html, "<p>{}: <code>{}</code></p>", text(place.who.profile.title), names.join(", "))?;
        }
    }
    if let Some(seed) = Seed::current(&world.store).await? {
        write!(html, "<p>By chance: seed {}, rate {}.</p>", seed.seed, seed.rate)?;
    }
    for (section, by, entries) in sections() {
        write!(html, "<details><summary>{section} <code>{}</code></summary><table>", text(by))?;
        for (name, does, ..) in entries {
            write!(html, "<tr><td><code>{name}</code><td>{}", text(does))?;
        }
        write!(html, "</table></details>")?;
    }
    write!(html, "<details><summary>calls</summary><table>")?;
    for (verb, path, does) in CALLS {
        write!(html, "<tr><td><code>{verb} {}</code><td>{}", text(path), text(does))?;
    }
    write!(html, "</table></details>")?;
    Ok(())
}
