//! Answers that are errors, in the dress of either binding.

use super::FaultChoice;
use crate::requests::Call;
use a2a::{A2AError, error_reason};
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// A protocol's error by its code, as an agent says it.
pub fn protocol(call: &Call, code: i32, status: Option<u16>) -> Response {
    let error = A2AError::new(code, words(code));
    let status = status.unwrap_or(if call.rest { error.http_status_code() } else { 200 });
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut answer = (status, Json(body(call, &error, status))).into_response();
    if call.rest {
        let kind = HeaderValue::from_static("application/problem+json");
        answer.headers_mut().insert(header::CONTENT_TYPE, kind);
    }
    answer
}

/// The body of a protocol's error, also as the one frame of a stream.
pub fn body(call: &Call, error: &A2AError, status: StatusCode) -> Value {
    if call.rest {
        let info = json!({
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": error_reason(error.code), "domain": "a2a-protocol.org",
        });
        return json!({ "error": {
            "code": status.as_u16(), "status": "FAILED_PRECONDITION",
            "message": error.message, "details": [info],
        } });
    }
    json!({ "jsonrpc": "2.0", "id": call.rpc_id, "error": error.to_jsonrpc_error() })
}

/// What an agent says with a code.
pub fn words(code: i32) -> &'static str {
    match code {
        -32001 => "task not found",
        -32003 => "push notification not supported",
        -32004 => "this operation is not supported",
        -32601 => "method not found",
        -32602 => "contextId: this agent makes its own",
        _ => "Internal error",
    }
}

/// A bare HTTP status, as a proxy gives it.
pub fn status(choice: &FaultChoice, usual: StatusCode) -> Response {
    let status = choice.status.and_then(|status| StatusCode::from_u16(status).ok()).unwrap_or(usual);
    let mut answer = (status, "upstream error\n").into_response();
    if let Some(seconds) = choice.retry_after {
        answer.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    answer
}

/// A gateway's page.
pub fn html() -> Response {
    let page = "<!doctype html><html><head><title>Please wait</title></head>\
                <body><h1>The service is starting</h1><p>Reload this page in a moment.</p></body></html>";
    (StatusCode::OK, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response()
}
