//! How long to wait before the next try. Deterministic here; the shell adds its jitter.

use crate::time::Span;

/// `first`, doubled with every try after the first, at most `longest`.
pub fn backoff(tries: i64, first: Span, longest: Span) -> Span {
    let doublings = u32::try_from((tries - 1).clamp(0, 30)).unwrap_or(30);
    Span(first.0.saturating_mul(1_i64 << doublings).min(longest.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn never_shrinks_and_never_passes_the_longest(tries in 0_i64..200, first in 1_i64..10_000) {
            let longest = Span(60_000);
            let now = backoff(tries, Span(first), longest);
            prop_assert!(now <= longest);
            prop_assert!(backoff(tries + 1, Span(first), longest) >= now);
        }
    }
}
