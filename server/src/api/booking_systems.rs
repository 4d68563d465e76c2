//! Booking systems of the registry.

use super::Caller;
use super::agents::refused;
use super::json_body::JsonBody;
use super::problem::Problem;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use engine::Engine;
use engine::registry::BookingSystemView;
use serde::Serialize;

/// The list of booking systems.
#[derive(Serialize)]
pub struct BookingSystems {
    booking_systems: Vec<BookingSystemView>,
}

/// `GET /booking-systems`: by name.
pub async fn list(State(engine): State<Engine>) -> Result<Json<BookingSystems>, Problem> {
    Ok(Json(BookingSystems { booking_systems: engine.booking_systems().await? }))
}

/// `POST /booking-systems`: checks and registers a definition.
pub async fn create(
    State(engine): State<Engine>,
    Caller(who): Caller,
    JsonBody(definition): JsonBody<serde_json::Value>,
) -> Result<(StatusCode, Json<BookingSystemView>), Problem> {
    let system = engine.add_booking_system(&who, &definition).await.map_err(refused)?;
    Ok((StatusCode::CREATED, Json(system)))
}
