//! Rule 3: SQL, and the database client, only in `engine/src/store/`. The demo world is a foreign
//! party with a store of its own, and tests may look into a database.

use crate::check::Violation;
use crate::check::rust::{has_word, lines_with};
use crate::check::sources::Sources;

const ALLOWED: &str = "crates/engine/src/store";
const FOLDERS: [&str; 5] =
    ["app/src/", "frontend/src/", "server/src/", "crates/domain/src/", "crates/engine/src/"];

/// How statements begin; `…` stands for anything between.
const STATEMENTS: [(&str, &str); 12] = [
    ("SELECT", ""),
    ("INSERT INTO", ""),
    ("UPDATE", " SET"),
    ("DELETE FROM", ""),
    ("CREATE TABLE", ""),
    ("CREATE INDEX", ""),
    ("CREATE DATABASE", ""),
    ("ALTER TABLE", ""),
    ("DROP TABLE", ""),
    ("BEGIN IMMEDIATE", ""),
    ("PRAGMA", ""),
    ("WITH", "(SELECT "),
];

/// Finds SQL elsewhere.
pub fn check(sources: &Sources) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in FOLDERS.into_iter().flat_map(|folder| sources.rust_below(folder)) {
        if source.path.starts_with(ALLOWED) {
            continue;
        }
        for line in lines_with(&source.code, "sqlx") {
            found.push(Violation::at(source, line, "sqlx outside engine/src/store/: ask the store"));
        }
        for literal in source.literals.iter().filter(|literal| is_sql(&literal.text)) {
            found.push(Violation::at(source, literal.line, "SQL outside engine/src/store/: ask the store"));
        }
    }
    found
}

/// Whether a text is a statement: its keywords all in capitals or all in small letters, since
/// "Select a trip" is what a page says.
fn is_sql(text: &str) -> bool {
    let text = text.trim_start();
    let begins = |with: &str, goes_on: &str| {
        text.starts_with(with) && has_word(text, with) && (goes_on.is_empty() || text.contains(goes_on))
    };
    STATEMENTS.iter().any(|(with, goes_on)| {
        let small = with.to_lowercase();
        // In small letters two English words can look like SQL's: there, more of the statement is asked for.
        let small_goes_on = match *with {
            "SELECT" | "DELETE FROM" => " from ".to_owned(),
            "INSERT INTO" => " values".to_owned(),
            "CREATE TABLE" | "CREATE INDEX" => "(".to_owned(),
            _ => goes_on.to_lowercase(),
        };
        begins(with, goes_on) || begins(&small, &small_goes_on)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planted_statement_is_found() {
        let sources = Sources::of(&[
            ("server/src/auth.rs", "fn a() { query(\"SELECT id FROM users\"); }\n"),
            (
                "crates/engine/src/query.rs",
                "use sqlx::AnyPool;\nconst Q: &str = \"update trips set seq = 1\";\n",
            ),
            ("crates/engine/src/store/trips.rs", "use sqlx::AnyPool; const Q: &str = \"SELECT 1\";"),
            ("crates/demo/src/ledger.rs", "const Q: &str = \"SELECT 1\";"),
        ]);
        let places: Vec<String> = check(&sources).iter().map(|v| format!("{}:{}", v.file, v.line)).collect();
        assert_eq!(
            places,
            ["server/src/auth.rs:1", "crates/engine/src/query.rs:1", "crates/engine/src/query.rs:2"]
        );
    }

    #[test]
    fn what_a_page_says_is_not_sql() {
        for text in
            ["Select a trip from the list", "select", "Update the set", "with", "WITHIN", "delete from"]
        {
            assert!(!is_sql(text), "{text}");
        }
        for text in
            ["select id from trips", "INSERT INTO a VALUES ($1)", "WITH x AS (SELECT 1) DELETE", "PRAGMA a"]
        {
            assert!(is_sql(text), "{text}");
        }
    }
}
