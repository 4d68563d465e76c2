//! What an agent does with a task after its first word, by the behaviour that was drawn for it.

use super::behaviour::Kind;
use super::content::{Offer, amount};
use super::executor::Booked;
use super::jobs::Job;
use super::run::{Ended, Run, Step};
use crate::clock;
use crate::faults::content::SHOWN_STATE;
use a2a::{Artifact, Message, Part, Role, StreamResponse, Task, TaskArtifactUpdateEvent, TaskState};
use a2a_server::TaskStore;
use serde_json::json;
use std::collections::HashMap;
use std::time::Duration;

impl Run {
    /// The part after the first event.
    pub(super) async fn work(&mut self, job: &Job, replies: &[String]) -> Step {
        let kind = job.behaviour.behaviour;
        let delay = Duration::from_millis(job.behaviour.delay_ms());
        let questions = self.desk.profile.trade.questions();
        if replies.len() < kind.questions() {
            let place = if kind == Kind::AsksSameTwice { 0 } else { replies.len() };
            let question = questions[place];
            self.pause(delay).await?;
            let parts = vec![Part::text(question.text), Part::data(question.data())];
            return self.say(TaskState::InputRequired, parts).await;
        }
        let wants_permission = matches!(kind, Kind::Auth | Kind::AuthClears);
        if wants_permission && !job.authorised && replies.is_empty() {
            self.pause(delay).await?;
            self.say(TaskState::AuthRequired, self.authorisation()).await?;
            if kind == Kind::Auth {
                return Ok(());
            }
            self.pause(job.behaviour.late()).await?;
        }
        let answers: Vec<String> =
            questions.iter().zip(replies).map(|(question, reply)| question.value_of(reply)).collect();
        let offer = self.desk.profile.trade.offer(&job.order, &answers);
        match kind {
            Kind::Rejects | Kind::RejectsButBooks | Kind::Fails => self.refuse(job, &offer, delay).await,
            Kind::FailsAfterBooking
            | Kind::FailsThenUndoes
            | Kind::FailsBooksLate
            | Kind::CompletesAfterFailing => self.fail(job, &offer, delay).await,
            Kind::ClaimsWithoutBooking | Kind::BooksLate | Kind::CompletesBare => {
                self.claim(job, &offer, delay).await
            }
            Kind::GoesQuiet => loop {
                self.pause(Duration::from_secs(3_600)).await?;
            },
            Kind::BooksThenForgets => {
                self.find(&offer, delay).await?;
                self.book(job, &offer).await?;
                self.desk.tasks.forget(&self.task_id).await?;
                Err(Ended::Quietly)
            }
            _ => self.deliver(job, &offer, delay).await,
        }
    }

    /// Works, books and completes, on ways of its own.
    async fn deliver(&mut self, job: &Job, offer: &Offer, delay: Duration) -> Step {
        let kind = job.behaviour.behaviour;
        if kind == Kind::UnknownState {
            let mut status = self.status(TaskState::Working, vec![Part::text("Waiting for the night.")]);
            if let Some(message) = &mut status.message {
                let shown = (SHOWN_STATE.to_owned(), json!("TASK_STATE_PAUSED"));
                message.metadata = Some(HashMap::from([shown]));
            }
            self.show(status).await?;
            self.pause(delay).await?;
        }
        if kind == Kind::BooksThenDawdles {
            self.book(job, offer).await?;
        }
        self.find(offer, delay).await?;
        let booked = self.book(job, offer).await?;
        if kind == Kind::BooksTwice {
            let key = format!("{}-again", self.task_id);
            self.desk.order(job, offer, &self.task_id, &key).await;
        }
        match booked {
            Booked::Yes(confirmation) => self.complete(job, offer, &confirmation).await,
            Booked::No(why) => self.end(TaskState::Failed, &why).await,
        }
    }

    /// Says no, or that it could not be done at all.
    async fn refuse(&mut self, job: &Job, offer: &Offer, delay: Duration) -> Step {
        self.pause(delay).await?;
        if job.behaviour.behaviour == Kind::RejectsButBooks {
            self.book(job, offer).await?;
        }
        if job.behaviour.behaviour == Kind::Fails {
            return self
                .end(TaskState::Failed, &reason(job, "Our system is down, nothing was booked."))
                .await;
        }
        self.end(TaskState::Rejected, &reason(job, "Nothing is left on those dates.")).await
    }

