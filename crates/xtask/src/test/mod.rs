//! `cargo xtask test`: every test there is, on both databases and in a real browser. What a test
//! needs is built, installed or started first; nothing is skipped in silence.

mod counts;
mod steps;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};

use crate::postgres::Cluster;
use crate::process::{self, cargo, command, ending, say};
use crate::test::counts::Counts;
use crate::test::steps::Steps;
use crate::workspace::{Mode, Workspace};
use crate::{binaries, frontend, signals, tools};

/// Where Playwright leaves its results, below `end2end/`.
const RESULTS: &str = "test-results/results.json";

/// What a test finds in its environment.
struct World {
    variables: Vec<(&'static str, OsString)>,
}

impl World {
    fn give_to(&self, command: &mut Command) {
        for (name, value) in &self.variables {
            command.env(name, value);
        }
    }
}

/// Runs all tests; with `fast`, all but those in the browser. An exit code tells whether all passed.
pub fn run(workspace: &Workspace, fast: bool, arguments: &[String]) -> Result<ExitCode> {
    let mut steps = Steps::default();
    let programs = steps.time("tools", tools::postgres)?;
    let chromium =
        if fast { None } else { Some(steps.time("browser and npm packages", || browser(workspace))?) };
    steps.time("frontend", || frontend::build(workspace, Mode::Debug))?;
    steps.time("binaries", || binaries::build(workspace, Mode::Debug))?;
    let cluster = steps.time("PostgreSQL", || Cluster::start(programs))?;
    let mut world = World {
        variables: vec![
            ("HOLDFAST_TEST_POSTGRES", cluster.url().into()),
            ("HOLDFAST_BIN", workspace.app(Mode::Debug).into()),
            ("HOLDFAST_DEMO_BIN", workspace.demo(Mode::Debug).into()),
        ],
    };
    let (name, site) = workspace.site_env(Mode::Debug);
    world.variables.push((name, site.into()));

    let rust = steps.time("cargo test", || cargo_tests(workspace, &world, arguments))?;
    let browser = match chromium {
        Some(chromium) => {
            world.variables.push(("CHROMIUM", chromium.into()));
            Some(steps.time("Playwright", || playwright(workspace, &world))?)
        }
        None => None,
    };
    drop(cluster);

    steps.print();
    say(format_args!("cargo test: {rust}"));
    match browser {
        Some(browser) => say(format_args!("Playwright: {browser}")),
        None => say("Playwright: left out (--fast)"),
    }
    let all = rust + browser.unwrap_or_default();
    if all.passed + all.failed == 0 {
        bail!("no test ran");
    }
    // The line by which a machine reads the outcome: alone, on stdout, last.
    println!("{all}");
    Ok(if all.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn browser(workspace: &Workspace) -> Result<PathBuf> {
    let chromium = tools::chromium()?;
    tools::npm_packages(workspace)?;
    Ok(chromium)
}

/// Runs the tests of our crates. xtask's own come by themselves: what xtask is built of turns on
/// features of crates that the app shares, and would have half of the app built a second time.
fn cargo_tests(workspace: &Workspace, world: &World, arguments: &[String]) -> Result<Counts> {
    say("running the tests of the crates");
    let of_one_crate = |word: &String| word.starts_with("-p") || word.starts_with("--package");
    if arguments.iter().take_while(|word| *word != "--").any(of_one_crate) {
        return cargo_test(workspace, world, &[], arguments);
    }
    let counts = cargo_test(workspace, world, &["--workspace", "--exclude", "xtask"], arguments)?;
    if !arguments.is_empty() {
        say("xtask's own tests were left out, since cargo test was given arguments");
        return Ok(counts);
    }
    Ok(counts + cargo_test(workspace, world, &["-p", "xtask"], &[])?)
}

/// Runs `cargo test` and counts its tests while its output goes through.
fn cargo_test(workspace: &Workspace, world: &World, crates: &[&str], arguments: &[String]) -> Result<Counts> {
    let mut cargo = cargo(&workspace.root);
    cargo.args(["test", "--locked", "--no-fail-fast"]).args(crates).args(arguments);
    if std::io::stdout().is_terminal() {
        cargo.env("CARGO_TERM_COLOR", "always");
        if !arguments.iter().any(|word| word == "--") {
            cargo.args(["--", "--color=always"]);
        }
    }
    world.give_to(&mut cargo);
    let mut child = process::start(cargo.stdout(Stdio::piped()))?;
    let output = child.stdout.take().context("no output of cargo test")?;
    let reader = std::thread::spawn(move || counts::pass_on(output, &mut std::io::stdout()));
    let status = process::wait(&mut child)?;
    let Ok(counted) = reader.join() else { bail!("the output of cargo test could not be followed") };
    let mut counts = counted.context("the output of cargo test could not be passed on")?;
    if !status.success() && counts.failed == 0 {
        say(format_args!("cargo test did not get through: {}; that counts as one failure", ending(status)));
        counts.failed = 1;
    }
    Ok(counts)
}

/// Runs the browser tests and reads their results.
fn playwright(workspace: &Workspace, world: &World) -> Result<Counts> {
    say("running the browser tests");
    let folder = workspace.end2end();
    let results = folder.join(RESULTS);
    if results.exists() {
        std::fs::remove_file(&results).context("the browser tests' old results cannot be deleted")?;
    }
    let mut npx = command("npx", &folder);
    npx.args(["--no-install", "playwright", "test"]).env("HOLDFAST_PLAYWRIGHT_JSON", RESULTS);
    if std::io::stdout().is_terminal() {
        npx.env("FORCE_COLOR", "1");
    }
    world.give_to(&mut npx);
    let status = process::wait(&mut process::start(&mut npx)?)?;
    if signals::stop_asked() {
        return Err(signals::stopped());
    }
    let mut counts = match std::fs::read_to_string(&results) {
        Ok(text) => counts::of_playwright(&text)?,
        Err(_) => Counts::default(),
    };
    if !status.success() && counts.failed == 0 {
        say(format_args!("Playwright did not get through: {}; that counts as one failure", ending(status)));
        counts.failed = 1;
    }
    Ok(counts)
}
