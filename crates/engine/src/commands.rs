//! People's writes: new trips, answers, cancels. Each is one transaction that adds an event and
//! wakes the trip; none needs the trip's lease.

use crate::accounts::Viewer;
use crate::store::{AnswerWrite, NewTripRow, Recorded};
use crate::{Engine, StoreError};
use domain::event::Event;
use domain::ids::{QuestionId, StepName, TripId};
use domain::question::{QuestionKind, QuestionState};
use domain::trip::{Standing, Step};
use domain::view::FieldError;
use domain::workflow::Workflow;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The body of `POST /trips`, and what the form of a new trip amounts to.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct NewTrip {
    /// The workflow's name, for example `travel`.
    pub workflow: String,
    /// The trip's title; made from the inputs where it is missing or blank.
    #[serde(default)]
    pub title: Option<String>,
    /// Names of the steps wanted.
    pub steps: Vec<String>,
    /// The inputs by name: text, dates as `YYYY-MM-DD`, integers.
    #[serde(default)]
    pub inputs: serde_json::Map<String, Value>,
}

/// Why a trip was not made.
#[derive(Debug, thiserror::Error)]
pub enum CreateTripError {
    /// Fields are wrong: each with what would be right.
    #[error("some fields need another value")]
    Invalid(Vec<FieldError>),
    /// The idempotency key was used before with another body.
    #[error("this Idempotency-Key was used before with another body")]
    KeyReused,
    /// The database failed; nothing was recorded.
    #[error("the database failed")]
    Store(#[from] StoreError),
}

/// What a person answers.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Answer {
    /// Free text.
    Text(String),
    /// One of the offered values.
    Choice(String),
}

/// Why an answer was not taken.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    /// No such question, or not this person's.
    #[error("there is no such question")]
    NotFound,
    /// The question has gone: answered by somebody else, withdrawn or expired. The text says which.
    #[error("{0}")]
    Gone(String),
    /// The answer itself is not acceptable.
    #[error("{0}")]
    Invalid(String),
    /// The database failed; nothing was recorded.
    #[error("the database failed")]
    Store(#[from] StoreError),
}

/// What came of a cancel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelOutcome {
    /// Recorded now.
    Recorded,
    /// The trip was already ending; nothing changed.
    AlreadyEnding,
}

/// Why a cancel was not taken.
#[derive(Debug, thiserror::Error)]
pub enum CancelError {
    /// No such trip, or not this person's.
    #[error("there is no such trip")]
    NotFound,
    /// The trip is closed.
    #[error("this trip is closed and can no longer be cancelled")]
    Closed,
    /// The database failed; nothing was recorded.
    #[error("the database failed")]
    Store(#[from] StoreError),
}

/// The longest answer and title accepted, in characters.
const LONGEST_ANSWER: usize = 4000;
const LONGEST_TITLE: usize = 120;

impl Engine {
    /// Records a new trip and makes it due. With an idempotency key, the same key and body give
    /// the same trip again. Validation errors name fields as `title`, `steps` or the input's name.
    ///
    /// # Errors
    /// [`CreateTripError`]; nothing was recorded.
    pub async fn create_trip(
        &self,
        who: &Viewer,
        new: &NewTrip,
        idempotency_key: Option<&str>,
    ) -> Result<TripId, CreateTripError> {
        let workflows = self.inner.store.workflows().await?;
        let Some(workflow) = workflows.iter().find(|w| w.name == new.workflow) else {
            let message = format!("There is no workflow called {:?}.", new.workflow);
            return Err(CreateTripError::Invalid(vec![FieldError { field: "workflow".to_owned(), message }]));
        };
        let accepted = workflow.accept(&new.inputs, &new.steps, today(self.inner.store.now()));
        let (inputs, title) = match (accepted, title(new)) {
            (Ok(inputs), Ok(title)) => (inputs, title),
            (inputs, title) => {
                let errors = inputs.err().unwrap_or_default().into_iter().chain(title.err());
                return Err(CreateTripError::Invalid(errors.collect()));
            }
        };
        let steps: Vec<Step> = steps_of(workflow, &new.steps);
        let row = NewTripRow {
            id: TripId(crate::clock::new_id()),
            owner: &who.user,
            title: &title.unwrap_or_else(|| made_title(workflow, &inputs)),
            workflow: &workflow.name,
            workflow_version: workflow.version,
            inputs: &inputs,
            steps: &steps,
            event: by(who, "trip_created", "Asked for this trip", None),
            // A key of a form may hold what no column takes; one that does names no other request.
            idempotency: idempotency_key.filter(|key| !key.contains('\0')).map(|key| (key, digest(new))),
        };
        match self.inner.store.create_trip(row).await? {
            Recorded::Trip(trip) => {
                self.inner.hints.wake(&trip);
                Ok(trip)
            }
            Recorded::KeyReused => Err(CreateTripError::KeyReused),
        }
    }

