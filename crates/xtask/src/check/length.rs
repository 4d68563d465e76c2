//! Rule 5: a file over 300 lines is looked at again, over 500 it fails. Tests do not count.

use crate::check::Violation;
use crate::check::sources::{Source, Sources};

const LOOK: usize = 300;
const LIMIT: usize = 500;

/// The long files.
#[derive(Debug, Default)]
pub struct Lengths {
    /// Over the limit.
    pub too_long: Vec<Violation>,
    /// Not over it, but long enough to be looked at again.
    pub worth_a_look: Vec<Violation>,
}

/// Measures every file of code.
pub fn check(sources: &Sources) -> Lengths {
    let mut found = Lengths::default();
    for source in &sources.0 {
        let is_code = [".rs", ".ts", ".css"].iter().any(|ending| source.path.ends_with(ending));
        if !is_code || source.is_test() {
            continue;
        }
        let lines = lines(source);
        if lines > LIMIT {
            let what = format!("{lines} lines without its tests: split it, {LIMIT} is the limit");
            found.too_long.push(Violation::at(source, 0, what));
        } else if lines > LOOK {
            found.worth_a_look.push(Violation::at(source, 0, format!("{lines} lines without its tests")));
        }
    }
    found
}

/// The lines of a file without its `#[cfg(test)]` modules.
fn lines(source: &Source) -> usize {
    let all = source.text.lines().count();
    if !source.is_rust() {
        return all;
    }
    let whole = crate::check::rust::read(&source.text).code;
    let in_tests =
        whole.lines().zip(source.code.lines()).filter(|(before, kept)| before.trim() != kept.trim());
    all - in_tests.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planted_long_files_are_found_and_tests_are_not() {
        let code = |lines: usize| "fn a() {}\n".repeat(lines);
        let tested = format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", code(290), code(900));
        let sources = Sources::of(&[
            ("server/src/long.rs", &code(501)),
            ("server/src/longish.rs", &code(301)),
            ("server/src/tested.rs", &tested),
            ("crates/engine/tests/story.rs", &code(900)),
            ("style/pages.css", &code(600)),
            ("package-lock.json", &code(900)),
        ]);
        let found = check(&sources);
        let files = |all: &[Violation]| all.iter().map(|v| v.file.clone()).collect::<Vec<_>>();
        assert_eq!(files(&found.too_long), ["server/src/long.rs", "style/pages.css"]);
        assert_eq!(files(&found.worth_a_look), ["server/src/longish.rs"]);
    }
}
