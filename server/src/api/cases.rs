//! Cases of the support desk: what is stuck, one of them, and what support does about it.

use super::Caller;
use super::json_body::JsonBody;
use super::problem::Problem;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use domain::view::{CaseDetail, CaseView};
use engine::Engine;
use engine::support::{ActionError, ActionResult, CaseAction};
use serde::Serialize;

/// The list of cases.
#[derive(Serialize)]
pub struct Cases {
    cases: Vec<CaseView>,
}

/// `GET /cases`: every stuck case, longest first.
pub async fn list(State(engine): State<Engine>, Caller(who): Caller) -> Result<Json<Cases>, Problem> {
    Ok(Json(Cases { cases: engine.cases(&who).await? }))
}

/// `GET /cases/{id}`: one case, stuck or not any more.
pub async fn show(
    State(engine): State<Engine>,
    Caller(who): Caller,
    Path(id): Path<String>,
) -> Result<Json<CaseDetail>, Problem> {
    engine.case(&who, &id).await?.map(Json).ok_or_else(no_case)
}

/// `POST /cases/{id}/actions`: what was requested, what was accepted, and what is verified so far.
pub async fn act(
    State(engine): State<Engine>,
    Caller(who): Caller,
    Path(id): Path<String>,
    JsonBody(action): JsonBody<CaseAction>,
) -> Result<(StatusCode, Json<ActionResult>), Problem> {
    let result = engine.act_on_case(&who, &id, &action).await.map_err(|error| match error {
        ActionError::NotFound => no_case(),
        ActionError::MovedOn => Problem::conflict(sentence(&error)),
        ActionError::Invalid { field, message } => Problem::invalid_field(field, message),
        ActionError::Store(error) => Problem::from(error),
    })?;
    Ok((StatusCode::ACCEPTED, Json(result)))
}

fn no_case() -> Problem {
    Problem::not_found("case")
}

/// An error's text as a sentence of its own.
pub fn sentence(error: &ActionError) -> String {
    let text = error.to_string();
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}
