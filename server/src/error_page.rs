//! Pages for what cannot be rendered by the app: bodies that are too large, requests from
//! elsewhere, a journal that cannot be reached, a bug. Plain HTML, no script, nothing from outside.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};

/// One such page. Its texts are our own, never outside text.
pub struct ErrorPage {
    /// The answer's status.
    pub status: StatusCode,
    /// What happened, in a few words.
    pub title: &'static str,
    /// What it means and what to do.
    pub text: &'static str,
    /// Where to go on: address and words.
    pub link: Option<(&'static str, &'static str)>,
}

impl IntoResponse for ErrorPage {
    fn into_response(self) -> Response {
        let (address, words) = self.link.unwrap_or(("/trips", "Back to your trips"));
        let page = format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
             <meta name=\"color-scheme\" content=\"light dark\"><link rel=\"icon\" href=\"data:,\">\
             <title>{title} · Holdfast</title></head>\
             <body><main><h1>{title}</h1><p>{text}</p><p><a href=\"{address}\">{words}</a></p></main></body></html>\n",
            title = self.title,
            text = self.text,
        );
        (self.status, [(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))], Html(page))
            .into_response()
    }
}

/// The journal could not be read or written.
pub fn unavailable() -> Response {
    let page = ErrorPage {
        status: StatusCode::SERVICE_UNAVAILABLE,
        title: "Not available just now",
        text: "The database could not be reached. Nothing of this request was recorded, and nothing recorded before \
               is lost. Please try again in a moment.",
        link: None,
    };
    ([(header::RETRY_AFTER, HeaderValue::from_static("5"))], page).into_response()
}

/// The body is larger than any form of ours.
pub fn too_large() -> Response {
    ErrorPage {
        status: StatusCode::PAYLOAD_TOO_LARGE,
        title: "That is too much text",
        text: "The form was larger than 512 kB and was not read; nothing was recorded. Go back, where your browser \
               keeps what you typed, and make the text shorter.",
        link: None,
    }
    .into_response()
}

/// The body is not a form.
pub fn not_a_form() -> Response {
    ErrorPage {
        status: StatusCode::UNSUPPORTED_MEDIA_TYPE,
        title: "That was not a form",
        text: "This address takes forms only (application/x-www-form-urlencoded). Programs use the API under /api/v1.",
        link: None,
    }
    .into_response()
}

/// The body claims to be a form and cannot be read as one.
pub fn unreadable() -> Response {
    ErrorPage {
        status: StatusCode::BAD_REQUEST,
        title: "The form could not be read",
        text: "It arrived incomplete or garbled, and nothing was recorded. Go back and send it again.",
        link: None,
    }
    .into_response()
}

/// The method is not one of this address's.
pub async fn method_not_allowed() -> Response {
    ErrorPage {
        status: StatusCode::METHOD_NOT_ALLOWED,
        title: "That does not work here",
        text: "This address cannot be used in that way, and nothing was recorded.",
        link: None,
    }
    .into_response()
}

/// A panic was caught.
pub fn bug() -> Response {
    ErrorPage {
        status: StatusCode::INTERNAL_SERVER_ERROR,
        title: "Something went wrong on our side",
        text: "This is our mistake and has been logged. What was recorded before is not lost.",
        link: None,
    }
    .into_response()
}
