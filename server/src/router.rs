//! Every address of the server, and the layers around them: files and health for anybody, the API
//! for tokens, everything else for people who are signed in.

use crate::api;
use crate::api::problem::Problem;
use crate::auth::identify::identify;
use crate::auth::session_store::EngineSessions;
use crate::state::AppState;
use crate::{error_page, forms, health, live, pages, security, static_files, telemetry};
use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use futures::FutureExt;
use leptos_axum::{LeptosRoutes, generate_route_list_with_exclusions_and_ssg_and_context};
use std::panic::AssertUnwindSafe;
use std::path::Path;
use tower_sessions::cookie::SameSite;
use tower_sessions::cookie::time::Duration;
use tower_sessions::{Expiry, SessionManagerLayer};

/// How long a session is good for after it was last changed.
const SESSION_DAYS: i64 = 7;

/// The whole server as one service.
pub fn router(state: AppState) -> Router {
    let open = Router::new().route("/healthz", get(health::alive)).route("/readyz", get(health::ready));
    Router::new()
        .merge(static_files::routes(Path::new(state.leptos.site_root.as_ref())))
        .merge(open)
        .nest(api::PREFIX, api::routes(&state))
        // A nested fallback does not see the prefix with an empty rest.
        .route(&format!("{}/", api::PREFIX), any(api::no_such_address))
        .merge(people(&state))
        .layer(from_fn(catch_panic))
        .layer(from_fn_with_state(state.clone(), security::set_headers))
        .layer(from_fn(telemetry::trace_request))
        .with_state(state)
}

/// Pages, their forms and their streams.
fn people(state: &AppState) -> Router<AppState> {
    let contexts = pages::contexts(state);
    let (listing, _) =
        generate_route_list_with_exclusions_and_ssg_and_context(app::App, None, contexts.clone());
    let options = state.leptos.clone();
    let sessions = SessionManagerLayer::new(EngineSessions::new(state.engine.clone()))
        .with_name("holdfast_session")
        .with_http_only(true)
        .with_same_site(SameSite::Lax)
        .with_secure(state.secure)
        .with_path("/")
        .with_expiry(Expiry::OnInactivity(Duration::days(SESSION_DAYS)));
    Router::new()
        .route("/login", post(forms::sign_in::sign_in))
        .route("/logout", post(forms::sign_in::sign_out))
        .route("/trips/new", post(forms::new_trip::create))
        .route("/trips/{id}/questions/{q}", post(forms::answer::answer))
        .route("/trips/{id}/cancel", post(forms::cancel::cancel))
        .route("/desk", post(forms::desk::check_several))
        .route("/desk/cases/{id}", post(forms::case::act))
        .route("/trips/{id}/live", get(live::page_stream))
        .leptos_routes_with_context(state, listing, contexts, move || app::shell(options.clone()))
        .fallback(pages::not_found)
        .method_not_allowed_fallback(error_page::method_not_allowed)
        .layer(DefaultBodyLimit::max(forms::LARGEST_FORM))
        .layer(from_fn_with_state(state.clone(), identify))
        .layer(sessions)
        .layer(from_fn_with_state(state.clone(), security::refuse_foreign))
}

/// A bug in one request ends that request, with an answer, and nothing else.
async fn catch_panic(request: Request, next: Next) -> Response {
    let for_program = request.uri().path().starts_with(api::PREFIX);
    match AssertUnwindSafe(next.run(request)).catch_unwind().await {
        Ok(response) => response,
        Err(_) if for_program => Problem::bug().into_response(),
        Err(_) => error_page::bug(),
    }
}
