//! Questions: the open ones, and one by its id.

use super::ApiError;
#[cfg(feature = "ssr")]
use super::{door, found, unavailable};
use domain::view::QuestionView;
use leptos::prelude::server;

/// Every open question that this person may answer, oldest first.
#[server(prefix = "/read", endpoint = "questions")]
pub async fn open_questions() -> Result<Vec<QuestionView>, ApiError> {
    let (engine, who) = door()?;
    engine.open_questions(&who).await.map_err(unavailable)
}

/// One question of this trip, open or not.
#[server(prefix = "/read", endpoint = "question")]
pub async fn question(
    /// The trip’s id.
    trip: String,
    /// The question’s id.
    id: String,
) -> Result<QuestionView, ApiError> {
    let (engine, who) = door()?;
    let question = engine.question(&who, &id.into()).await.map_err(unavailable)?;
    found(question.filter(|question| question.trip == trip))
}
