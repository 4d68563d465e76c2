//! The whole world: all agents and booking systems at their addresses, with the control API.

use crate::agents::{Agent, PROFILES, Restart};
use crate::bookings::{SYSTEMS, SystemProfile, routes};
use crate::control;
use crate::site::Site;
use crate::store::{PORTS, Store};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// How a world is started.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where its state is.
    pub data: PathBuf,
    /// The control API's port, the others follow it; 0 for free ports, chosen once.
    pub base_port: u16,
}

/// One place that is up or down.
pub struct Place<T> {
    /// Who is there.
    pub who: T,
    /// Where.
    pub site: Site,
}

/// A running world.
pub struct World {
    /// Its memory.
    pub store: Store,
    /// Its agents.
    pub agents: Vec<Place<Agent>>,
    /// Its booking systems.
    pub systems: Vec<Place<&'static SystemProfile>>,
    control_port: u16,
    file: PathBuf,
}

/// A world with its control API.
pub struct Running {
    /// The world.
    pub world: Arc<World>,
    control: Site,
}

impl World {
    /// Where the control API is.
    pub fn control_url(&self) -> String {
        url(self.control_port)
    }

    /// Where a booking system is.
    pub fn system_url(place: &Place<&'static SystemProfile>) -> String {
        url(place.site.port)
    }

    /// An agent by its name.
    pub fn agent(&self, name: &str) -> Option<&Place<Agent>> {
        self.agents.iter().find(|place| place.who.profile.name == name)
    }

    /// A booking system by its name.
    pub fn system(&self, name: &str) -> Option<&Place<&'static SystemProfile>> {
        self.systems.iter().find(|place| place.who.name == name)
    }

    /// Puts an agent up or down, now and after a restart.
    pub async fn set_up(&self, place: &Place<Agent>, up: bool) -> Result<()> {
        self.store.set(&up_key(place.who.profile.name), &up).await?;
        if up {
            place.site.open().await
        } else {
            place.site.close().await;
            Ok(())
        }
    }

    /// Restarts one agent: nobody answers for a while, and what it held in memory is gone.
    pub async fn restart(&self, place: &Place<Agent>, how: Restart) -> Result<()> {
        let was_open = place.site.is_open().await;
        place.site.close().await;
        place.who.restart(how).await?;
        place.site.serve_next(place.who.router());
        tokio::time::sleep(Duration::from_millis(how.down_ms)).await;
        if was_open { place.site.open().await } else { Ok(()) }
    }

    /// Forgets everything: tasks, ledgers, requests, behaviours. The addresses stay.
    pub async fn reset(&self) -> Result<()> {
        for place in &self.agents {
            place.who.stop_work();
            place.who.gate.release();
        }
        self.store.empty().await?;
        for place in &self.agents {
            place.who.carry_on().await?;
            place.site.open().await?;
        }
        Ok(())
    }

    /// What `world.json` says: where everything is, and how to register it.
    pub fn description(&self) -> Value {
        let agents: Vec<Value> = self
            .agents
            .iter()
            .map(|place| {
                let agent = &place.who;
                json!({
                    "name": agent.profile.name, "title": agent.profile.title, "card_url": agent.card_url(),
                    "url": agent.url, "skills": [agent.profile.their_skill],
                    "registration": agent.registration(),
                })
            })
            .collect();
        let systems: Vec<Value> = self
            .systems
            .iter()
            .map(|place| {
                let url = Self::system_url(place);
                json!({
                    "name": place.who.name, "title": place.who.title, "url": url,
                    "registration": place.who.registration(&url),
                })
            })
            .collect();
        json!({ "control": self.control_url(), "agents": agents, "booking_systems": systems })
    }

    /// Booking systems first: agents that carry on book there. Agents carry on before they can be
    /// asked anything.
    async fn open(&self) -> Result<()> {
        for place in &self.systems {
            place.site.open().await?;
        }
        // Not before: a second demo on the same folder ends above, and leaves the first one's be.
        remove_if_there(&self.file)?;
        for place in &self.agents {
            let name = place.who.profile.name;
            place.who.carry_on().await.with_context(|| format!("{name} cannot carry on"))?;
            if self.store.setting(&up_key(name)).await?.unwrap_or(true) {
                place.site.open().await?;
            }
        }
        Ok(())
    }
}

