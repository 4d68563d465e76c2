//! Instants and spans, both as whole milliseconds: the journal's only unit of time.

use serde::{Deserialize, Serialize};
use std::ops::{Add, Sub};

/// An instant: UTC milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default)]
#[serde(transparent)]
pub struct Millis(pub i64);

/// A length of time in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default)]
#[serde(transparent)]
pub struct Span(pub i64);

impl Span {
    /// A span of whole seconds.
    pub const fn seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1000))
    }
    /// As the standard library's type; a negative span is zero.
    pub fn to_std(self) -> std::time::Duration {
        std::time::Duration::from_millis(self.0.max(0).unsigned_abs())
    }
    /// This span `factor` times.
    #[must_use]
    pub fn times(self, factor: i64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl Add<Span> for Millis {
    type Output = Millis;
    fn add(self, span: Span) -> Millis {
        Millis(self.0.saturating_add(span.0))
    }
}

impl Sub<Span> for Millis {
    type Output = Millis;
    fn sub(self, span: Span) -> Millis {
        Millis(self.0.saturating_sub(span.0))
    }
}

impl Sub for Millis {
    type Output = Span;
    fn sub(self, earlier: Millis) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

/// An instant as date and time in UTC; one outside the calendar is its beginning.
pub fn utc(at: Millis) -> jiff::civil::DateTime {
    let stamp = jiff::Timestamp::from_millisecond(at.0).unwrap_or_default();
    jiff::tz::Offset::UTC.to_datetime(stamp)
}
