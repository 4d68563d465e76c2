//! The demo world of a soak: agents and booking systems with faults by chance, in the soak's own
//! process, so that they outlive every kill; and everything that they saw and did.

use super::chance::Chance;
use super::facts::{AgentTask, Booking, Call, Undo};
use anyhow::{Context as _, Result};
use demo::agents::Restart;
use demo::bookings::ledger::Ledger;
use demo::world::{Options, Running};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// How each agent treats its tasks where chance does not choose: shorter than a person would wait.
const USUAL: [(&str, &str, u64); 4] = [
    ("skylark-flights", "works", 500),
    ("harbour-hotels", "asks", 300),
    ("citycar", "works", 400),
    ("metrocar", "works", 400),
];
/// Longer than the demo's longest queue and list lag together.
const LANDING_GRACE_SECONDS: u64 = 3;
/// Longer than the demo's longest replica lag and latest booking together.
const SETTLE_SECONDS: u64 = 4;
/// What no soak plays: it breaks what the agents are vouched for, or what the records are trusted
/// for, so that duplicates would be the outside's own.
const NEVER: [&str; 8] = [
    "refuses_context",
    "swaps_context",
    "foreign_context",
    "replies_with_message",
    "acknowledges",
    "absent",
    "foreign_record",
    "two_records",
];
/// What takes too much of the machine to be met by chance.
const TOO_HEAVY: [&str; 2] = ["huge_body", "many_artifacts"];

/// Which faults come by chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Faults {
    /// None.
    None,
    /// Those that end by themselves.
    Survivable,
    /// Everything that does not break a vouched fact, and agents that restart.
    All,
}

impl std::str::FromStr for Faults {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "none" => Ok(Self::None),
            "survivable" => Ok(Self::Survivable),
            "all" => Ok(Self::All),
            _ => Err(format!("{text:?} is none of: none, survivable, all")),
        }
    }
}

/// A running demo world.
pub struct SoakWorld {
    running: Running,
    http: reqwest::Client,
    control: String,
}

impl SoakWorld {
    /// Starts one that keeps its state in `folder`.
    ///
    /// # Errors
    /// It does not start.
    pub async fn start(folder: &Path) -> Result<Self> {
        let running = Running::start(&Options { data: folder.to_owned(), base_port: 0 }).await?;
        let control = running.world.control_url();
        let world = Self { running, http: reqwest::Client::new(), control };
        for (agent, behaviour, delay_ms) in USUAL {
            let body = json!({ "behaviour": behaviour, "delay_ms": delay_ms });
            world.send(reqwest::Method::PUT, &format!("/agents/{agent}/behaviour"), &body).await?;
        }
        Ok(world)
    }

    /// Bodies of `POST /booking-systems` and `POST /agents`, with the waits of a soak.
    pub fn registrations(&self) -> (Vec<Value>, Vec<Value>) {
        let world = self.running.world.description();
        let entries = |name: &str, wait: &str, seconds: u64| {
            let with_wait = |entry: &Value| {
                let mut body = entry["registration"].clone();
                body[wait] = seconds.into();
                body
            };
            crate::process::list(&world[name]).map(with_wait).collect::<Vec<_>>()
        };
        (
            entries("booking_systems", "settle_seconds", SETTLE_SECONDS),
            entries("agents", "landing_grace_seconds", LANDING_GRACE_SECONDS),
        )
    }

    /// Lets chance in, from this seed on.
    ///
    /// # Errors
    /// The control API refused.
    pub async fn play(&self, seed: u64, rate: f64, faults: Faults) -> Result<()> {
        let mut body = json!({ "seed": seed, "rate": rate, "systems_rate": rate });
        match faults {
            Faults::None => return Ok(()),
            Faults::Survivable => {}
            Faults::All => {
                let catalogue: Value =
                    self.http.get(format!("{}/faults", self.control)).send().await?.json().await?;
                for (section, field) in [
                    ("wire", "faults"),
                    ("behaviours", "behaviours"),
                    ("also", "quirks"),
                    ("lookups", "lookups"),
                    ("cancels", "cancels"),
                ] {
                    body[field] = playable(&catalogue[section]).into();
                }
            }
        }
        self.send(reqwest::Method::POST, "/seed", &body).await
    }

