//! The passes of one trip, from its lease until it is let go.
//!
//! Each pass loads the trip, decides over what was observed, records the decision, and only then
//! begins the actions that the commit permitted. Actions and reads run beside the passes and come
//! back as observations, so a slow agent holds up nothing else of the trip.

use crate::Inner;
use crate::actions::{self, Outcome, Work};
use crate::clock::SystemIds;
use crate::hints::Nudge;
use crate::holder::Holder;
use crate::store::{Leased, ReadRow, RecordError};
use domain::agenda::{Agenda, Look};
use domain::decide::{Action, Decision, InFlight, decide};
use domain::ids::{DelegationId, TaskId};
use domain::seen::Seen;
use domain::time::{Millis, Span};
use domain::trip::Trip;
use domain::world::World;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

/// A trip that is due no sooner than this is let go.
const PARK: Span = Span(1500);
/// The shortest time between two passes that nothing new calls for.
const BREATH: Duration = Duration::from_millis(20);

pub(crate) struct Runner {
    inner: Arc<Inner>,
    holder: Arc<Holder>,
    leased: Leased,
    stop: CancellationToken,
    nudge: mpsc::Sender<Nudge>,
    nudges: mpsc::Receiver<Nudge>,
    work: JoinSet<Outcome>,
    in_flight: InFlight,
    looking: Vec<Look>,
    followers: HashMap<DelegationId, (TaskId, AbortHandle)>,
    seen: Vec<Seen>,
    reads: Vec<ReadRow>,
    look_at_all: bool,
    /// An action ended without saying how: what is in flight is not known any more.
    panicked: bool,
    wakes: i64,
}

enum Next {
    Closed,
    Wait(Millis),
}

impl Runner {
    pub(crate) fn new(
        inner: Arc<Inner>,
        holder: Arc<Holder>,
        leased: Leased,
        (nudge, nudges): (mpsc::Sender<Nudge>, mpsc::Receiver<Nudge>),
        stop: CancellationToken,
    ) -> Self {
        let wakes = leased.wakes;
        Self {
            inner,
            holder,
            leased,
            stop,
            nudge,
            nudges,
            work: JoinSet::new(),
            in_flight: InFlight::default(),
            looking: Vec::new(),
            followers: HashMap::new(),
            seen: Vec::new(),
            reads: Vec::new(),
            look_at_all: false,
            panicked: false,
            wakes,
        }
    }

    pub(crate) async fn run(mut self) {
        let mut failures = 0_u32;
        let mut observed = false;
        loop {
            // The journal's last state is never believed: what can be read is read first.
            let pass = if observed { self.pass().await } else { self.first_look().await };
            match pass {
                Ok(Next::Closed) => break self.let_go(Millis(i64::MAX)).await,
                Ok(Next::Wait(due)) => {
                    (failures, observed) = (0, true);
                    if self.may_be_let_go(due) {
                        break self.let_go(due).await;
                    }
                    self.wait(due).await;
                }
                Err(RecordError::SeqMoved) => {}
                Err(RecordError::FenceOld) => {
                    debug!(trip = %self.leased.trip, "the lease has gone to another holder");
                    break;
                }
                Err(RecordError::Store(error)) => {
                    failures += 1;
                    warn!(trip = %self.leased.trip, %error, "the trip's pass failed; trying again");
                    tokio::time::sleep(Duration::from_millis(100) * failures.min(50)).await;
                }
            }
            if self.panicked && self.seen.is_empty() {
                break self.let_go(self.inner.store.now()).await;
            }
            if self.stop.is_cancelled() && !self.is_recording() {
                break;
            }
        }
        self.inner.hints.leave(&self.leased.trip);
        self.stop_followers();
    }

    /// Something received is waiting to be recorded.
    fn is_recording(&self) -> bool {
        !self.seen.is_empty() && self.holder.outlasts(Span(0))
    }

    /// Reads everything that the rows call for, and waits for it, before anything is decided.
    async fn first_look(&mut self) -> Result<Next, RecordError> {
        let (trip, world) = self.load().await?;
        let now = self.inner.store.now();
        let agenda = domain::agenda::agenda(&trip, &world, &self.in_flight, now);
        for look in agenda.due_looks(now, trip.closed_at.is_none()) {
            self.look(&trip, look);
        }
        while let Some(done) = self.work.join_next().await {
            self.take(done);
        }
        Ok(Next::Wait(now))
    }

    async fn load(&self) -> Result<(Trip, Arc<World>), RecordError> {
        let loaded = self.inner.store.load_trip(&self.leased.trip).await?;
        let ours = loaded
            .filter(|l| l.trip.fence == self.leased.fence && l.holder.as_ref() == Some(&self.holder.id))
            .ok_or(RecordError::FenceOld)?;
        let world = self.inner.world().await?;
        Ok((ours.trip, world))
    }

    async fn pass(&mut self) -> Result<Next, RecordError> {
        self.drain();
        let (trip, world) = self.load().await?;
        let now = self.inner.store.now();
        let decision = decide(&trip, &world, &self.seen, &self.in_flight, now, &mut SystemIds);
        if is_news(&trip, &decision) || !self.reads.is_empty() {
            self.record(&trip, &decision).await?;
        }
        self.wakes = trip.wakes;
        self.seen.clear();
        self.reads.clear();
        if decision.agenda.timer.is_none() {
            return Ok(Next::Closed);
        }
        for action in &decision.actions {
            self.act(&decision.trip, action);
        }
        for look in
            decision.agenda.due_looks(now, std::mem::take(&mut self.look_at_all) && trip.closed_at.is_none())
        {
            self.look(&decision.trip, look);
        }
        self.follow(&decision);
        Ok(Next::Wait(self.due(&decision.agenda, now)))
    }

