//! Rule 1: `domain` reads no clock and no randomness, and touches nothing outside.

use crate::check::Violation;
use crate::check::rust::has_word;
use crate::check::sources::Sources;

/// What would make the domain impure.
const OUTSIDE: [&str; 13] = [
    "SystemTime",
    "Instant",
    "Timestamp::now",
    "Zoned::now",
    "rand",
    "getrandom",
    "thread_rng",
    "now_v7",
    "new_v4",
    "std::fs",
    "std::net",
    "std::env",
    "std::process",
];

/// Finds reads of the outside.
pub fn check(sources: &Sources) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in sources.rust_below("crates/domain/src/") {
        for (number, line) in source.code.lines().enumerate() {
            for word in OUTSIDE.iter().filter(|word| has_word(line, word)) {
                let what = format!("{word} in domain, which is pure: take it as an argument");
                found.push(Violation::at(source, number + 1, what));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planted_clock_is_found() {
        let sources = Sources::of(&[
            ("crates/domain/src/decide.rs", "fn a() {\n    let now = std::time::Instant::now();\n}\n"),
            ("crates/domain/src/money.rs", "/// At this Instant\nfn brand() {}"),
            ("crates/engine/src/clock.rs", "let now = jiff::Timestamp::now();"),
        ]);
        let found = check(&sources);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].file.as_str(), found[0].line), ("crates/domain/src/decide.rs", 2));
    }
}
