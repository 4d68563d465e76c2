//! The shell, as the engine's runner is: load → decide → record → act, with reads and sends under
//! way beside the passes, and everything in memory lost at a crash.

use crate::plan::When;
use crate::sim::{Event, Sim};
use domain::agenda::Look;
use domain::decide::{Decision, InFlight, decide};
use domain::ids::{DelegationId, TaskId};
use domain::outbox::OutKind;
use domain::seen::{Seen, Source, What};
use domain::task::Snapshot;
use domain::time::Millis;
use std::collections::BTreeMap;

/// A trip that is due no sooner than this is let go.
const PARK: i64 = 1500;
/// The shortest time between two passes that nothing new calls for.
const BREATH: i64 = 20;

#[derive(Default)]
pub struct Shell {
    /// Raised at every crash and every let-go: what is under way for an older one comes to nobody.
    pub epoch: u32,
    pub down: bool,
    pub runner: Option<Runner>,
    /// An old process that was only paused, and by how much more.
    pub paused: Option<(u32, i64)>,
    version: u64,
    due_at: i64,
}

#[derive(Default)]
pub struct Runner {
    pub in_flight: InFlight,
    looking: Vec<Look>,
    /// Actions and reads that are under way.
    under_way: usize,
    followers: BTreeMap<DelegationId, (TaskId, bool)>,
    seen: Vec<Seen>,
    look_at_all: bool,
    wakes: i64,
    /// The first look is over.
    observed: bool,
}

impl Sim {
    /// Counts a boundary; true if the process dies there.
    pub fn boundary(&mut self, name: &'static str) -> bool {
        self.boundaries += 1;
        let count = self.by_name.entry(name).or_default();
        *count += 1;
        let (count, total) = (*count, self.boundaries);
        let hit = self.plan.crashes.iter().find(|c| match c.when {
            When::Boundary(n) => n == total,
            When::Named(at, n) => at == name && n == count,
            When::At(_) => false,
        });
        let Some(crash) = hit.cloned() else { return false };
        self.note(|| format!("at boundary {total}, {name}:"));
        self.crash(crash.down, crash.paused);
        true
    }

    pub fn crash(&mut self, down: i64, paused: Option<i64>) {
        if self.shell.down {
            return;
        }
        self.counts.crashes += 1;
        self.note(|| match paused {
            Some(by) => format!("the holder pauses; its sends leave {by} later, and another takes over"),
            None => "the process dies".to_owned(),
        });
        self.shell.paused = paused.map(|by| (self.shell.epoch, by));
        self.shell.epoch += 1;
        self.shell.runner = None;
        self.shell.down = true;
        self.at(self.now + down.max(1), Event::Starts);
    }

    /// The process starts: every unfinished trip is due.
    pub fn starts(&mut self) {
        self.shell.down = false;
        self.shell.due_at = self.now;
        self.note(|| "the process starts".to_owned());
        self.lease();
    }

    /// Takes the trip, and reads everything that its rows call for before anything is decided.
    pub fn lease(&mut self) {
        let free = self.shell.runner.is_none() && !self.shell.down;
        if !free || self.now < self.shell.due_at {
            return;
        }
        if self.boundary("lease.after") {
            return;
        }
        self.journal.fence += 1;
        let now = Millis(self.now);
        let mut runner = Runner { wakes: self.journal.wakes, ..Runner::default() };
        let agenda = domain::agenda::agenda(&self.journal, &self.world, &runner.in_flight, now);
        let looks = agenda.due_looks(now, self.journal.closed_at.is_none());
        runner.observed = looks.is_empty();
        self.shell.runner = Some(runner);
        for look in looks {
            self.begin_look(look);
        }
        self.go_on();
    }

    fn begin_look(&mut self, look: Look) {
        let Some(runner) = &mut self.shell.runner else { return };
        if runner.looking.contains(&look) {
            return;
        }
        runner.looking.push(look.clone());
        runner.under_way += 1;
        let at = self.now + self.latency();
        let epoch = self.shell.epoch;
        self.at(at, Event::Serves { epoch, begun: self.now, look, so_far: Vec::new() });
    }

    /// Passes while something has come in.
    fn go_on(&mut self) {
        loop {
            match &mut self.shell.runner {
                Some(runner) if !runner.observed && runner.under_way > 0 => return,
                Some(runner) => runner.observed = true,
                None => return,
            }
            if !self.pass() || self.trouble.is_some() {
                return;
            }
        }
    }

    pub fn timer(&mut self, epoch: u32, version: u64) {
        if epoch == self.shell.epoch && version == self.shell.version && self.shell.runner.is_some() {
            self.go_on();
        }
    }

    /// A hint: a live runner looks at everything, a trip let go is due now.
    pub fn wakes(&mut self) {
        if let Some(runner) = &mut self.shell.runner {
            runner.look_at_all = true;
            self.go_on();
        } else {
            self.shell.due_at = self.now;
            self.lease();
        }
    }

