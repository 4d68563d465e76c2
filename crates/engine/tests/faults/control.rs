//! The demo world in the hands of a test: several faults at once, cards, restarts, copies of
//! requests, and the journal's own rows.

use domain::ids::TripId;
use domain::view::{DelegationView, StepState, TripState, TripView};
use engine::crash_point::CrashPoints;
use serde_json::{Value, json};
use testkit::wait::until;
use testkit::{Kind, World};

/// The control name of the flight's agent.
pub const FLIGHTS: &str = "skylark-flights";
/// The hotel's agent.
pub const HOTELS: &str = "harbour-hotels";
/// The car agent that is asked first.
pub const CITYCAR: &str = "citycar";
/// The car agent that is asked next.
pub const METROCAR: &str = "metrocar";

/// A world whose loop runs.
pub struct Play {
    /// The world.
    pub world: World,
    control: String,
    http: reqwest::Client,
}

impl Play {
    /// Starts a vouched world on SQLite, with its loop.
    pub async fn start() -> Self {
        let mut play = Self::stopped(true).await;
        play.run().await;
        play
    }

    /// Starts a world whose agents are vouched for or not, without its loop.
    pub async fn stopped(vouch: bool) -> Self {
        let world = World::start_vouching(Kind::Sqlite, vouch).await.expect("a world");
        let file = std::fs::read_to_string(world.outside.world_file()).expect("a world file");
        let described: Value = serde_json::from_str(&file).expect("JSON");
        let control = described["control"].as_str().expect("the control API").to_owned();
        Self { world, control, http: reqwest::Client::new() }
    }

    /// Starts the loop.
    pub async fn run(&mut self) {
        self.world.run(CrashPoints::default()).await.expect("a loop");
    }

    /// Chooses an agent's behaviour.
    pub async fn behave(&self, agent: &str, behaviour: Value) {
        self.world.outside.behave(agent, behaviour).await.expect("a behaviour");
    }

    /// Lets an agent work, quickly.
    pub async fn works(&self, agent: &str) {
        self.behave(agent, json!({ "behaviour": "works", "delay_ms": 60 })).await;
    }

    /// Plays these faults at an agent, in place of those that were.
    pub async fn faults(&self, agent: &str, faults: Value) {
        self.put(&format!("/agents/{agent}/faults"), json!({ "faults": faults })).await;
    }

    /// PUT at the control API.
    pub async fn put(&self, path: &str, body: Value) -> Value {
        self.call(self.http.put(format!("{}{path}", self.control)).json(&body)).await
    }

    /// POST at the control API.
    pub async fn post(&self, path: &str, body: Value) -> Value {
        self.call(self.http.post(format!("{}{path}", self.control)).json(&body)).await
    }

