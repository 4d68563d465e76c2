//! Rule 4: clocks, randomness and new ids come from `clock.rs`. Clippy holds it; this holds clippy to
//! it: the bans are there, every crate inherits the lints, and nobody but a `clock.rs` lifts a ban.

use crate::check::Violation;
use crate::check::sources::Sources;

const BANNED: [&str; 7] = [
    "std::time::SystemTime::now",
    "jiff::Timestamp::now",
    "jiff::Zoned::now",
    "uuid::Uuid::now_v7",
    "uuid::Uuid::new_v4",
    "rand::random",
    "rand::rng",
];
const LIFTED: &str = "disallowed_methods";

/// Finds missing bans and lifted ones.
pub fn check(sources: &Sources) -> Vec<Violation> {
    let mut found = Vec::new();
    found.extend(settings(sources));
    for source in &sources.0 {
        let is_member = source.path.ends_with("/Cargo.toml");
        if is_member && !source.text.contains("[lints]\nworkspace = true") {
            found.push(Violation::at(source, 0, "does not inherit the lints: add [lints] workspace = true"));
        }
        let may_lift = !source.is_rust() || source.is_test() || source.path.ends_with("/clock.rs");
        if may_lift {
            continue;
        }
        for (number, line) in source.code.lines().enumerate().filter(|(_, line)| line.contains(LIFTED)) {
            if line.contains("allow(") || line.contains("expect(") {
                let what = "lifts a ban outside clock.rs: take time, ids and chance as arguments";
                found.push(Violation::at(source, number + 1, what));
            }
        }
    }
    found
}

fn settings(sources: &Sources) -> Vec<Violation> {
    let mut found = Vec::new();
    let text = |path: &str| sources.file(path).map(|source| source.text.as_str()).unwrap_or_default();
    let clippy = text("clippy.toml");
    for path in BANNED {
        let ban = clippy.lines().find(|line| line.contains(&format!("path = \"{path}\"")));
        if !ban.is_some_and(|line| line.contains("reason = ")) {
            found.push(Violation::of_file(
                "clippy.toml",
                format!("{path} is not banned, or without a reason"),
            ));
        }
    }
    if !clippy.contains("too-many-lines-threshold = 70") {
        found.push(Violation::of_file("clippy.toml", "functions may be longer than 70 lines"));
    }
    let lints = text("Cargo.toml");
    for lint in [LIFTED, "too_many_lines"] {
        let on = lints.lines().any(|line| line.starts_with(lint) && !line.contains("\"allow\""));
        if !on {
            found.push(Violation::of_file("Cargo.toml", format!("the lint clippy::{lint} is off")));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bans() -> String {
        let ban = |path| format!("{{ path = \"{path}\", reason = \"take it from clock\" }},\n");
        format!("too-many-lines-threshold = 70\n{}", BANNED.map(ban).concat())
    }

    const LINTS: &str =
        "[workspace.lints.clippy]\ntoo_many_lines = \"warn\"\ndisallowed_methods = \"warn\"\n";

    #[test]
    fn all_in_place_is_right() {
        let sources = Sources::of(&[
            ("clippy.toml", &bans()),
            ("Cargo.toml", LINTS),
            ("app/Cargo.toml", "[lints]\nworkspace = true\n"),
            ("crates/engine/src/clock.rs", "#[allow(clippy::disallowed_methods)]\nfn now() {}"),
        ]);
        assert_eq!(check(&sources), []);
    }

    #[test]
    fn planted_gaps_are_found() {
        let sources = Sources::of(&[
            ("clippy.toml", &bans().replace("rand::rng", "rand::other")),
            ("Cargo.toml", &LINTS.replace("too_many_lines", "something_else")),
            ("app/Cargo.toml", "[package]\n"),
            ("server/src/main.rs", "\n#[allow(clippy::disallowed_methods)]\nfn now() {}"),
        ]);
        let mut files: Vec<String> = check(&sources).into_iter().map(|v| v.file).collect();
        files.sort();
        assert_eq!(files, ["Cargo.toml", "app/Cargo.toml", "clippy.toml", "server/src/main.rs"]);
    }
}
