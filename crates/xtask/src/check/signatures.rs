//! Rule 3: no `a2a` or `sqlx` type in the engine's public signatures. A light reading: files that are
//! reached from `lib.rs` through `pub mod`, and in them each public item up to its body.

use std::collections::BTreeSet;

use crate::check::Violation;
use crate::check::rust::{body, has_word};
use crate::check::sources::{Source, Sources};

const SRC: &str = "crates/engine/src/";
/// Crates whose types stay inside.
const INNER: [&str; 3] = ["sqlx", "a2a", "a2a_lf"];

/// Finds inner types in the open.
pub fn check(sources: &Sources) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in public_files(sources) {
        // Where a module of ours has a crate's name, the name means the module.
        let is_foreign = |name: &&str| !has_word(&source.code, &format!("mod {name}"));
        let inner: Vec<&str> = INNER.into_iter().filter(is_foreign).collect();
        let imported = imported(&source.code, &inner);
        for (line, signature) in public_items(&source.code) {
            let leaked = imported.iter().find(|name| has_word(&signature, name)).cloned().or_else(|| {
                inner.iter().find(|name| names_crate(&signature, name)).map(|name| (*name).to_owned())
            });
            if let Some(name) = leaked {
                let what = format!("`{name}` in a public signature of the engine: convert it inside");
                found.push(Violation::at(source, line, what));
            }
        }
    }
    found
}

/// The files that `pub mod` makes public, beginning with `lib.rs`.
fn public_files(sources: &Sources) -> Vec<&Source> {
    let mut files = Vec::new();
    let mut folders = vec![(format!("{SRC}lib.rs"), SRC.to_owned())];
    while let Some((path, folder)) = folders.pop() {
        let Some(source) = sources.file(&path) else { continue };
        files.push(source);
        for line in source.code.lines() {
            if let Some(name) = line.trim().strip_prefix("pub mod ").and_then(|rest| rest.strip_suffix(';')) {
                folders.push((format!("{folder}{name}.rs"), format!("{folder}{name}/")));
                folders.push((format!("{folder}{name}/mod.rs"), format!("{folder}{name}/")));
            }
        }
    }
    files
}

/// The names that a file takes from the inner crates by `use`.
fn imported(code: &str, inner: &[&str]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (at, _) in code.match_indices("use ") {
        let rest = &code[at + 4..];
        let path = rest[..rest.find(';').unwrap_or(rest.len())].trim_start_matches("::");
        let Some((root, taken)) = path.split_once("::") else { continue };
        if !inner.contains(&root) {
            continue;
        }
        for word in taken.split(['{', '}', ',']) {
            let name = word.rsplit("::").next().unwrap_or(word);
            let name = name.rsplit(" as ").next().unwrap_or(name).trim();
            if name.starts_with(char::is_uppercase) {
                names.insert(name.to_owned());
            }
        }
    }
    names
}

/// The public items, each with its line: up to the body, or with it where the body is public as well.
fn public_items(code: &str) -> Vec<(usize, String)> {
    let mut items = Vec::new();
    let mut offset = 0;
    for (number, line) in code.lines().enumerate() {
        let begin = offset + (line.len() - line.trim_start().len());
        offset += line.len() + 1;
        if !line.trim_start().starts_with("pub ") {
            continue;
        }
        let rest = &code[begin..];
        let open = ["pub enum", "pub trait"].iter().any(|kind| rest.starts_with(kind));
        let end = match rest.find('{') {
            Some(brace) if open => brace + body(&rest[brace..]),
            _ => signature(rest),
        };
        items.push((number + 1, rest[..end].to_owned()));
    }
    items
}

/// The length of a signature or a field: to its body, its semicolon, or a comma outside brackets.
fn signature(text: &str) -> usize {
    let mut depth = 0_i32;
    let mut before = ' ';
    for (at, character) in text.char_indices() {
        match character {
            '(' | '[' | '<' => depth += 1,
            ')' | ']' => depth -= 1,
            '>' if before != '-' && before != '=' => depth -= 1,
            '{' | ';' | '}' => return at,
            ',' if depth <= 0 => return at,
            _ => {}
        }
        before = character;
    }
    text.len()
}

/// Whether a path begins with the crate's name; `crate::a2a::` is a module of our own.
fn names_crate(signature: &str, name: &str) -> bool {
    signature.match_indices(&format!("{name}::")).any(|(at, _)| {
        let before = &signature[..at];
        let last = before.chars().next_back();
        let own = ["crate::", "self::", "super::"].iter().any(|start| before.ends_with(start));
        !own && !last.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') || before.ends_with(" ::")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planted_types_are_found() {
        let sources = Sources::of(&[
            (
                "crates/engine/src/lib.rs",
                "use a2a::AgentClient;\npub fn with(client: AgentClient) {}\npub mod a2a;\nmod store;\npub mod query;\npub fn pool(&self) -> sqlx::AnyPool { x }",
            ),
            ("crates/engine/src/store/mod.rs", "pub fn pool() -> sqlx::AnyPool { x }"),
            (
                "crates/engine/src/a2a/mod.rs",
                "use a2a::{Task, Message as Wire};\npub struct Seen {\n    pub id: String,\n    pub task: Option<Task>,\n    wire: Wire,\n}\nfn inner(t: Task) {}\n",
            ),
            (
                "crates/engine/src/query.rs",
                "pub enum E {\n    Db(sqlx::Error),\n}\npub(crate) fn a(x: sqlx::Row) {}\npub fn b(x: crate::a2a::Seen) -> u8 { sqlx::go() }",
            ),
        ]);
        let mut places: Vec<String> = check(&sources)
            .iter()
            .map(|v| format!("{}:{}", v.file.trim_start_matches(SRC), v.line))
            .collect();
        places.sort();
        assert_eq!(places, ["a2a/mod.rs:4", "lib.rs:6", "query.rs:1"]);
    }
}
