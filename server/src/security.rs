//! What every answer carries, and the check that a request which changes something comes from our
//! own pages (F-38). The API is exempt: it takes no cookies.

use crate::error_page::ErrorPage;
use crate::state::AppState;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// For answers that are no page of the app; those bring their own, with a nonce.
const NO_SCRIPT_POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; \
                                base-uri 'none'; frame-ancestors 'none'";

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const PERMISSIONS_POLICY: HeaderName = HeaderName::from_static("permissions-policy");
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Puts the security headers on every answer.
pub async fn set_headers(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(NO_SCRIPT_POLICY));
    let fixed = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        // Not `no-referrer`: with it, browsers send `Origin: null` with our own forms.
        (header::REFERRER_POLICY, "same-origin"),
        (OPENER_POLICY, "same-origin"),
        (RESOURCE_POLICY, "same-origin"),
        (PERMISSIONS_POLICY, "camera=(), geolocation=(), microphone=(), payment=()"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if state.secure {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
    }
    response
}

/// Refuses a request that may change something and does not come from our own pages.
pub async fn refuse_foreign(State(state): State<AppState>, request: Request, next: Next) -> Response {
    if is_harmless(&request) || is_own(request.headers(), state.public_url.as_deref()) {
        return next.run(request).await;
    }
    tracing::warn!(path = request.uri().path(), "refused a request from another site");
    ErrorPage {
        status: StatusCode::FORBIDDEN,
        title: "That came from another site",
        text: "The request did not come from a page of Holdfast, so it was refused and nothing was recorded. Open the \
               page here and send the form again. A program sends its own Origin header, or uses the API.",
        link: None,
    }
    .into_response()
}

/// Reads of pages may come from anywhere. Server functions are called by our own pages only.
fn is_harmless(request: &Request) -> bool {
    let reads = [Method::GET, Method::HEAD, Method::OPTIONS].contains(request.method());
    reads && !request.uri().path().starts_with("/read/")
}

/// Whether the browser says that the request comes from this very origin. `Sec-Fetch-Site` cannot
/// be set by a page and wins; older browsers, and plain http off loopback, have `Origin` alone.
/// Without both it is no browser of ours.
fn is_own(headers: &HeaderMap, public_url: Option<&str>) -> bool {
    if let Some(site) = headers.get(SEC_FETCH_SITE) {
        return site == "same-origin" || site == "none";
    }
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let Some(origin) = text(header::ORIGIN) else {
        return false;
    };
    if public_url.is_some_and(|own| own.eq_ignore_ascii_case(origin)) {
        return true;
    }
    let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    matches!((authority, text(header::HOST)), (Some(origin), Some(host)) if origin.eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect()
    }

    #[test]
    fn our_own_pages_pass() {
        for own in [
            headers(&[("sec-fetch-site", "same-origin")]),
            headers(&[("sec-fetch-site", "none")]),
            headers(&[("origin", "http://localhost:7000"), ("host", "localhost:7000")]),
            headers(&[("origin", "https://trips.example.org"), ("host", "10.0.0.7:7000")]),
        ] {
            assert!(is_own(&own, Some("https://trips.example.org")), "{own:?}");
        }
    }

    #[test]
    fn other_sites_and_siblings_do_not() {
        for foreign in [
            headers(&[]),
            headers(&[("host", "localhost:7000")]),
            headers(&[("sec-fetch-site", "cross-site")]),
            headers(&[
                ("sec-fetch-site", "same-site"),
                ("origin", "http://localhost:7000"),
                ("host", "localhost:7000"),
            ]),
            headers(&[("origin", "https://evil.example"), ("host", "localhost:7000")]),
            headers(&[("origin", "http://localhost:8000"), ("host", "localhost:7000")]),
            headers(&[("origin", "null"), ("host", "localhost:7000")]),
            headers(&[("origin", "https://a.trips.example.org"), ("host", "x")]),
        ] {
            assert!(!is_own(&foreign, Some("https://trips.example.org")), "{foreign:?}");
        }
    }
}
