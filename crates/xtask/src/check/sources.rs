//! The workspace's own text files, read once for all rules.

use std::fs;

use anyhow::{Context, Result};

use crate::check::rust::{self, Literal};
use crate::process::{command, output};
use crate::workspace::Workspace;

/// One text file.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// Relative to the workspace's root, with `/`.
    pub path: String,
    /// As it is.
    pub text: String,
    /// For Rust: the code without comments, quoted text and `#[cfg(test)]` modules.
    pub code: String,
    /// For Rust: the string literals outside `#[cfg(test)]` modules.
    pub literals: Vec<Literal>,
}

impl Source {
    /// Reads a file's text.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        let (path, text) = (path.into(), text.into());
        if !path.ends_with(".rs") {
            return Self { path, text, ..Self::default() };
        }
        let read = rust::read(&text);
        let code = rust::without_tests(&read.code);
        // A line that lost its code to a test module is blank in one and not in the other.
        let is_test = |line: usize| {
            let at = line - 1;
            code.lines().nth(at).is_some_and(|kept| kept.trim().is_empty())
                && read.code.lines().nth(at).is_some_and(|whole| !whole.trim().is_empty())
        };
        let literals = read.literals.iter().filter(|literal| !is_test(literal.line)).cloned().collect();
        Self { path, text, code, literals }
    }

    /// Whether this is Rust.
    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Whether this is a test, or used by tests only.
    pub fn is_test(&self) -> bool {
        let in_tests = |path: &str| path.starts_with("tests/") || path.contains("/tests/");
        in_tests(&self.path) || self.path.ends_with("/tests.rs") || self.path.ends_with("_tests.rs")
    }
}

/// All text files.
#[derive(Debug, Default)]
pub struct Sources(pub Vec<Source>);

impl Sources {
    /// Reads the files that git knows or would take.
    pub fn read(workspace: &Workspace) -> Result<Self> {
        let mut git = command("git", &workspace.root);
        let listed = output(git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]))
            .context("the workspace's files cannot be listed")?;
        let mut sources = Vec::new();
        for path in listed.split('\0').filter(|path| !path.is_empty()) {
            // A file that was deleted and is still in git's index is not there; a picture is not text.
            let Ok(bytes) = fs::read(workspace.root.join(path)) else { continue };
            let Ok(text) = String::from_utf8(bytes) else { continue };
            sources.push(Source::new(path, text));
        }
        Ok(Self(sources))
    }

    /// The Rust files below a folder, tests apart.
    pub fn rust_below<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a Source> {
        self.0
            .iter()
            .filter(move |source| source.is_rust() && source.path.starts_with(folder) && !source.is_test())
    }

    /// One file.
    pub fn file(&self, path: &str) -> Option<&Source> {
        self.0.iter().find(|source| source.path == path)
    }
}

#[cfg(test)]
impl Sources {
    /// Made-up files for a rule's own test.
    pub fn of(files: &[(&str, &str)]) -> Self {
        Self(files.iter().map(|(path, text)| Source::new(*path, *text)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_of_test_modules_are_left_out() {
        let source = Source::new(
            "a/src/x.rs",
            "let a = \"kept\";\n#[cfg(test)]\nmod tests {\n  let b = \"out\";\n}\n",
        );
        assert_eq!(source.literals.len(), 1);
        assert!(!source.is_test());
        assert!(Source::new("crates/engine/tests/story.rs", "").is_test());
    }
}
