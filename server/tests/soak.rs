//! A short soak on each database: the real binary killed at random moments under faulty agents,
//! and everything compared in the end. The long ones are `cargo xtask soak`.

use std::time::Duration;
use testkit::Kind;
use testkit::soak::{self, Faults, Options};

async fn short(database: Kind, seed: u64) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let options = Options {
        program: env!("CARGO_BIN_EXE_holdfast").into(),
        database,
        kills: 12,
        seed,
        trips: 5,
        faults: Faults::Survivable,
        rate: 0.15,
        settle: Duration::from_secs(150),
        folder: folder.path().to_owned(),
        talks: false,
    };
    let report = soak::run(&options).await.expect("the soak runs to its end");
    println!("{report}");
    if !report.violations.is_empty() {
        panic!("everything that shows it is kept in {}\n{report}", folder.keep().display());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn twelve_kills_break_nothing_on_sqlite() {
    short(Kind::Sqlite, 12).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn twelve_kills_of_two_instances_break_nothing_on_postgres() {
    short(Kind::Postgres, 13).await;
}
