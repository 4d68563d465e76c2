//! The calls that the loop makes at an agent, and their HTTP implementation.

use super::card::{self, Card};
use super::events;
use super::http::{Call, Connection, Http, read};
use super::list::{HISTORY_LENGTH, ListFilter, Listing, Next, Pages};
use super::rpc::{self, Refusal};
use super::{Credential, Target, convert};
use a2a::jsonrpc::methods;
use async_trait::async_trait;
use bytes::Bytes;
use domain::failure::{Evidence, Failure, Operation};
use domain::ids::{ContextId, TaskId};
use domain::task::{AgentMessage, Artifact, Snapshot, TaskState};
use domain::time::Millis;
use futures::stream::BoxStream;
use http::Method;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use tokio::time::Instant;
use url::Url;

/// What an agent answers to a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A task, whose id is now known.
    Task(Snapshot),
    /// A bare message: the work leaves no trace at the agent (DESIGN.md §5).
    Message(AgentMessage),
}

/// One thing seen on a stream. After `Refused`, `Ended` or `Broken` nothing follows.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamItem {
    /// The whole task.
    Snapshot(Snapshot),
    /// A new status.
    Status {
        /// Whose, where the event says so.
        task_id: Option<TaskId>,
        /// In which context.
        context_id: Option<ContextId>,
        /// The new state.
        state: TaskState,
        /// The agent's clock at it.
        timestamp: Option<Millis>,
        /// The status message.
        message: Option<AgentMessage>,
    },
    /// An artifact or a further part of one.
    Artifact {
        /// Whose, where the event says so.
        task_id: Option<TaskId>,
        /// The artifact or the part.
        artifact: Artifact,
        /// Whether its parts come after those already there.
        append: bool,
        /// Whether nothing more will be appended.
        last_chunk: bool,
    },
    /// A bare message.
    Message(AgentMessage),
    /// An event of a kind that we do not know (faults.md F-15).
    Skipped,
    /// No event for the caller's idle limit; comments do not count. The stream is still open,
    /// and this comes again after each further limit (F-14).
    Idle,
    /// The agent's typed error in place of an event (F-12).
    Refused(Failure),
    /// The server closed the stream. Says nothing about the task.
    Ended,
    /// The stream was cut, or held what cannot be read: a snapshot is needed.
    Broken(String),
}

/// The calls at an agent. No call retries anything, and each failure says what it means (§7).
///
/// Cancel safety, for all: dropping the future closes the call; a dropped `send_message` or
/// `cancel_task` may have arrived and is in doubt, a dropped read is only a read less.
#[async_trait]
pub trait AgentClient: Send + Sync {
    /// SendMessage of an A2A `Message` as JSON, nothing added or changed, with
    /// `returnImmediately`. `operation` says whether it is a first request or a reply; a reply
    /// without a `taskId` is not sent.
    async fn send_message(
        &self,
        to: &Target,
        message: &Value,
        operation: Operation,
        limit: Duration,
    ) -> Result<Answer, Failure>;

    /// GetTask with history. Where the answer is too large, once more with the least history.
    async fn get_task(&self, to: &Target, task: &TaskId) -> Result<Snapshot, Failure>;

    /// ListTasks, all pages. Fails only where the first page does.
    async fn list_tasks(&self, to: &Target, filter: &ListFilter) -> Result<Listing, Failure>;

    /// CancelTask. The answer shows the task's real state, which may not be CANCELED.
    async fn cancel_task(&self, to: &Target, task: &TaskId, limit: Duration) -> Result<Snapshot, Failure>;

    /// SubscribeToTask. `idle` is how long the stream may show no event before it says so.
    async fn subscribe(
        &self,
        to: &Target,
        task: &TaskId,
        idle: Duration,
    ) -> Result<BoxStream<'static, StreamItem>, Failure>;

    /// The agent's card, and its JSON as received. A URL without a path means the well-known one.
    async fn card(&self, url: &Url, credential: &Credential) -> Result<(Card, Value), Failure>;
}

/// The client over HTTP.
pub struct HttpAgents {
    http: Arc<Http>,
    next_id: AtomicI64,
}

impl HttpAgents {
    /// A client over the shared HTTP clients.
    pub fn new(http: Arc<Http>) -> Self {
        Self { http, next_id: AtomicI64::new(1) }
    }

    /// An id that no other request of this client has.
    fn id(&self) -> i64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// One call: its result and the agent's clock.
    async fn rpc(
        &self,
        to: &Target,
        operation: Operation,
        method: &str,
        params: Value,
        limit: Duration,
    ) -> Result<(Value, Option<Millis>), Refusal> {
        let refusal = |fault| Refusal::of_fault(operation, fault);
        let connection = if operation.is_read() { Connection::Kept } else { Connection::Fresh };
        let id = self.id();
        let call = rpc::call(to, method, id, params, "application/json", connection).map_err(refusal)?;
        let answer = self.http.call(call, limit).await.map_err(refusal)?;
        let result = rpc::result(operation, &answer, id, &self.http.limits)
            .map_err(|failure| Refusal { failure, too_large: false })?;
        Ok((result, answer.date))
    }

    /// A snapshot where the result must be one.
    fn snapshot(&self, operation: Operation, result: &Value) -> Result<Snapshot, Failure> {
        let task = match convert::payload(result) {
            convert::Payload::Task(task) => task,
            _ => result,
        };
        convert::snapshot(task, &self.http.limits).map_err(|why| unreadable(operation, why))
    }
}

/// An answer of the protocol whose result makes no sense.
fn unreadable(operation: Operation, why: String) -> Failure {
    let evidence = Evidence { unparsable: true, ..Evidence::status(200) };
    rpc::failure(operation, &evidence, why)
}

