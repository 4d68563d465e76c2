//! The shell around [`domain`]: the store, the loop that drives trips, the clients of agents and
//! booking systems, and the doors that the server and the pages use.
//!
//! A newcomer begins with [`driver`], which follows the one path: lease, load, observe, decide,
//! record, act. People's writes are in [`commands`], read models in [`query`]. No `a2a` and no
//! `sqlx` type appears in a public signature.

pub mod a2a;
pub mod accounts;
mod actions;
pub mod booking;
pub mod clock;
pub mod commands;
pub mod crash_point;
mod desk;
pub mod driver;
mod hints;
mod holder;
pub mod net;
pub mod query;
pub mod registry;
mod runner;
mod store;
pub mod support;

pub use driver::LoopHandle;
pub use store::{OpenError, StoreError};

use a2a::{AgentClient, Http, HttpAgents, Limits, ThrottleSettings, Throttled};
use booking::{BookingClient, HttpBookings};
use clock::SystemClock;
use crash_point::CrashPoints;
use domain::waits::Waits;
use domain::workflow::Workflow;
use hints::Hints;
use net::AddressPolicy;
use std::sync::Arc;
use store::Store;

/// The workflow definitions that are shipped, loaded into the database at the first start.
const SHIPPED_WORKFLOWS: &[(&str, &str)] = &[("travel.toml", include_str!("../../../workflows/travel.toml"))];

/// How an engine is opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// `sqlite:PATH` or `postgres://…`.
    pub database_url: String,
    /// Whether a SQLite file that is not there is made. A reading command must not make one.
    pub make_database: bool,
    /// The waits.
    pub waits: Waits,
    /// Demo mode: loopback addresses are allowed.
    pub demo: bool,
    /// Private networks that cards, agents and booking systems may be in.
    pub allow_private: Vec<ipnet::IpNet>,
    /// Where agents can reach us from outside; none: no push.
    pub public_url: Option<String>,
    /// Seals credentials in the database.
    pub secret_key: Option<secrecy::SecretString>,
}

/// The engine's handle: cheap to clone, shared by the loop, the pages and the API.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    store: Store,
    database_url: String,
    hints: Hints,
    agents: Arc<dyn AgentClient>,
    bookings: Arc<dyn BookingClient>,
    policy: AddressPolicy,
    waits: Waits,
    registry: registry::Cache,
    crash_points: CrashPoints,
}

impl Engine {
    /// Opens the database, migrates it and loads the shipped workflows. Does not take the
    /// database's lock: several processes may do this (`check`, `user`, `token`).
    ///
    /// # Errors
    /// [`OpenError`], each variant with what the operator can do.
    pub async fn open(options: Options) -> Result<Self, OpenError> {
        let networks = options.allow_private.clone();
        let policy = AddressPolicy::allowing(networks);
        let policy = if options.demo { policy.with_loopback() } else { policy };
        options.waits.check().map_err(OpenError::Waits)?;
        let http = Http::new(policy.clone(), Limits::default())
            .map_err(|why| OpenError::Unusable { what: "(the HTTP client)".to_owned(), why })?;
        let http = Arc::new(http);
        let settings = ThrottleSettings::for_waits(&options.waits);
        let agents = Arc::new(Throttled::new(HttpAgents::new(http.clone()), settings));
        let bookings = Arc::new(HttpBookings::new(http));
        let store = Store::open(&options.database_url, options.make_database, Arc::new(SystemClock)).await?;
        for (file, text) in SHIPPED_WORKFLOWS {
            let workflow: Workflow =
                toml::from_str(text).map_err(|error| OpenError::Workflow(format!("{file}: {error}")))?;
            if let Some(problem) = workflow.problems().first() {
                return Err(OpenError::Workflow(format!("{file}: {problem}")));
            }
            store.insert_workflow(&workflow).await?;
        }
        let inner = Inner {
            store,
            database_url: options.database_url,
            hints: Hints::default(),
            agents,
            bookings,
            policy,
            waits: options.waits,
            registry: registry::Cache::default(),
            crash_points: CrashPoints::from_environment(),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The same engine with other crash points: for tests, before its loop is started.
    ///
    /// # Panics
    /// Where the handle has been cloned already.
    #[must_use]
    pub fn with_crash_points(mut self, crash_points: CrashPoints) -> Self {
        let inner = Arc::get_mut(&mut self.inner).expect("the engine is not shared yet");
        inner.crash_points = crash_points;
        self
    }

    /// Every violation of rules 2 to 8 of DESIGN.md §10 that the database shows, and how many
    /// trips and delegations were looked at.
    ///
    /// # Errors
    /// The database could not be read.
    pub async fn check(&self) -> Result<Checked, StoreError> {
        let violations = self.inner.store.violations().await?;
        let (trips, delegations) = self.inner.store.size().await?;
        Ok(Checked { violations, trips, delegations })
    }

    /// Whether the database answers.
    pub async fn healthy(&self) -> bool {
        self.inner.store.answers().await
    }

    /// Closes the database. Nothing may be asked of the engine after that.
    pub async fn close(&self) {
        self.inner.store.close().await;
    }
}

/// What `holdfast check` found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// One sentence each; empty where the rules hold.
    pub violations: Vec<String>,
    /// Trips looked at.
    pub trips: i64,
    /// Delegations looked at.
    pub delegations: i64,
}
