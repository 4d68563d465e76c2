//! What the official server crate cannot do, in front of it: an agent that takes a second message
//! while it works, and one that answers a reply with another task.

use super::behaviour::Quirk;
use super::executor::{Booked, Desk};
use super::jobs::{self, Job};
use crate::faults::ask::Ask;
use crate::faults::sends;
use crate::requests::Call;
use a2a::{Message, Task, TaskState};
use a2a_server::TaskStore;
use anyhow::{Context, Result, bail};
use axum::Json;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::sync::Arc;

/// The layer between an agent's gate and the server crate.
pub async fn pass(State(desk): State<Arc<Desk>>, request: Request, next: Next) -> Response {
    match pass_or_fail(&desk, request, next).await {
        Ok(answer) => answer,
        Err(error) => {
            tracing::error!("{error:#}");
            (StatusCode::INTERNAL_SERVER_ERROR, Json(json!({ "error": error.to_string() }))).into_response()
        }
    }
}

async fn pass_or_fail(desk: &Desk, request: Request, next: Next) -> Result<Response> {
    let (head, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await?;
    let call = Call::read(&head.method, &head.uri, &body).filter(|call| sends(&call.method));
    let found = match call {
        Some(call) => odd(desk, &call).await?.map(|(job, task)| (call, job, task)),
        None => None,
    };
    let Some((call, job, task)) = found else {
        return Ok(next.run(Request::from_parts(head, Body::from(body))).await);
    };
    if job.behaviour.is_odd(Quirk::BusyBooksTwice) && task.status.state == TaskState::Working {
        return book_again(desk, &call, &job, task).await;
    }
    let mut ask = Ask::new(call, head, body);
    if job.behaviour.is_odd(Quirk::Forks) && task.status.state == TaskState::InputRequired {
        let message_id = ask.call.message_id.clone().unwrap_or_default();
        jobs::fork(&desk.store, desk.profile.name, &task.id, &message_id).await?;
        ask.change(|params| {
            if let Some(Value::Object(message)) = params.get_mut("message") {
                message.remove("taskId");
                message.insert("contextId".to_owned(), task.context_id.into());
            }
        });
    }
    Ok(next.run(ask.into_request()).await)
}

/// The task that a message is for, if there is something odd about it.
async fn odd(desk: &Desk, call: &Call) -> Result<Option<(Job, Task)>> {
    let Some(task_id) = &call.task_id else { return Ok(None) };
    let job = jobs::load(&desk.store, desk.profile.name, task_id).await?;
    let Some(job) = job.filter(|job| !job.behaviour.also.is_empty()) else { return Ok(None) };
    Ok(desk.tasks.get(task_id).await?.map(|task| (job, task)))
}

/// Takes a second message to a task as another order.
async fn book_again(desk: &Desk, call: &Call, job: &Job, mut task: Task) -> Result<Response> {
    let body: Value = serde_json::from_str(&call.body).context("a message that is not JSON")?;
    let message = if call.rest { &body["message"] } else { &body["params"]["message"] };
    let message: Message = serde_json::from_value(message.clone()).context("a message that is none")?;
    let key = format!("{}-{}", task.id, message.message_id);
    task.history.get_or_insert_default().push(message);
    let offer = desk.profile.trade.offer(&job.order, &[]);
    if let Booked::No(why) = desk.order(job, &offer, &task.id, &key).await {
        bail!(why);
    }
    desk.tasks.update(task.clone()).await?;
    let answer = json!({ "task": task });
    Ok(if call.rest {
        Json(answer).into_response()
    } else {
        Json(json!({ "jsonrpc": "2.0", "id": call.rpc_id, "result": answer })).into_response()
    })
}
