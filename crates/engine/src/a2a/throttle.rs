//! Storm control (faults.md F-17): what keeps a restart of either side from being a storm, and
//! a dead agent from holding up the others.
//!
//! [`Throttled`] stands around another [`AgentClient`]. Per endpoint URL, whatever the
//! credential:
//!
//! - So many requests and so many streams at once, and so many in the process. Who finds no
//!   place waits: sends, cancels and lists before polls, agents in turn, first come first served.
//! - A breaker (`breaker`): an agent that does not answer is left alone for a while, then asked
//!   once. Meanwhile every call fails at once.
//! - A `Retry-After` is kept, by sends too. Only lists go on, one at a time: they settle what is
//!   in doubt.
//! - Streams are opened one after the other, at a steady rate with jitter.
//!
//! A call that fails in here has not been made: its class is [`FailureClass::NotSent`], which is
//! certain, or for reads of an agent that asked us to wait, [`FailureClass::RefusedForNow`]. A
//! send that waited starts with at least half of its time limit left, and ends within it.

use super::breaker::BreakerRules;
use super::client::{AgentClient, Answer, StreamItem};
use super::limits::cut;
use super::list::{ListFilter, Listing};
use super::places::{Place, Refusal, Report, Traffic};
use super::{Card, Credential, Target};
use async_trait::async_trait;
use domain::failure::{Failure, FailureClass, Operation};
use domain::ids::TaskId;
use domain::task::Snapshot;
use domain::time::Span;
use domain::waits::Waits;
use futures::stream::{BoxStream, StreamExt};
use serde_json::Value;
use std::time::Duration;
use tokio::time::Instant;
use url::Url;

/// How long a send lets a read go first as the probe.
const PROBE_GRACE: Duration = Duration::from_millis(250);
/// The pause where an agent asks us to wait and does not say how long.
const PAUSE: Span = Span::seconds(1);

/// How much traffic an agent gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThrottleSettings {
    /// Requests in flight at one agent. Streams are counted apart.
    pub requests: usize,
    /// Streams open at one agent.
    pub streams: usize,
    /// Requests in flight at all agents together.
    pub process_requests: usize,
    /// Streams open at all agents together.
    pub process_streams: usize,
    /// Streams opened at one agent per second; above 1,000 there is no limit.
    pub streams_per_second: u32,
    /// How long a read waits for a place. A send waits up to half of its own limit.
    pub read_wait: Duration,
    /// When an agent counts as silent.
    pub breaker: BreakerRules,
}

impl Default for ThrottleSettings {
    fn default() -> Self {
        Self {
            requests: 8,
            streams: 64,
            process_requests: 256,
            process_streams: 4096,
            streams_per_second: 50,
            read_wait: Duration::from_secs(30),
            breaker: BreakerRules::default(),
        }
    }
}

impl ThrottleSettings {
    /// The defaults, with backoffs no longer than those of the loop.
    #[must_use]
    pub fn for_waits(waits: &Waits) -> Self {
        let rules = BreakerRules::default();
        let breaker = BreakerRules {
            first: Span(rules.first.0.min(waits.retry.0)),
            longest: Span(rules.longest.0.min(waits.retry_longest.0)),
            ..rules
        };
        Self { breaker, ..Self::default() }
    }
}

/// Whether an agent may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentState {
    /// As far as we know it answers.
    Answering,
    /// It asked us to wait.
    AskedToWait {
        /// For so long from now.
        left: Duration,
    },
    /// It does not answer.
    Silent {
        /// When it is tried again, from now.
        next_try: Duration,
    },
    /// It did not answer, and is being tried.
    Probing,
}

/// How the traffic to one agent stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentTraffic {
    /// The endpoint, or the URL of a card.
    pub url: String,
    /// Requests in flight.
    pub in_flight: usize,
    /// Streams being opened or open.
    pub streams: usize,
    /// Calls that wait for a place.
    pub waiting: usize,
    /// Whether it may be called.
    pub state: AgentState,
}

/// Another client, with the traffic to each agent kept within its bounds.
///
/// Cancel safety is that of [`AgentClient`]; in addition, dropping a call's future at any moment,
/// or the stream of a subscription, gives its place in the queue or in flight to the next.
pub struct Throttled<C> {
    inner: C,
    traffic: Traffic,
}

impl<C: AgentClient> Throttled<C> {
    /// Stands around `inner`.
    pub fn new(inner: C, settings: ThrottleSettings) -> Self {
        Self { inner, traffic: Traffic::new(settings) }
    }

    /// A snapshot of the traffic, one entry for each agent called so far: for metrics and pages.
    pub fn health(&self) -> Vec<AgentTraffic> {
        self.traffic.health()
    }

    /// Waits for a place, up to `budget`. A failure means that nothing left us.
    async fn place(&self, url: &str, operation: Operation, budget: Duration) -> Result<Place, Failure> {
        let deadline = Instant::now() + budget;
        if !operation.is_read() && self.traffic.probe_is_due(url) {
            // A read that finds nobody costs less than a send whose fate is then unknown.
            tokio::time::sleep(PROBE_GRACE.min(budget / 2)).await;
        }
        let refused = |refusal| failed(operation, &refusal);
        let mut place = self.traffic.queue(url, operation).map_err(refused)?;
        let granted = tokio::time::timeout_at(deadline, place.granted()).await;
        // Looked at even after a grant: the process may have been stopped in between.
        let begin = match granted {
            Ok(granted) if Instant::now() <= deadline => granted.map_err(refused)?,
            _ => return Err(busy(budget)),
        };
        if let Some(begin) = begin {
            tokio::time::sleep_until(begin).await;
            place.still_welcome(operation).map_err(refused)?;
        }
        Ok(place)
    }

