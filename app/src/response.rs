//! What a page says about its own answer: status and protection.

use http::{HeaderValue, StatusCode, header};
use leptos::nonce::use_nonce;
use leptos::prelude::use_context;
use leptos_axum::ResponseOptions;

/// Sets the answer's HTTP status.
pub fn set_status(status: u16) {
    if let Some(options) = use_context::<ResponseOptions>()
        && let Ok(status) = StatusCode::from_u16(status)
    {
        options.set_status(status);
    }
}

/// Sends the Content-Security-Policy that goes with this answer's nonce.
pub fn protect() {
    if let (Some(options), Some(nonce)) = (use_context::<ResponseOptions>(), use_nonce())
        && let Ok(policy) = HeaderValue::from_str(&policy(&nonce))
    {
        options.insert_header(header::CONTENT_SECURITY_POLICY, policy);
    }
}

/// The policy: our own files, scripts by nonce only, no frames, forms only to ourselves.
fn policy(nonce: &str) -> String {
    format!(
        "default-src 'self'; script-src 'nonce-{nonce}' 'strict-dynamic' 'wasm-unsafe-eval'; \
         img-src 'self' data:; form-action 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'"
    )
}
