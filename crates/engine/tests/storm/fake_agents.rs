//! Agents in memory, on paused time: each URL behaves as told, and every call that reaches one
//! is written down.

use async_trait::async_trait;
use domain::failure::{Failure, FailureClass, Operation};
use domain::ids::TaskId;
use domain::task::{Snapshot, TaskState};
use domain::time::Span;
use engine::a2a::{
    AgentClient, Answer, Binding, Card, Completeness, Credential, Endpoint, ListFilter, Listing, StreamItem,
    Target,
};
use futures::stream::{self, BoxStream, StreamExt};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::time::{Instant, sleep};
use url::Url;

/// How an agent behaves.
#[derive(Clone, Debug)]
pub enum Manner {
    /// Answers after so long.
    Answers(Duration),
    /// Refuses the connection.
    Gone,
    /// Takes the request and says nothing until the caller's patience (10 s) is over.
    Hangs,
    /// 429, with this `Retry-After`.
    Busy(Span),
    /// Its own error, in the protocol's words.
    Errs,
}

/// One call that reached an agent.
#[derive(Clone, Debug)]
pub struct Made {
    pub url: String,
    pub operation: Operation,
    pub at: Instant,
    /// The time limit of a send.
    pub limit: Option<Duration>,
}

#[derive(Default)]
struct State {
    manners: HashMap<String, Manner>,
    made: Vec<Made>,
    /// In flight now and at most, per URL, and under "" for all.
    in_flight: HashMap<String, (usize, usize)>,
}

/// The agents. Clones are the same agents.
#[derive(Clone, Default)]
pub struct FakeAgents {
    state: Arc<Mutex<State>>,
}

struct InFlight<'a>(&'a FakeAgents, &'a str);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        for key in [self.1, ""] {
            state.in_flight.entry(key.to_owned()).or_default().0 -= 1;
        }
    }
}

impl FakeAgents {
    pub fn set(&self, url: &str, manner: Manner) {
        self.lock().manners.insert(url.to_owned(), manner);
    }

    /// The calls that reached this agent.
    pub fn made(&self, url: &str) -> Vec<Made> {
        self.lock().made.iter().filter(|made| made.url == url).cloned().collect()
    }

    /// The most calls in flight at once; of all agents for "".
    pub fn most(&self, url: &str) -> usize {
        self.lock().in_flight.get(url).map_or(0, |(_, most)| *most)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no test thread has panicked with it")
    }

    async fn call(&self, url: &str, operation: Operation, limit: Option<Duration>) -> Result<(), Failure> {
        let manner = {
            let mut state = self.lock();
            state.made.push(Made { url: url.to_owned(), operation, at: Instant::now(), limit });
            for key in [url, ""] {
                let (now, most) = state.in_flight.entry(key.to_owned()).or_default();
                *now += 1;
                *most = (*most).max(*now);
            }
            state.manners.get(url).cloned().unwrap_or(Manner::Answers(Duration::from_millis(5)))
        };
        let _in_flight = InFlight(self, url);
        match manner {
            Manner::Answers(after) => {
                sleep(after).await;
                Ok(())
            }
            Manner::Gone => Err(failure(FailureClass::NotSent, None, "connection refused")),
            Manner::Hangs => {
                sleep(limit.unwrap_or(Duration::from_secs(10))).await;
                Err(failure(FailureClass::Unknown, None, "no answer within the time limit"))
            }
            Manner::Busy(span) => {
                let class = FailureClass::RefusedForNow { retry_after: Some(span) };
                Err(failure(class, Some(429), "HTTP 429"))
            }
            Manner::Errs => Err(failure(FailureClass::Unknown, Some(-32603), "internal error")),
        }
    }
}

fn failure(class: FailureClass, code: Option<i64>, text: &str) -> Failure {
    Failure { class, code, reason: None, text: text.to_owned() }
}

/// An agent at this URL.
pub fn target(url: &str) -> Target {
    let endpoint =
        Endpoint { url: url.to_owned(), tenant: None, binding: Binding::JsonRpc, version: "1.0".into() };
    Target { endpoint, credential: Credential::None }
}

fn snapshot(task: &str) -> Snapshot {
    Snapshot {
        task_id: TaskId(task.to_owned()),
        context_id: None,
        state: TaskState::Working,
        timestamp: None,
        message: None,
        artifacts: Vec::new(),
        history_ids: Vec::new(),
    }
}

#[async_trait]
impl AgentClient for FakeAgents {
    async fn send_message(
        &self,
        to: &Target,
        _: &Value,
        operation: Operation,
        limit: Duration,
    ) -> Result<Answer, Failure> {
        self.call(&to.endpoint.url, operation, Some(limit)).await?;
        Ok(Answer::Task(snapshot("T")))
    }

    async fn get_task(&self, to: &Target, task: &TaskId) -> Result<Snapshot, Failure> {
        self.call(&to.endpoint.url, Operation::GetTask, None).await?;
        Ok(snapshot(task.as_str()))
    }

    async fn list_tasks(&self, to: &Target, _: &ListFilter) -> Result<Listing, Failure> {
        self.call(&to.endpoint.url, Operation::ListTasks, None).await?;
        Ok(Listing { tasks: Vec::new(), complete: Completeness::Complete, pages: 1, server_date: None })
    }

    async fn cancel_task(&self, to: &Target, task: &TaskId, limit: Duration) -> Result<Snapshot, Failure> {
        self.call(&to.endpoint.url, Operation::CancelTask, Some(limit)).await?;
        Ok(snapshot(task.as_str()))
    }

    async fn subscribe(
        &self,
        to: &Target,
        task: &TaskId,
        _: Duration,
    ) -> Result<BoxStream<'static, StreamItem>, Failure> {
        self.call(&to.endpoint.url, Operation::Subscribe, None).await?;
        let first = StreamItem::Snapshot(snapshot(task.as_str()));
        Ok(stream::once(async { first }).chain(stream::pending()).boxed())
    }

    async fn card(&self, url: &Url, _: &Credential) -> Result<(Card, Value), Failure> {
        self.call(url.as_str(), Operation::FetchCard, None).await?;
        Err(failure(FailureClass::Unknown, Some(404), "no card"))
    }
}
