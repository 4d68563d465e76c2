//! Storm control (DESIGN.md §5, faults.md F-17): however many calls there are, each agent sees
//! few at a time, and one that is gone costs the others nothing. Time is paused.

mod fake_agents;
mod giving_back;
mod silent;

use domain::failure::{Failure, FailureClass, Operation};
use domain::ids::TaskId;
use engine::a2a::{AgentClient, AgentState, ListFilter, ThrottleSettings, Throttled};
use fake_agents::{FakeAgents, Manner, target};
use futures::future::join_all;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

const A: &str = "http://a.test/";
const B: &str = "http://b.test/";
const LIMIT: Duration = Duration::from_secs(10);
const MS: Duration = Duration::from_millis(1);

#[derive(Clone)]
struct Client(Arc<Throttled<FakeAgents>>);

impl Client {
    fn health(&self, url: &str) -> (usize, usize, AgentState) {
        let health = self.0.health();
        let one = health.iter().find(|agent| agent.url == url).expect("was called");
        (one.in_flight + one.streams, one.waiting, one.state)
    }

    async fn poll(&self, url: &str) -> Result<(), Failure> {
        self.0.get_task(&target(url), &TaskId("T".into())).await.map(drop)
    }

    async fn send(&self, url: &str) -> Result<(), Failure> {
        let message = json!({"messageId": "M"});
        self.0.send_message(&target(url), &message, Operation::FirstRequest, LIMIT).await.map(drop)
    }

    async fn cancel(&self, url: &str) -> Result<(), Failure> {
        self.0.cancel_task(&target(url), &TaskId("T".into()), LIMIT).await.map(drop)
    }

    async fn list(&self, url: &str) -> Result<(), Failure> {
        self.0.list_tasks(&target(url), &ListFilter::All).await.map(drop)
    }

    /// Opens the breaker of an agent.
    async fn silence(&self, agents: &FakeAgents, url: &str) {
        agents.set(url, Manner::Gone);
        for _ in 0..5 {
            assert!(self.poll(url).await.is_err());
        }
        assert!(matches!(self.health(url).2, AgentState::Silent { .. }));
    }
}

fn with(settings: ThrottleSettings) -> (FakeAgents, Client) {
    let agents = FakeAgents::default();
    (agents.clone(), Client(Arc::new(Throttled::new(agents, settings))))
}

fn plain() -> (FakeAgents, Client) {
    with(ThrottleSettings::default())
}

fn class<T>(result: Result<T, Failure>) -> FailureClass {
    result.map(drop).expect_err("a failure").class
}

#[tokio::test(start_paused = true)]
async fn a_thousand_calls_never_exceed_the_caps() {
    let (agents, client) = plain();
    let calls = (0..1000).map(|n| {
        let client = client.clone();
        async move { if n % 3 == 0 { client.send(A).await } else { client.poll(A).await } }
    });
    assert!(join_all(calls).await.iter().all(Result::is_ok));
    assert_eq!((agents.most(A), agents.made(A).len()), (8, 1000), "the agent's cap, used and kept");

    let urls: Vec<String> = (0..100).map(|n| format!("http://{n}.test/")).collect();
    let calls = urls.iter().cycle().take(1000).map(|url| client.poll(url));
    assert!(join_all(calls).await.iter().all(Result::is_ok));
    assert_eq!(agents.most(""), 256, "the process's cap, used and kept");
    assert_eq!(client.health(A), (0, 0, AgentState::Answering));
}

#[tokio::test(start_paused = true)]
async fn sends_cancels_and_lists_go_before_polls() {
    let (agents, client) = with(ThrottleSettings { requests: 1, ..ThrottleSettings::default() });
    let polls = join_all((0..5).map(|_| client.poll(A)));
    let urgent = async { tokio::join!(client.list(A), client.cancel(A), client.send(A)) };
    let (polled, (listed, cancelled, sent)) = tokio::join!(polls, urgent);
    assert!(polled.iter().chain([&listed, &cancelled, &sent]).all(|result| result.is_ok()));
    let order: Vec<_> = agents.made(A).iter().map(|made| made.operation).collect();
    use Operation::{CancelTask, FirstRequest, GetTask, ListTasks};
    assert_eq!(order[..5], [GetTask, ListTasks, CancelTask, FirstRequest, GetTask]);
}

#[tokio::test(start_paused = true)]
async fn agents_take_turns_for_the_places_of_the_process() {
    let settings = ThrottleSettings { process_requests: 1, ..ThrottleSettings::default() };
    let (agents, client) = with(settings);
    let many = join_all((0..100).map(|_| client.poll(A)));
    let one = client.poll(B);
    tokio::join!(many, async { one.await.unwrap() });
    let (last_of_a, b) = (agents.made(A)[2].at, agents.made(B)[0].at);
    assert!(b <= last_of_a, "not behind the hundred");
    assert_eq!(agents.most(""), 1);
}

#[tokio::test(start_paused = true)]
async fn a_send_without_a_place_was_not_sent_and_one_with_ends_in_time() {
    let (agents, client) = with(ThrottleSettings { requests: 1, ..ThrottleSettings::default() });
    agents.set(A, Manner::Answers(Duration::from_secs(4)));
    let begun = Instant::now();
    let sends = join_all((0..4).map(|_| client.send(A))).await;
    assert_eq!(sends.iter().filter(|sent| sent.is_ok()).count(), 2);
    for failed in sends.into_iter().skip(2) {
        assert_eq!(class(failed), FailureClass::NotSent);
    }
    let made = agents.made(A);
    assert_eq!(made.len(), 2, "those that failed never reached it");
    for one in made {
        assert!(one.at - begun + one.limit.expect("a send") <= LIMIT, "the wait counts against its limit");
    }
}

#[tokio::test(start_paused = true)]
async fn agents_that_are_not_called_any_more_are_forgotten() {
    let (agents, client) = plain();
    client.silence(&agents, A).await;
    for n in 0..3000 {
        assert!(client.poll(&format!("http://{n}.test/")).await.is_ok());
    }
    let health = client.0.health();
    assert_eq!(health.len(), 1024);
    assert!(health.iter().any(|agent| agent.url == A), "one that is silent is remembered");
    assert!(health.iter().any(|agent| agent.url == "http://2999.test/"));
}
