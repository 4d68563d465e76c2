//! The only place that reads a clock, makes ids or draws random numbers; everything else takes
//! them as arguments, so that tests can own time.

use domain::ids::IdSource;
use domain::time::{Millis, Span};

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Now, in UTC milliseconds.
    fn now(&self) -> Millis;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
    fn now(&self) -> Millis {
        Millis(jiff::Timestamp::now().as_millisecond())
    }
}

/// Makes UUIDv7: unique over processes, and in the order of their making.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemIds;

impl IdSource for SystemIds {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that makes ids")]
    fn next_id(&mut self) -> String {
        uuid::Uuid::now_v7().to_string()
    }
}

/// A new id.
pub fn new_id() -> String {
    SystemIds.next_id()
}

/// `span` with full jitter: anywhere from nothing to `span`.
#[expect(clippy::disallowed_methods, reason = "this is the one place that draws random numbers")]
pub fn full_jitter(span: Span) -> Span {
    let fraction: f64 = rand::random();
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "spans are far below 2^52 ms"
    )]
    let jittered = (span.0 as f64 * fraction) as i64;
    Span(jittered)
}

/// 32 random bytes as hex, for tokens and form keys.
#[expect(clippy::disallowed_methods, reason = "this is the one place that draws random numbers")]
pub fn random_secret() -> String {
    let bytes: [u8; 32] = rand::random();
    hex::encode(bytes)
}
