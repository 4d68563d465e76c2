//! `cargo xtask soak`: the real binary, killed at random moments under faulty agents; in the end
//! ledgers, request logs, journal and trips are compared. The soak itself is testkit's; here is
//! what it needs built and started.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};

use crate::postgres::Cluster;
use crate::process::{self, cargo, command, say};
use crate::tools;
use crate::workspace::{Mode, Workspace};

/// What may be asked of a soak.
#[derive(Args, Debug)]
pub struct Arguments {
    /// How often the app is killed
    #[arg(long, default_value_t = 30)]
    kills: u32,
    /// Which database; with PostgreSQL two instances share it and are killed in turn
    #[arg(long, value_enum, default_value = "sqlite")]
    db: Database,
    /// Where chance begins; the same seed makes the same choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many trips are unfinished at any time
    #[arg(long, default_value_t = 12)]
    trips: usize,
    /// Which faults the outside plays
    #[arg(long, value_enum, default_value = "survivable")]
    faults: Faults,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Database {
    Sqlite,
    Postgres,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Faults {
    /// None
    None,
    /// Those that end by themselves
    Survivable,
    /// All that break nothing that agents are vouched for, and agents that restart
    All,
}

fn word(value: impl ValueEnum) -> Result<String> {
    let value = value.to_possible_value().context("a value without a name")?;
    Ok(value.get_name().to_owned())
}

/// Runs a soak. The exit code is 1 where something that must never be was found.
pub fn run(workspace: &Workspace, arguments: &Arguments) -> Result<ExitCode> {
    let db = word(arguments.db)?;
    say("building the app and the soak, as debug builds");
    let mut build = cargo(&workspace.root);
    process::run(build.args(["build", "--locked", "-p", "server", "-p", "demo", "-p", "testkit"]))?;
    let cluster = match arguments.db {
        Database::Sqlite => None,
        Database::Postgres => Some(Cluster::start(tools::postgres()?)?),
    };
    let folder = fresh_folder(workspace, &format!("{db}-seed-{}", arguments.seed))?;
    let mut soak = command(workspace.binaries(Mode::Debug).join("soak"), &workspace.root);
    soak.args(["--kills", &arguments.kills.to_string(), "--db", &db])
        .args(["--seed", &arguments.seed.to_string(), "--trips", &arguments.trips.to_string()])
        .args(["--faults", &word(arguments.faults)?])
        .arg("--folder")
        .arg(&folder)
        .env("HOLDFAST_BIN", workspace.app(Mode::Debug));
    if let Some(cluster) = &cluster {
        soak.env("HOLDFAST_TEST_POSTGRES", cluster.url());
    }
    let status = process::wait(&mut process::start(&mut soak)?)?;
    drop(cluster);
    if status.success() {
        fs::remove_dir_all(&folder).context("the soak's folder cannot be deleted")?;
        return Ok(ExitCode::SUCCESS);
    }
    say(format_args!("everything that shows it is kept in {}", workspace.show(&folder)));
    Ok(ExitCode::FAILURE)
}

/// A folder below the target folder, without what an earlier soak of this name left in it.
fn fresh_folder(workspace: &Workspace, name: &str) -> Result<PathBuf> {
    let folder = workspace.target.join("soak").join(name);
    let failed = |what: &str, folder: &Path| format!("{} cannot be {what}", workspace.show(folder));
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| failed("deleted", &folder))?;
    }
    fs::create_dir_all(&folder).with_context(|| failed("made", &folder))?;
    Ok(folder)
}
