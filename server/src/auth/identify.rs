//! The middleware that finds the person behind a session, takes along the sentence that the
//! previous request left, and lets nobody past who is not signed in.

use super::{SESSION_FLASH, SESSION_USER, next_path};
use crate::error_page::{ErrorPage, unavailable};
use crate::pages::PageInput;
use crate::state::AppState;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use domain::ids::UserId;
use engine::accounts::Viewer;
use tower_sessions::Session;

/// The signed-in person, as an extension of the request.
#[derive(Clone)]
pub struct SignedIn(pub Viewer);

/// Finds the person; where nobody is signed in, answers with the way to the sign-in page.
pub async fn identify(
    State(state): State<AppState>,
    session: Session,
    mut request: Request,
    next: Next,
) -> Response {
    let viewer = match find_viewer(&state, &session).await {
        Ok(viewer) => viewer,
        Err(error) => {
            tracing::error!(%error, "a session could not be read");
            return unavailable();
        }
    };
    let path = request.uri().path();
    if let Some(answer) = turned_away(viewer.is_some(), &request) {
        return answer;
    }
    // A sentence is shown by a page, not lost on a stream or on the wasm's calls.
    let is_page = request.method() == Method::GET && !path.ends_with("/live");
    let flash = if is_page { session.remove::<String>(SESSION_FLASH).await.ok().flatten() } else { None };
    if let Some(viewer) = &viewer {
        request.extensions_mut().insert(SignedIn(viewer.clone()));
    }
    request.extensions_mut().insert(PageInput { viewer, flash, ..PageInput::default() });
    let mut response = next.run(request).await;
    response
        .headers_mut()
        .entry(header::CACHE_CONTROL)
        .or_insert(header::HeaderValue::from_static("private, no-cache"));
    response
}

/// A failure of the session's store or of the accounts.
#[derive(Debug, thiserror::Error)]
enum IdentifyError {
    #[error("session: {0}")]
    Session(#[from] tower_sessions::session::Error),
    #[error("account: {0}")]
    Account(#[from] engine::accounts::AccountError),
}

async fn find_viewer(state: &AppState, session: &Session) -> Result<Option<Viewer>, IdentifyError> {
    let Some(user) = session.get::<String>(SESSION_USER).await? else {
        return Ok(None);
    };
    let viewer = state.engine.viewer(&UserId(user)).await?;
    if viewer.is_none() {
        // The account is gone or disabled: so is every session of it.
        session.flush().await?;
    }
    Ok(viewer)
}

/// Who goes elsewhere: strangers everywhere but at the sign-in page, known people there.
fn turned_away(signed_in: bool, request: &Request) -> Option<Response> {
    let path = request.uri().path();
    let is_read = request.method() == Method::GET || request.method() == Method::HEAD;
    if path == "/login" {
        let next = is_read.then(|| crate::forms::query_value(request.uri(), "next")).flatten();
        return (signed_in && is_read)
            .then(|| Redirect::to(next_path::local_or_home(next.as_deref())).into_response());
    }
    if signed_in {
        return (path == "/" && is_read).then(|| Redirect::to(next_path::HOME).into_response());
    }
    if path.ends_with("/live") || path.starts_with("/read/") {
        return Some(StatusCode::UNAUTHORIZED.into_response());
    }
    if is_read {
        let whole = request.uri().path_and_query().map_or(path, |whole| whole.as_str());
        return Some(Redirect::to(&next_path::login_with(whole)).into_response());
    }
    if path == "/logout" {
        return Some(Redirect::to("/login").into_response());
    }
    Some(
        ErrorPage {
            status: StatusCode::UNAUTHORIZED,
            title: "You are signed out",
            text: "Nothing was sent. Sign in in another tab, then come back to this one and send the form again: \
                   your browser keeps what you typed.",
            link: Some(("/login", "Sign in")),
        }
        .into_response(),
    )
}