    /// Restarts an agent: sometimes without what it was working on, sometimes without its tasks.
    ///
    /// # Errors
    /// It does not come back.
    pub async fn restart_an_agent(&self, chance: &mut Chance) -> Result<()> {
        let Some(place) = chance.one_of(&self.running.world.agents) else { return Ok(()) };
        let how = Restart { forget: chance.is(20), orphan: chance.is(40), down_ms: chance.from(0, 1_500) };
        self.running.world.restart(place, how).await
    }

    /// Gives the permission that a task of an agent, by its title, waits for.
    pub async fn authorise(&self, title: &str, task: &str) {
        let agent = self.running.world.agents.iter().find(|place| place.who.profile.title == title);
        if let Some(place) = agent {
            // It may have been given before, or the task may wait no more: both are fine.
            let path = format!("/agents/{}/tasks/{task}/authorise", place.who.profile.name);
            let _ = self.send(reqwest::Method::POST, &path, &Value::Null).await;
        }
    }

    /// Ends all chance, and lets go what is held.
    ///
    /// # Errors
    /// The control API refused.
    pub async fn calm(&self) -> Result<()> {
        self.send(reqwest::Method::DELETE, "/seed", &Value::Null).await?;
        for place in &self.running.world.agents {
            place.who.gate.release();
        }
        Ok(())
    }

    async fn send(&self, method: reqwest::Method, path: &str, body: &Value) -> Result<()> {
        let request = self.http.request(method, format!("{}{path}", self.control));
        let answer = request.json(body).timeout(Duration::from_secs(30)).send().await?;
        let status = answer.status();
        anyhow::ensure!(status.is_success(), "{path}: {status}: {}", answer.text().await?);
        Ok(())
    }

    /// Everything in the ledgers: bookings, and the cancels that were not the agents' own.
    ///
    /// # Errors
    /// The world's memory cannot be read.
    pub async fn ledgers(&self) -> Result<(Vec<Booking>, Vec<Undo>)> {
        let (mut bookings, mut undos) = (Vec::new(), Vec::new());
        for place in &self.running.world.systems {
            let ledger = Ledger::new(self.running.world.store.clone(), place.who).whole().await?;
            bookings.extend(
                crate::process::list(&ledger["bookings"]).map(|row| Booking::read(place.who.name, row)),
            );
            undos.extend(
                crate::process::list(&ledger["operations"]).filter_map(|row| Undo::read(place.who.name, row)),
            );
        }
        Ok((bookings, undos))
    }

    /// Everything that the agents were asked, in the order in which it came in.
    ///
    /// # Errors
    /// The world's memory cannot be read.
    pub async fn calls(&self) -> Result<Vec<Call>> {
        let mut calls = Vec::new();
        for place in &self.running.world.agents {
            let rows = demo::requests::of_agent(&self.running.world.store, place.who.profile.name).await?;
            calls.extend(rows.iter().map(Call::read).collect::<Result<Vec<_>>>()?);
        }
        calls.sort_by_key(|call: &Call| call.number);
        Ok(calls)
    }

    /// Every task that an agent still knows, with the message that made it.
    ///
    /// # Errors
    /// The world's memory cannot be read.
    pub async fn tasks(&self) -> Result<Vec<AgentTask>> {
        let mut tasks = Vec::new();
        for place in &self.running.world.agents {
            for task in place.who.tasks.all().await? {
                let first = task.history.as_ref().and_then(|history| history.first());
                tasks.push(AgentTask {
                    agent: place.who.profile.name.to_owned(),
                    task: task.id.clone(),
                    message: first.context("a task without its request")?.message_id.clone(),
                });
            }
        }
        Ok(tasks)
    }
}

/// The names of a section that a soak with all faults plays.
fn playable(section: &Value) -> Vec<Value> {
    let names = crate::process::list(section).map(|entry| &entry["name"]);
    let plays = |name: &&Value| {
        let name = name.as_str().unwrap_or_default();
        name != "ok" && !NEVER.contains(&name) && !TOO_HEAVY.contains(&name)
    };
    names.filter(plays).cloned().collect()
}