impl Running {
    /// Starts a world; when this returns, every address answers and `world.json` is there.
    pub async fn start(options: &Options) -> Result<Self> {
        crate::choose_tls();
        std::fs::create_dir_all(&options.data)
            .with_context(|| format!("cannot make the folder {}", options.data.display()))?;
        let file = options.data.join("world.json");
        let store = Store::open(&options.data).await?;
        let ports = ports(&store, options.base_port).await?;
        let world = Arc::new(build(store, &ports, file)?);
        let control = Site::new("the control API", ports[0], control::router(world.clone()));
        world.open().await?;
        control.open().await?;
        write_whole(&world.file, &serde_json::to_string_pretty(&world.description())?)?;
        Ok(Self { world, control })
    }

    /// Closes every address and the file.
    pub async fn stop(self) {
        self.control.close().await;
        for place in &self.world.agents {
            place.site.close().await;
            place.who.stop_work();
        }
        for place in &self.world.systems {
            place.site.close().await;
        }
        self.world.store.close().await;
    }
}

fn build(store: Store, ports: &[u16], file: PathBuf) -> Result<World> {
    let (control_port, rest) = ports.split_first().context("no ports")?;
    let (agent_ports, system_ports) = rest.split_at(PROFILES.len());
    let systems: Vec<_> = SYSTEMS
        .iter()
        .zip(system_ports)
        .map(|(system, port)| {
            let site = Site::new(system.title, *port, routes::router(store.clone(), system));
            Place { who: system, site }
        })
        .collect();
    let mut agents = Vec::new();
    for (profile, port) in PROFILES.iter().zip(agent_ports) {
        let booked_at = systems.iter().find(|place| place.who.name == profile.books_at);
        let booked_at = booked_at.with_context(|| format!("no booking system {}", profile.books_at))?;
        let addresses = (url(booked_at.site.port), url(*control_port));
        let agent = Agent::new(profile, *port, addresses, store.clone())?;
        let site = Site::new(profile.title, *port, agent.router());
        agents.push(Place { who: agent, site });
    }
    Ok(World { store, agents, systems, control_port: *control_port, file })
}

/// The ports of the control API, the agents and the booking systems, in this order.
async fn ports(store: &Store, base: u16) -> Result<Vec<u16>> {
    let count = 1 + PROFILES.len() + SYSTEMS.len();
    if base != 0 {
        let ports = (0..u16::try_from(count)?).map(|place| base.checked_add(place));
        return ports.collect::<Option<_>>().context("the base port is too high");
    }
    if let Some(ports) = store.setting::<Vec<u16>>(PORTS).await?.filter(|ports| ports.len() == count) {
        return Ok(ports);
    }
    let ports = free_ports(count)?;
    store.set(PORTS, &ports).await?;
    Ok(ports)
}

/// Ports that nobody listens on now, from a range that the system gives to no client: a port that
/// was free a moment ago could otherwise become the near end of somebody's connection.
fn free_ports(count: usize) -> Result<Vec<u16>> {
    const FIRST: u16 = 10_000;
    const RANGE: u32 = 22_000;
    /// Worlds of one process never try the same port; those of several begin apart.
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let begin = std::process::id().wrapping_mul(613);
    let mut ports = Vec::new();
    for _ in 0..RANGE {
        let place = begin.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % RANGE;
        let port = FIRST + u16::try_from(place)?;
        if std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, port)).is_ok() {
            ports.push(port);
        }
        if ports.len() == count {
            return Ok(ports);
        }
    }
    anyhow::bail!("no free ports are left")
}

fn url(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}

fn up_key(agent: &str) -> String {
    format!("agent/{agent}/up")
}

fn remove_if_there(file: &Path) -> Result<()> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", file.display()))
        }
        _ => Ok(()),
    }
}

/// A reader sees the whole file or none.
fn write_whole(file: &Path, text: &str) -> Result<()> {
    let part = file.with_extension("json.part");
    std::fs::write(&part, text)
        .and_then(|()| std::fs::rename(&part, file))
        .with_context(|| format!("cannot write {}", file.display()))
}
