//! Errors of the API as RFC 9457 problem details. A wrong field is named in `errors`, with what
//! would be right.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::view::FieldError;
use serde::Serialize;

/// One problem.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Problem {
    #[serde(rename = "type")]
    kind: String,
    title: &'static str,
    status: u16,
    detail: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<FieldError>,
}

impl Problem {
    fn new(status: StatusCode, slug: &str, title: &'static str, detail: impl Into<String>) -> Self {
        Self {
            kind: format!("urn:holdfast:problem:{slug}"),
            title,
            status: status.as_u16(),
            detail: detail.into(),
            errors: vec![],
        }
    }
    /// The body is not JSON, or a header is not what it should be.
    pub fn malformed(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "malformed", "The request cannot be read", detail)
    }
    /// No token, or one that is not known.
    pub fn unauthorized() -> Self {
        let detail = "Send a valid token as `Authorization: Bearer TOKEN`. Cookies are not looked at.";
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", "A bearer token is needed", detail)
    }
    /// The token's role does not reach this far.
    pub fn forbidden(needed: &str) -> Self {
        let detail = format!("This takes a token with the role {needed}.");
        Self::new(StatusCode::FORBIDDEN, "forbidden", "The token's role does not allow this", detail)
    }
    /// Not there, or somebody else's.
    pub fn not_found(what: &str) -> Self {
        let detail = format!("There is no such {what}.");
        Self::new(StatusCode::NOT_FOUND, "not-found", "Not found", detail)
    }
    /// The address has other methods.
    pub fn method_not_allowed() -> Self {
        let detail = "The Allow header names the methods of this address.";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", "Method not allowed", detail)
    }
    /// The state of things does not allow it.
    pub fn conflict(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "conflict", "Not possible in the present state", detail)
    }
    /// The body is too large.
    pub fn too_large(limit: usize) -> Self {
        let detail = format!("The body may have at most {limit} bytes.");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", "The body is too large", detail)
    }
    /// The body is of another type.
    pub fn unsupported_media_type() -> Self {
        let detail = "Send the body as application/json.";
        Self::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported-media-type",
            "The body is not JSON",
            detail,
        )
    }
    /// Fields are wrong.
    pub fn invalid(errors: Vec<FieldError>) -> Self {
        let detail = "Some fields need another value: see `errors`.";
        let mut problem =
            Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", "Some fields are wrong", detail);
        problem.errors = errors;
        problem
    }
    /// One field is wrong.
    pub fn invalid_field(field: &str, message: impl Into<String>) -> Self {
        Self::invalid(vec![FieldError { field: field.to_owned(), message: message.into() }])
    }
    /// The journal cannot be reached; the reason is logged, not told.
    pub fn unavailable(error: &dyn std::error::Error) -> Self {
        tracing::error!(%error, "the journal could not be read or written");
        let detail = "The database could not be reached. Nothing of this request was recorded.";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "Not available just now", detail)
    }
    /// A bug.
    pub fn bug() -> Self {
        let detail = "This is a mistake on our side and has been logged.";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "Something went wrong", detail)
    }
}

impl From<engine::StoreError> for Problem {
    fn from(error: engine::StoreError) -> Self {
        Self::unavailable(&error)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_string(&self).unwrap_or_else(|_| "{}".to_owned());
        let kind = (header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        let mut response = (status, [kind], body).into_response();
        let extra = match status {
            StatusCode::UNAUTHORIZED => Some((header::WWW_AUTHENTICATE, "Bearer realm=\"holdfast\"")),
            StatusCode::SERVICE_UNAVAILABLE => Some((header::RETRY_AFTER, "5")),
            _ => None,
        };
        if let Some((name, value)) = extra {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_problem_has_its_type_status_and_fields() {
        let response = Problem::invalid_field("inputs.start", "is no date").into_response();
        assert_eq!(response.status(), StatusCode::UNPROCESSABLE_ENTITY);
        assert_eq!(response.headers()[header::CONTENT_TYPE], "application/problem+json");
        let body = axum::body::to_bytes(response.into_body(), 10_000).await.unwrap();
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body["type"], "urn:holdfast:problem:invalid");
        assert_eq!(body["status"], 422);
        assert_eq!(body["errors"][0], serde_json::json!({"field": "inputs.start", "message": "is no date"}));
    }

    #[test]
    fn a_401_says_how() {
        let response = Problem::unauthorized().into_response();
        assert_eq!(response.headers()[header::WWW_AUTHENTICATE], "Bearer realm=\"holdfast\"");
    }
}
