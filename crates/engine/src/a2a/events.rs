//! From an answer to SubscribeToTask to [`StreamItem`]s.
//!
//! An error where a stream was expected is seen as that error, whether it comes as plain JSON,
//! as a frame, or without a content type (faults.md F-12); it is never a stream that ended
//! well. A payload of an unknown kind is skipped, one that cannot be read breaks the stream, so
//! that a snapshot follows (F-15).

use super::client::StreamItem;
use super::http::{HttpAnswer, head, read};
use super::limits::Limits;
use super::rpc::{self, Refusal};
use super::{convert, sse};
use bytes::Bytes;
use domain::failure::{Evidence, Failure, Operation};
use domain::ids::{ContextId, TaskId};
use eventsource_stream::Event;
use futures::stream::{self, BoxStream, StreamExt};
use serde_json::Value;
use std::time::Duration;
use tokio::time::Instant;

const OPERATION: Operation = Operation::Subscribe;

/// Judges the head of an answer and makes it a stream.
pub(crate) async fn open(
    mut response: reqwest::Response,
    id: i64,
    deadline: Instant,
    idle: Duration,
    limits: &Limits,
) -> Result<BoxStream<'static, StreamItem>, Failure> {
    let mut answer = head(&response);
    let mut first = Bytes::new();
    let good = (200..300).contains(&answer.status);
    let stated = answer.content_type.clone();
    let mut is_stream = good && stated.starts_with("text/event-stream");
    if good && stated.is_empty() {
        first = first_bytes(&mut response, deadline).await;
        is_stream = !first.trim_ascii_start().starts_with(b"{");
    }
    if is_stream {
        let rest = response.bytes_stream().map(|chunk| chunk.map_err(|_| "the stream was cut".to_owned()));
        let bytes = stream::once(async move { Ok(first) }).chain(rest);
        return Ok(items(sse::events(bytes, limits.event_bytes), idle, limits.clone()));
    }
    let rest = read(response, deadline, limits.body_bytes).await;
    let rest = rest.map_err(|fault| Refusal::of_fault(OPERATION, fault).failure)?;
    answer.body = [first, rest.body].concat().into();
    plain(&answer, id, limits)
}

/// The first bytes of a body, none where it ends or breaks at once.
async fn first_bytes(response: &mut reqwest::Response, deadline: Instant) -> Bytes {
    match tokio::time::timeout_at(deadline, response.chunk()).await {
        Ok(Ok(Some(chunk))) => chunk,
        _ => Bytes::new(),
    }
}

/// An answer that is no stream: an error, or a task as a stream of one event.
fn plain(answer: &HttpAnswer, id: i64, limits: &Limits) -> Result<BoxStream<'static, StreamItem>, Failure> {
    let result = rpc::result(OPERATION, answer, id, limits)?;
    match payload(&result, limits) {
        item @ StreamItem::Snapshot(_) => Ok(stream::iter([item, StreamItem::Ended]).boxed()),
        _ => {
            let evidence = Evidence { unparsable: true, ..Evidence::status(answer.status) };
            Err(rpc::failure(OPERATION, &evidence, "the answer is no stream".to_owned()))
        }
    }
}

/// The items of a stream of events, with a sign for each `idle` without one.
fn items(
    events: BoxStream<'static, Result<Event, String>>,
    idle: Duration,
    limits: Limits,
) -> BoxStream<'static, StreamItem> {
    stream::unfold(Some((events, limits, idle)), async |state| {
        let (mut events, limits, idle) = state?;
        let item = match tokio::time::timeout(idle, events.next()).await {
            Err(_) => StreamItem::Idle,
            Ok(None) => StreamItem::Ended,
            Ok(Some(Err(error))) => StreamItem::Broken(error),
            Ok(Some(Ok(event))) => item(&event.data, &limits),
        };
        let last = matches!(item, StreamItem::Ended | StreamItem::Broken(_) | StreamItem::Refused(_));
        Some((item, (!last).then_some((events, limits, idle))))
    })
    .boxed()
}

/// One event: the JSON-RPC envelope, or the bare payload.
fn item(data: &str, limits: &Limits) -> StreamItem {
    if data.trim().is_empty() {
        return StreamItem::Skipped;
    }
    let value = match rpc::parse(data.as_bytes(), limits) {
        Ok(value) => value,
        Err(why) => return StreamItem::Broken(format!("an event that cannot be read: {why}")),
    };
    if let Some(error) = value.get("error").filter(|error| error.is_object()) {
        return StreamItem::Refused(rpc::of_error(OPERATION, error, Evidence::status(200)));
    }
    payload(value.get("result").unwrap_or(&value), limits)
}

/// The item of a payload.
fn payload(result: &Value, limits: &Limits) -> StreamItem {
    let broken = |why: &str| StreamItem::Broken(format!("an event that cannot be read: {why}"));
    let task_id = |update: &Value| convert::id(update.get("taskId")).map(TaskId);
    match convert::payload(result) {
        convert::Payload::Task(task) => match convert::snapshot(task, limits) {
            Ok(snapshot) => StreamItem::Snapshot(snapshot),
            Err(why) => broken(&why),
        },
        convert::Payload::Status(update) => match update.get("status").filter(|status| status.is_object()) {
            Some(status) => StreamItem::Status {
                task_id: task_id(update),
                context_id: convert::id(update.get("contextId")).map(ContextId),
                state: convert::state(status),
                timestamp: convert::timestamp(status.get("timestamp")),
                message: status.get("message").and_then(|message| convert::message(message, limits)),
            },
            None => broken("an update without a status"),
        },
        convert::Payload::Artifact(update) => {
            let flag = |name: &str| update.get(name).and_then(Value::as_bool).unwrap_or(false);
            match convert::artifact(update.get("artifact").unwrap_or(&Value::Null), limits) {
                Ok(artifact) => StreamItem::Artifact {
                    task_id: task_id(update),
                    artifact,
                    append: flag("append"),
                    last_chunk: flag("lastChunk"),
                },
                Err(why) => broken(&why),
            }
        }
        convert::Payload::Message(message) => {
            convert::message(message, limits).map_or(StreamItem::Skipped, StreamItem::Message)
        }
        convert::Payload::Other => StreamItem::Skipped,
    }
}
