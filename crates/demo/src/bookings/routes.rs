//! A booking system's HTTP: lookups and cancels for anyone, bookings for agents with their key.

use super::behaviour::{self, Cancel, Lookup};
use super::ledger::{Answer, Ledger};
use super::{AGENT_KEY, NewBooking, SystemProfile};
use crate::clock;
use crate::control::Problem;
use crate::store::Store;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::json;

type Answered = Result<Response, Problem>;

/// What the routes of one booking system share.
#[derive(Clone, Debug)]
pub struct Counter {
    store: Store,
    system: &'static SystemProfile,
    ledger: Ledger,
}

/// The routes of a booking system.
pub fn router(store: Store, system: &'static SystemProfile) -> Router {
    let ledger = Ledger::new(store.clone(), system);
    Router::new()
        .route("/", get(about))
        .route("/bookings", get(find).post(book))
        .route("/bookings/{confirmation}", get(one))
        .route("/bookings/{confirmation}/cancel", post(cancel))
        .with_state(Counter { store, system, ledger })
}

#[derive(Debug, Deserialize)]
struct ByReference {
    reference: Option<String>,
}

async fn about(State(counter): State<Counter>) -> Response {
    Json(json!({ "company": counter.system.title, "bookings": "/bookings?reference=" })).into_response()
}

impl Counter {
    /// The moment whose state a lookup shows; none for a lookup that must pretend absence.
    async fn lookup_as_of(&self) -> Result<Option<i64>, Problem> {
        let faulted = |behaviour: &behaviour::SystemBehaviour| behaviour.lookup != Lookup::Ok;
        let behaviour = behaviour::draw(&self.store, self.system, faulted).await?;
        match behaviour.lookup {
            Lookup::Ok => Ok(Some(clock::now_millis() - behaviour.lag_ms)),
            Lookup::Absent => Ok(None),
            Lookup::Error => Err(out_of_service()),
            Lookup::Hang => std::future::pending().await,
        }
    }
}

async fn find(State(counter): State<Counter>, Query(query): Query<ByReference>) -> Answered {
    let Some(reference) = query.reference.filter(|reference| !reference.is_empty()) else {
        return Err(Problem::new(StatusCode::BAD_REQUEST, "Give a reference: /bookings?reference=…"));
    };
    let bookings = match counter.lookup_as_of().await? {
        Some(as_of) => counter.ledger.by_reference(&reference, as_of).await?,
        None => Vec::new(),
    };
    Ok(Json(json!({ "bookings": bookings })).into_response())
}

async fn one(State(counter): State<Counter>, Path(confirmation): Path<String>) -> Answered {
    let booking = match counter.lookup_as_of().await? {
        Some(as_of) => counter.ledger.by_confirmation(&confirmation, as_of).await?,
        None => None,
    };
    match booking {
        Some(booking) => Ok(Json(booking).into_response()),
        None => Err(Problem::new(StatusCode::NOT_FOUND, format!("There is no booking {confirmation}."))),
    }
}

async fn book(
    State(counter): State<Counter>,
    headers: HeaderMap,
    body: Result<Json<NewBooking>, JsonRejection>,
) -> Answered {
    let credential = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    if credential.and_then(|value| value.strip_prefix("Bearer ")) != Some(AGENT_KEY) {
        return Err(Problem::new(StatusCode::UNAUTHORIZED, "Bookings are made by agents with their key."));
    }
    let Json(new) = body?;
    Ok(answered(counter.ledger.book(key_of(&headers).as_deref(), &new).await?))
}

async fn cancel(
    State(counter): State<Counter>,
    Path(confirmation): Path<String>,
    headers: HeaderMap,
) -> Answered {
    let key = key_of(&headers);
    let faulted = |behaviour: &behaviour::SystemBehaviour| behaviour.cancel != Cancel::Ok;
    let behaviour = behaviour::draw(&counter.store, counter.system, faulted).await?;
    let ledger = &counter.ledger;
    match behaviour.cancel {
        Cancel::Ok => Ok(answered(ledger.cancel(&confirmation, key.as_deref()).await?)),
        Cancel::Conflict => {
            ledger.note_fault(&confirmation, key.as_deref(), 409, "refused, nothing done").await?;
            Err(Problem::new(StatusCode::CONFLICT, "This booking cannot be cancelled at present."))
        }
        Cancel::Error => {
            ledger.note_fault(&confirmation, key.as_deref(), 503, "failed, nothing done").await?;
            Err(out_of_service())
        }
        Cancel::AcceptsAndDoesNothing => {
            ledger.note_fault(&confirmation, key.as_deref(), 200, "accepted, nothing done").await?;
            Ok(Json(json!({ "id": confirmation, "status": "CANCELLED" })).into_response())
        }
        Cancel::Hang => {
            ledger.cancel(&confirmation, key.as_deref()).await?;
            std::future::pending().await
        }
    }
}

fn key_of(headers: &HeaderMap) -> Option<String> {
    headers.get("idempotency-key").and_then(|value| value.to_str().ok()).map(str::to_owned)
}

fn answered(answer: Answer) -> Response {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, Json(answer.body)).into_response()
}

fn out_of_service() -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "The records are out of service, try again later.")
}
