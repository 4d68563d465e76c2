//! Hints: "look now". They only make a trip due; losing one costs latency, never correctness.
//!
//! Within the process a hint reaches the trip's runner, or the scheduler where nobody runs it, and
//! a change reaches the pages that show the trip. Between instances the tables are asked.

use domain::ids::TripId;
use std::collections::HashMap;
use std::sync::Mutex;
use tokio::sync::{Notify, broadcast, mpsc};

/// What a runner is told.
#[derive(Debug)]
pub(crate) enum Nudge {
    /// Somebody wrote to the trip, or something outside may have changed.
    Wake,
    /// A follower saw this.
    Seen(Box<crate::actions::Outcome>),
}

/// The runners of this process, and who listens for changes.
pub(crate) struct Hints {
    runners: Mutex<HashMap<TripId, mpsc::Sender<Nudge>>>,
    /// Tells the scheduler that something is due.
    pub(crate) due: Notify,
    changed: broadcast::Sender<(TripId, i64)>,
}

impl Default for Hints {
    fn default() -> Self {
        Self { runners: Mutex::default(), due: Notify::new(), changed: broadcast::channel(1024).0 }
    }
}

impl Hints {
    fn runners(&self) -> std::sync::MutexGuard<'_, HashMap<TripId, mpsc::Sender<Nudge>>> {
        // A panic while the map was held leaves it whole: each use is one map operation.
        self.runners.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Enters a runner.
    pub(crate) fn enter(&self, trip: TripId, runner: mpsc::Sender<Nudge>) {
        self.runners().insert(trip, runner);
    }

    /// A runner leaves: wakes go to the scheduler from here on.
    pub(crate) fn leave(&self, trip: &TripId) {
        self.runners().remove(trip);
    }

    /// Wakes a trip, after the write that made it due was committed.
    pub(crate) fn wake(&self, trip: &TripId) {
        let runner = self.runners().get(trip).cloned();
        // A full channel holds a nudge already.
        let reached = runner.is_some_and(|runner| {
            !matches!(runner.try_send(Nudge::Wake), Err(mpsc::error::TrySendError::Closed(_)))
        });
        if !reached {
            self.due.notify_one();
        }
    }

    /// Tells the pages that a trip's newest event is `seq` now.
    pub(crate) fn tell_changed(&self, trip: &TripId, seq: i64) {
        // Nobody listening is no error.
        let _ = self.changed.send((trip.clone(), seq));
    }

    /// Listens for changes.
    pub(crate) fn listen(&self) -> broadcast::Receiver<(TripId, i64)> {
        self.changed.subscribe()
    }
}
