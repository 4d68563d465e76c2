//! For operators: whether the process lives, and whether it can do its work.

use crate::state::AppState;
use axum::extract::State;
use axum::http::StatusCode;

/// `GET /healthz`: the process answers. It says nothing of the database, so that nobody restarts
/// a process for an outage that a restart does not end.
pub async fn alive() -> &'static str {
    "ok\n"
}

/// `GET /readyz`: the database answers and the process is not about to end.
pub async fn ready(State(state): State<AppState>) -> (StatusCode, &'static str) {
    if state.shutdown.is_cancelled() {
        return (StatusCode::SERVICE_UNAVAILABLE, "ending\n");
    }
    if state.engine.healthy().await {
        (StatusCode::OK, "ready\n")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "the database does not answer\n")
    }
}
