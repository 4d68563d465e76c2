//! The numbered boundaries: every place where the loop touches the world or the store says so
//! here, so that tests can stop the engine at the n-th, and a debug build of the binary can be
//! made to abort (`HOLDFAST_CRASH_AT`) or to stand still (`HOLDFAST_HOLD_AT`) at a named one, for
//! example `send.before_write:hotel`. A release build does nothing here.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use tokio::sync::Notify;

/// What happens at boundaries.
#[derive(Clone, Debug, Default)]
pub struct CrashPoints {
    crash_at: Option<String>,
    hold_at: Option<String>,
    stop: Option<Arc<Stop>>,
}

/// Stops an engine at its n-th boundary, for sweeps: from there on nothing moves any more, as if
/// the process had died, and the test drops the engine.
#[derive(Debug)]
pub struct Stop {
    left: AtomicI64,
    reached: AtomicI64,
    stopped: Notify,
}

impl Stop {
    /// Stops at the `nth` boundary, counted from 1; a number never reached only counts.
    pub fn at(nth: i64) -> Arc<Self> {
        Arc::new(Self { left: AtomicI64::new(nth), reached: AtomicI64::new(0), stopped: Notify::new() })
    }

    /// Resolves once the engine stands still. Cancel safe.
    pub async fn stopped(&self) {
        let stopped = self.stopped.notified();
        if self.left.load(Ordering::SeqCst) > 0 {
            stopped.await;
        }
    }

    /// How many boundaries were reached.
    pub fn reached(&self) -> i64 {
        self.reached.load(Ordering::SeqCst)
    }
}

impl CrashPoints {
    /// As the environment says, in a debug build.
    pub fn from_environment() -> Self {
        if !cfg!(debug_assertions) {
            return Self::default();
        }
        let read = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        Self { crash_at: read("HOLDFAST_CRASH_AT"), hold_at: read("HOLDFAST_HOLD_AT"), stop: None }
    }

    /// Stops as `stop` says.
    pub fn stopping(stop: Arc<Stop>) -> Self {
        Self { stop: Some(stop), ..Self::default() }
    }

    /// A boundary, with the step that it is about. Returns at once, unless told otherwise.
    pub async fn reached(&self, boundary: &str, step: &str) {
        if !cfg!(debug_assertions) {
            return;
        }
        let is = |told: &Option<String>| {
            told.as_deref().is_some_and(|told| {
                let (name, wanted) = told.split_once(':').unwrap_or((told, ""));
                name == boundary && (wanted.is_empty() || wanted == step)
            })
        };
        if is(&self.crash_at) {
            eprintln!("holdfast: aborting at {boundary}:{step}, as HOLDFAST_CRASH_AT says");
            std::process::abort();
        }
        if is(&self.hold_at) {
            eprintln!("holdfast: standing still at {boundary}:{step}, as HOLDFAST_HOLD_AT says");
            std::future::pending::<()>().await;
        }
        if let Some(stop) = &self.stop {
            stop.reached.fetch_add(1, Ordering::SeqCst);
            if stop.left.fetch_sub(1, Ordering::SeqCst) <= 1 {
                stop.left.store(0, Ordering::SeqCst);
                stop.stopped.notify_waiters();
                std::future::pending::<()>().await;
            }
        }
    }
}
