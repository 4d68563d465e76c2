//! People's writes: new trips, answers, cancels. Each is one transaction that adds an event and
//! wakes the trip; none needs the trip's lease.

use crate::accounts::Viewer;
use crate::{Engine, StoreError};
use domain::ids::{QuestionId, TripId};
use domain::view::FieldError;
use serde::Deserialize;
use serde_json::Value;

/// The body of `POST /trips`, and what the form of a new trip amounts to.
#[derive(Clone, Debug, Deserialize)]
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

impl Engine {
    /// Records a new trip and makes it due. With an idempotency key, the same key and body give
    /// the same trip again. Validation errors name fields as `title`, `steps` or the input's name.
    pub async fn create_trip(
        &self,
        who: &Viewer,
        new: &NewTrip,
        idempotency_key: Option<&str>,
    ) -> Result<TripId, CreateTripError> {
        let _ = (who, new, idempotency_key);
        unimplemented!()
    }
    /// Records an answer. The first one counts; a later one is told so and kept in the history.
    pub async fn answer(&self, who: &Viewer, question: &QuestionId, answer: &Answer) -> Result<TripId, AnswerError> {
        let _ = (who, question, answer);
        unimplemented!()
    }
    /// Records that the traveller wants the trip undone. Pressing twice changes nothing.
    pub async fn cancel_trip(&self, who: &Viewer, trip: &TripId) -> Result<CancelOutcome, CancelError> {
        let _ = (who, trip);
        unimplemented!()
    }
}
