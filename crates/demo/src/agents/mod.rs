//! The four agents: who they are, and how each is put together from the official server crate,
//! a task store on disk and the executor.

pub mod antics;
pub mod behaviour;
pub mod card;
pub mod content;
pub mod executor;
pub mod jobs;
pub mod order;
pub mod plot;
pub mod push;
pub mod run;
pub mod task_store;

use crate::faults::{self, Gate};
use crate::store::Store;
use a2a::{A2AError, Message, Part, Role, SendMessageRequest, Task, TaskState};
use a2a_server::{DefaultRequestHandler, RequestHandler, ServiceParams};
use anyhow::{Result, bail};
use axum::Router;
use axum::middleware::from_fn_with_state;
use behaviour::{Behaviour, Kind};
use card::{CardSwitch, Cards};
use content::Trade;
use executor::{Desk, Executor};
use push::PushTable;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::{Arc, PoisonError, RwLock};
use task_store::TaskTable;

/// Who an agent is.
#[derive(Debug)]
pub struct Profile {
    /// Its name in the control API.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it says of itself.
    pub description: &'static str,
    /// What it sells.
    pub trade: Trade,
    /// Its card's skill.
    pub skill: &'static str,
    /// The same skill by Holdfast's name.
    pub their_skill: &'static str,
    /// The booking system that it books at.
    pub books_at: &'static str,
    /// How early Holdfast should ask it.
    pub preference: i64,
    /// What it does while nobody chose a behaviour: kind, milliseconds, reason.
    pub untouched: (Kind, u64, Option<&'static str>),
}

impl Profile {
    /// What it does while nobody chose a behaviour.
    pub fn untouched(&self) -> Behaviour {
        let (kind, delay_ms, reason) = self.untouched;
        Behaviour { reason: reason.map(str::to_owned), ..Behaviour::new(kind, delay_ms) }
    }
}

/// The agents of the world.
pub static PROFILES: [Profile; 4] = [
    Profile {
        name: "skylark-flights",
        title: "Skylark Flights",
        description: "Return flights with Northwind Air.",
        trade: Trade::Flight,
        skill: "book-flight",
        their_skill: "flight",
        books_at: "northwind-air",
        preference: 0,
        untouched: (Kind::Works, 3_000, None),
    },
    Profile {
        name: "harbour-hotels",
        title: "Harbour Hotels Concierge",
        description: "Rooms in the houses of the Harbour Hotels chain.",
        trade: Trade::Hotel,
        skill: "book-hotel",
        their_skill: "hotel",
        books_at: "harbour-hotels",
        preference: 0,
        untouched: (Kind::Asks, 1_000, None),
    },
    Profile {
        name: "citycar",
        title: "CityCar",
        description: "Small cars in town, by the day.",
        trade: Trade::Car(4_200, 1_500, "Fiat 500 Electric"),
        skill: "book-car",
        their_skill: "car",
        books_at: "citycar-records",
        preference: 10,
        untouched: (Kind::Rejects, 800, Some("No cars left on those dates.")),
    },
    Profile {
        name: "metrocar",
        title: "MetroCar Rentals",
        description: "Rental cars at airports and stations.",
        trade: Trade::Car(3_900, 0, "Škoda Fabia"),
        skill: "rent-car",
        their_skill: "car",
        books_at: "metrocar-records",
        preference: 0,
        untouched: (Kind::Fails, 1_200, Some("Our fleet system is down, the car could not be reserved.")),
    },
];

/// One agent. It can be restarted: then all that it holds in memory is new.
pub struct Agent {
    /// Who it is.
    pub profile: &'static Profile,
    /// Where it is.
    pub url: String,
    /// Its wire.
    pub gate: Arc<Gate>,
    /// Its tasks.
    pub tasks: TaskTable,
    /// Its push configs.
    pub push: PushTable,
    /// What it offers.
    pub card: CardSwitch,
    running: RwLock<Arc<Process>>,
    books_and_authorises_at: (String, String),
    store: Store,
}

/// What a restart of an agent makes new.
struct Process {
    desk: Arc<Desk>,
    handler: Arc<DefaultRequestHandler>,
}

/// What becomes of an agent's tasks at a restart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Restart {
    /// It kept them in memory: they are gone, with their push configs.
    pub forget: bool,
    /// Those that say WORKING say so for ever, and nobody works on them.
    pub orphan: bool,
    /// How long nobody answers.
    pub down_ms: u64,
}

impl Process {
    fn start(
        profile: &'static Profile,
        addresses: &(String, String),
        store: &Store,
        push: &PushTable,
    ) -> Result<Self> {
        let tasks = TaskTable::new(store.clone(), profile.name);
        let desk = Arc::new(Desk::new(profile, addresses.clone(), store.clone(), tasks.clone())?);
        let handler = DefaultRequestHandler::new(Executor(desk.clone()), tasks)
            .with_push_notifications(push.clone(), push::sender())
            .with_capabilities(card::capabilities())
            .with_default_input_modes(card::modes());
        Ok(Self { desk, handler: Arc::new(handler) })
    }
}

