//! JSON-RPC 2.0: the envelope of a request, and what an answer is evidence of (DESIGN.md §7).
//!
//! The HTTP status is always looked at and the answer's id always compared; the published
//! client does neither (a2a-facts.md §13.2). An error object is the agent's own word whatever
//! the status; a result is believed only under 2xx and with our id.

use super::http::{Call, Connection, Fault, HttpAnswer};
use super::limits::{Limits, cut, shallow};
use super::{Target, convert};
use a2a::{SVC_PARAM_VERSION, VERSION};
use domain::failure::{Evidence, Failure, Operation, classify};
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde_json::{Value, json};
use url::Url;

/// A failure, and whether asking for less might help.
pub(crate) struct Refusal {
    pub failure: Failure,
    pub too_large: bool,
}

impl Refusal {
    pub(crate) fn of_fault(operation: Operation, fault: Fault) -> Self {
        let Fault { evidence, too_large, text } = fault;
        Self { failure: failure(operation, &evidence, text), too_large }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        refusal.failure
    }
}

/// A failure by its evidence, with the agent's words for people.
pub(crate) fn failure(operation: Operation, evidence: &Evidence, text: String) -> Failure {
    Failure {
        class: classify(operation, evidence),
        code: evidence.code.or(evidence.http_status.map(i64::from)),
        reason: evidence.reason.clone(),
        text: cut(&text, 500),
    }
}

/// The headers that every request carries.
pub(crate) fn headers(accept: &'static str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    if let Ok(name) = HeaderName::try_from(SVC_PARAM_VERSION) {
        headers.insert(name, HeaderValue::from_static(VERSION));
    }
    headers.insert(ACCEPT, HeaderValue::from_static(accept));
    headers
}

/// A call of a method at an endpoint.
pub(crate) fn call<'a>(
    to: &'a Target,
    method: &str,
    id: i64,
    mut params: Value,
    accept: &'static str,
    connection: Connection,
) -> Result<Call<'a>, Fault> {
    let url = Url::parse(&to.endpoint.url)
        .map_err(|error| Fault::not_written(format!("{}: {error}", cut(&to.endpoint.url, 200))))?;
    if let (Some(tenant), Some(object)) = (&to.endpoint.tenant, params.as_object_mut()) {
        object.insert("tenant".to_owned(), json!(tenant));
    }
    let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    let mut headers = headers(accept);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(Call {
        method: Method::POST,
        url,
        headers,
        body: body.to_string().into(),
        credential: &to.credential,
        connection,
    })
}

/// The result in an answer, or what the answer is evidence of.
pub(crate) fn result(
    operation: Operation,
    answer: &HttpAnswer,
    id: i64,
    limits: &Limits,
) -> Result<Value, Failure> {
    let seen =
        Evidence { http_status: Some(answer.status), retry_after: answer.retry_after, ..Evidence::lost() };
    let unreadable = |why: &str| {
        let evidence = Evidence { unparsable: true, ..seen.clone() };
        failure(operation, &evidence, format!("HTTP {}: {why}", answer.status))
    };
    let mut envelope = parse(&answer.body, limits).map_err(|why| unreadable(&why))?;
    if let Some(error) = envelope.get("error").filter(|error| error.is_object()) {
        if foreign_id(&envelope, id) {
            return Err(unreadable("the error answers another request"));
        }
        return Err(of_error(operation, error, seen));
    }
    if !(200..300).contains(&answer.status) {
        return Err(unreadable("no word of the protocol"));
    }
    if convert::whole(envelope.get("id")) != Some(id) {
        return Err(unreadable("the answer's id is not the request's"));
    }
    match envelope.get_mut("result") {
        Some(result) => Ok(result.take()),
        None => Err(unreadable("neither a result nor an error")),
    }
}

/// An error object, on top of what was seen of the answer that carried it.
pub(crate) fn of_error(operation: Operation, error: &Value, seen: Evidence) -> Failure {
    // Codes of JSON-RPC are negative; google.rpc.Status repeats the HTTP status here.
    let code = convert::whole(error.get("code")).filter(|code| *code < 0);
    let reason = reason(error);
    let unparsable = code.is_none() && reason.is_none();
    let evidence = Evidence { code, reason, unparsable, ..seen };
    let said = error.get("message").and_then(Value::as_str).unwrap_or("no message");
    let mark = match (evidence.code, &evidence.reason) {
        (Some(code), Some(reason)) => format!(" ({code} {reason})"),
        (Some(code), None) => format!(" ({code})"),
        (None, Some(reason)) => format!(" ({reason})"),
        (None, None) => String::new(),
    };
    failure(operation, &evidence, format!("{}{mark}", cut(said, 400)))
}

/// The reason of the first ErrorInfo, in `data` (JSON-RPC) or `details` (google.rpc.Status).
fn reason(error: &Value) -> Option<String> {
    let entries = |name: &str| match error.get(name) {
        Some(Value::Array(entries)) => entries.clone(),
        Some(entry @ Value::Object(_)) => vec![entry.clone()],
        _ => Vec::new(),
    };
    let mut found = entries("data").into_iter().chain(entries("details"));
    found.find_map(|entry| Some(cut(entry.get("reason")?.as_str()?, 100)))
}

/// JSON-RPC lets an error have no id, where the request could not be read.
fn foreign_id(envelope: &Value, id: i64) -> bool {
    let given = envelope.get("id").unwrap_or(&Value::Null);
    !given.is_null() && convert::whole(Some(given)) != Some(id)
}

/// JSON within the limits.
pub(crate) fn parse(body: &[u8], limits: &Limits) -> Result<Value, String> {
    if !shallow(body, limits.json_depth) {
        return Err(format!("JSON nested deeper than {}", limits.json_depth));
    }
    serde_json::from_slice(body).map_err(|error| format!("no JSON: {error}"))
}
