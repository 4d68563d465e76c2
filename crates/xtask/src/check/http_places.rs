//! Rule 3: HTTP to agents only in `engine/src/a2a/`, to booking systems only in `engine/src/booking/`.
//! Nothing else of ours sends anything. The guard that judges addresses for both may plug into the
//! client's name lookup, which sends nothing to anybody's service.

use crate::check::Violation;
use crate::check::rust::lines_with;
use crate::check::sources::Sources;

const FOLDERS: [&str; 5] =
    ["app/src/", "frontend/src/", "server/src/", "crates/domain/src/", "crates/engine/src/"];
const ALLOWED: [&str; 4] = [
    "crates/engine/src/a2a/",
    "crates/engine/src/a2a.rs",
    "crates/engine/src/booking/",
    "crates/engine/src/booking.rs",
];
const GUARD: (&str, &str) = ("crates/engine/src/net.rs", "reqwest::dns");

/// Finds an HTTP client elsewhere.
pub fn check(sources: &Sources) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in FOLDERS.into_iter().flat_map(|folder| sources.rust_below(folder)) {
        if ALLOWED.iter().any(|place| source.path.starts_with(place)) {
            continue;
        }
        for client in ["reqwest", "hyper_util", "eventsource_stream"] {
            for line in lines_with(&source.code, client) {
                let text = source.code.lines().nth(line - 1).unwrap_or_default();
                if source.path == GUARD.0 && text.contains(GUARD.1) {
                    continue;
                }
                let what =
                    format!("{client} outside engine/src/a2a/ and engine/src/booking/: go through them");
                found.push(Violation::at(source, line, what));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planted_client_is_found() {
        let sources = Sources::of(&[
            ("crates/engine/src/driver.rs", "// reqwest\nasync fn a() { reqwest::get(\"x\").await; }"),
            ("crates/engine/src/a2a/jsonrpc.rs", "use reqwest::Client;"),
            ("crates/engine/src/booking/mod.rs", "use reqwest::Client;"),
            ("crates/engine/src/net.rs", "use reqwest::dns::Resolve;\nuse reqwest::Client;"),
            ("crates/testkit/src/lib.rs", "use reqwest::Client;"),
        ]);
        let places: Vec<String> = check(&sources).iter().map(|v| format!("{}:{}", v.file, v.line)).collect();
        assert_eq!(places, ["crates/engine/src/driver.rs:2", "crates/engine/src/net.rs:2"]);
    }
}
