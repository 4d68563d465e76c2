//! Counting tests from what the runners print.

use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::ops::Add;

use anyhow::{Context, Result};

/// How many tests passed, failed and were skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Ran and were right.
    pub passed: u64,
    /// Ran and were wrong, or could not run.
    pub failed: u64,
    /// Left out by a mark in the test.
    pub skipped: u64,
}

impl Add for Counts {
    type Output = Counts;

    fn add(self, other: Counts) -> Counts {
        Counts {
            passed: self.passed + other.passed,
            failed: self.failed + other.failed,
            skipped: self.skipped + other.skipped,
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        if self.skipped > 0 {
            write!(f, ", {} skipped", self.skipped)?;
        }
        Ok(())
    }
}

/// Copies the output of `cargo test` and adds up its result lines.
pub fn pass_on(from: impl Read, to: &mut impl Write) -> std::io::Result<Counts> {
    let mut counts = Counts::default();
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    loop {
        line.clear();
        if from.read_until(b'\n', &mut line)? == 0 {
            return Ok(counts);
        }
        to.write_all(&line)?;
        to.flush()?;
        if let Some(found) = of_line(&String::from_utf8_lossy(&line)) {
            counts = counts + found;
        }
    }
}

/// The counts of a line such as `test result: ok. 3 passed; 0 failed; 1 ignored; …`.
fn of_line(line: &str) -> Option<Counts> {
    let plain = without_colours(line);
    let (_, numbers) = plain.split_once("test result: ")?.1.split_once(". ")?;
    let mut counts = Counts::default();
    for part in numbers.split(';') {
        let Some((number, what)) = part.trim().split_once(' ') else { continue };
        let Ok(number) = number.parse() else { continue };
        match what {
            "passed" => counts.passed = number,
            "failed" => counts.failed = number,
            "ignored" => counts.skipped = number,
            _ => {}
        }
    }
    Some(counts)
}

fn without_colours(line: &str) -> String {
    let mut plain = String::new();
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        if character == '\u{1b}' {
            // A colour is ESC [ … and ends with its first letter; `ESC (` is followed by one character.
            match characters.next() {
                Some('[') => while characters.next().is_some_and(|next| !next.is_ascii_alphabetic()) {},
                _ => drop(characters.next()),
            }
        } else {
            plain.push(character);
        }
    }
    plain
}

/// The counts in Playwright's JSON report. An error outside a test counts as a failure.
pub fn of_playwright(report: &str) -> Result<Counts> {
    let report: serde_json::Value =
        serde_json::from_str(report).context("Playwright's report is not JSON")?;
    let stat = |name: &str| {
        let number =
            report.get("stats").and_then(|stats| stats.get(name)).and_then(serde_json::Value::as_u64);
        number.with_context(|| format!("Playwright's report does not say how many tests were {name}"))
    };
    let errors = report.get("errors").and_then(serde_json::Value::as_array).map_or(0, Vec::len);
    let failed = stat("unexpected")? + stat("flaky")?;
    Ok(Counts { passed: stat("expected")?, failed: failed.max(errors as u64), skipped: stat("skipped")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_lines_are_added_up_while_all_output_goes_through() {
        let output = "running 2 tests\ntest a ... ok\n\
             test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 4 filtered out; finished in 0.00s\n\
             test result: \u{1b}[31mFAILED\u{1b}(B\u{1b}[m. 3 passed; 2 failed; 0 ignored; 0 measured\n";
        let mut passed_on = Vec::new();
        let counts = pass_on(output.as_bytes(), &mut passed_on).expect("reads");
        assert_eq!(counts, Counts { passed: 5, failed: 2, skipped: 1 });
        assert_eq!(passed_on, output.as_bytes());
        assert_eq!(counts.to_string(), "5 passed, 2 failed, 1 skipped");
    }

    #[test]
    fn playwright_counts() {
        let report = r#"{"errors":[],"stats":{"expected":4,"unexpected":1,"flaky":1,"skipped":2}}"#;
        assert_eq!(of_playwright(report).expect("reads"), Counts { passed: 4, failed: 2, skipped: 2 });
        let broken = r#"{"errors":[{"message":"no such file"}],"stats":{"expected":0,"unexpected":0,"flaky":0,"skipped":0}}"#;
        assert_eq!(of_playwright(broken).expect("reads").failed, 1);
        assert!(of_playwright("{}").is_err());
    }
}
