//! `cargo xtask check`: formatting, lints, documentation, the builds for the browser, and the rules
//! of the layout, each a small program of its own with a test that plants a violation.

mod app_uses_engine;
mod bans;
mod dependencies;
mod http_places;
mod length;
mod machine_paths;
mod names;
mod purity;
mod rust;
mod signatures;
mod sources;
mod sql_places;

use std::time::Instant;

use anyhow::{Result, bail};

use crate::check::sources::{Source, Sources};
use crate::process::{cargo, command, run as run_command, say};
use crate::signals;
use crate::tools::{self, WASM};
use crate::workspace::Workspace;

/// Something that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The file, relative to the workspace's root.
    pub file: String,
    /// The line, counted from one; zero where the whole file is meant.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub what: String,
}

impl Violation {
    fn at(source: &Source, line: usize, what: impl Into<String>) -> Self {
        Self { file: source.path.clone(), line, what: what.into() }
    }

    fn of_file(file: impl Into<String>, what: impl Into<String>) -> Self {
        Self { file: file.into(), line: 0, what: what.into() }
    }
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file, self.what),
            line => write!(f, "{}:{line}: {}", self.file, self.what),
        }
    }
}

type Step = (&'static str, fn(&Workspace) -> Result<()>);

/// In the order of what is quick and often wrong.
const STEPS: [Step; 7] = [
    ("rules of the layout", rules),
    ("formatting", formatting),
    ("types of the browser tests", browser_tests),
    ("clippy", clippy),
    ("clippy for the browser", clippy_wasm),
    ("domain for the browser", domain_wasm),
    ("documentation", documentation),
];

/// Does every step, so that one run shows all that is wrong.
pub fn run(workspace: &Workspace) -> Result<()> {
    tools::wasm_target(workspace)?;
    let mut failed = Vec::new();
    for (name, step) in STEPS {
        say(format_args!("checking: {name}"));
        let begun = Instant::now();
        let done = step(workspace);
        if signals::stop_asked() {
            return Err(signals::stopped());
        }
        let took = begun.elapsed().as_secs_f64();
        match done {
            Ok(()) => say(format_args!("{took:>7.1} s  {name}: right")),
            Err(error) => {
                say(format_args!("{took:>7.1} s  {name}: WRONG: {error:#}"));
                failed.push(name);
            }
        }
    }
    if !failed.is_empty() {
        bail!("wrong: {}", failed.join(", "));
    }
    Ok(())
}

fn formatting(workspace: &Workspace) -> Result<()> {
    run_command(cargo(&workspace.root).args(["fmt", "--all", "--check"]))
}

/// The whole workspace at once is safe here: everything of `frontend` sits under wasm32, so its half
/// of `app` is not turned on beside the server's.
fn clippy(workspace: &Workspace) -> Result<()> {
    let mut clippy = cargo(&workspace.root);
    clippy.args(["clippy", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings"]);
    run_command(&mut clippy)
}

fn clippy_wasm(workspace: &Workspace) -> Result<()> {
    let mut clippy = cargo(&workspace.root);
    clippy.args(["clippy", "--locked", "-p", "frontend", "--target", WASM, "--", "-D", "warnings"]);
    run_command(&mut clippy)
}

fn domain_wasm(workspace: &Workspace) -> Result<()> {
    run_command(cargo(&workspace.root).args(["build", "--locked", "-p", "domain", "--target", WASM]))
}

fn documentation(workspace: &Workspace) -> Result<()> {
    let mut doc = cargo(&workspace.root);
    doc.args(["doc", "--locked", "--workspace", "--no-deps", "--document-private-items"]);
    run_command(doc.env("RUSTDOCFLAGS", "-D warnings"))
}

fn browser_tests(workspace: &Workspace) -> Result<()> {
    tools::npm_packages(workspace)?;
    run_command(command("npx", &workspace.end2end()).args(["--no-install", "tsc", "--noEmit"]))
}

/// The rules of the layout.
fn rules(workspace: &Workspace) -> Result<()> {
    let sources = Sources::read(workspace)?;
    let metadata = dependencies::read(workspace)?;
    let mut violations = Vec::new();
    violations.extend(dependencies::check(&metadata));
    violations.extend(purity::check(&sources));
    violations.extend(sql_places::check(&sources));
    violations.extend(http_places::check(&sources));
    violations.extend(signatures::check(&sources));
    violations.extend(app_uses_engine::check(&sources));
    violations.extend(bans::check(&sources));
    violations.extend(names::check(&sources));
    violations.extend(machine_paths::check(workspace, &sources));
    let lengths = length::check(&sources);
    violations.extend(lengths.too_long);
    for long in lengths.worth_a_look {
        say(format_args!("worth a look: {long}"));
    }
    for violation in &violations {
        eprintln!("{violation}");
    }
    if !violations.is_empty() {
        bail!("{} violations", violations.len());
    }
    Ok(())
}
