//! What can go wrong on the wire between a client and an agent, as a layer in front of the real
//! router: the request is written down, faults may act before it is taken, then it is taken
//! whole, whether or not the client is still there, and faults may act on its answer.
//!
//! A new fault is a variant of [`Fault`] and an arm in `Gate::before` or `Gate::after`.

use crate::agents::jobs;
use crate::requests::{self, Call};
use crate::site::Connection;
use crate::store::Store;
use anyhow::{Context, Result};
use axum::Json;
use axum::body::{Body, to_bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::watch;

const BODY_LIMIT: usize = 10 * 1024 * 1024;

/// A fault of the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The connection breaks before the request is taken.
    DropBefore,
    /// The request is taken, then the connection breaks.
    DropAfter,
    /// An error status instead of taking the request.
    StatusBefore,
    /// The request is taken, then an error status stands in for its answer.
    StatusAfter,
    /// The request is taken, its answer waits until it is let go.
    HoldAnswer,
}

/// A chosen fault: for which operation, and how often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultChoice {
    /// What goes wrong.
    pub fault: Fault,
    /// With which operation, by its JSON-RPC name.
    #[serde(default = "send_message")]
    pub method: String,
    /// The HTTP status of the status faults.
    #[serde(default = "unavailable")]
    pub status: u16,
    /// Sent as Retry-After with a status fault.
    #[serde(default)]
    pub retry_after: Option<u32>,
    /// How many calls it meets; all where missing.
    #[serde(default)]
    pub times: Option<u32>,
}

fn send_message() -> String {
    "SendMessage".to_owned()
}

fn unavailable() -> u16 {
    503
}

/// The gate in front of one agent.
#[derive(Debug)]
pub struct Gate {
    agent: &'static str,
    store: Store,
    releases: watch::Sender<u64>,
    held: AtomicUsize,
}

impl Gate {
    /// The gate of an agent.
    pub fn new(agent: &'static str, store: Store) -> Self {
        Self { agent, store, releases: watch::Sender::new(0), held: AtomicUsize::new(0) }
    }

    /// How many answers it holds back at present.
    pub fn held(&self) -> usize {
        self.held.load(Ordering::SeqCst)
    }

    /// Lets all held answers go, and says how many there were.
    pub fn release(&self) -> usize {
        let held = self.held();
        self.releases.send_modify(|count| *count += 1);
        held
    }

    /// The fault that is chosen at present, if any.
    pub async fn fault(&self) -> Result<Option<FaultChoice>> {
        self.store.setting(&self.key()).await
    }

    /// Chooses a fault, or none.
    pub async fn choose(&self, choice: Option<&FaultChoice>) -> Result<()> {
        match choice {
            Some(choice) => self.store.set(&self.key(), choice).await,
            None => self.store.unset(&self.key()).await,
        }
    }

    fn key(&self) -> String {
        format!("agent/{}/fault", self.agent)
    }

    async fn fault_for(&self, call: &Call) -> Result<Option<FaultChoice>> {
        match self.fault().await? {
            Some(choice) if choice.method == call.method => self.store.draw(&self.key()).await,
            _ => Ok(None),
        }
    }

    /// What a fault does before the request is taken: an answer of its own, or nothing.
    async fn before(choice: &FaultChoice, connection: &Connection) -> Option<Response> {
        match choice.fault {
            Fault::DropBefore => {
                connection.cut();
                std::future::pending().await
            }
            Fault::StatusBefore => Some(error_answer(choice)),
            Fault::DropAfter | Fault::StatusAfter | Fault::HoldAnswer => None,
        }
    }

    /// What a fault does to the answer of a request that was taken.
    async fn after(&self, choice: &FaultChoice, connection: &Connection, answer: Response) -> Response {
        match choice.fault {
            Fault::DropAfter => {
                connection.cut();
                std::future::pending().await
            }
            Fault::StatusAfter => error_answer(choice),
            Fault::HoldAnswer => {
                self.hold().await;
                answer
            }
            Fault::DropBefore | Fault::StatusBefore => answer,
        }
    }

    async fn hold(&self) {
        let mut releases = self.releases.subscribe();
        let _held = Held::new(&self.held);
        // Ends only with a release: the sender lives as long as the gate.
        if releases.changed().await.is_err() {
            tracing::debug!("the gate is gone");
        }
    }
}

/// Counts one held answer for as long as it lives, also where the client goes away.
struct Held<'a>(&'a AtomicUsize);

impl<'a> Held<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn error_answer(choice: &FaultChoice) -> Response {
    let status = StatusCode::from_u16(choice.status).unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
    let mut answer = (status, "upstream error\n").into_response();
    if let Some(seconds) = choice.retry_after {
        answer.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    answer
}

/// The layer: every request to an agent passes here.
pub async fn pass(
    State(gate): State<Arc<Gate>>,
    ConnectInfo(connection): ConnectInfo<Connection>,
    request: Request,
    next: Next,
) -> Response {
    match Box::pin(pass_or_fail(&gate, &connection, request, next)).await {
        Ok(answer) => answer,
        Err(error) => {
            tracing::error!(agent = gate.agent, "{error:#}");
            let body = Json(json!({ "error": format!("{error:#}") }));
            (StatusCode::INTERNAL_SERVER_ERROR, body).into_response()
        }
    }
}

async fn pass_or_fail(
    gate: &Arc<Gate>,
    connection: &Connection,
    request: Request,
    next: Next,
) -> Result<Response> {
    let (head, body) = request.into_parts();
    let Ok(body) = to_bytes(body, BODY_LIMIT).await else {
        return Ok(StatusCode::PAYLOAD_TOO_LARGE.into_response());
    };
    let call = Call::read(&head.method, &head.uri, &body);
    let request = Request::from_parts(head, Body::from(body));
    let Some(call) = call else { return Ok(next.run(request).await) };

    let number = requests::record(&gate.store, gate.agent, &call).await?;
    let fault = gate.fault_for(&call).await?;
    if let Some(choice) = &fault
        && let Some(answer) = Gate::before(choice, connection).await
    {
        requests::record_answer(&gate.store, number, answer.status().as_u16()).await?;
        return Ok(answer);
    }
    // A task of its own: a client that goes away does not stop what it asked for.
    let mut answer = tokio::spawn(next.run(request)).await.context("the agent broke down")?;
    if let Some(choice) = &fault {
        answer = gate.after(choice, connection, answer).await;
    }
    if call.method == "SendMessage"
        && let Some(message_id) = &call.message_id
        && call.task_id.is_none()
        && jobs::answer_is_held(&gate.store, gate.agent, message_id).await?
    {
        gate.hold().await;
    }
    requests::record_answer(&gate.store, number, answer.status().as_u16()).await?;
    Ok(answer)
}
