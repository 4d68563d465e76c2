//! The form that cancels a trip.

use super::{Sender, about_form, trip_path};
use crate::error_page::unavailable;
use crate::state::AppState;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use domain::ids::TripId;
use domain::view::FormState;
use engine::commands::{CancelError, CancelOutcome};

/// `POST /trips/{id}/cancel`. Pressing twice changes nothing.
pub async fn cancel(State(state): State<AppState>, sender: Sender, Path(trip): Path<String>) -> Response {
    let trip = TripId(trip);
    match state.engine.cancel_trip(&sender.viewer, &trip).await {
        Ok(outcome) => {
            let sentence = match outcome {
                CancelOutcome::Recorded => "Your cancellation is recorded.",
                CancelOutcome::AlreadyEnding => "This trip was already being ended; nothing changed.",
            };
            sender.on_to(&trip_path(trip.as_str()), sentence).await
        }
        Err(CancelError::NotFound) => sender.not_found().await,
        Err(error @ CancelError::Closed) => {
            let form = FormState { values: vec![], errors: about_form(error.to_string()) };
            sender.again(StatusCode::CONFLICT, form, None).await
        }
        Err(CancelError::Store(error)) => {
            tracing::error!(%error, "a cancel could not be recorded");
            unavailable()
        }
    }
}
