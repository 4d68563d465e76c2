//! What a page says about its own answer: status and protection. Nothing in the browser half.

/// Sets the answer's HTTP status.
pub fn set_status(status: u16) {
    #[cfg(feature = "ssr")]
    if let Some(options) = leptos::prelude::use_context::<leptos_axum::ResponseOptions>()
        && let Ok(status) = http::StatusCode::from_u16(status)
    {
        options.set_status(status);
    }
    #[cfg(not(feature = "ssr"))]
    let _ = status;
}

/// Sends the Content-Security-Policy that goes with this answer's nonce.
pub fn protect() {
    #[cfg(feature = "ssr")]
    if let (Some(options), Some(nonce)) =
        (leptos::prelude::use_context::<leptos_axum::ResponseOptions>(), leptos::nonce::use_nonce())
        && let Ok(policy) = http::HeaderValue::from_str(&policy(&nonce))
    {
        options.insert_header(http::header::CONTENT_SECURITY_POLICY, policy);
    }
}

/// The policy: our own files, scripts by nonce only, no frames, forms only to ourselves.
#[cfg(feature = "ssr")]
fn policy(nonce: &str) -> String {
    format!(
        "default-src 'self'; script-src 'nonce-{nonce}' 'strict-dynamic' 'wasm-unsafe-eval'; \
         img-src 'self' data:; form-action 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'"
    )
}
