//! `cargo xtask`: runs, tests, builds and checks Holdfast, and installs what that needs.
//!
//! - [`run`]: the app and the demo world, for a person to play with.
//! - [`mod@test`]: every test, PostgreSQL and Chromium included.
//! - [`release`]: the release binaries with the site beside them.
//! - [`soak`]: the real binary, killed again and again under faulty agents.
//! - [`check`]: formatting, lints, documentation and the rules of the layout.

mod binaries;
mod check;
mod compress;
mod frontend;
mod postgres;
mod process;
mod release;
mod run;
mod signals;
mod soak;
mod style;
mod test;
mod tools;
mod workspace;

use std::num::NonZeroU32;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::workspace::{Mode, Workspace};

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", about = "Runs, tests, builds and checks Holdfast")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Start the app and the demo world; data is kept in ./data/
    Run {
        /// With release builds
        #[arg(long)]
        release: bool,
        /// Kill the app with SIGKILL and start it again about every so many seconds
        #[arg(long, value_name = "SECONDS")]
        chaos: Option<NonZeroU32>,
    },
    /// Run every test
    Test {
        /// Leave the browser tests out
        #[arg(long)]
        fast: bool,
        /// Passed on to `cargo test`
        #[arg(last = true, value_name = "CARGO TEST ARGUMENTS")]
        cargo: Vec<String>,
    },
    /// Kill the real binary at random moments under faulty agents, and compare everything in the end
    Soak(soak::Arguments),
    /// Build for use, into target/release/
    Build,
    /// Check formatting, lints, documentation and the rules of the layout
    Check,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = signals::catch()
        .and_then(|()| Workspace::find())
        .and_then(|workspace| go(arguments.task, &workspace));
    match done {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn go(task: Task, workspace: &Workspace) -> Result<ExitCode> {
    match task {
        Task::Run { release, chaos } => {
            run::run(workspace, if release { Mode::Release } else { Mode::Debug }, chaos)?
        }
        Task::Test { fast, cargo } => return test::run(workspace, fast, &cargo),
        Task::Soak(arguments) => return soak::run(workspace, &arguments),
        Task::Build => release::build(workspace)?,
        Task::Check => check::run(workspace)?,
    }
    Ok(ExitCode::SUCCESS)
}
