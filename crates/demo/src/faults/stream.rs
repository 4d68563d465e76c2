//! The faults of streams: events lost, doubled, swapped, framed oddly, or never coming.

use super::framing::{Block, Framing, take_block};
use super::{Fault, FaultChoice, chosen, content, delivery, errors, is_chosen};
use crate::requests::Call;
use crate::site::Connection;
use a2a::A2AError;
use axum::body::{Body, BodyDataStream, Bytes};
use axum::http::{StatusCode, header};
use axum::response::Response;
use futures::StreamExt;
use serde_json::{Value, json};
use std::io;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

/// Whether an answer is a stream of events.
pub fn is_stream(answer: &Response) -> bool {
    let kind = answer.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}

/// Plays the faults of streams and of content on a stream.
pub fn play(answer: Response, call: Call, faults: Vec<FaultChoice>, connection: Connection) -> Response {
    let (head, body) = answer.into_parts();
    let (bytes, received) = mpsc::channel(1);
    let framing = Framing::of(&faults);
    let pump = Pump { call, faults, connection, framing, bytes, seen: 0, said: 0, held: None };
    tokio::spawn(pump.run(body.into_data_stream()));
    Response::from_parts(head, Body::from_stream(ReceiverStream::new(received)))
}

/// Why a stream says nothing more.
struct Over;

type Step = Result<(), Over>;

struct Pump {
    call: Call,
    faults: Vec<FaultChoice>,
    connection: Connection,
    framing: Framing,
    bytes: mpsc::Sender<io::Result<Bytes>>,
    /// Events of the real stream.
    seen: usize,
    /// Events passed on.
    said: usize,
    held: Option<Value>,
}

impl Pump {
    async fn run(mut self, upstream: BodyDataStream) {
        if self.pass_on(upstream).await.is_ok()
            && let Some(choice) = chosen(&self.faults, Fault::StreamStaysOpen)
        {
            self.stay_open(choice.ms).await;
        }
    }

    async fn pass_on(&mut self, mut upstream: BodyDataStream) -> Step {
        self.say(Bytes::from(self.framing.opening())).await?;
        if let Some(choice) = chosen(&self.faults, Fault::StreamError) {
            let error = choice.code.unwrap_or(-32001);
            let error = A2AError::new(error, errors::words(error));
            let frame = errors::body(&self.call, &error, StatusCode::NOT_FOUND);
            self.event(&frame).await?;
            return Err(Over);
        }
        self.check_limits().await?;
        let mut received = Vec::new();
        loop {
            let chunk = tokio::select! {
                chunk = upstream.next() => chunk,
                () = self.bytes.closed() => return Err(Over),
            };
            let Some(Ok(chunk)) = chunk else { break };
            received.extend_from_slice(&chunk);
            while let Some(block) = take_block(&mut received) {
                match block {
                    Block::Other(comment) => self.say(Bytes::from(comment)).await?,
                    Block::Data(data) => self.take(&data).await?,
                }
            }
        }
        match self.held.take() {
            Some(held) => self.event(&held).await,
            None => Ok(()),
        }
    }

    /// An event of the real stream.
    async fn take(&mut self, data: &str) -> Step {
        self.seen += 1;
        let Ok(mut event) = serde_json::from_str::<Value>(data) else { return Ok(()) };
        let mut is_snapshot = false;
        if let Some(payload) = content::payload(&mut event, &self.call) {
            is_snapshot = self.seen == 1 && payload.get("task").is_some();
            content::edit(payload, &self.call, &self.faults);
        }
        if is_snapshot && self.on(Fault::NoSnapshot) {
            return Ok(());
        }
        if self.on(Fault::ReorderedEvents) && self.seen > 1 {
            let Some(held) = self.held.take() else {
                self.held = Some(event);
                return Ok(());
            };
            self.event(&event).await?;
            return self.event(&held).await;
        }
        self.event(&event).await
    }

