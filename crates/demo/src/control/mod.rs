//! The control API: chooses what agents and booking systems do next, and shows what they saw and
//! did. A page at its root does the same for people.

pub mod api;
pub mod catalogue;
pub mod faults;
pub mod page;

use crate::world::World;
use axum::extract::rejection::{FormRejection, JsonRejection};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use serde_json::json;
use std::sync::Arc;

/// The control API's routes.
pub fn router(world: Arc<World>) -> Router {
    Router::new().merge(api::routes()).merge(faults::routes()).merge(page::routes()).with_state(world)
}

/// Why something was not done, as JSON.
#[derive(Debug)]
pub struct Problem {
    status: StatusCode,
    message: String,
}

impl Problem {
    /// A problem with its status and what to say of it.
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    /// Its status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Nothing has that name.
    pub fn unknown(kind: &str, name: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("There is no {kind} {name}."))
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        (self.status, Json(json!({ "error": self.message }))).into_response()
    }
}

impl<E: Into<anyhow::Error>> From<E> for Problem {
    fn from(error: E) -> Self {
        let error: anyhow::Error = error.into();
        if let Some(rejection) = error.downcast_ref::<JsonRejection>() {
            return Self::new(StatusCode::UNPROCESSABLE_ENTITY, rejection.body_text());
        }
        if let Some(rejection) = error.downcast_ref::<FormRejection>() {
            return Self::new(StatusCode::UNPROCESSABLE_ENTITY, rejection.body_text());
        }
        tracing::error!("{error:#}");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, format!("{error:#}"))
    }
}
