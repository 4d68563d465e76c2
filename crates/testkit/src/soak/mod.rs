//! The soak: the real binary under SIGKILL at random moments, with agents and booking systems that
//! misbehave by chance and travellers who change their minds; then everything is compared.
//!
//! A seed makes the schedule of kills, the travellers' choices and the outside's faults the same
//! again, as far as real time allows.

pub mod chance;
pub mod compare;
pub mod diary;
mod doors;
pub mod facts;
mod instance;
mod journal;
mod outside;
mod report;
mod travellers;

pub use outside::Faults;
pub use report::{Counts, Report};

use crate::database::Database;
use crate::process::App;
use crate::{Kind, process};
use anyhow::{Context as _, Result};
use chance::Chance;
use compare::Violation;
use doors::Doors;
use facts::Facts;
use instance::{Ended, Instance};
use journal::Source;
use outside::SoakWorld;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use travellers::Traveller;

/// Every wait of the server that is not the demo's: short, with the relations kept.
const WAITS: [(&str, &str); 13] = [
    ("SEND_LIMIT", "2"),
    ("HEARTBEAT", "4"),
    ("HEARTBEAT_RENEWAL", "1"),
    ("POLL", "0.3"),
    ("POLL_LONGEST", "3"),
    ("RETRY", "0.2"),
    ("RETRY_LONGEST", "2"),
    ("RECONCILE", "2"),
    ("STREAM_IDLE", "3"),
    ("CANCEL_LIMIT", "10"),
    ("STALL_LIMIT", "10"),
    ("WATCH", "3"),
    ("CAPABILITY_EXPIRY", "20"),
];
/// How long a step may take; shorter where agents may go quiet for ever.
const DEADLINE: (&str, &str) = ("90", "30");
/// After how long without any change everything has come to rest: longer than the first watch
/// after a trip's end, and than any wait between two looks.
const QUIET: Duration = Duration::from_secs(8);
const PAUSE: Duration = Duration::from_millis(200);
/// How many of a hundred kills come while the server starts.
const KILLS_AT_START: u64 = 15;
/// How many kills lie between two restarts of an agent, with all faults.
const KILLS_PER_RESTART: u32 = 8;

/// What a soak does.
#[derive(Clone, Debug)]
pub struct Options {
    /// The binary to be killed.
    pub program: PathBuf,
    /// Its database.
    pub database: Kind,
    /// How often.
    pub kills: u32,
    /// Where chance begins.
    pub seed: u64,
    /// How many trips are unfinished at any time.
    pub trips: usize,
    /// Which faults the outside plays.
    pub faults: Faults,
    /// How many of 1 requests, tasks, lookups and undos meet one.
    pub rate: f64,
    /// How long everything may take to come to rest in the end.
    pub settle: Duration,
    /// Where everything is kept; must be there and empty.
    pub folder: PathBuf,
    /// Whether progress is said on stderr.
    pub talks: bool,
}

/// Everything that runs.
struct Soak<'a> {
    options: &'a Options,
    doors: Arc<Doors>,
    world: Arc<SoakWorld>,
    instances: Vec<Instance>,
    source: Source,
    counts: Counts,
    breakdowns: Vec<String>,
    begun: Instant,
}

/// Runs a soak and compares.
///
/// # Errors
/// It could not be run to its end; nothing is said about Holdfast then, except in the error.
pub async fn run(options: &Options) -> Result<Report> {
    demo::choose_tls();
    // PostgreSQL's database is dropped with this; SQLite's is a file in the folder.
    let database = (options.database == Kind::Postgres).then(|| Database::new(Kind::Postgres));
    let url = match &database {
        Some(database) => database.url.clone(),
        None => format!("sqlite:{}", options.folder.join("holdfast.db").display()),
    };
    let mut soak = Soak::prepare(options, url).await?;
    let stop = Arc::new(AtomicBool::new(false));
    let travel =
        travellers::travel(options.seed, options.trips, soak.doors.clone(), soak.world.clone(), stop.clone());
    let travel = tokio::spawn(travel);
    let killed = soak.kill_again_and_again(&travel).await;
    stop.store(true, Ordering::SeqCst);
    let mut everybody = travel.await??;
    killed?;
    soak.world.calm().await?;
    soak.say(&format!("{} kills done; waiting until {} trips come to rest", options.kills, everybody.len()));
    soak.settle(&mut everybody).await?;
    let facts = soak.facts(everybody).await?;
    let violations = compare::all(&facts);
    if !violations.is_empty() {
        soak.keep_evidence(&facts, &violations).await?;
    }
    soak.counts.count(&facts);
    Ok(Report { counts: soak.counts, violations, seed: options.seed, took: soak.begun.elapsed() })
}

