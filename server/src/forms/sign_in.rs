//! Signing in and out.

use super::{Fields, about_form, query_value};
use crate::auth::{SESSION_FLASH, SESSION_USER, next_path};
use crate::error_page::unavailable;
use crate::pages::{self, PageInput};
use crate::state::AppState;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Redirect, Response};
use engine::accounts::Viewer;
use std::sync::LazyLock;
use tokio::sync::Semaphore;
use tower_sessions::Session;

/// Checking a password costs memory and time on purpose; so many are checked at once.
static CHECKS: LazyLock<Semaphore> = LazyLock::new(|| Semaphore::new(2));

/// `POST /login`.
pub async fn sign_in(State(state): State<AppState>, session: Session, uri: Uri, fields: Fields) -> Response {
    let email = fields.given("email").unwrap_or_default().trim().to_owned();
    let password = fields.first("password").unwrap_or_default();
    if email.is_empty() || password.is_empty() {
        return again(&state, uri, &fields, "Please give both your e-mail and your password.").await;
    }
    let viewer = {
        let Ok(_permit) = CHECKS.acquire().await else {
            return unavailable();
        };
        state.engine.authenticate(&email, password).await
    };
    match viewer {
        Ok(Some(viewer)) => {
            let next = fields.first("next").map(str::to_owned).or_else(|| query_value(&uri, "next"));
            begin(&session, &viewer, next.as_deref()).await.unwrap_or_else(|error| {
                tracing::error!(%error, "a session could not be kept");
                unavailable()
            })
        }
        Ok(None) => {
            let sentence = "This e-mail and password do not belong together. Please check both.";
            again(&state, uri, &fields, sentence).await
        }
        Err(error) => {
            tracing::error!(%error, "a sign-in could not be checked");
            unavailable()
        }
    }
}

/// A new id for the session, so that one planted before the sign-in is worth nothing.
async fn begin(
    session: &Session,
    viewer: &Viewer,
    next: Option<&str>,
) -> Result<Response, tower_sessions::session::Error> {
    session.clear().await;
    session.cycle_id().await?;
    session.insert(SESSION_USER, viewer.user.as_str()).await?;
    Ok(Redirect::to(next_path::local_or_home(next)).into_response())
}

async fn again(state: &AppState, uri: Uri, fields: &Fields, sentence: &str) -> Response {
    let form = fields.came_back(&["password"], about_form(sentence));
    let input = PageInput {
        form: Some(form),
        status: Some(StatusCode::UNPROCESSABLE_ENTITY),
        ..PageInput::default()
    };
    pages::render(state, uri, input).await
}

/// `POST /logout`: forgets the session, and its open streams end.
pub async fn sign_out(State(state): State<AppState>, session: Session) -> Response {
    let ended = session.id();
    // Not `flush`: what is inserted after it is kept under the old id.
    session.clear().await;
    if let Err(error) = session.cycle_id().await {
        tracing::error!(%error, "a session could not be forgotten");
        return unavailable();
    }
    if let Some(ended) = ended {
        state.sign_outs.tell(ended);
    }
    if session.insert(SESSION_FLASH, "You are signed out.").await.is_err() {
        tracing::debug!("the farewell was not kept");
    }
    Redirect::to("/login").into_response()
}
