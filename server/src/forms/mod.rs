//! Forms: plain POSTs that work without JavaScript. One that was filled in wrongly comes back as
//! the same page with status 422, what was typed, and what would be right; one that was accepted
//! is answered by 303, so that a reload sends nothing again.

pub mod answer;
pub mod cancel;
pub mod case;
pub mod desk;
pub mod new_trip;
pub mod sign_in;

use crate::auth::SESSION_FLASH;
use crate::auth::identify::SignedIn;
use crate::error_page;
use crate::pages::{self, PageInput};
use crate::state::AppState;
use axum::extract::{Extension, Form, FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Redirect, Response};
use domain::view::{FieldError, FormState};
use engine::accounts::Viewer;
use tower_sessions::Session;

/// The largest form that is read. Notes of 100 kB are refused with a sentence beside the field,
/// and in percent-encoding they can take three times as much on the way.
pub const LARGEST_FORM: usize = 512 * 1024;

/// A form's fields, in the order sent; a name may occur several times.
pub struct Fields(pub Vec<(String, String)>);

impl<S: Send + Sync> FromRequest<S> for Fields {
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        match Form::<Vec<(String, String)>>::from_request(request, state).await {
            Ok(Form(pairs)) => Ok(Self(pairs)),
            Err(rejection) => Err(match rejection.into_response().status() {
                StatusCode::PAYLOAD_TOO_LARGE => error_page::too_large(),
                StatusCode::UNSUPPORTED_MEDIA_TYPE => error_page::not_a_form(),
                _ => error_page::unreadable(),
            }),
        }
    }
}

impl Fields {
    /// The first value of this name.
    pub fn first(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }
    /// The first value of this name, unless it is blank.
    pub fn given(&self, name: &str) -> Option<&str> {
        self.first(name).filter(|value| !value.trim().is_empty())
    }
    /// Every value of this name.
    pub fn all(&self, name: &str) -> Vec<String> {
        self.0.iter().filter(|(field, _)| field == name).map(|(_, value)| value.clone()).collect()
    }
    /// The form to show again: everything typed but the fields named.
    pub fn came_back(&self, without: &[&str], errors: Vec<FieldError>) -> FormState {
        let values = self.0.iter().filter(|(field, _)| !without.contains(&field.as_str())).cloned().collect();
        FormState { values, errors }
    }
}

/// A sentence about the form as a whole.
pub fn about_form(message: impl Into<String>) -> Vec<FieldError> {
    about("", message)
}

/// A sentence about one field.
pub fn about(field: &str, message: impl Into<String>) -> Vec<FieldError> {
    vec![FieldError { field: field.to_owned(), message: message.into() }]
}

/// The signed-in person who sent a form, with all that is needed to answer it.
pub struct Sender {
    /// The person.
    pub viewer: Viewer,
    state: AppState,
    session: Session,
    input: PageInput,
    uri: Uri,
}

impl FromRequestParts<AppState> for Sender {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Response> {
        let signed_in = Extension::<SignedIn>::from_request_parts(parts, state).await;
        let Extension(SignedIn(viewer)) = signed_in.map_err(|_| Redirect::to("/login").into_response())?;
        let session = Session::from_request_parts(parts, state).await.map_err(IntoResponse::into_response)?;
        let input = parts.extensions.get::<PageInput>().cloned().unwrap_or_default();
        Ok(Self { viewer, state: state.clone(), session, input, uri: parts.uri.clone() })
    }
}

impl Sender {
    /// The form's own page again, with what was typed and what was wrong.
    pub async fn again(self, status: StatusCode, form: FormState, form_key: Option<String>) -> Response {
        let input = PageInput { form: Some(form), status: Some(status), form_key, ..self.input };
        pages::render(&self.state, self.uri, input).await
    }

    /// "Not found": for what is not there and for what is somebody else's, alike.
    pub async fn not_found(self) -> Response {
        let input = PageInput { status: Some(StatusCode::NOT_FOUND), ..self.input };
        pages::render(&self.state, Uri::from_static("/not-found"), input).await
    }

    /// On to another page, which says `sentence` once.
    pub async fn on_to(self, path: &str, sentence: &str) -> Response {
        if !sentence.is_empty() && self.session.insert(SESSION_FLASH, sentence).await.is_err() {
            tracing::warn!("a sentence for the next page was not kept");
        }
        Redirect::to(path).into_response()
    }
}

/// The first value of `name` in the query.
pub fn query_value(uri: &Uri, name: &str) -> Option<String> {
    let pairs = axum::extract::Query::<Vec<(String, String)>>::try_from_uri(uri).ok()?;
    pairs.0.into_iter().find(|(field, _)| field == name).map(|(_, value)| value)
}

/// The path of a trip.
pub fn trip_path(trip: &str) -> String {
    format!("/trips/{}", encoded(trip))
}

/// An id as a part of an address. Ids in a path of ours come from the router, so they hold no
/// slash, but may hold anything else.
pub fn encoded(id: &str) -> String {
    id.bytes()
        .map(|byte| match byte {
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'-' | b'_' | b'.' | b'~' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}
