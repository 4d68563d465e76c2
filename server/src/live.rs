//! The live view of a trip: a stream whose every event is the whole trip, the first one at once,
//! a later one whenever the trip has changed. A client that was away needs no memory: it
//! reconnects and has the whole view again.
//!
//! A stream ends when the process ends, when its session has ended or its token is withdrawn,
//! and when the trip is not there for its viewer (any more).

use crate::auth::SESSION_USER;
use crate::auth::identify::SignedIn;
use crate::auth::sign_out::SignOutListener;
use crate::error_page::unavailable;
use crate::state::AppState;
use axum::extract::{Extension, Path, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use domain::ids::TripId;
use domain::time::Span;
use domain::view::TripView;
use engine::accounts::Viewer;
use engine::clock::full_jitter;
use futures::Stream;
use std::convert::Infallible;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tower_sessions::Session;

/// How often a quiet stream says that it is alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How often a stream looks whether its viewer may still see the trip.
const LOOK_AT_RIGHT: Duration = Duration::from_secs(15);
/// The pause after a wake that brought nothing new, so that spurious wakes are no busy loop.
const AFTER_NOTHING: Duration = Duration::from_millis(100);
/// Reconnects are told to wait between these, so that a restart is no storm.
const RETRY_FROM: Duration = Duration::from_millis(500);
const RETRY_SPREAD: Span = Span(1500);

/// By what right a stream is open.
pub enum Right {
    /// A browser's session.
    Session(Session),
    /// A program's bearer token.
    Token(String),
}

/// `GET /trips/{id}/live`.
pub async fn page_stream(
    State(state): State<AppState>,
    session: Session,
    Extension(SignedIn(viewer)): Extension<SignedIn>,
    Path(trip): Path<String>,
) -> Response {
    match first_view(&state, &viewer, TripId(trip)).await {
        Ok(Some(view)) => stream(state, viewer, Right::Session(session), view),
        Ok(None) => StatusCode::NOT_FOUND.into_response(),
        Err(_) => unavailable(),
    }
}

/// The trip as this viewer sees it now.
///
/// # Errors
/// Where the journal could not be read; logged here.
pub async fn first_view(
    state: &AppState,
    viewer: &Viewer,
    trip: TripId,
) -> Result<Option<TripView>, engine::StoreError> {
    let view = state.engine.trip_view(viewer, &trip).await;
    view.inspect_err(|error| tracing::error!(%error, "a trip could not be read"))
}

/// The answer that begins with `first` and goes on.
pub fn stream(state: AppState, viewer: Viewer, right: Right, first: TripView) -> Response {
    let session = match &right {
        Right::Session(session) => session.id(),
        Right::Token(_) => None,
    };
    let follower = Follower {
        trip: TripId(first.id.clone()),
        shutdown: state.shutdown.clone(),
        sign_outs: state.sign_outs.listen(),
        session,
        state,
        viewer,
        right,
        shown: None,
        seq: first.seq,
    };
    let sse = Sse::new(follower.events(first)).keep_alive(KeepAlive::new().interval(KEEP_ALIVE));
    // Proxies must not hold events back.
    let unbuffered = (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    ([(header::CACHE_CONTROL, HeaderValue::from_static("no-store")), unbuffered], sse).into_response()
}

/// One open stream.
struct Follower {
    state: AppState,
    viewer: Viewer,
    right: Right,
    trip: TripId,
    shutdown: CancellationToken,
    sign_outs: SignOutListener,
    session: Option<tower_sessions::session::Id>,
    /// What was sent last, as text: the same content is not sent twice.
    shown: Option<String>,
    /// The newest event's number in what was read last.
    seq: i64,
}

/// What woke a stream.
enum Wake {
    Changed,
    LookAtRight,
    End,
}

impl Follower {
    fn events(self, first: TripView) -> impl Stream<Item = Result<Event, Infallible>> {
        futures::stream::unfold((self, Some(first)), |(mut follower, first)| async move {
            let event = match first {
                Some(view) => follower.event(&view)?.retry(reconnect_after()),
                None => follower.next().await?,
            };
            Some((Ok(event), (follower, None)))
        })
    }

    /// The next view that differs from the last; `None` at the stream's end.
    async fn next(&mut self) -> Option<Event> {
        loop {
            match self.wake().await {
                Wake::End => return None,
                Wake::LookAtRight if !self.still_has_right().await => return None,
                Wake::LookAtRight => {}
                Wake::Changed => {
                    let view = self.state.engine.trip_view(&self.viewer, &self.trip).await;
                    let view =
                        view.inspect_err(|error| tracing::warn!(%error, "a live view ends")).ok()??;
                    if let Some(event) = self.event(&view) {
                        return Some(event);
                    }
                    tokio::time::sleep(AFTER_NOTHING).await;
                }
            }
        }
    }

    async fn wake(&mut self) -> Wake {
        let changed = async {
            tokio::time::timeout(LOOK_AT_RIGHT, self.state.engine.trip_changed(&self.trip, self.seq)).await
        };
        tokio::select! {
            biased;
            () = self.shutdown.cancelled() => Wake::End,
            // Whether it was this session, or news were missed: the store knows.
            () = self.sign_outs.ended(self.session) => Wake::LookAtRight,
            changed = changed => if changed.is_ok() { Wake::Changed } else { Wake::LookAtRight },
        }
    }

    /// The event of this view, unless it says what was said last.
    fn event(&mut self, view: &TripView) -> Option<Event> {
        self.seq = view.seq;
        let text = serde_json::to_string(view)
            .inspect_err(|error| tracing::error!(%error, "a view could not be written"))
            .ok()?;
        if self.shown.as_ref() == Some(&text) {
            return None;
        }
        let event = Event::default().id(view.seq.to_string()).data(&text);
        self.shown = Some(text);
        Some(event)
    }

    /// Asks the store again, not what this request once loaded. A store that cannot be read ends
    /// the stream: the client comes back, and is let in or not.
    async fn still_has_right(&self) -> bool {
        match &self.right {
            Right::Session(session) => {
                let fresh = Session::new(session.id(), std::sync::Arc::new(self.store()), None);
                let user = fresh.get::<String>(SESSION_USER).await.ok().flatten();
                user.as_deref() == Some(self.viewer.user.as_str())
                    && matches!(self.state.engine.viewer(&self.viewer.user).await, Ok(Some(now)) if now == self.viewer)
            }
            Right::Token(token) => {
                matches!(self.state.engine.token_viewer(token).await, Ok(Some(now)) if now == self.viewer)
            }
        }
    }

    fn store(&self) -> crate::auth::session_store::EngineSessions {
        crate::auth::session_store::EngineSessions::new(self.state.engine.clone())
    }
}

/// Spread by chance, so that clients of a restarted process do not come back all at once.
fn reconnect_after() -> Duration {
    RETRY_FROM + full_jitter(RETRY_SPREAD).to_std()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reconnects_are_spread() {
        let waits: std::collections::BTreeSet<_> = (0..50).map(|_| reconnect_after()).collect();
        assert!(waits.len() > 40, "{waits:?}");
        assert!(waits.iter().all(|wait| *wait < Duration::from_secs(2)));
    }
}