    /// Records an answer. The first one counts; a later one is told so and kept in the history.
    ///
    /// # Errors
    /// [`AnswerError`]; [`AnswerError::Gone`] says what became of the question.
    pub async fn answer(
        &self,
        who: &Viewer,
        question: &QuestionId,
        answer: &Answer,
    ) -> Result<TripId, AnswerError> {
        let row = self.inner.store.question_row(question).await?.ok_or(AnswerError::NotFound)?;
        if !who.role.sees_all() && row.owner != who.user {
            return Err(AnswerError::NotFound);
        }
        let offered: Vec<&str> = row.choices.iter().map(|c| c.value.as_str()).collect();
        // What comes too late is told so, whatever it says, and kept in the history.
        let text = match row.state {
            QuestionState::Open => acceptable(answer, &offered, row.kind)?,
            _ => as_given(answer),
        };
        let about = |kind: &str, what: String, why: Option<String>| Event {
            step: Some(row.step.clone()),
            delegation: row.delegation.clone(),
            ..by(who, kind, &what, why)
        };
        let shown = row.choices.iter().find(|c| c.value == text).map_or(text.as_str(), |c| c.label.as_str());
        let taken = about("answered", format!("Answered: {shown}"), None);
        let too_late =
            |why: &str| about("answer_refused", format!("Answered too late: {shown}"), Some(why.to_owned()));
        match self.inner.store.answer(question, &row.trip, &text, &who.email, &taken, too_late).await? {
            AnswerWrite::Recorded(trip) => {
                self.woken(&trip);
                Ok(trip)
            }
            AnswerWrite::Gone { state, by, note } => {
                self.woken(&row.trip);
                Err(AnswerError::Gone(gone(state, by, note)))
            }
        }
    }

    /// Records that the traveller wants the trip undone. Pressing twice changes nothing.
    ///
    /// # Errors
    /// [`CancelError`]; nothing was recorded.
    pub async fn cancel_trip(&self, who: &Viewer, trip: &TripId) -> Result<CancelOutcome, CancelError> {
        let view = self.trip_view(who, trip).await?.ok_or(CancelError::NotFound)?;
        if view.closed_at.is_some() {
            return Err(CancelError::Closed);
        }
        let event = by(who, "cancel_asked", "Asked for the trip to be cancelled and undone", None);
        let fresh = self.inner.store.cancel(trip, &event).await?;
        self.woken(trip);
        if fresh {
            return Ok(CancelOutcome::Recorded);
        }
        // It may have been closed since it was looked at.
        match self.trip_view(who, trip).await? {
            Some(view) if view.can_cancel || view.closed_at.is_none() => Ok(CancelOutcome::AlreadyEnding),
            _ => Err(CancelError::Closed),
        }
    }