    /// An event, with what the faults of events make of it.
    async fn event(&mut self, event: &Value) -> Step {
        self.write(&event.to_string(), is_last(event)).await?;
        if self.on(Fault::DuplicateEvents) {
            self.write(&event.to_string(), is_last(event)).await?;
        }
        if self.on(Fault::UnknownEvent) {
            let payload = json!({ "somethingNew": { "from": "the future" } });
            let unknown = if self.call.rest {
                payload
            } else {
                json!({ "jsonrpc": "2.0", "id": 1, "result": payload })
            };
            self.write(&unknown.to_string(), false).await?;
        }
        if self.on(Fault::JunkEvent) && self.seen == 1 {
            self.write("{ this is not JSON", false).await?;
        }
        if self.on(Fault::Revives) && is_last(event) {
            self.write(&revived(event).to_string(), false).await?;
        }
        self.said += 1;
        self.check_limits().await
    }

    /// Ends the stream, quietly or not, where as much was said as a fault lets through.
    async fn check_limits(&mut self) -> Step {
        let over = |fault, usual| {
            chosen(&self.faults, fault).filter(|choice| self.said >= choice.size_or(usual)).cloned()
        };
        if let Some(choice) = over(Fault::QuietStream, 0) {
            self.stay_open(choice.ms).await;
            return Err(Over);
        }
        if over(Fault::StreamEndsEarly, 1).is_some() {
            return Err(Over);
        }
        if over(Fault::ResetMidAnswer, 1).is_some() {
            self.say(Bytes::from_static(b"data: {\"jsonrpc\":\"2.0\",\"res")).await?;
            delivery::break_off(&self.connection).await
        }
        Ok(())
    }

    async fn write(&mut self, data: &str, is_last: bool) -> Step {
        let truncated = self.on(Fault::TruncatedJson) && self.said == 0;
        let length = if truncated { data.floor_char_boundary(data.len() / 2) } else { data.len() };
        let frame = self.framing.event(self.seen, &data[..length], is_last);
        for piece in delivery::pieces(&frame, &self.faults) {
            self.say(piece).await?;
        }
        Ok(())
    }

    async fn say(&self, bytes: Bytes) -> Step {
        if !self.framing.bytewise {
            return if bytes.is_empty() {
                Ok(())
            } else {
                self.bytes.send(Ok(bytes)).await.map_err(|_| Over)
            };
        }
        for at in 0..bytes.len() {
            self.bytes.send(Ok(bytes.slice(at..=at))).await.map_err(|_| Over)?;
        }
        Ok(())
    }

    /// Says nothing until the client leaves, or for a while.
    async fn stay_open(&self, ms: Option<u64>) {
        let length = ms.map_or(Duration::MAX, Duration::from_millis);
        tokio::select! {
            () = self.bytes.closed() => {}
            () = tokio::time::sleep(length) => {}
        }
    }

    fn on(&self, fault: Fault) -> bool {
        is_chosen(&self.faults, fault)
    }
}

/// The state that an event says, wherever it says it.
fn state(event: &Value) -> Option<&str> {
    let payload = event.get("result").unwrap_or(event);
    let about = payload.get("statusUpdate").or_else(|| payload.get("task"))?;
    about["status"]["state"].as_str()
}

fn is_last(event: &Value) -> bool {
    const LAST: [&str; 4] =
        ["TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED", "TASK_STATE_REJECTED"];
    state(event).is_some_and(|state| LAST.contains(&state))
}

/// A terminal event's task at work again, one second later.
fn revived(event: &Value) -> Value {
    let mut event = event.clone();
    let payload = if event.get("result").is_some() { &mut event["result"] } else { &mut event };
    let about = if payload.get("statusUpdate").is_some() { "statusUpdate" } else { "task" };
    let status = &mut payload[about]["status"];
    status["state"] = json!("TASK_STATE_WORKING");
    let later = status["timestamp"].as_str().and_then(|at| at.parse::<jiff::Timestamp>().ok());
    if let Some(later) = later.and_then(|at| at.checked_add(jiff::SignedDuration::from_secs(1)).ok()) {
        status["timestamp"] = json!(later.to_string());
    }
    event
}
