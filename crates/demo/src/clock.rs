//! The only place that asks the machine for the time or for a new id.

use jiff::Timestamp;
use uuid::Uuid;

/// The present moment.
#[expect(clippy::disallowed_methods, reason = "the demo world's one clock")]
pub fn now() -> Timestamp {
    Timestamp::now()
}

/// The present moment in UTC milliseconds.
pub fn now_millis() -> i64 {
    now().as_millisecond()
}

/// An id that nobody has used before.
#[expect(clippy::disallowed_methods, reason = "the demo world's one source of ids")]
pub fn new_id() -> String {
    Uuid::now_v7().to_string()
}

/// UTC milliseconds as people and JSON read them.
pub fn rfc3339(millis: i64) -> String {
    Timestamp::from_millisecond(millis).map_or_else(|_| millis.to_string(), |at| at.to_string())
}
