//! A whole world in one process: database, outside, and an engine that can be dropped at any
//! instant and opened again on the same journal, while the outside keeps its state.

use crate::database::{Database, Kind};
use crate::outside::Outside;
use crate::wait::until;
use anyhow::Result;
use domain::ids::TripId;
use domain::view::TripView;
use domain::waits::Waits;
use engine::accounts::{Role, Viewer};
use engine::commands::{Answer, NewTrip};
use engine::crash_point::CrashPoints;
use engine::registry::NewAgent;
use engine::{Engine, LoopHandle, Options};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::runtime::Runtime;

/// A database, the outside, and at most one engine.
pub struct World {
    /// The journal.
    pub database: Database,
    /// Agents and booking systems.
    pub outside: Outside,
    /// Who asks in this test.
    pub traveller: Viewer,
    waits: Waits,
    /// A handle beside the loop's: reads and people's writes go on while no loop runs.
    pub engine: Engine,
    running: Option<(Runtime, LoopHandle)>,
}

impl World {
    /// Starts the outside, registers all of it, and opens the engine without its loop.
    ///
    /// # Errors
    /// Something did not start.
    pub async fn start(kind: Kind) -> Result<Self> {
        Self::start_vouching(kind, true).await
    }

    /// The same, with the demo's agents vouched for or not.
    ///
    /// # Errors
    /// Something did not start.
    pub async fn start_vouching(kind: Kind, vouch: bool) -> Result<Self> {
        let database = Database::new(kind);
        let outside = Outside::start().await?;
        let waits = test_waits();
        let engine = open(&database, waits, CrashPoints::default()).await?;
        let user = engine.add_user("traveller@example.org", "traveller-test", Role::Traveller).await?;
        let admin = engine.add_user("admin@example.org", "admin-for-tests", Role::Admin).await?;
        let admin = Viewer { user: admin, email: "admin@example.org".to_owned(), role: Role::Admin };
        for mut definition in outside.booking_systems() {
            definition["settle_seconds"] = json!(1);
            engine.add_booking_system(&admin, &definition).await.map_err(|e| anyhow::anyhow!("{e:?}"))?;
        }
        for mut body in outside.agents() {
            body["landing_grace_seconds"] = json!(1);
            if !vouch {
                body["vouched"] = json!({});
            }
            let new: NewAgent = serde_json::from_value(body)?;
            engine.add_agent(&admin, &new).await.map_err(|e| anyhow::anyhow!("{e:?}"))?;
        }
        let traveller = Viewer { user, email: "traveller@example.org".to_owned(), role: Role::Traveller };
        Ok(Self { database, outside, traveller, waits, engine, running: None })
    }

    /// Starts a loop, in a runtime of its own so that it can be dropped like a killed process.
    ///
    /// # Errors
    /// The engine could not be opened or started.
    pub async fn run(&mut self, crash_points: CrashPoints) -> Result<()> {
        assert!(self.running.is_none(), "one loop at a time");
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let (url, waits) = (self.database.url.clone(), self.waits);
        let started = runtime.spawn(async move {
            let engine = Engine::open(options(&url, waits)).await?.with_crash_points(crash_points);
            engine.serve_loop().await
        });
        let handle = started.await??;
        self.running = Some((runtime, handle));
        Ok(())
    }

    /// Drops the loop as kill -9 would: nothing is finished, nothing is given back.
    pub async fn crash(&mut self) {
        if let Some((runtime, handle)) = self.running.take() {
            drop(handle);
            let down = tokio::task::spawn_blocking(move || runtime.shutdown_timeout(Duration::from_secs(10)));
            down.await.expect("the runtime shuts down");
        }
    }

    /// Stops the loop in order.
    pub async fn stop(&mut self) {
        if let Some((runtime, handle)) = self.running.take() {
            runtime.spawn(handle.stop()).await.expect("the loop stops");
            runtime.shutdown_background();
        }
    }

    /// Asks for a trip with these steps.
    ///
    /// # Errors
    /// It was refused.
    pub async fn new_trip(&self, steps: &[&str]) -> Result<TripId> {
        let new = NewTrip {
            workflow: "travel".to_owned(),
            title: None,
            steps: steps.iter().map(|s| (*s).to_owned()).collect(),
            inputs: inputs(),
        };
        self.engine.create_trip(&self.traveller, &new, None).await.map_err(|e| anyhow::anyhow!("{e:?}"))
    }

    /// The trip as its traveller sees it.
    ///
    /// # Panics
    /// Where it is not there.
    pub async fn view(&self, trip: &TripId) -> TripView {
        self.engine.trip_view(&self.traveller, trip).await.expect("a read").expect("the trip")
    }

    /// Waits until the trip looks like this.
    pub async fn until(&self, trip: &TripId, what: &str, looks_so: impl Fn(&TripView) -> bool) -> TripView {
        until(what, || async {
            let view = self.view(trip).await;
            if looks_so(&view) { Ok(view) } else { Err(view) }
        })
        .await
    }

    /// Answers the one open question of a step.
    ///
    /// # Panics
    /// Where there is none, or the answer is refused.
    pub async fn answer(&self, trip: &TripId, step: &str, answer: Answer) {
        let asked = |view: &TripView| view.questions.iter().any(|q| q.step == step && q.state == "open");
        let view = self.until(trip, &format!("a question about {step}"), asked).await;
        let question =
            view.questions.iter().find(|q| q.step == step && q.state == "open").expect("a question");
        let id = question.id.as_str().into();
        self.engine.answer(&self.traveller, &id, &answer).await.expect("the answer is taken");
    }

    /// Violations that `holdfast check` finds.
    ///
    /// # Panics
    /// Where the database cannot be read.
    pub async fn violations(&self) -> Vec<String> {
        self.engine.check().await.expect("a check").violations
    }
}

async fn open(database: &Database, waits: Waits, crash_points: CrashPoints) -> Result<Engine> {
    let engine = Engine::open(options(&database.url, waits)).await?;
    Ok(engine.with_crash_points(crash_points))
}

fn options(url: &str, waits: Waits) -> Options {
    Options {
        database_url: url.to_owned(),
        make_database: true,
        waits,
        demo: true,
        allow_private: Vec::new(),
        public_url: None,
        secret_key: None,
    }
}

/// Shorter than the demo's, with the same relations.
fn test_waits() -> Waits {
    let mut waits = Waits::demo();
    for (name, seconds) in [
        ("poll", 0.3),
        ("retry", 0.2),
        ("unknown_verdict", 6.0),
        ("reconcile", 2.0),
        ("send_limit", 0.7),
        ("heartbeat", 2.0),
        ("heartbeat_renewal", 0.5),
    ] {
        waits.set(name, seconds).expect("a known wait");
    }
    waits
}

/// Sound inputs of the shipped workflow, a year ahead.
pub fn inputs() -> serde_json::Map<String, Value> {
    let year = 1 + current_year();
    let inputs = json!({
        "origin": "Lisbon",
        "destination": "Vienna",
        "start": format!("{year}-03-01"),
        "end": format!("{year}-03-05"),
        "travellers": 2,
        "notes": "A quiet room, please",
    });
    inputs.as_object().cloned().unwrap_or_default()
}

fn current_year() -> i16 {
    use engine::clock::Clock as _;
    domain::time::utc(engine::clock::SystemClock.now()).year()
}
