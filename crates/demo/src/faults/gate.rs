//! The gate in front of one agent: every request passes it, and meets the faults there.

use super::ask::{self, Ask};
use super::{Fault, FaultChoice, answer, errors, is_chosen, streams};
use crate::agents::card::CardSwitch;
use crate::agents::jobs;
use crate::requests::{self, Call};
use crate::seed::Seed;
use crate::site::Connection;
use crate::store::Store;
use anyhow::{Context, Result};
use axum::Json;
use axum::body::{Body, to_bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::watch;

const BODY_LIMIT: usize = 10 * 1024 * 1024;

/// The gate in front of one agent.
#[derive(Debug)]
pub struct Gate {
    agent: &'static str,
    store: Store,
    card: CardSwitch,
    releases: watch::Sender<u64>,
    held: AtomicUsize,
}

impl Gate {
    /// The gate of an agent, which refuses what the agent's card does not claim.
    pub fn new(agent: &'static str, store: Store, card: CardSwitch) -> Self {
        Self { agent, store, card, releases: watch::Sender::new(0), held: AtomicUsize::new(0) }
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

    /// The faults that are chosen at present.
    pub async fn faults(&self) -> Result<Vec<FaultChoice>> {
        Ok(self.store.setting(&self.key()).await?.unwrap_or_default())
    }

    /// Chooses faults in place of those that were, or none.
    pub async fn choose(&self, choices: Vec<FaultChoice>) -> Result<()> {
        let choices: Vec<_> = choices.into_iter().map(FaultChoice::settled).collect();
        if choices.is_empty() {
            self.store.unset(&self.key()).await
        } else {
            self.store.set(&self.key(), &choices).await
        }
    }

    /// Chooses one fault more.
    pub async fn add(&self, choice: FaultChoice) -> Result<()> {
        let add = |faults: Option<Vec<FaultChoice>>| {
            let mut faults = faults.unwrap_or_default();
            faults.push(choice.settled());
            (Some(faults), ())
        };
        self.store.change(&self.key(), add).await
    }

    fn key(&self) -> String {
        format!("agent/{}/faults", self.agent)
    }

    /// The faults that a call meets: the chosen ones, whose times are used up, and one by chance.
    async fn faults_for(&self, call: &Call) -> Result<Vec<FaultChoice>> {
        let mut met = self.faults().await?;
        met.retain(|choice| choice.meets(&call.method));
        if met.iter().any(|choice| choice.times.is_some() || choice.skip > 0) {
            let draw = |faults: Option<Vec<FaultChoice>>| draw(faults.unwrap_or_default(), &call.method);
            met = self.store.change(&self.key(), draw).await?;
        }
        if let Some(seed) = Seed::current(&self.store).await? {
            met.extend(seed.fault(&self.store, self.agent, &call.method).await?);
        }
        Ok(met)
    }

    /// What the agent's card says that it cannot do.
    fn refuses(&self, call: &Call) -> Option<Response> {
        let card = self.card.get();
        let code = match call.method.as_str() {
            "ListTasks" if !card.lists => -32004,
            method if streams(method) && !card.streaming => -32004,
            method if method.contains("PushNotificationConfig") && !card.push => -32003,
            _ => return None,
        };
        Some(errors::protocol(call, code, None))
    }

    pub(super) async fn hold(&self) {
        let mut releases = self.releases.subscribe();
        let _held = Held::new(&self.held);
        // Ends only with a release: the sender lives as long as the gate.
        if releases.changed().await.is_err() {
            tracing::debug!("the gate is gone");
        }
    }
}

/// Splits off what a call meets, and counts down what was chosen.
fn draw(faults: Vec<FaultChoice>, method: &str) -> (Option<Vec<FaultChoice>>, Vec<FaultChoice>) {
    let (mut left, mut met) = (Vec::new(), Vec::new());
    for mut choice in faults {
        if choice.meets(method) {
            if choice.skip > 0 {
                choice.skip -= 1;
            } else {
                met.push(choice.clone());
                choice.times = choice.times.map(|times| times.saturating_sub(1));
            }
        }
        if choice.times != Some(0) {
            left.push(choice);
        }
    }
    (Some(left).filter(|left| !left.is_empty()), met)
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
    let Some(call) = Call::read(&head.method, &head.uri, &body) else {
        return Ok(next.run(Request::from_parts(head, Body::from(body))).await);
    };
    let number = requests::record(&gate.store, gate.agent, &call).await?;
    let faults = gate.faults_for(&call).await?;
    let mut ask = Ask::new(call.clone(), head, body);
    let mut early = gate.refuses(&call);
    for choice in &faults {
        if early.is_none() {
            early = ask::act(choice, &mut ask, connection).await;
        }
    }
    if let Some(answer) = early {
        requests::record_answer(&gate.store, number, answer.status().as_u16()).await?;
        return Ok(answer);
    }
    let (wait, request) = (ask::wait(&faults), ask.into_request());
    // A task of its own: a client that goes away does not stop what it asked for.
    let taken = tokio::spawn(async move {
        tokio::time::sleep(wait).await;
        next.run(request).await
    });
    if is_chosen(&faults, Fault::LandsLate) {
        connection.cut();
        std::future::pending::<()>().await;
    }
    let answer = taken.await.context("the agent broke down")?;
    let answer = answer::play(gate, answer, &call, &faults, connection).await?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_skips_are_counted_per_fault() {
        let mut first = FaultChoice::new(Fault::Slow, "*");
        first.times = Some(1);
        let mut second = FaultChoice::new(Fault::Html, "GetTask");
        second.skip = 1;
        let (left, met) = draw(vec![first.clone(), second.clone()], "GetTask");
        assert_eq!(met, [first]);
        let (left, met) = draw(left.unwrap(), "GetTask");
        second.skip = 0;
        assert_eq!((left.as_deref(), met.as_slice()), (Some(&[second.clone()][..]), &[second][..]));
    }
}
