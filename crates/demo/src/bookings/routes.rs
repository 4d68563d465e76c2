//! A booking system's HTTP: lookups and cancels for anyone, bookings for agents with their key.

use super::behaviour::{self, Cancel, Lookup, SystemBehaviour};
use super::ledger::{Answer, Ledger};
use super::{AGENT_KEY, NewBooking, SystemProfile, lies};
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
use std::time::Duration;

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
    /// What a lookup meets, with the moment whose state it shows.
    async fn lookup(&self) -> Result<(SystemBehaviour, i64), Problem> {
        let faulted = |behaviour: &SystemBehaviour| behaviour.lookup != Lookup::Ok;
        let behaviour = behaviour::draw(&self.store, self.system, faulted).await?;
        match behaviour.lookup {
            Lookup::Error => Err(out_of_service(&behaviour)),
            Lookup::Hang => Err(hang(&behaviour).await),
            _ => {
                let as_of = clock::now_millis() - behaviour.lag_ms;
                Ok((behaviour, as_of))
            }
        }
    }
}

async fn find(State(counter): State<Counter>, Query(query): Query<ByReference>) -> Answered {
    let Some(reference) = query.reference.filter(|reference| !reference.is_empty()) else {
        return Err(Problem::new(StatusCode::BAD_REQUEST, "Give a reference: /bookings?reference=…"));
    };
    let (behaviour, as_of) = counter.lookup().await?;
    let bookings = counter.ledger.by_reference(&reference, as_of).await?;
    Ok(lies::list(behaviour.lookup, bookings, &reference))
}

async fn one(State(counter): State<Counter>, Path(confirmation): Path<String>) -> Answered {
    let (behaviour, as_of) = counter.lookup().await?;
    let booking = counter.ledger.by_confirmation(&confirmation, as_of).await?;
    Ok(lies::one(behaviour.lookup, booking, &confirmation))
}

async fn book(
    State(counter): State<Counter>,
    headers: HeaderMap,
    body: Result<Json<NewBooking>, JsonRejection>,
) -> Answered {
    if credential(&headers) != Some(AGENT_KEY) {
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
    let key = key.as_deref();
    let ledger = &counter.ledger;
    // What an agent undoes of its own meets no fault: the faults are the client's.
    if credential(&headers) == Some(AGENT_KEY) {
        return Ok(answered(ledger.cancel(&confirmation, key).await?));
    }
    let faulted = |behaviour: &SystemBehaviour| behaviour.cancel != Cancel::Ok;
    let behaviour = behaviour::draw(&counter.store, counter.system, faulted).await?;
    let error = || out_of_service(&behaviour);
    let nothing = async |status: StatusCode, note: &str| {
        ledger.note_fault(&confirmation, key, status.as_u16(), note).await
    };
    let claim = |status: StatusCode, state: &str| {
        (status, Json(json!({ "id": confirmation, "status": state }))).into_response()
    };
    match behaviour.cancel {
        Cancel::Ok => Ok(answered(ledger.cancel(&confirmation, key).await?)),
        Cancel::PartialRefund => Ok(answered(ledger.cancel_for_half(&confirmation, key).await?)),
        Cancel::ErrorForKey => Ok(answered(ledger.fail_for_key(&confirmation, key).await?)),
        Cancel::Conflict => {
            nothing(StatusCode::CONFLICT, "refused, nothing done").await?;
            Err(Problem::new(StatusCode::CONFLICT, "This booking cannot be cancelled at present."))
        }
        Cancel::NotFound => {
            nothing(StatusCode::NOT_FOUND, "not found, nothing done").await?;
            Err(Problem::new(StatusCode::NOT_FOUND, format!("There is no booking {confirmation}.")))
        }
        Cancel::Error => {
            nothing(error().status(), "failed, nothing done").await?;
            Err(error())
        }
        Cancel::AcceptsAndDoesNothing => {
            nothing(StatusCode::OK, "accepted, nothing done").await?;
            Ok(claim(StatusCode::OK, "CANCELLED"))
        }
        Cancel::Accepted202 => {
            nothing(StatusCode::ACCEPTED, "accepted, nothing done").await?;
            Ok(claim(StatusCode::ACCEPTED, "CANCELLATION_REQUESTED"))
        }
        Cancel::DoneButError => {
            ledger.cancel(&confirmation, key).await?;
            Err(error())
        }
        Cancel::Hang => {
            ledger.cancel(&confirmation, key).await?;
            Err(hang(&behaviour).await)
        }
    }
}

fn credential(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")
}

fn key_of(headers: &HeaderMap) -> Option<String> {
    headers.get("idempotency-key").and_then(|value| value.to_str().ok()).map(str::to_owned)
}

fn answered(answer: Answer) -> Response {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, Json(answer.body)).into_response()
}

fn out_of_service(behaviour: &SystemBehaviour) -> Problem {
    let status = behaviour.status.and_then(|status| StatusCode::from_u16(status).ok());
    let status = status.unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
    Problem::new(status, "The records are out of service, try again later.")
}

/// No answer, or a gateway's 504 in the end.
async fn hang(behaviour: &SystemBehaviour) -> Problem {
    match behaviour.hang_ms {
        None => std::future::pending().await,
        Some(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
    }
    Problem::new(StatusCode::GATEWAY_TIMEOUT, "The records do not answer.")
}
