//! The form of an answer.

use super::{Fields, Sender, about, about_form, trip_path};
use crate::error_page::unavailable;
use crate::state::AppState;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use domain::ids::QuestionId;
use engine::commands::{Answer, AnswerError};

/// `POST /trips/{id}/questions/{q}` with `choice` or `answer`.
pub async fn answer(
    State(state): State<AppState>,
    sender: Sender,
    Path((trip, question)): Path<(String, String)>,
    fields: Fields,
) -> Response {
    let question = QuestionId(question);
    match state.engine.question(&sender.viewer, &question).await {
        Ok(Some(found)) if found.trip == trip => {}
        Ok(_) => return sender.not_found().await,
        Err(error) => return failed(&error),
    }
    let Some(given) = given(&fields) else {
        let errors = about("answer", "Please choose or write an answer.");
        return sender.again(StatusCode::UNPROCESSABLE_ENTITY, fields.came_back(&[], errors), None).await;
    };
    let field = if matches!(given, Answer::Choice(_)) { "choice" } else { "answer" };
    match state.engine.answer(&sender.viewer, &question, &given).await {
        Ok(trip) => sender.on_to(&trip_path(trip.as_str()), "Your answer is recorded.").await,
        Err(AnswerError::NotFound) => sender.not_found().await,
        Err(AnswerError::Gone(reason)) => {
            sender.again(StatusCode::CONFLICT, fields.came_back(&[], about_form(reason)), None).await
        }
        Err(AnswerError::Invalid(reason)) => {
            let form = fields.came_back(&[], about(field, reason));
            sender.again(StatusCode::UNPROCESSABLE_ENTITY, form, None).await
        }
        Err(AnswerError::Store(error)) => failed(&error),
    }
}

/// A choice wins over text: a page that offers choices has no other field.
fn given(fields: &Fields) -> Option<Answer> {
    let choice = fields.given("choice").map(|value| Answer::Choice(value.to_owned()));
    choice.or_else(|| fields.given("answer").map(|value| Answer::Text(value.to_owned())))
}

fn failed(error: &engine::StoreError) -> Response {
    tracing::error!(%error, "an answer could not be recorded");
    unavailable()
}
