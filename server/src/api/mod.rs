//! The JSON API under `/api/v1`, for programs: bearer tokens, never cookies.

pub mod access;
pub mod agents;
pub mod booking_systems;
pub mod cases;
pub mod json_body;
pub mod problem;
pub mod questions;
pub mod trips;

use crate::state::AppState;
use axum::Router;
use axum::extract::{DefaultBodyLimit, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderValue, header};
use axum::middleware::{from_fn_with_state, map_response};
use axum::response::Response;
use axum::routing::{get, post};
use engine::accounts::Viewer;
use problem::Problem;

/// Where the API is.
pub const PREFIX: &str = "/api/v1";

/// What an address that the API does not have answers.
pub async fn no_such_address() -> Problem {
    Problem::not_found("address in this API")
}

/// The API's routes, to be nested at [`PREFIX`].
pub fn routes(state: &AppState) -> Router<AppState> {
    Router::new()
        .route("/trips", get(trips::list).post(trips::create))
        .route("/trips/{id}", get(trips::show))
        .route("/trips/{id}/events", get(trips::events))
        .route("/trips/{id}/cancel", post(trips::cancel))
        .route("/trips/{id}/cancel-preview", get(trips::cancel_preview))
        .route("/questions", get(questions::list))
        .route("/questions/{id}/answer", post(questions::answer))
        .route("/agents", get(agents::list).post(agents::create))
        .route("/booking-systems", get(booking_systems::list).post(booking_systems::create))
        .route("/cases", get(cases::list))
        .route("/cases/{id}", get(cases::show))
        .route("/cases/{id}/actions", post(cases::act))
        .fallback(no_such_address)
        .method_not_allowed_fallback(async || Problem::method_not_allowed())
        .layer(DefaultBodyLimit::max(json_body::LARGEST_BODY))
        .layer(from_fn_with_state(state.clone(), access::authorise))
        .layer(map_response(not_kept))
}

/// What an answer says is only true now, and only for this token.
async fn not_kept(mut response: Response) -> Response {
    response.headers_mut().entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Whom the token speaks for.
pub struct Caller(pub Viewer);

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        parts.extensions.get::<Viewer>().cloned().map(Self).ok_or_else(Problem::unauthorized)
    }
}
