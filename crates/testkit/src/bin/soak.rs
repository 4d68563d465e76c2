//! `soak`: what `cargo xtask soak` starts, once the binaries are built.

use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use testkit::Kind;
use testkit::soak::{self, Faults, Options};

/// Kills the real binary at random moments, and compares everything in the end.
#[derive(Debug, Parser)]
#[command(name = "soak")]
struct Arguments {
    /// How often it is killed
    #[arg(long)]
    kills: u32,
    /// `sqlite`, or `postgres` with the cluster in HOLDFAST_TEST_POSTGRES
    #[arg(long, default_value = "sqlite")]
    db: String,
    /// Where chance begins
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many trips are unfinished at any time
    #[arg(long, default_value_t = 12)]
    trips: usize,
    /// `none`, `survivable` or `all`
    #[arg(long, default_value = "survivable")]
    faults: Faults,
    /// How many of 1 requests, tasks, lookups and undos meet a fault
    #[arg(long, default_value_t = 0.3)]
    rate: f64,
    /// How many seconds everything may take to come to rest
    #[arg(long, default_value_t = 240)]
    settle: u64,
    /// The server's binary
    #[arg(long, env = "HOLDFAST_BIN")]
    program: PathBuf,
    /// An empty folder for everything; kept where something is wrong
    #[arg(long)]
    folder: PathBuf,
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let database = match arguments.db.as_str() {
        "sqlite" => Kind::Sqlite,
        "postgres" => Kind::Postgres,
        other => {
            eprintln!("soak: --db {other}: give sqlite or postgres");
            return ExitCode::FAILURE;
        }
    };
    let options = Options {
        program: arguments.program,
        database,
        kills: arguments.kills,
        seed: arguments.seed,
        trips: arguments.trips,
        faults: arguments.faults,
        rate: arguments.rate,
        settle: Duration::from_secs(arguments.settle),
        folder: arguments.folder,
        talks: true,
    };
    match soak::run(&options).await {
        Ok(report) => {
            println!("{report}");
            if report.violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("soak: seed {}: {error:#}", options.seed);
            ExitCode::FAILURE
        }
    }
}
