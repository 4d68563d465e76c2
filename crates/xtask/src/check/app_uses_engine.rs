//! Rule 2: in `app`, only `app/src/api/` names the engine.

use crate::check::Violation;
use crate::check::rust::lines_with;
use crate::check::sources::Sources;

/// Finds the engine named elsewhere in `app`.
pub fn check(sources: &Sources) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in sources.rust_below("app/src/") {
        if source.path.starts_with("app/src/api/") || source.path == "app/src/api.rs" {
            continue;
        }
        let code = &source.code;
        let mut lines = Vec::new();
        for (number, line) in code.lines().enumerate() {
            let named = ["engine::", "use engine", "extern crate engine"];
            if named.iter().any(|path| line.contains(path)) && !lines_with(line, "engine").is_empty() {
                lines.push(number + 1);
            }
        }
        for line in lines {
            found.push(Violation::at(
                source,
                line,
                "the engine is named outside app/src/api/: use a server function",
            ));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planted_use_is_found() {
        let sources = Sources::of(&[
            ("app/src/pages/traveller/trip.rs", "//! engine::x\nuse engine::query;\nlet engine = 1;\n"),
            ("app/src/api/trips.rs", "use engine::query;"),
            ("server/src/main.rs", "use engine::Engine;"),
        ]);
        let found = check(&sources);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].file.as_str(), found[0].line), ("app/src/pages/traveller/trip.rs", 2));
    }
}