    async fn call(&self, request: reqwest::RequestBuilder) -> Value {
        let answer = request.send().await.expect("an answer of the control API");
        let status = answer.status();
        let text = answer.text().await.expect("a body");
        assert!(status.is_success(), "{status}: {text}");
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Everything that an agent was asked, oldest first.
    pub async fn log(&self, agent: &str) -> Vec<Value> {
        let got = self.call(self.http.get(format!("{}/agents/{agent}/requests", self.control))).await;
        got["requests"].as_array().cloned().expect("a request log")
    }

    /// What an agent was asked by this method.
    pub async fn asked(&self, agent: &str, method: &str) -> Vec<Value> {
        self.world.outside.requests(agent, method).await.expect("a request log")
    }

    /// Sends a request that an agent got once more, byte for byte: the copy that was only slow.
    pub async fn copy(&self, agent: &str, request: &Value) {
        let shown = self.world.outside.agent(agent).await.expect("the agent");
        let url = shown["url"].as_str().expect("a url");
        let copy = self.http.post(url).header("A2A-Version", "1.0").json(&request["body"]);
        let answer = copy.send().await.expect("an answer of the agent");
        assert!(answer.status().is_success(), "{}", answer.text().await.unwrap_or_default());
    }

    /// Waits until an agent has been asked so often by this method.
    pub async fn until_asked(&self, agent: &str, method: &str, times: usize) -> Vec<Value> {
        until(&format!("{times} of {method} at {agent}"), || async {
            let asked = self.asked(agent, method).await;
            if asked.len() >= times { Ok(asked) } else { Err(asked) }
        })
        .await
    }

    /// Waits until so many bookings stand.
    pub async fn until_standing(&self, count: usize) {
        until(&format!("{count} bookings"), || async {
            let standing = self.world.outside.standing().await.expect("ledgers");
            if standing.len() == count { Ok(()) } else { Err(standing) }
        })
        .await;
    }

    /// How often an agent has been asked by this method.
    pub async fn count(&self, agent: &str, method: &str) -> usize {
        self.asked(agent, method).await.len()
    }

    /// Asks for a trip.
    pub async fn trip(&self, steps: &[&str]) -> TripId {
        self.world.new_trip(steps).await.expect("a trip")
    }

    /// Waits until the trip looks like this.
    pub async fn until(&self, trip: &TripId, what: &str, so: impl Fn(&TripView) -> bool) -> TripView {
        self.world.until(trip, what, so).await
    }

    /// Waits until the trip is closed.
    pub async fn closed(&self, trip: &TripId) -> TripView {
        self.until(trip, "the end", |view| view.state.is_closed()).await
    }

    /// Waits until the trip is done, every step of it.
    pub async fn done(&self, trip: &TripId) -> TripView {
        let view = self.closed(trip).await;
        assert_eq!(view.state, TripState::Done, "{view:#?}");
        view
    }

    /// Waits until the trip is done or with support. A case has its reason, which is answered.
    pub async fn done_or_case(&self, trip: &TripId) -> (TripView, Option<String>) {
        let ends = |view: &TripView| view.state.is_closed() || view.state == TripState::NeedsSupport;
        let view = self.until(trip, "the end or a case", ends).await;
        if view.state == TripState::NeedsSupport {
            let attempts = view.steps.iter().flat_map(|step| &step.delegations);
            let reason = attempts.filter_map(|attempt| attempt.stuck_reason.clone()).next_back();
            assert!(
                reason.as_ref().is_some_and(|words| !words.is_empty()),
                "a case without a reason: {view:#?}"
            );
            return (view, reason);
        }
        assert_eq!(view.state, TripState::Done, "{view:#?}");
        (view, None)
    }

    /// Waits until a trip's only step is done by its first attempt, by one message.
    pub async fn done_at_once(&self, trip: &TripId, step: &str) -> TripView {
        let view = self.done(trip).await;
        assert!(is_done(&view, step), "{view:#?}");
        assert_eq!(attempts(&view, step).len(), 1, "one attempt: {view:#?}");
        view
    }

    /// What was read of the outside for a trip: the distinct
    /// contents of a kind, oldest first, with how often each was read.
    pub async fn reads(&self, trip: &TripId, kind: &str) -> Vec<(String, i64)> {
        let pool = sqlx::AnyPool::connect(&self.world.database.url).await.expect("the journal");
        let query = "SELECT content, times FROM reads WHERE trip_id = $1 AND kind = $2 ORDER BY first_at";
        let rows = sqlx::query_as(query).bind(&trip.0).bind(kind).fetch_all(&pool).await;
        rows.expect("the reads")
    }

    /// No rule is broken, so many bookings stand, and every message of ours made one task at most.
    pub async fn sound(&self, standing: usize) {
        assert_eq!(self.world.violations().await, Vec::<String>::new());
        let bookings = self.world.outside.standing().await.expect("ledgers");
        assert_eq!(bookings.len(), standing, "{bookings:#?}");
    }

    /// The same, and no agent works twice for one message. (On a slow machine a request may be cut
    /// off before the agent takes it, and is rightly sent again.)
    pub async fn sound_and_worked_once(&self, standing: usize) {
        self.sound(standing).await;
        for agent in [FLIGHTS, HOTELS, CITYCAR, METROCAR] {
            let tasks = self.world.outside.tasks_by_message(agent).await.expect("tasks");
            assert!(tasks.values().all(|times| *times == 1), "{agent} works twice: {tasks:?}");
        }
    }

    /// The same as sound, and no agent got a message of ours twice.
    pub async fn sound_and_sent_once(&self, standing: usize) {
        self.sound(standing).await;
        for agent in [FLIGHTS, HOTELS, CITYCAR, METROCAR] {
            let sent = self.asked(agent, "SendMessage").await;
            let mut ids: Vec<&str> = sent.iter().filter_map(|r| r["message_id"].as_str()).collect();
            let all = ids.len();
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), all, "{agent} got a message twice: {sent:#?}");
        }
    }
}

/// The newest attempt at a step.
pub fn newest<'a>(view: &'a TripView, step: &str) -> &'a DelegationView {
    attempts(view, step).last().expect("an attempt")
}

/// The attempts at a step, oldest first.
pub fn attempts<'a>(view: &'a TripView, step: &str) -> &'a [DelegationView] {
    &view.steps.iter().find(|s| s.name == step).expect("the step").delegations
}

/// Whether the history tells of this.
pub fn tells(view: &TripView, words: &str) -> bool {
    view.history.iter().any(|event| event.what.contains(words))
}

/// Whether a step is done.
pub fn is_done(view: &TripView, step: &str) -> bool {
    view.steps.iter().any(|s| s.name == step && s.state == StepState::Done)
}
