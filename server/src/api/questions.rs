//! Questions: the open ones, and answers to them.

use super::Caller;
use super::json_body::JsonBody;
use super::problem::Problem;
use axum::Json;
use axum::extract::{Path, State};
use domain::ids::QuestionId;
use domain::view::QuestionView;
use engine::Engine;
use engine::commands::{Answer, AnswerError};
use serde::Serialize;

/// The list of open questions.
#[derive(Serialize)]
pub struct Questions {
    questions: Vec<QuestionView>,
}

/// `GET /questions`: the open ones, oldest first.
pub async fn list(State(engine): State<Engine>, Caller(who): Caller) -> Result<Json<Questions>, Problem> {
    Ok(Json(Questions { questions: engine.open_questions(&who).await? }))
}

/// `POST /questions/{id}/answer` with `{"text":…}` or `{"choice":…}`.
pub async fn answer(
    State(engine): State<Engine>,
    Caller(who): Caller,
    Path(id): Path<String>,
    JsonBody(answer): JsonBody<Answer>,
) -> Result<Json<QuestionView>, Problem> {
    let id = QuestionId(id);
    let field = if matches!(answer, Answer::Choice(_)) { "choice" } else { "text" };
    engine.answer(&who, &id, &answer).await.map_err(|error| match error {
        AnswerError::NotFound => no_question(),
        AnswerError::Gone(reason) => Problem::conflict(reason),
        AnswerError::Invalid(reason) => Problem::invalid_field(field, reason),
        AnswerError::Store(error) => Problem::from(error),
    })?;
    engine.question(&who, &id).await?.map(Json).ok_or_else(no_question)
}

fn no_question() -> Problem {
    Problem::not_found("question")
}