    /// What a stream shows to whoever follows the task.
    pub fn stream_shows(&mut self, task: &TaskId, snapshot: &Snapshot) {
        let Some(runner) = &mut self.shell.runner else { return };
        let follower = runner.followers.iter_mut().find(|(_, (t, over))| t == task && !*over);
        let Some((delegation, (_, over))) = follower else { return };
        *over = snapshot.state.is_terminal() || snapshot.state.is_interrupted();
        let (delegation, epoch) = (delegation.clone(), self.shell.epoch);
        let at = self.now + self.latency();
        let what = What::Task {
            delegation,
            task: task.clone(),
            source: Source::Stream,
            answer: Ok(snapshot.clone()),
        };
        self.at(at, Event::Back { epoch, call: None, look: None, seen: vec![Seen { at: Millis(at), what }] });
    }

    /// Something comes back: taken in, and a pass follows.
    pub fn back(&mut self, epoch: u32, call: Option<usize>, look: Option<Look>, seen: Vec<Seen>) {
        if epoch != self.shell.epoch || self.shell.runner.is_none() {
            return;
        }
        if call.is_some() && self.boundary("send.after_answer")
            || look.is_some() && self.boundary("look.after")
        {
            return;
        }
        for one in &seen {
            self.note(|| format!("seen: {}", crate::tell::seen(one)));
        }
        let Some(runner) = &mut self.shell.runner else { return };
        if call.is_some() || look.is_some() {
            runner.under_way -= 1;
        }
        if let Some(look) = look {
            runner.looking.retain(|l| l != &look);
        }
        for one in &seen {
            match &one.what {
                What::Sent { out, .. } | What::CancelSent { out, .. } => {
                    runner.in_flight.out.remove(out);
                }
                What::Undo { compensation, .. } => {
                    runner.in_flight.undo.remove(compensation);
                }
                _ => {}
            }
        }
        runner.seen.extend(seen);
        self.go_on();
    }

    /// One pass; true if another is due at once.
    fn pass(&mut self) -> bool {
        let Some(runner) = &self.shell.runner else { return false };
        self.counts.passes += 1;
        let trip = self.journal.clone();
        let now = Millis(self.now);
        let decision = decide(&trip, &self.world, &runner.seen, &runner.in_flight, now, &mut self.ids);
        let is_news = !decision.events.is_empty() || !decision.learned.is_empty() || decision.trip != trip;
        for act in std::mem::take(&mut self.in_gap) {
            self.note(|| "between load and record:".to_owned());
            self.carry_out(act);
        }
        if is_news || !runner_seen(self).is_empty() {
            if self.boundary("record.before") {
                return false;
            }
            if self.journal.seq != trip.seq {
                self.counts.refused_records += 1;
                self.note(|| "the record is refused: seq has moved".to_owned());
                return true;
            }
            self.record(&trip, &decision);
            if self.boundary("record.after") {
                return false;
            }
        }
        let Some(runner) = &mut self.shell.runner else { return false };
        runner.wakes = trip.wakes;
        runner.seen.clear();
        let all = std::mem::take(&mut runner.look_at_all) && trip.closed_at.is_none();
        if decision.agenda.timer.is_none() {
            self.shell.runner = None;
            return false;
        }
        self.follow_up(&decision, now, all);
        false
    }

    fn follow_up(&mut self, decision: &Decision, now: Millis, all: bool) {
        for action in &decision.actions {
            self.begin_action(action);
        }
        for look in decision.agenda.due_looks(now, all) {
            self.begin_look(look);
        }
        self.follow(decision);
        let Some(runner) = &self.shell.runner else { return };
        let due = decision.agenda.due(|look| runner.looking.contains(look)).unwrap_or(now).0;
        let idle = runner.under_way == 0 && runner.followers.values().all(|(_, over)| *over);
        if idle && due > self.now + PARK {
            return self.let_go(due);
        }
        self.shell.version += 1;
        let (epoch, version) = (self.shell.epoch, self.shell.version);
        self.at(due.max(self.now + BREATH), Event::Timer { epoch, version });
    }

    fn let_go(&mut self, due: i64) {
        let wakes = self.shell.runner.take().map(|r| r.wakes);
        if self.boundary("let_go.before") {
            return;
        }
        self.shell.epoch += 1;
        self.shell.due_at = if wakes == Some(self.journal.wakes) { due } else { self.now };
        self.at(self.shell.due_at, Event::Lease);
    }

    fn follow(&mut self, decision: &Decision) {
        let wanted = &decision.agenda.follow;
        let Some(runner) = &mut self.shell.runner else { return };
        runner.followers.retain(|d, (task, _)| wanted.iter().any(|(w, t)| w == d && t == task));
        for (delegation, task) in wanted {
            runner.followers.entry(delegation.clone()).or_insert_with(|| (task.clone(), false));
        }
    }

    pub fn count_sends(&mut self, decision: &Decision) {
        for out in &decision.trip.outbox {
            let before = self.journal.out(&out.id).map_or(0, |m| m.number);
            if out.number > before && out.kind == OutKind::Request {
                self.counts.sends += 1;
                self.counts.resends += u64::from(before > 0);
            }
        }
    }

    pub fn began(&mut self) {
        if let Some(runner) = &mut self.shell.runner {
            runner.under_way += 1;
        }
    }
}

fn runner_seen(sim: &Sim) -> &[Seen] {
    sim.shell.runner.as_ref().map(|r| r.seen.as_slice()).unwrap_or_default()
}