    /// Tells the loop and the pages of a write that was committed.
    fn woken(&self, trip: &TripId) {
        self.inner.hints.wake(trip);
        self.inner.hints.tell_changed(trip, i64::MAX);
    }
}

fn by(who: &Viewer, kind: &str, what: &str, why: Option<String>) -> Event {
    Event {
        actor: who.email.clone(),
        kind: kind.to_owned(),
        step: None,
        delegation: None,
        what: what.to_owned(),
        why,
    }
}

fn today(now: domain::time::Millis) -> jiff::civil::Date {
    let now = domain::time::utc(now);
    // A traveller west of us may still be on yesterday's date.
    now.date().yesterday().unwrap_or(now.date())
}

fn title(new: &NewTrip) -> Result<Option<String>, FieldError> {
    let title = new.title.as_deref().map(str::trim).filter(|t| !t.is_empty());
    let Some(title) = title else { return Ok(None) };
    let length = title.chars().count();
    if length > LONGEST_TITLE || title.chars().any(char::is_control) {
        let message = format!("The title must be one line of at most {LONGEST_TITLE} characters.");
        return Err(FieldError { field: "title".to_owned(), message });
    }
    Ok(Some(title.to_owned()))
}

fn made_title(workflow: &Workflow, inputs: &Map<String, Value>) -> String {
    let rendered = domain::request::render(&workflow.trip_title, &json!({ "inputs": inputs }));
    let title = rendered.unwrap_or_else(|_| workflow.title.clone());
    title.chars().take(LONGEST_TITLE).collect()
}

fn steps_of(workflow: &Workflow, wanted: &[String]) -> Vec<Step> {
    let chosen = |name: &StepName| wanted.iter().any(|w| w == name.as_str());
    let step = |definition: &domain::workflow::StepDefinition| Step {
        name: definition.name.clone(),
        standing: if chosen(&definition.name) { Standing::Open } else { Standing::Skipped },
        attempt_budget: definition.attempt_budget,
        not_before: None,
    };
    workflow.steps.iter().map(step).collect()
}

fn digest(new: &NewTrip) -> String {
    use sha2::Digest as _;
    let body = serde_json::to_string(new).unwrap_or_default();
    hex::encode(sha2::Sha256::digest(body.as_bytes()))
}

fn as_given(answer: &Answer) -> String {
    let (Answer::Text(text) | Answer::Choice(text)) = answer;
    text.replace('\0', "\u{fffd}").chars().take(LONGEST_ANSWER).collect()
}

fn acceptable(answer: &Answer, offered: &[&str], kind: QuestionKind) -> Result<String, AnswerError> {
    let invalid = |text: &str| Err(AnswerError::Invalid(text.to_owned()));
    match answer {
        Answer::Choice(value) if offered.contains(&value.as_str()) => Ok(value.clone()),
        Answer::Choice(value) if kind == QuestionKind::Auth && value == "done" => {
            Ok("I have done it".to_owned())
        }
        Answer::Choice(_) => invalid("This answer was not offered. Please choose one of those shown."),
        Answer::Text(_) if !offered.is_empty() => invalid("Please choose one of the answers shown."),
        Answer::Text(text) => {
            let text = text.replace('\0', "\u{fffd}");
            let text = text.trim();
            if text.is_empty() {
                return invalid("Please type an answer.");
            }
            if text.chars().count() > LONGEST_ANSWER {
                return invalid(&format!("The answer is too long: at most {LONGEST_ANSWER} characters fit."));
            }
            Ok(text.to_owned())
        }
    }
}

fn gone(state: QuestionState, by: Option<String>, note: Option<String>) -> String {
    match state {
        QuestionState::Answered => {
            format!("This question was answered already by {}.", by.unwrap_or_else(|| "somebody".to_owned()))
        }
        QuestionState::Withdrawn => note.unwrap_or_else(|| "This question is no longer needed.".to_owned()),
        QuestionState::Expired | QuestionState::Open => {
            "The time to answer this question is over.".to_owned()
        }
    }
}