impl<'a> Soak<'a> {
    async fn prepare(options: &'a Options, url: String) -> Result<Self> {
        let count = if options.database == Kind::Postgres { 2 } else { 1 };
        let doors = Arc::new(Doors::new(count));
        let world = Arc::new(SoakWorld::start(&options.folder.join("demo")).await?);
        let program = options.program.to_string_lossy();
        let app = || {
            let mut app = App::new(&program, &url);
            for (name, seconds) in WAITS {
                app.set(&format!("HOLDFAST_WAIT_{name}"), seconds);
            }
            let deadline = if options.faults == Faults::All { DEADLINE.1 } else { DEADLINE.0 };
            app.set("HOLDFAST_WAIT_DEADLINE", deadline);
            app.set("HOLDFAST_WAIT_UNKNOWN_VERDICT", "30");
            app
        };
        let first = app();
        first.add_user("admin@example.org", "admin", process::PASSWORD).await;
        let created =
            first.output(&["token", "create", "--role", "admin", "--user", "admin@example.org"]).await;
        let said = String::from_utf8_lossy(&created.stderr);
        anyhow::ensure!(created.status.success(), "token create: {said}");
        doors.hold_token(String::from_utf8_lossy(&created.stdout).trim());
        let instances =
            (0..count).map(|n| Instance::new(app(), n, doors.clone(), options.folder.clone())).collect();
        let source = Source { url };
        let mut soak = Self {
            options,
            doors,
            world,
            instances,
            source,
            counts: Counts::default(),
            breakdowns: Vec::new(),
            begun: Instant::now(),
        };
        soak.start_all().await?;
        soak.register().await?;
        soak.world.play(options.seed, options.rate, options.faults).await?;
        Ok(soak)
    }

    fn say(&self, what: &str) {
        if self.options.talks {
            eprintln!("soak: {:>6.1} s  {what}", self.begun.elapsed().as_secs_f64());
        }
    }

    async fn register(&self) -> Result<()> {
        let (systems, agents) = self.world.registrations();
        let all = systems.iter().map(|body| ("/booking-systems", body));
        for (path, body) in all.chain(agents.iter().map(|body| ("/agents", body))) {
            let answer = self.doors.ask(reqwest::Method::POST, path, Some(body), None).await?;
            anyhow::ensure!(answer.is_success(), "POST {path}: {}: {}", answer.status, answer.body);
        }
        Ok(())
    }

    async fn start_all(&mut self) -> Result<()> {
        for place in 0..self.instances.len() {
            self.instances[place].start()?;
            self.until_ready(place).await?;
        }
        Ok(())
    }

    /// Waits until an instance answers, and starts it anew where it has ended by itself.
    async fn until_ready(&mut self, place: usize) -> Result<()> {
        while let Some(ended) = self.instances[place].ready().await? {
            self.note_end(place, ended);
            self.instances[place].start()?;
        }
        Ok(())
    }

    fn note_end(&mut self, place: usize, ended: Ended) {
        match ended {
            Ended::Killed => self.counts.kills += 1,
            Ended::LostItsTrips => self.counts.lost_heartbeats += 1,
            Ended::ByItself(how) => {
                self.breakdowns.push(format!("instance {place} ended by itself: {how}"));
            }
        }
    }

