//! Logs and the span of each request. Nothing secret is logged: no header, no query, no body, and
//! of a path the route's pattern only, since a hook's path holds its secret.

use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use std::io::IsTerminal;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use tracing::Instrument;
use tracing_subscriber::EnvFilter;

/// The header that names a request in the logs.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

static PROCESS: LazyLock<String> = LazyLock::new(|| {
    let mut text = engine::clock::random_secret();
    text.truncate(6);
    text
});
static REQUESTS: AtomicU64 = AtomicU64::new(0);

/// Sends logs to standard error, filtered by `RUST_LOG`; without it, notices and worse.
pub fn start() {
    let filter = EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| EnvFilter::new("info,sqlx=warn,tower_sessions=warn"));
    let started = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        .try_init();
    if started.is_err() {
        tracing::debug!("logging was started before");
    }
}

/// Gives each request an id, a span, and one line when it is answered.
pub async fn trace_request(request: Request, next: Next) -> Response {
    let id = format!("{}-{}", *PROCESS, REQUESTS.fetch_add(1, Ordering::Relaxed));
    let route =
        request.extensions().get::<MatchedPath>().map_or("(no route)", MatchedPath::as_str).to_owned();
    let span = tracing::info_span!("request", id, method = %request.method(), route);
    let started = Instant::now();
    async move {
        let mut response = next.run(request).await;
        let status = response.status();
        let ms = started.elapsed().as_millis();
        if status.is_server_error() {
            tracing::error!(status = status.as_u16(), ms, "answered");
        } else {
            tracing::debug!(status = status.as_u16(), ms, "answered");
        }
        if let Ok(value) = HeaderValue::from_str(&id) {
            response.headers_mut().insert(REQUEST_ID, value);
        }
        response
    }
    .instrument(span)
    .await
}
