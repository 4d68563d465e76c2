//! The agent's side of the official server crate: starts a run for every message, and stops it
//! when its task is cancelled.

use super::Profile;
use super::run;
use super::task_store::TaskTable;
use crate::clock;
use crate::store::Store;
use a2a::{A2AError, Message, Part, Role, StreamResponse, TaskState, TaskStatus, TaskStatusUpdateEvent};
use a2a_server::{AgentExecutor, ExecutorContext};
use anyhow::Result;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{broadcast, mpsc};
use tokio_stream::wrappers::ReceiverStream;

/// Why a run has to look whether it may go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signal {
    /// This task was cancelled.
    Cancelled(String),
    /// The whole world begins again.
    Stop,
}

/// What all runs of one agent share.
#[derive(Debug)]
pub struct Desk {
    pub(super) profile: &'static Profile,
    pub(super) booking_url: String,
    pub(super) control_url: String,
    pub(super) store: Store,
    pub(super) tasks: TaskTable,
    pub(super) http: reqwest::Client,
    pub(super) signals: broadcast::Sender<Signal>,
    mark: String,
}

impl Desk {
    /// An agent's desk, with the addresses where it books and where people authorise it.
    pub fn new(
        profile: &'static Profile,
        (booking_url, control_url): (String, String),
        store: Store,
        tasks: TaskTable,
    ) -> Result<Self> {
        let http = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(10)).build()?;
        let signals = broadcast::Sender::new(256);
        Ok(Self { profile, booking_url, control_url, store, tasks, http, signals, mark: clock::new_id() })
    }

    /// The message id by which the agent tells a message to itself. New in every process, so that
    /// no client can know it.
    pub fn mark(&self) -> &str {
        &self.mark
    }

    /// Ends all runs.
    pub fn stop_work(&self) {
        self.signal(Signal::Stop);
    }

    fn signal(&self, signal: Signal) {
        // An error only says that nothing runs at present.
        if self.signals.send(signal).is_err() {
            tracing::debug!(agent = self.profile.name, "nothing is running");
        }
    }
}

/// The executor that the server crate calls.
#[derive(Clone, Debug)]
pub struct Executor(pub Arc<Desk>);

impl AgentExecutor for Executor {
    fn execute(&self, ctx: ExecutorContext) -> BoxStream<'static, Result<StreamResponse, A2AError>> {
        let (events, received) = mpsc::channel(1);
        let signals = self.0.signals.subscribe();
        tokio::spawn(run::run(self.0.clone(), ctx, events, signals));
        ReceiverStream::new(received).boxed()
    }

    fn cancel(&self, ctx: ExecutorContext) -> BoxStream<'static, Result<StreamResponse, A2AError>> {
        self.0.signal(Signal::Cancelled(ctx.task_id.clone()));
        let text = "Cancelled, as you asked. What was booked before stays booked.";
        let event = TaskStatusUpdateEvent {
            status: status(TaskState::Canceled, &ctx, vec![Part::text(text)]),
            task_id: ctx.task_id,
            context_id: ctx.context_id,
            metadata: None,
        };
        stream::iter([Ok(StreamResponse::StatusUpdate(event))]).boxed()
    }
}

fn status(state: TaskState, ctx: &ExecutorContext, parts: Vec<Part>) -> TaskStatus {
    let mut message = Message::new(Role::Agent, parts);
    message.task_id = Some(ctx.task_id.clone());
    message.context_id = Some(ctx.context_id.clone());
    TaskStatus { state, message: Some(message), timestamp: None }
}
