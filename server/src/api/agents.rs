//! Agents of the registry.

use super::Caller;
use super::json_body::JsonBody;
use super::problem::Problem;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use engine::Engine;
use engine::registry::{AgentView, NewAgent, RegistryError};
use serde::Serialize;

/// The list of agents.
#[derive(Serialize)]
pub struct Agents {
    agents: Vec<AgentView>,
}

/// `GET /agents`: by name.
pub async fn list(State(engine): State<Engine>) -> Result<Json<Agents>, Problem> {
    Ok(Json(Agents { agents: engine.agents().await? }))
}

/// `POST /agents`: fetches the card, checks it and registers the agent.
pub async fn create(
    State(engine): State<Engine>,
    Caller(who): Caller,
    JsonBody(new): JsonBody<NewAgent>,
) -> Result<(StatusCode, Json<AgentView>), Problem> {
    let agent = engine.add_agent(&who, &new).await.map_err(refused)?;
    Ok((StatusCode::CREATED, Json(agent)))
}

/// Why an entry was not made, for agents and booking systems alike.
pub fn refused(error: RegistryError) -> Problem {
    match error {
        RegistryError::Invalid(errors) => Problem::invalid(errors),
        RegistryError::Exists(_) => Problem::conflict(error.to_string()),
        RegistryError::Store(error) => Problem::from(error),
    }
}
