//! The loop: lease → load → observe → decide → record → act. Starting up is its first pass.
//!
//! The scheduler here renews the holder's heartbeat, takes trips that are due and hands each to a
//! runner (`runner.rs`), which goes through the passes of that one trip until it can be let go.
//! Hints wake it early; the timer is the backstop.

use crate::holder::Holder;
use crate::runner::Runner;
use crate::store::{Leased, OpenError};
use crate::{Engine, Inner};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

/// How many trips are taken at once.
const BATCH: i64 = 64;
/// The longest sleep of the scheduler: how soon trips of dead holders and wakes of other
/// instances are seen.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);

/// The running loop.
pub struct LoopHandle {
    stop: CancellationToken,
    task: tokio::task::JoinHandle<()>,
}

impl LoopHandle {
    /// Stops the loop: what is being recorded is finished, leases are given back, due at once.
    pub async fn stop(self) {
        self.stop.cancel();
        if let Err(error) = self.task.await {
            warn!(%error, "the loop ended badly");
        }
    }

    /// Resolves when the loop has stopped by itself: its holder was forgotten.
    pub async fn ended(&mut self) {
        // Either way it has ended.
        let _ = (&mut self.task).await;
    }
}

impl Engine {
    /// Takes the database as a holder and starts the loop. Every unfinished trip is due.
    ///
    /// # Errors
    /// [`OpenError::Held`] where another process serves from this SQLite file.
    pub async fn serve_loop(&self) -> Result<LoopHandle, OpenError> {
        let inner = self.inner.clone();
        let holder = Holder::enter(&inner.store, &inner.database_url, inner.waits.heartbeat).await?;
        info!(holder = %holder.id, "the loop starts: every unfinished trip is due");
        let stop = CancellationToken::new();
        let scheduler = Scheduler {
            inner,
            holder: Arc::new(holder),
            stop: stop.clone(),
            runners: JoinSet::new(),
            acknowledged: HashMap::new(),
        };
        Ok(LoopHandle { stop, task: tokio::spawn(scheduler.run()) })
    }
}

struct Scheduler {
    inner: Arc<Inner>,
    holder: Arc<Holder>,
    stop: CancellationToken,
    runners: JoinSet<()>,
    /// Wakes of held trips that were passed on already.
    acknowledged: HashMap<domain::ids::TripId, i64>,
}

impl Scheduler {
    async fn run(mut self) {
        let heartbeat = tokio::spawn(beat(self.inner.clone(), self.holder.clone(), self.stop.clone()));
        while !self.stop.is_cancelled() {
            if let Err(error) = self.take_due().await {
                warn!(%error, "cannot take due trips; trying again");
            }
            let sleep = self.sleep().await;
            tokio::select! {
                () = self.stop.cancelled() => {}
                () = self.inner.hints.due.notified() => {}
                () = tokio::time::sleep(sleep) => {}
                Some(ended) = self.runners.join_next() => {
                    if let Err(error) = ended {
                        warn!(%error, "a trip's runner ended badly; the trip is taken again when its lease runs out");
                    }
                }
            }
        }
        self.wind_up().await;
        heartbeat.abort();
    }

    async fn take_due(&mut self) -> Result<(), crate::StoreError> {
        loop {
            let taken = self.inner.store.lease_due(&self.holder.id, BATCH).await?;
            let count = taken.len();
            for leased in taken {
                self.spawn(leased).await;
            }
            if i64::try_from(count).unwrap_or(0) < BATCH {
                break;
            }
        }
        self.pass_on_wakes().await
    }

    async fn spawn(&mut self, leased: Leased) {
        self.inner.crash_points.reached("lease.after", "").await;
        let (nudge, nudges) = mpsc::channel(64);
        self.inner.hints.enter(leased.trip.clone(), nudge.clone());
        self.acknowledged.insert(leased.trip.clone(), leased.wakes);
        let runner =
            Runner::new(self.inner.clone(), self.holder.clone(), leased, (nudge, nudges), self.stop.clone());
        self.runners.spawn(runner.run());
    }

    /// Wakes that another instance wrote for trips held here.
    async fn pass_on_wakes(&mut self) -> Result<(), crate::StoreError> {
        let held = self.inner.store.held(&self.holder.id).await?;
        self.acknowledged.retain(|trip, _| held.iter().any(|(id, _)| id == trip));
        for (trip, wakes) in held {
            if self.acknowledged.insert(trip.clone(), wakes) != Some(wakes) {
                self.inner.hints.wake(&trip);
            }
        }
        Ok(())
    }

    async fn sleep(&self) -> Duration {
        match self.inner.store.next_due().await {
            Ok(Some(due)) => (due - self.inner.store.now()).to_std().min(LONGEST_SLEEP),
            Ok(None) | Err(_) => LONGEST_SLEEP,
        }
        .max(Duration::from_millis(10))
    }

    async fn wind_up(&mut self) {
        // Runners see the same token: they finish what they are recording and end.
        let ended = tokio::time::timeout(Duration::from_secs(3), async {
            while self.runners.join_next().await.is_some() {}
        });
        if ended.await.is_err() {
            warn!("some trips did not end their pass in time; their sends are in doubt at the next start");
        }
        self.runners.shutdown().await;
        if let Err(error) = self.inner.store.leave_holder(&self.holder.id).await {
            warn!(%error, "the leases could not be given back; they run out with the heartbeat");
        }
        info!("the loop has stopped");
    }
}

/// Renews the heartbeat until the loop stops; stops the loop if this holder was forgotten.
async fn beat(inner: Arc<Inner>, holder: Arc<Holder>, stop: CancellationToken) {
    loop {
        tokio::time::sleep(inner.waits.heartbeat_renewal.to_std()).await;
        match holder.renew(&inner.store).await {
            Ok(true) => {}
            Ok(false) => {
                warn!("this holder was forgotten: the loop stops");
                stop.cancel();
                return;
            }
            Err(error) => warn!(%error, "the heartbeat could not be renewed"),
        }
    }
}
