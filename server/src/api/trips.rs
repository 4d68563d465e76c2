//! Trips: make, list, read, follow, cancel.

use super::access::BearerToken;
use super::json_body::JsonBody;
use super::problem::Problem;
use super::{Caller, PREFIX};
use crate::live::{self, Right};
use crate::state::AppState;
use axum::Json;
use axum::extract::{Extension, Path, State};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::ids::TripId;
use domain::view::{CancelPreview, TripSummary, TripView};
use engine::Engine;
use engine::commands::{CancelError, CancelOutcome, CreateTripError, NewTrip};
use serde::Serialize;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// The longest key taken.
const LONGEST_KEY: usize = 255;

/// The list of trips.
#[derive(Serialize)]
pub struct Trips {
    trips: Vec<TripSummary>,
}

/// `GET /trips`: the newest first.
pub async fn list(State(engine): State<Engine>, Caller(who): Caller) -> Result<Json<Trips>, Problem> {
    Ok(Json(Trips { trips: engine.list_trips(&who).await? }))
}

/// `POST /trips`: the same `Idempotency-Key` and body give the same trip again.
pub async fn create(
    State(engine): State<Engine>,
    Caller(who): Caller,
    headers: HeaderMap,
    JsonBody(new): JsonBody<NewTrip>,
) -> Result<Response, Problem> {
    let key = idempotency_key(&headers)?;
    let trip = engine.create_trip(&who, &new, key).await.map_err(|error| match error {
        CreateTripError::Invalid(errors) => Problem::invalid(errors),
        CreateTripError::KeyReused => Problem::conflict(error.to_string()),
        CreateTripError::Store(error) => Problem::from(error),
    })?;
    let view = read(&engine, &who, &trip).await?;
    let location = format!("{PREFIX}/trips/{trip}");
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], Json(view)).into_response())
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let mut values = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    let text =
        value.to_str().ok().map(str::trim).filter(|text| !text.is_empty() && text.len() <= LONGEST_KEY);
    match (text, values.next()) {
        (Some(text), None) => Ok(Some(text)),
        _ => Err(Problem::malformed(format!(
            "Idempotency-Key must be given once, with 1 to {LONGEST_KEY} printable ASCII characters."
        ))),
    }
}

/// `GET /trips/{id}`.
pub async fn show(
    State(engine): State<Engine>,
    Caller(who): Caller,
    Path(id): Path<String>,
) -> Result<Json<TripView>, Problem> {
    Ok(Json(read(&engine, &who, &TripId(id)).await?))
}

async fn read(engine: &Engine, who: &engine::accounts::Viewer, trip: &TripId) -> Result<TripView, Problem> {
    engine.trip_view(who, trip).await?.ok_or_else(no_trip)
}

fn no_trip() -> Problem {
    Problem::not_found("trip")
}

/// `GET /trips/{id}/events`: the live view as a stream.
pub async fn events(
    State(state): State<AppState>,
    Caller(who): Caller,
    Extension(BearerToken(token)): Extension<BearerToken>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let first = live::first_view(&state, &who, TripId(id)).await?.ok_or_else(no_trip)?;
    Ok(live::stream(state, who, Right::Token(token), first))
}

/// What came of a cancel.
#[derive(Serialize)]
pub struct Cancelled {
    /// `recorded` or `already_ending`.
    outcome: &'static str,
    trip: TripView,
}

/// `POST /trips/{id}/cancel`: recorded now, done in its own time.
pub async fn cancel(
    State(engine): State<Engine>,
    Caller(who): Caller,
    Path(id): Path<String>,
) -> Result<(StatusCode, Json<Cancelled>), Problem> {
    let id = TripId(id);
    let outcome = engine.cancel_trip(&who, &id).await.map_err(|error| match error {
        CancelError::NotFound => no_trip(),
        CancelError::Closed => Problem::conflict(error.to_string()),
        CancelError::Store(error) => Problem::from(error),
    })?;
    let outcome = match outcome {
        CancelOutcome::Recorded => "recorded",
        CancelOutcome::AlreadyEnding => "already_ending",
    };
    let trip = read(&engine, &who, &id).await?;
    Ok((StatusCode::ACCEPTED, Json(Cancelled { outcome, trip })))
}

/// `GET /trips/{id}/cancel-preview`: what a cancel would do now.
pub async fn cancel_preview(
    State(engine): State<Engine>,
    Caller(who): Caller,
    Path(id): Path<String>,
) -> Result<Json<CancelPreview>, Problem> {
    engine.cancel_preview(&who, &TripId(id)).await?.map(Json).ok_or_else(no_trip)
}
