//! One run on a task: from a message, or from a restart, to the next thing that the agent says
//! last (a question or an end). What it does follows from the task's job and its history alone,
//! so that a run that died can simply be done again.

use super::behaviour::Kind;
use super::content::{Offer, amount};
use super::executor::{Desk, Signal};
use super::jobs::{self, Job};
use super::order::{Order, reply_text};
use crate::bookings::{AGENT_KEY, NewBooking};
use a2a::{
    A2AError, Artifact, Message, Part, Role, StreamResponse, Task, TaskArtifactUpdateEvent, TaskState,
    TaskStatus, TaskStatusUpdateEvent,
};
use a2a_server::{ExecutorContext, TaskStore};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{broadcast, mpsc};

/// Why a run ends before its time.
enum Ended {
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

type Step<T = ()> = Result<T, Ended>;

struct Run {
    desk: Arc<Desk>,
    task_id: String,
    context_id: String,
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

        if job.behaviour.behaviour == Kind::RepliesWithMessage {
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

    /// The part after the first event.
    async fn work(&mut self, job: &Job, replies: &[String]) -> Step {
        let kind = job.behaviour.behaviour;
        let delay = Duration::from_millis(job.behaviour.delay_ms());
        let questions = self.desk.profile.trade.questions();
        if let Some(question) = questions[..kind.questions()].get(replies.len()) {
            self.pause(delay).await?;
            let parts = vec![Part::text(question.text), Part::data(question.data())];
            return self.say(TaskState::InputRequired, parts).await;
        }
        if kind == Kind::Auth && !job.authorised && replies.is_empty() {
            self.pause(delay).await?;
            return self.say(TaskState::AuthRequired, self.authorisation()).await;
        }
        let answers: Vec<String> =
            questions.iter().zip(replies).map(|(question, reply)| question.value_of(reply)).collect();
        let offer = self.desk.profile.trade.offer(&job.order, &answers);
        let reason = |usual: &str| job.behaviour.reason.clone().unwrap_or_else(|| usual.to_owned());
        match kind {
            Kind::Rejects => {
                self.pause(delay).await?;
                self.end(TaskState::Rejected, &reason("Nothing is left on those dates.")).await
            }
            Kind::Fails => {
                self.pause(delay).await?;
                self.end(TaskState::Failed, &reason("Our system is down, nothing was booked.")).await
            }
            Kind::FailsAfterBooking => {
                self.find(&offer, delay).await?;
                self.book(job, &offer).await?;
                self.end(TaskState::Failed, &reason("Something broke on our side.")).await
            }
            Kind::ClaimsWithoutBooking => {
                self.find(&offer, delay).await?;
                self.complete(job, &offer, &self.invented()).await
            }
            Kind::GoesQuiet => loop {
                self.pause(Duration::from_secs(3_600)).await?;
            },
            _ => {
                self.find(&offer, delay).await?;
                match self.book(job, &offer).await? {
                    Booked::Yes(confirmation) => self.complete(job, &offer, &confirmation).await,
                    Booked::No(why) => self.end(TaskState::Failed, &why).await,
                }
            }
        }
    }

    /// Works for a while, and says on the way what it found.
    async fn find(&mut self, offer: &Offer, delay: Duration) -> Step {
        self.pause(delay / 2).await?;
        let found = format!("Found {}, {} EUR.", offer.title, amount(offer.total_cents));
        self.end(TaskState::Working, &found).await?;
        self.pause(delay / 2).await?;
        self.end(TaskState::Working, "Booking it.").await
    }

    /// Books, unless the task was cancelled meanwhile. The same task never books twice.
    async fn book(&mut self, job: &Job, offer: &Offer) -> Step<Booked> {
        let task = self.desk.tasks.get(&self.task_id).await?;
        if task.is_none_or(|task| task.status.state.is_terminal()) {
            return Err(Ended::Quietly);
        }
        let booking = NewBooking {
            reference: job.order.reference.clone(),
            agent: self.desk.profile.name.to_owned(),
            task: self.task_id.clone(),
            title: offer.title.clone(),
            details: offer.details.clone(),
            total_cents: offer.total_cents,
            fee_cents: offer.fee_cents,
            rule: offer.rule.to_owned(),
        };
        let sent = self
            .desk
            .http
            .post(format!("{}/bookings", self.desk.booking_url))
            .bearer_auth(AGENT_KEY)
            .header("Idempotency-Key", &self.task_id)
            .json(&booking)
            .send()
            .await;
        let answer = match sent {
            Ok(answer) => answer,
            Err(error) => return Ok(Booked::No(format!("The booking system cannot be reached: {error}"))),
        };
        let status = answer.status();
        let body: Value = answer.json().await.unwrap_or_default();
        match body["id"].as_str() {
            Some(id) if status.is_success() => Ok(Booked::Yes(id.to_owned())),
            _ => Ok(Booked::No(format!("The booking system did not take the booking ({status})."))),
        }
    }

    async fn complete(&mut self, job: &Job, offer: &Offer, confirmation: &str) -> Step {
        let total = amount(offer.total_cents);
        let text =
            format!("Booked: {}. Confirmation {confirmation}, {total} EUR. {}", offer.title, offer.rule);
        let data = json!({
            "confirmation": confirmation, "reference": job.order.reference,
            "price": { "amount": total, "currency": "EUR" }, "details": offer.details,
        });
        let artifact = Artifact {
            artifact_id: format!("booking-{}", self.task_id),
            name: Some("booking".to_owned()),
            description: None,
            parts: vec![Part::text(&text), Part::data(data)],
            metadata: None,
            extensions: None,
        };
        let update = TaskArtifactUpdateEvent {
            task_id: self.task_id.clone(),
            context_id: self.context_id.clone(),
            artifact,
            append: Some(false),
            last_chunk: Some(true),
            metadata: None,
        };
        self.emit(StreamResponse::ArtifactUpdate(update)).await?;
        self.end(TaskState::Completed, &text).await
    }

    async fn reply_with_message(&mut self, job: &Job) -> Step {
        self.pause(Duration::from_millis(job.behaviour.delay_ms())).await?;
        let offer = self.desk.profile.trade.offer(&job.order, &[]);
        let text = match self.book(job, &offer).await? {
            Booked::Yes(confirmation) => format!("Booked: {}. Confirmation {confirmation}.", offer.title),
            Booked::No(why) => why,
        };
        let mut message = Message::new(Role::Agent, vec![Part::text(text)]);
        message.context_id = Some(self.context_id.clone());
        self.emit(StreamResponse::Message(message)).await
    }

    fn authorisation(&self) -> Vec<Part> {
        let link = format!("{}/authorise/{}/{}", self.desk.control_url, self.desk.profile.name, self.task_id);
        let text = format!(
            "{} needs your permission to book in your name. Open {link}, then say that it is done.",
            self.desk.profile.title
        );
        vec![Part::text(text), Part::data(json!({ "url": link }))]
    }

    /// A confirmation that no booking system ever gave.
    fn invented(&self) -> String {
        let tail: String = self.task_id.chars().rev().filter(char::is_ascii_alphanumeric).take(6).collect();
        format!("ZZ-{}", tail.to_uppercase())
    }

    async fn end(&mut self, state: TaskState, text: &str) -> Step {
        self.say(state, vec![Part::text(text)]).await
    }

    async fn say(&mut self, state: TaskState, parts: Vec<Part>) -> Step {
        let update = TaskStatusUpdateEvent {
            task_id: self.task_id.clone(),
            context_id: self.context_id.clone(),
            status: self.status(state, parts),
            metadata: None,
        };
        self.emit(StreamResponse::StatusUpdate(update)).await
    }

    fn status(&self, state: TaskState, parts: Vec<Part>) -> TaskStatus {
        let mut message = Message::new(Role::Agent, parts);
        message.task_id = Some(self.task_id.clone());
        message.context_id = Some(self.context_id.clone());
        TaskStatus { state, message: Some(message), timestamp: None }
    }

    async fn emit(&self, event: StreamResponse) -> Step {
        self.events.send(Ok(event)).await.map_err(|_| Ended::Quietly)
    }

    /// Waits; ends at once when the task is cancelled or the world begins again.
    async fn pause(&mut self, length: Duration) -> Step {
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

enum Booked {
    Yes(String),
    No(String),
}
