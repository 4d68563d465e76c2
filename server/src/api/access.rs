//! Who may use which address of the API: read from the bearer token and decided here, once for
//! all, before any handler runs. What is not named takes an admin.

use super::problem::Problem;
use crate::state::AppState;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use engine::accounts::Role;

/// The token that a request came with, as an extension beside its `Viewer`.
#[derive(Clone)]
pub struct BearerToken(pub String);

/// The least role that an address takes. A traveller sees their own trips only, and that is the
/// engine's to hold.
fn needed(method: &Method, path: &str) -> Role {
    match path.strip_prefix("/api/v1/").unwrap_or_default() {
        "trips"
        | "trips/{id}"
        | "trips/{id}/events"
        | "trips/{id}/cancel"
        | "trips/{id}/cancel-preview"
        | "questions"
        | "questions/{id}/answer" => Role::Traveller,
        "cases" | "cases/{id}" | "cases/{id}/actions" => Role::Support,
        "agents" | "booking-systems" if method == Method::GET || method == Method::HEAD => Role::Support,
        _ => Role::Admin,
    }
}

fn reaches(role: Role, needed: Role) -> bool {
    let rank = |role| match role {
        Role::Traveller => 0,
        Role::Support => 1,
        Role::Admin => 2,
    };
    rank(role) >= rank(needed)
}

/// Lets a request with a good enough token past, with its viewer.
pub async fn authorise(State(state): State<AppState>, mut request: Request, next: Next) -> Response {
    let Some(token) = bearer(request.headers()) else {
        return Problem::unauthorized().into_response();
    };
    let viewer = match state.engine.token_viewer(&token).await {
        Ok(Some(viewer)) => viewer,
        Ok(None) => return Problem::unauthorized().into_response(),
        Err(error) => return Problem::unavailable(&error).into_response(),
    };
    // Without a matched path the answer is "not found", whoever asks.
    if let Some(path) = request.extensions().get::<MatchedPath>() {
        let needed = needed(request.method(), path.as_str());
        if !reaches(viewer.role, needed) {
            return Problem::forbidden(needed.word()).into_response();
        }
    }
    request.extensions_mut().insert(viewer);
    request.extensions_mut().insert(BearerToken(token));
    next.run(request).await
}

fn bearer(headers: &HeaderMap) -> Option<String> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let text = values.next()?.to_str().ok()?;
    if values.next().is_some() {
        return None;
    }
    let (scheme, token) = text.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty() && token.len() <= 512)
        .then(|| token.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_registry_is_written_by_admins_and_read_by_staff() {
        for path in ["/api/v1/agents", "/api/v1/booking-systems"] {
            assert_eq!(needed(&Method::POST, path), Role::Admin);
            assert_eq!(needed(&Method::GET, path), Role::Support);
        }
        assert_eq!(needed(&Method::POST, "/api/v1/trips"), Role::Traveller);
        assert_eq!(needed(&Method::GET, "/api/v1/something-new"), Role::Admin);
        assert!(reaches(Role::Admin, Role::Support) && !reaches(Role::Support, Role::Admin));
    }

    #[test]
    fn one_bearer_token_is_read_and_nothing_else() {
        let headers =
            |value: &'static str| HeaderMap::from_iter([(header::AUTHORIZATION, value.parse().unwrap())]);
        assert_eq!(bearer(&headers("Bearer abc")).as_deref(), Some("abc"));
        assert_eq!(bearer(&headers("bearer  abc ")).as_deref(), Some("abc"));
        for wrong in ["Basic abc", "Bearer", "Bearer ", "abc"] {
            assert_eq!(bearer(&headers(wrong)), None, "{wrong}");
        }
        let mut twice = headers("Bearer abc");
        twice.append(header::AUTHORIZATION, "Bearer def".parse().unwrap());
        assert_eq!(bearer(&twice), None);
    }
}
