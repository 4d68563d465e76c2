//! One run on a task: from a message, or from a restart, to the next thing that the agent says
//! last (a question or an end). What it does follows from the task's job and its history alone,
//! so that a run that died can simply be done again.

use super::executor::{Desk, Signal};
use super::jobs;
use super::order::{Order, reply_text};
use a2a::{
    A2AError, Message, Part, Role, StreamResponse, Task, TaskState, TaskStatus, TaskStatusUpdateEvent,
};
use a2a_server::{ExecutorContext, TaskStore};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{broadcast, mpsc};

/// Why a run ends before its time.
pub(super) enum Ended {
    /// Its task was cancelled, or nobody takes its events any more.
    Quietly,
    /// The agent itself is broken; its caller gets an error.
    Broken(anyhow::Error),
}

impl From<anyhow::Error> for Ended {
    fn from(error: anyhow::Error) -> Self {
        Self::Broken(error)
    }
}

impl From<A2AError> for Ended {
    fn from(error: A2AError) -> Self {
        Self::Broken(error.into())
    }
}

/// What a step of a run comes to.
pub(super) type Step<T = ()> = Result<T, Ended>;

/// A run on a task.
pub(super) struct Run {
    pub(super) desk: Arc<Desk>,
    pub(super) task_id: String,
    pub(super) context_id: String,
    events: mpsc::Sender<Result<StreamResponse, A2AError>>,
    signals: broadcast::Receiver<Signal>,
}

/// Runs on a message.
pub async fn run(
    desk: Arc<Desk>,
    ctx: ExecutorContext,
    events: mpsc::Sender<Result<StreamResponse, A2AError>>,
    signals: broadcast::Receiver<Signal>,
) {
    let (task_id, context_id) = ctx.task_info();
    let mut run = Run { desk, task_id, context_id, events, signals };
    match run.take(ctx).await {
        Ok(()) | Err(Ended::Quietly) => {}
        Err(Ended::Broken(error)) => {
            tracing::error!(task = run.task_id, "{error:#}");
            let answer = Err(A2AError::internal(error.to_string()));
            if run.events.send(answer).await.is_err() {
                tracing::debug!(task = run.task_id, "nobody hears that the run broke");
            }
        }
    }
}

impl Run {
    async fn take(&mut self, ctx: ExecutorContext) -> Step {
        let Some(message) = ctx.message else { return Ok(()) };
        let stored = ctx.stored_task;
        let resumed = message.message_id == self.desk.mark();
        let mut history = stored.as_ref().and_then(|task| task.history.clone()).unwrap_or_default();
        history.retain(|said| said.message_id != self.desk.mark());
        if !resumed && !history.iter().any(|said| said.message_id == message.message_id) {
            history.push(message);
        }
        let Some(request) = history.iter().find(|said| said.role != Role::Agent).cloned() else {
            return Ok(());
        };
        let (store, profile) = (&self.desk.store, self.desk.profile);
        let order = || Order::read(&request);
        let job = jobs::take_on(store, profile, &self.task_id, &request.message_id, order).await?;
        let answers: Vec<String> = history.iter().skip(1).map(reply_text).collect();

        if job.behaviour.behaviour.is_message() {
            return self.reply_with_message(&job).await;
        }
        let artifacts = stored.and_then(|task| task.artifacts);
        let opening = self.desk.profile.trade.searching(&job.order);
        let status = self.status(TaskState::Working, vec![Part::text(opening)]);
        let task = Task {
            id: self.task_id.clone(),
            context_id: self.context_id.clone(),
            status,
            artifacts,
            history: Some(history),
            metadata: None,
        };
        self.emit(StreamResponse::Task(task)).await?;
        self.work(&job, &answers).await
    }

    pub(super) async fn end(&mut self, state: TaskState, text: &str) -> Step {
        self.say(state, vec![Part::text(text)]).await
    }

    pub(super) async fn say(&mut self, state: TaskState, parts: Vec<Part>) -> Step {
        self.show(self.status(state, parts)).await
    }

    /// Says a whole status.
    pub(super) async fn show(&mut self, status: TaskStatus) -> Step {
        let update = TaskStatusUpdateEvent {
            task_id: self.task_id.clone(),
            context_id: self.context_id.clone(),
            status,
            metadata: None,
        };
        self.emit(StreamResponse::StatusUpdate(update)).await
    }

    pub(super) fn status(&self, state: TaskState, parts: Vec<Part>) -> TaskStatus {
        let mut message = Message::new(Role::Agent, parts);
        message.task_id = Some(self.task_id.clone());
        message.context_id = Some(self.context_id.clone());
        TaskStatus { state, message: Some(message), timestamp: None }
    }

    pub(super) async fn emit(&self, event: StreamResponse) -> Step {
        self.events.send(Ok(event)).await.map_err(|_| Ended::Quietly)
    }

    /// Waits; ends at once when the task is cancelled or the world begins again.
    pub(super) async fn pause(&mut self, length: Duration) -> Step {
        let over = tokio::time::sleep(length);
        tokio::pin!(over);
        loop {
            tokio::select! {
                () = &mut over => return Ok(()),
                signal = self.signals.recv() => match signal {
                    Ok(Signal::Cancelled(task)) if task != self.task_id => {}
                    Err(broadcast::error::RecvError::Lagged(_)) => {
                        let task = self.desk.tasks.get(&self.task_id).await?;
                        if task.is_none_or(|task| task.status.state.is_terminal()) {
                            return Err(Ended::Quietly);
                        }
                    }
                    _ => return Err(Ended::Quietly),
                },
            }
        }
    }
}