    /// A place for a send, and how much of its time limit is left.
    async fn place_to_send(
        &self,
        to: &Target,
        operation: Operation,
        limit: Duration,
    ) -> Result<(Place, Duration), Failure> {
        let begun = Instant::now();
        let place = self.place(&to.endpoint.url, operation, limit / 2).await?;
        Ok((place, limit.saturating_sub(begun.elapsed())))
    }

    /// A place for a read.
    async fn place_to_read(&self, url: &str, operation: Operation) -> Result<Place, Failure> {
        self.place(url, operation, self.traffic.settings().read_wait).await
    }
}

/// Hands a call's result on, after noting what it says about the agent.
fn noted<T>(mut place: Place, operation: Operation, result: Result<T, Failure>) -> Result<T, Failure> {
    note(&mut place, operation, result.as_ref().err());
    result
}

/// Notes what a call's end says about the agent.
fn note(place: &mut Place, operation: Operation, failure: Option<&Failure>) {
    let Some(failure) = failure else { return place.report(Report::Answered) };
    let answered = failure.code.is_some() || failure.reason.is_some();
    place.report(match &failure.class {
        FailureClass::NotSent => Report::Lost(failure.text.clone()),
        // The head of a stream may be as silent as the task is: this tells nothing.
        FailureClass::Unknown if !answered && operation == Operation::Subscribe => return,
        FailureClass::Unknown if !answered => Report::Lost(failure.text.clone()),
        FailureClass::RefusedForNow { retry_after } => Report::AskedToWait(retry_after.unwrap_or(PAUSE)),
        _ => Report::Answered,
    });
}

/// The failure of a call that was not made.
fn failed(operation: Operation, refusal: &Refusal) -> Failure {
    let seconds = |span: &Span| span.0.max(0).saturating_add(999) / 1000;
    let (class, text) = match refusal {
        Refusal::Silent { next, last } => {
            let last = if last.is_empty() { String::new() } else { format!(" (last: {})", cut(last, 200)) };
            let text = format!("the agent does not answer; next try in {} s{last}", seconds(next));
            (FailureClass::NotSent, text)
        }
        Refusal::AskedToWait(left) => {
            let text = format!("the agent asked us to wait; next try in {} s", seconds(left));
            let told = FailureClass::RefusedForNow { retry_after: Some(*left) };
            (if operation.is_read() { told } else { FailureClass::NotSent }, text)
        }
    };
    Failure { class, code: None, reason: None, text }
}

/// The failure of a call that waited too long for a place.
fn busy(budget: Duration) -> Failure {
    let text =
        format!("the agent is busy with our other calls; none ended within {:.1} s", budget.as_secs_f64());
    Failure { class: FailureClass::NotSent, code: None, reason: None, text }
}

#[async_trait]
impl<C: AgentClient> AgentClient for Throttled<C> {
    async fn send_message(
        &self,
        to: &Target,
        message: &Value,
        operation: Operation,
        limit: Duration,
    ) -> Result<Answer, Failure> {
        let (place, left) = self.place_to_send(to, operation, limit).await?;
        noted(place, operation, self.inner.send_message(to, message, operation, left).await)
    }

    async fn get_task(&self, to: &Target, task: &TaskId) -> Result<Snapshot, Failure> {
        let place = self.place_to_read(&to.endpoint.url, Operation::GetTask).await?;
        noted(place, Operation::GetTask, self.inner.get_task(to, task).await)
    }

    async fn list_tasks(&self, to: &Target, filter: &ListFilter) -> Result<Listing, Failure> {
        let place = self.place_to_read(&to.endpoint.url, Operation::ListTasks).await?;
        noted(place, Operation::ListTasks, self.inner.list_tasks(to, filter).await)
    }

    async fn cancel_task(&self, to: &Target, task: &TaskId, limit: Duration) -> Result<Snapshot, Failure> {
        let (place, left) = self.place_to_send(to, Operation::CancelTask, limit).await?;
        noted(place, Operation::CancelTask, self.inner.cancel_task(to, task, left).await)
    }

    async fn subscribe(
        &self,
        to: &Target,
        task: &TaskId,
        idle: Duration,
    ) -> Result<BoxStream<'static, StreamItem>, Failure> {
        let operation = Operation::Subscribe;
        let mut place = self.place_to_read(&to.endpoint.url, operation).await?;
        let stream = self.inner.subscribe(to, task, idle).await;
        note(&mut place, operation, stream.as_ref().err());
        // The stream keeps its place until it is dropped.
        let watched = stream?.map(move |item| {
            if let StreamItem::Refused(failure) = &item {
                note(&mut place, operation, Some(failure));
            }
            item
        });
        Ok(watched.boxed())
    }

    async fn card(&self, url: &Url, credential: &Credential) -> Result<(Card, Value), Failure> {
        let place = self.place_to_read(url.as_str(), Operation::FetchCard).await?;
        noted(place, Operation::FetchCard, self.inner.card(url, credential).await)
    }
}