    /// Kills the instances in turn, each some time after it answers, or while it starts.
    async fn kill_again_and_again(
        &mut self,
        travel: &tokio::task::JoinHandle<Result<Vec<Traveller>>>,
    ) -> Result<()> {
        let mut chance = Chance::new(self.options.seed, "kills");
        let mut restarts = Chance::new(self.options.seed, "restarts");
        let mut turn = 0;
        while self.counts.kills < self.options.kills {
            // What ended the travels is said by whoever waits for them.
            anyhow::ensure!(!travel.is_finished(), "the travels ended before the kills did");
            let place = turn % self.instances.len();
            turn += 1;
            if chance.is(KILLS_AT_START) {
                self.counts.kills_at_start += 1;
                tokio::time::sleep(Duration::from_millis(chance.from(0, 600))).await;
            } else {
                self.until_ready(place).await?;
                tokio::time::sleep(Duration::from_millis(chance.from(50, 3_000))).await;
            }
            let ended = self.instances[place].kill().await?;
            self.note_end(place, ended);
            self.instances[place].start()?;
            if self.counts.kills.is_multiple_of(20) {
                self.say(&format!("{} of {} kills", self.counts.kills, self.options.kills));
            }
            if self.options.faults == Faults::All && self.counts.kills.is_multiple_of(KILLS_PER_RESTART) {
                self.world.restart_an_agent(&mut restarts).await?;
            }
        }
        for place in 0..self.instances.len() {
            self.until_ready(place).await?;
        }
        Ok(())
    }

    /// Lets everybody look and answer until nothing has moved for a while and every trip is at its
    /// end or with support; or until time is up, which the comparison then says.
    async fn settle(&mut self, everybody: &mut [Traveller]) -> Result<()> {
        let (begun, mut moved) = (Instant::now(), Instant::now());
        while begun.elapsed() < self.options.settle {
            let mut settled = true;
            for traveller in everybody.iter_mut() {
                if traveller.visit().await? {
                    moved = Instant::now();
                }
                settled &= traveller.is_settled();
            }
            if settled && moved.elapsed() >= QUIET {
                return Ok(());
            }
            for place in 0..self.instances.len() {
                self.until_ready(place).await?;
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    }

    /// Reads all sides. The server is killed once more before its journal is read.
    async fn facts(&mut self, everybody: Vec<Traveller>) -> Result<Facts> {
        let mut facts = Facts::default();
        for traveller in everybody {
            if let Some(id) = traveller.diary.id() {
                let answer =
                    self.doors.ask(reqwest::Method::GET, &format!("/trips/{id}"), None, None).await?;
                if answer.status == 200 {
                    facts.trips.push(serde_json::from_value(answer.body).context("a trip")?);
                }
            }
            facts.diaries.push(traveller.diary);
        }
        for place in 0..self.instances.len() {
            let ended = self.instances[place].kill().await?;
            if ended != Ended::Killed {
                self.note_end(place, ended);
            }
        }
        facts.journal = self.source.read().await?;
        (facts.bookings, facts.undos) = self.world.ledgers().await?;
        facts.calls = self.world.calls().await?;
        facts.tasks = self.world.tasks().await?;
        facts.check = self.check().await?;
        facts.breakdowns = std::mem::take(&mut self.breakdowns);
        facts.breakdowns.extend(self.instances.iter().flat_map(Instance::panics));
        self.counts.starts = self.instances.iter().map(Instance::starts).sum();
        Ok(facts)
    }

    /// What `holdfast check` says.
    async fn check(&self) -> Result<Vec<String>> {
        let app = App::new(&self.options.program.to_string_lossy(), &self.source.url);
        let output = app.output(&["check"]).await;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() && said.starts_with("no violation in ") {
            return Ok(Vec::new());
        }
        let broken: Vec<String> =
            said.lines().filter(|line| line.starts_with("rule ")).map(str::to_owned).collect();
        if !broken.is_empty() {
            return Ok(broken);
        }
        Ok(vec![format!("{}: {said}{}", output.status, String::from_utf8_lossy(&output.stderr))])
    }

    /// Writes down what was found and what shows it.
    async fn keep_evidence(&self, facts: &Facts, violations: &[Violation]) -> Result<()> {
        let folder: &Path = &self.options.folder;
        let write = |name: &str, bytes: Vec<u8>| {
            std::fs::write(folder.join(name), bytes).with_context(|| format!("{name} cannot be written"))
        };
        write("violations.json", serde_json::to_vec_pretty(violations)?)?;
        write("trips.json", serde_json::to_vec_pretty(&facts.trips)?)?;
        write("diaries.json", serde_json::to_vec_pretty(&facts.diaries)?)?;
        write("calls.json", serde_json::to_vec(&facts.calls)?)?;
        write("bookings.json", serde_json::to_vec_pretty(&facts.bookings)?)?;
        if self.options.database == Kind::Postgres {
            let journal = folder.join("journal");
            std::fs::create_dir_all(&journal)?;
            self.source.dump(&journal).await?;
        }
        Ok(())
    }
}
