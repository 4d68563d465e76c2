//! Rule 5: names say what a thing is for. A module called `utils` does not, nor does `handle_event`.

use crate::check::Violation;
use crate::check::rust::has_word;
use crate::check::sources::Sources;

const MODULES: [&str; 4] = ["utils", "helpers", "common", "manager"];
const FUNCTIONS: [&str; 2] = ["handle_", "process_"];

/// Finds names that say nothing, in Rust and TypeScript, tests included.
pub fn check(sources: &Sources) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in &sources.0 {
        let is_code = [".rs", ".ts", ".css"].iter().any(|ending| source.path.ends_with(ending));
        if !is_code {
            continue;
        }
        for name in MODULES {
            let mut parts = source.path.split('/');
            if parts.any(|part| part == name || part.split('.').next() == Some(name)) {
                found.push(Violation::at(source, 0, format!("called `{name}`: say what it is for")));
            }
        }
        for (number, line) in source.code.lines().enumerate() {
            for name in MODULES.iter().filter(|name| has_word(line, &format!("mod {name}"))) {
                let what = format!("a module called `{name}`: say what it is for");
                found.push(Violation::at(source, number + 1, what));
            }
            for prefix in FUNCTIONS.iter().filter(|prefix| line.contains(&format!("fn {prefix}"))) {
                let what = format!("a function called `{prefix}…`: say what it does");
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
    fn planted_names_are_found() {
        let sources = Sources::of(&[
            ("server/src/utils.rs", ""),
            ("crates/engine/tests/common/mod.rs", ""),
            ("end2end/helpers.ts", ""),
            (
                "server/src/main.rs",
                "mod manager;\npub async fn handle_event() {}\n// fn process_it\nfn processed() {}",
            ),
            ("docs/common/readme.md", ""),
        ]);
        let places: Vec<String> = check(&sources).iter().map(|v| format!("{}:{}", v.file, v.line)).collect();
        assert_eq!(
            places,
            [
                "server/src/utils.rs:0",
                "crates/engine/tests/common/mod.rs:0",
                "end2end/helpers.ts:0",
                "server/src/main.rs:1",
                "server/src/main.rs:2",
            ]
        );
    }
}