impl Agent {
    /// Puts an agent together, with the addresses where it books and where people authorise it.
    pub fn new(
        profile: &'static Profile,
        port: u16,
        books_and_authorises_at: (String, String),
        store: Store,
    ) -> Result<Self> {
        let card = CardSwitch::default();
        let push = PushTable::new(store.clone(), profile.name, card.clone());
        let process = Process::start(profile, &books_and_authorises_at, &store, &push)?;
        Ok(Self {
            profile,
            url: format!("http://127.0.0.1:{port}"),
            gate: Arc::new(Gate::new(profile.name, store.clone(), card.clone())),
            tasks: TaskTable::new(store.clone(), profile.name),
            push,
            card,
            running: RwLock::new(Arc::new(process)),
            books_and_authorises_at,
            store,
        })
    }

    fn process(&self) -> Arc<Process> {
        self.running.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Where its card is.
    pub fn card_url(&self) -> String {
        format!("{}{}", self.url, a2a_server::WELL_KNOWN_AGENT_CARD_PATH)
    }

    /// What it serves: JSON-RPC at the root, REST under /rest, its card.
    pub fn router(&self) -> Router {
        let process = self.process();
        let cards = Cards { profile: self.profile, url: self.url.clone(), switch: self.card.clone() };
        let served = Router::new()
            .merge(a2a_server::jsonrpc::jsonrpc_router(process.handler.clone()))
            .nest("/rest", a2a_server::rest::rest_router(process.handler.clone()))
            .layer(from_fn_with_state(process.desk.clone(), antics::pass))
            .merge(a2a_server::agent_card::agent_card_router(Arc::new(cards)));
        // The gate comes before the routing: it may change where a request goes.
        Router::new().fallback_service(served).layer(from_fn_with_state(self.gate.clone(), faults::pass))
    }

    /// The exact body for Holdfast's `POST /api/v1/agents`.
    pub fn registration(&self) -> Value {
        json!({
            "card_url": self.card_url(),
            "skills": { self.profile.skill: self.profile.their_skill },
            "vouched": {
                "carries_reference": true, "keeps_context_id": true,
                "answers_with_tasks": true, "deduplicates_durably": false,
            },
            "preference": self.profile.preference,
            "cost": 0,
            "landing_grace_seconds": 3,
            "state": "enabled",
        })
    }

    /// Goes on with what a killed predecessor was working on. Tasks that wait for a person wait on.
    pub async fn carry_on(&self) -> Result<()> {
        self.card.load(&self.store, self.profile).await?;
        for task in self.tasks.unfinished().await? {
            let job = jobs::load(&self.store, self.profile.name, &task.id).await?;
            let waits = task.status.state == TaskState::AuthRequired;
            let goes_on = job.as_ref().is_none_or(|job| {
                let kind = job.behaviour.behaviour;
                !job.orphaned && !kind.is_message() && (!waits || kind == Kind::AuthClears)
            });
            if goes_on {
                self.resume(&task).await?;
            }
        }
        Ok(())
    }

    /// Says that the authorisation that a task waits for is there.
    pub async fn authorise(&self, task: &Task) -> Result<()> {
        if task.status.state != TaskState::AuthRequired {
            bail!("task {} does not wait for an authorisation", task.id);
        }
        jobs::authorise(&self.store, self.profile.name, &task.id).await?;
        self.resume(task).await?;
        Ok(())
    }

    /// Ends all work under way without another word.
    pub fn stop_work(&self) {
        self.process().desk.stop_work();
    }

    /// Knows nothing of a task any more, and ends the work on it.
    pub async fn forget(&self, task_id: &str) -> Result<bool> {
        let process = self.process();
        process.desk.stop_task(task_id);
        Ok(process.desk.tasks.forget(task_id).await?)
    }

    /// Loses what it holds in memory, as a process does that ends and starts again. Its router is
    /// a new one afterwards.
    pub async fn restart(&self, how: Restart) -> Result<()> {
        let old = self.process();
        old.desk.tasks.retire();
        old.desk.stop_work();
        if how.forget {
            self.tasks.forget_all().await?;
            jobs::forget_all(&self.store, self.profile.name).await?;
            self.push.forget_all().await?;
        } else if how.orphan {
            jobs::orphan_all(&self.store, self.profile.name).await?;
        }
        let new = Process::start(self.profile, &self.books_and_authorises_at, &self.store, &self.push)?;
        *self.running.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(new);
        if how.orphan { Ok(()) } else { self.carry_on().await }
    }

    /// The server crate cannot pick an execution up again by itself, but it runs one for any
    /// message to an open task: so the agent writes to itself. The executor knows the mark and
    /// leaves this message out of the history.
    async fn resume(&self, task: &Task) -> Result<(), A2AError> {
        let process = self.process();
        let mut message = Message::new(Role::Agent, vec![Part::text("carry on")]);
        message.message_id = process.desk.mark().to_owned();
        message.task_id = Some(task.id.clone());
        message.context_id = Some(task.context_id.clone());
        let request = SendMessageRequest { message, configuration: None, metadata: None, tenant: None };
        // Dropping the stream leaves the execution running.
        drop(process.handler.send_streaming_message(&ServiceParams::new(), request).await?);
        Ok(())
    }
}

/// What the control API shows of a task.
pub async fn task_view(store: &Store, agent: &Agent, task: Task) -> Result<Value> {
    let job = jobs::load(store, agent.profile.name, &task.id).await?;
    Ok(json!({ "task": task, "job": job }))
}