    async fn record(&mut self, trip: &Trip, decision: &Decision) -> Result<(), RecordError> {
        self.inner.crash_points.reached("record.before", "").await;
        let seq =
            self.inner.store.record(&self.holder.id, trip, decision, &self.reads, &self.inner.waits).await?;
        self.inner.crash_points.reached("record.after", "").await;
        if !decision.learned.is_empty() {
            self.inner.registry.forget();
        }
        if seq != trip.seq || !self.reads.is_empty() {
            self.inner.hints.tell_changed(&trip.id, seq);
        }
        Ok(())
    }

    fn due(&self, agenda: &Agenda, now: Millis) -> Millis {
        agenda.due(|look| self.looking.contains(look)).unwrap_or(now)
    }

    /// Begins an action that the commit just made has permitted.
    fn act(&mut self, trip: &Trip, action: &Action) {
        match action {
            Action::Send { out, .. } | Action::CancelTask { out, .. } => {
                self.in_flight.out.insert(out.clone());
            }
            Action::Undo { compensation, .. } => {
                self.in_flight.undo.insert(compensation.clone());
            }
        }
        let work = Work::new(self.inner.clone(), self.holder.clone(), trip);
        let action = action.clone();
        self.work.spawn(async move { actions::act(work, action).await });
    }

    fn look(&mut self, trip: &Trip, look: Look) {
        if self.looking.contains(&look) {
            return;
        }
        self.looking.push(look.clone());
        let work = Work::new(self.inner.clone(), self.holder.clone(), trip);
        self.work.spawn(async move { actions::look(work, look).await });
    }

    /// Follows the streams that are worth it, and no other.
    fn follow(&mut self, decision: &Decision) {
        let wanted = &decision.agenda.follow;
        self.followers.retain(|delegation, (task, follower)| {
            let keep = wanted.iter().any(|(d, t)| d == delegation && t == task);
            if !keep {
                follower.abort();
            }
            keep
        });
        for (delegation, task) in wanted {
            if !self.followers.contains_key(delegation) {
                let work = Work::new(self.inner.clone(), self.holder.clone(), &decision.trip);
                let follower = actions::follow(work, delegation.clone(), task.clone(), self.nudge.clone());
                let handle = tokio::spawn(follower).abort_handle();
                self.followers.insert(delegation.clone(), (task.clone(), handle));
            }
        }
    }

    fn stop_followers(&mut self) {
        for (_, (_, follower)) in self.followers.drain() {
            follower.abort();
        }
    }

    fn take(&mut self, done: Result<Outcome, tokio::task::JoinError>) {
        match done {
            Ok(outcome) => self.take_outcome(outcome),
            // A panic in an action is a bug; the send it made is found in doubt at the next load.
            Err(error) if error.is_panic() => {
                warn!(trip = %self.leased.trip, %error, "an action panicked; the trip is taken anew");
                self.panicked = true;
            }
            Err(_) => {}
        }
    }

    fn take_outcome(&mut self, outcome: Outcome) {
        if let Some(look) = &outcome.look {
            self.looking.retain(|l| l != look);
        }
        for one in &outcome.seen {
            match &one.what {
                domain::seen::What::Sent { out, .. } | domain::seen::What::CancelSent { out, .. } => {
                    self.in_flight.out.remove(out);
                }
                domain::seen::What::Undo { compensation, .. } => {
                    self.in_flight.undo.remove(compensation);
                }
                _ => {}
            }
        }
        self.seen.extend(outcome.seen);
        self.reads.extend(outcome.reads);
    }

    fn take_nudge(&mut self, nudge: Nudge) {
        match nudge {
            Nudge::Wake => self.look_at_all = true,
            Nudge::Seen(outcome) => self.take_outcome(*outcome),
        }
    }

    /// Takes everything that has come in, so that many hints are one pass.
    fn drain(&mut self) {
        while let Some(done) = self.work.try_join_next() {
            self.take(done);
        }
        while let Ok(nudge) = self.nudges.try_recv() {
            self.take_nudge(nudge);
        }
    }

    async fn wait(&mut self, due: Millis) {
        if !self.seen.is_empty() {
            return;
        }
        let sleep = (due - self.inner.store.now()).to_std().max(BREATH);
        tokio::select! {
            () = self.stop.cancelled() => {}
            Some(done) = self.work.join_next() => self.take(done),
            Some(nudge) = self.nudges.recv() => self.take_nudge(nudge),
            () = tokio::time::sleep(sleep) => {}
        }
    }

    fn may_be_let_go(&self, due: Millis) -> bool {
        let idle = self.work.is_empty()
            && self.seen.is_empty()
            && self.followers.values().all(|(_, follower)| follower.is_finished());
        idle && due > self.inner.store.now() + PARK
    }

    async fn let_go(&mut self, due: Millis) {
        // First out of the map: a wake from here on goes to the scheduler, and the wake's own
        // write makes the trip due at once.
        self.inner.hints.leave(&self.leased.trip);
        self.inner.crash_points.reached("let_go.before", "").await;
        let Leased { trip, fence, .. } = &self.leased;
        if let Err(error) = self.inner.store.let_go(&self.holder.id, trip, *fence, self.wakes, due).await {
            warn!(%trip, %error, "the trip could not be let go; its lease runs out with the heartbeat");
        }
        self.inner.hints.due.notify_one();
    }
}

/// Whether there is anything to record.
fn is_news(before: &Trip, decision: &Decision) -> bool {
    !decision.events.is_empty() || !decision.learned.is_empty() || decision.trip != *before
}
