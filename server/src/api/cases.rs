//! Cases of the support desk.

use super::Caller;
use super::problem::Problem;
use axum::Json;
use axum::extract::State;
use domain::view::CaseView;
use engine::Engine;
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
