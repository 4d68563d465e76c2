//! A JSON body: its type, size, syntax and fields are checked in that order, each with its own
//! status, and unknown fields are refused by name.

use super::problem::Problem;
use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The largest body that is read.
pub const LARGEST_BODY: usize = 256 * 1024;

/// A body that was understood.
pub struct JsonBody<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        if !is_json(request.headers()) {
            return Err(Problem::unsupported_media_type());
        }
        let bytes = Bytes::from_request(request, state).await.map_err(|rejection| {
            match rejection.into_response().status() {
                StatusCode::PAYLOAD_TOO_LARGE => Problem::too_large(LARGEST_BODY),
                _ => Problem::malformed("The body did not arrive whole."),
            }
        })?;
        read(&bytes).map(Self)
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let value: Value = serde_json::from_slice(bytes)
        .map_err(|error| Problem::malformed(format!("The body is not JSON: {error}.")))?;
    serde_json::from_value(value).map_err(|error| wrong_field(&error.to_string()))
}

/// Names the field where the message does ("unknown field `x`, …", "missing field `x`").
fn wrong_field(message: &str) -> Problem {
    let named = message.starts_with("unknown field `") || message.starts_with("missing field `");
    let field = if named { message.split('`').nth(1).unwrap_or_default() } else { "" };
    Problem::invalid_field(field, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::commands::{Answer, NewTrip};

    fn problem(result: Result<impl Sized, Problem>) -> Value {
        serde_json::to_value(result.err().unwrap()).unwrap()
    }

    #[test]
    fn syntax_and_fields_have_their_own_status() {
        assert_eq!(problem(read::<NewTrip>(b"{"))["status"], 400);
        assert_eq!(problem(read::<NewTrip>("[".repeat(10_000).as_bytes()))["status"], 400);
        let unknown = problem(read::<NewTrip>(br#"{"workflow":"travel","steps":[],"colour":"red"}"#));
        assert_eq!((&unknown["status"], &unknown["errors"][0]["field"]), (&422.into(), &"colour".into()));
        let missing = problem(read::<NewTrip>(br#"{"steps":[]}"#));
        assert_eq!(missing["errors"][0]["field"], "workflow");
    }

    #[test]
    fn an_answer_is_text_or_choice() {
        assert!(matches!(read::<Answer>(br#"{"text":"two"}"#), Ok(Answer::Text(text)) if text == "two"));
        assert!(matches!(read::<Answer>(br#"{"choice":"2"}"#), Ok(Answer::Choice(value)) if value == "2"));
        assert_eq!(problem(read::<Answer>(br#"{"text":"two","choice":"2"}"#))["status"], 422);
    }

    #[test]
    fn only_json_is_json() {
        let headers =
            |kind: &'static str| HeaderMap::from_iter([(header::CONTENT_TYPE, kind.parse().unwrap())]);
        assert!(is_json(&headers("application/json; charset=utf-8")));
        assert!(!is_json(&headers("text/plain")) && !is_json(&HeaderMap::new()));
    }
}