#[async_trait]
impl AgentClient for HttpAgents {
    async fn send_message(
        &self,
        to: &Target,
        message: &Value,
        operation: Operation,
        limit: Duration,
    ) -> Result<Answer, Failure> {
        if operation == Operation::Reply && convert::id(message.get("taskId")).is_none() {
            // Without it the answer would start a new task (faults.md F-18).
            let text = "a reply must name its task".to_owned();
            return Err(rpc::failure(operation, &Evidence::not_written(), text));
        }
        let configuration = json!({
            "returnImmediately": true,
            "historyLength": HISTORY_LENGTH,
            "acceptedOutputModes": ["text/plain", "application/json"],
        });
        let params = json!({"message": message, "configuration": configuration});
        let (result, _) = self.rpc(to, operation, methods::SEND_MESSAGE, params, limit).await?;
        match convert::payload(&result) {
            convert::Payload::Task(_) => Ok(Answer::Task(self.snapshot(operation, &result)?)),
            convert::Payload::Message(message) => convert::message(message, &self.http.limits)
                .map(Answer::Message)
                .ok_or_else(|| unreadable(operation, "a message that cannot be read".to_owned())),
            _ => Err(unreadable(operation, "the answer is neither a task nor a message".to_owned())),
        }
    }

    async fn get_task(&self, to: &Target, task: &TaskId) -> Result<Snapshot, Failure> {
        let operation = Operation::GetTask;
        let limit = self.http.limits.read;
        let params = |history: i64| json!({"id": task, "historyLength": history});
        let mut answer = self.rpc(to, operation, methods::GET_TASK, params(HISTORY_LENGTH), limit).await;
        if answer.as_ref().is_err_and(|refusal| refusal.too_large) {
            answer = self.rpc(to, operation, methods::GET_TASK, params(1), limit).await;
        }
        let snapshot = self.snapshot(operation, &answer?.0)?;
        if snapshot.task_id != *task {
            return Err(unreadable(operation, format!("the agent answered with task {}", snapshot.task_id)));
        }
        Ok(snapshot)
    }

    async fn list_tasks(&self, to: &Target, filter: &ListFilter) -> Result<Listing, Failure> {
        let operation = Operation::ListTasks;
        let limits = &self.http.limits;
        let deadline = Instant::now() + limits.list;
        let mut pages = Pages::new(limits);
        let mut token: Option<String> = None;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                pages.doubt("the pages did not end within the time limit".to_owned());
                return Ok(pages.finish());
            }
            let params = Pages::params(filter, token.as_deref());
            let answer = self.rpc(to, operation, methods::LIST_TASKS, params, left.min(limits.read)).await;
            let (page, date) = match answer {
                Ok((page, date)) if page.is_object() => (page, date),
                Ok(_) if pages.is_empty() => {
                    return Err(unreadable(operation, "the answer is no list".to_owned()));
                }
                Err(refusal) if pages.is_empty() => return Err(refusal.into()),
                Ok(_) => {
                    pages.doubt("a page is no list".to_owned());
                    return Ok(pages.finish());
                }
                Err(refusal) => {
                    pages.doubt(format!("a page could not be read: {}", refusal.failure.text));
                    return Ok(pages.finish());
                }
            };
            match pages.add(&page, date) {
                Next::Page(next) => token = Some(next),
                Next::End => return Ok(pages.finish()),
            }
        }
    }

    async fn cancel_task(&self, to: &Target, task: &TaskId, limit: Duration) -> Result<Snapshot, Failure> {
        let operation = Operation::CancelTask;
        let (result, _) = self.rpc(to, operation, methods::CANCEL_TASK, json!({"id": task}), limit).await?;
        self.snapshot(operation, &result)
    }

    async fn subscribe(
        &self,
        to: &Target,
        task: &TaskId,
        idle: Duration,
    ) -> Result<BoxStream<'static, StreamItem>, Failure> {
        let operation = Operation::Subscribe;
        let refusal = |fault| Failure::from(Refusal::of_fault(operation, fault));
        let params = json!({"id": task});
        let (method, accept) = (methods::SUBSCRIBE_TO_TASK, "text/event-stream, application/json");
        let id = self.id();
        let call = rpc::call(to, method, id, params, accept, Connection::Kept).map_err(refusal)?;
        let deadline = Instant::now() + self.http.limits.read;
        let response = self.http.open(call, deadline).await.map_err(refusal)?;
        events::open(response, id, deadline, idle, &self.http.limits).await
    }

    async fn card(&self, url: &Url, credential: &Credential) -> Result<(Card, Value), Failure> {
        let operation = Operation::FetchCard;
        let refusal = |fault| Failure::from(Refusal::of_fault(operation, fault));
        let mut url = url.clone();
        if url.path() == "/" && url.query().is_none() {
            url.set_path("/.well-known/agent-card.json");
        }
        let call = Call {
            method: Method::GET,
            url: url.clone(),
            headers: rpc::headers("application/json"),
            body: Bytes::new(),
            credential,
            connection: Connection::Kept,
        };
        let limits = &self.http.limits;
        let deadline = Instant::now() + limits.read;
        let response = self.http.open(call, deadline).await.map_err(refusal)?;
        let answer = read(response, deadline, limits.body_bytes.min(1 << 20)).await.map_err(refusal)?;
        if answer.status != 200 {
            let seen = Evidence { retry_after: answer.retry_after, ..Evidence::status(answer.status) };
            return Err(rpc::failure(operation, &seen, format!("HTTP {} instead of a card", answer.status)));
        }
        let raw = rpc::parse(&answer.body, limits).map_err(|why| unreadable(operation, why))?;
        let card = card::read(&raw, &url).map_err(|why| unreadable(operation, why))?;
        Ok((card, raw))
    }
}