    /// Says that it failed; what is booked says something else, now or later.
    async fn fail(&mut self, job: &Job, offer: &Offer, delay: Duration) -> Step {
        self.find(offer, delay).await?;
        let kind = job.behaviour.behaviour;
        let mut booked = None;
        if matches!(kind, Kind::FailsAfterBooking | Kind::FailsThenUndoes) {
            booked = Some(self.book(job, offer).await?);
        }
        self.end(TaskState::Failed, &reason(job, "Something broke on our side.")).await?;
        if kind == Kind::FailsAfterBooking {
            return Ok(());
        }
        self.pause(job.behaviour.late()).await?;
        match (kind, booked) {
            (Kind::FailsThenUndoes, Some(Booked::Yes(confirmation))) => {
                Ok(self.desk.undo(&confirmation).await?)
            }
            (Kind::FailsThenUndoes, _) => Ok(()),
            _ => {
                let booked = self.desk.order(job, offer, &self.task_id, &self.task_id).await;
                match booked {
                    Booked::Yes(confirmation) if kind == Kind::CompletesAfterFailing => {
                        self.complete_after_all(job, offer, &confirmation).await
                    }
                    _ => Ok(()),
                }
            }
        }
    }

    /// Completes; what is booked says something else, or there is nothing to see.
    async fn claim(&mut self, job: &Job, offer: &Offer, delay: Duration) -> Step {
        self.find(offer, delay).await?;
        match job.behaviour.behaviour {
            Kind::ClaimsWithoutBooking => self.complete(job, offer, &self.invented()).await,
            Kind::CompletesBare => {
                self.book(job, offer).await?;
                let mut status = self.status(TaskState::Completed, Vec::new());
                status.message = None;
                self.show(status).await
            }
            _ => {
                self.end(TaskState::Completed, &format!("Booked: {}.", offer.title)).await?;
                self.pause(job.behaviour.late()).await?;
                self.desk.order(job, offer, &self.task_id, &self.task_id).await;
                Ok(())
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
        Ok(self.desk.order(job, offer, &self.task_id, &self.task_id).await)
    }

    async fn complete(&mut self, job: &Job, offer: &Offer, confirmation: &str) -> Step {
        let update = TaskArtifactUpdateEvent {
            task_id: self.task_id.clone(),
            context_id: self.context_id.clone(),
            artifact: self.artifact(job, offer, confirmation),
            append: Some(false),
            last_chunk: Some(true),
            metadata: None,
        };
        self.emit(StreamResponse::ArtifactUpdate(update)).await?;
        self.end(TaskState::Completed, &told(offer, confirmation)).await
    }

    /// Completes a task that has ended otherwise, past the server crate, which would not have it.
    async fn complete_after_all(&mut self, job: &Job, offer: &Offer, confirmation: &str) -> Step {
        let Some(task) = self.desk.tasks.get(&self.task_id).await? else { return Ok(()) };
        let mut status = self.status(TaskState::Completed, vec![Part::text(told(offer, confirmation))]);
        status.timestamp = clock::now().to_string().parse().ok();
        let artifacts = Some(vec![self.artifact(job, offer, confirmation)]);
        Ok(self.desk.tasks.force(&Task { status, artifacts, ..task }).await?)
    }

    fn artifact(&self, job: &Job, offer: &Offer, confirmation: &str) -> Artifact {
        let data = json!({
            "confirmation": confirmation, "reference": job.order.reference,
            "price": { "amount": amount(offer.total_cents), "currency": "EUR" }, "details": offer.details,
        });
        Artifact {
            artifact_id: format!("booking-{}", self.task_id),
            name: Some("booking".to_owned()),
            description: None,
            parts: vec![Part::text(told(offer, confirmation)), Part::data(data)],
            metadata: None,
            extensions: None,
        }
    }

    /// Answers with a message instead of a task.
    pub(super) async fn reply_with_message(&mut self, job: &Job) -> Step {
        self.pause(Duration::from_millis(job.behaviour.delay_ms())).await?;
        let offer = self.desk.profile.trade.offer(&job.order, &[]);
        let acknowledges = job.behaviour.behaviour == Kind::Acknowledges;
        let text = if acknowledges {
            "Received, your ticket is 17.".to_owned()
        } else {
            match self.book(job, &offer).await? {
                Booked::Yes(confirmation) => format!("Booked: {}. Confirmation {confirmation}.", offer.title),
                Booked::No(why) => why,
            }
        };
        let mut message = Message::new(Role::Agent, vec![Part::text(text)]);
        message.context_id = Some(self.context_id.clone());
        self.emit(StreamResponse::Message(message)).await?;
        if acknowledges {
            self.pause(job.behaviour.late()).await?;
            self.book(job, &offer).await?;
        }
        Ok(())
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
}

fn told(offer: &Offer, confirmation: &str) -> String {
    let total = amount(offer.total_cents);
    format!("Booked: {}. Confirmation {confirmation}, {total} EUR. {}", offer.title, offer.rule)
}

fn reason(job: &Job, usual: &str) -> String {
    job.behaviour.reason.clone().unwrap_or_else(|| usual.to_owned())
}
