//! What to look at, and when: derived from the rows alone, so that a crash forgets none of it.
//!
//! Each entry is a read with the time at which it is due. The driver reads what is due now (or
//! everything, when a hint or a start makes the trip due), and lets the trip go until the rest is.

use crate::backoff::backoff;
use crate::compensation::CompensationState;
use crate::decide::{InFlight, awaits_final_look};
use crate::delegation::{Delegation, EndedAs, Outcome, StuckReason};
use crate::effect::{Effect, Verdict};
use crate::ids::{ContextId, DelegationId, TaskId};
use crate::outbox::{OutKind, SendState};
use crate::seen::ListScope;
use crate::task::{TaskRole, TaskState};
use crate::time::{Millis, Span};
use crate::trip::{Closed, Standing, Step, Trip};
use crate::world::{Fact, World};

/// One read of the outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Look {
    /// GetTask.
    Task {
        /// Whose.
        delegation: DelegationId,
        /// Which.
        task: TaskId,
    },
    /// ListTasks for a request in doubt.
    List {
        /// Whose.
        delegation: DelegationId,
        /// By our context where the agent keeps it, else everything.
        scope: ListScope,
        /// Our context.
        context: Option<ContextId>,
        /// Whether the lookup of the reference follows in the same pass: an empty look counts
        /// only together with an absent booking.
        then_booking: bool,
    },
    /// The lookup of a delegation's reference.
    Booking {
        /// Whose.
        delegation: DelegationId,
    },
}

/// What to do next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agenda {
    /// Reads with their times, in no order.
    pub looks: Vec<(Millis, Look)>,
    /// Tasks whose stream is worth following.
    pub follow: Vec<(DelegationId, TaskId)>,
    /// The nearest time at which rules must be asked again without a read; none once closed.
    pub timer: Option<Millis>,
}

impl Agenda {
    /// The reads due at `now`; all of them if `all`.
    pub fn due_looks(&self, now: Millis, all: bool) -> Vec<Look> {
        self.looks.iter().filter(|(at, _)| all || *at <= now).map(|(_, look)| look.clone()).collect()
    }

    /// When the trip is due again, leaving out reads that are under way; none once it is closed.
    pub fn due(&self, under_way: impl Fn(&Look) -> bool) -> Option<Millis> {
        let reads = self.looks.iter().filter(|(_, look)| !under_way(look)).map(|(at, _)| *at);
        self.timer.map(|timer| reads.fold(timer, Ord::min))
    }
}

/// Derives the agenda of a trip.
pub fn agenda(trip: &Trip, world: &World, in_flight: &InFlight, now: Millis) -> Agenda {
    let planner = Planner { trip, world, in_flight, now };
    if let Some(closed) = trip.closed_at {
        return planner.watch(closed);
    }
    let mut looks = Vec::new();
    let mut follow = Vec::new();
    for delegation in &trip.delegations {
        planner.delegation_looks(delegation, &mut looks);
        follow.extend(planner.follow(delegation));
    }
    for delegation in awaits_final_look(trip, world).filter(|d| !d.is_open()) {
        planner.final_look(delegation, &mut looks);
    }
    // The backstop: no trip that is not closed is ever without a due time.
    let backstop = now + world.waits.poll_longest;
    let timer = Some(planner.timers().into_iter().fold(backstop, Ord::min));
    Agenda { looks, follow, timer }
}

/// The watch times after the end, as multiples of the first: 1 min, 10 min, 1 h, 6 h, 24 h.
const WATCH_TIMES: [i64; 5] = [1, 10, 60, 360, 1440];
/// Until when the last of them may be made up for.
const WATCH_END: i64 = 1500;

struct Planner<'a> {
    trip: &'a Trip,
    world: &'a World,
    in_flight: &'a InFlight,
    now: Millis,
}

impl Planner<'_> {
    /// After the end, references are read a few times more: a booking that comes late reopens the
    /// trip (§5, Ghosts). Which of these reads are done shows in the effects.
    fn watch(&self, closed: Millis) -> Agenda {
        let sent = |d: &&Delegation| self.trip.request(&d.id).is_some_and(|m| m.number > 0);
        let due = |d: &Delegation| {
            let at = self.watch_due(d, self.trip.wanted_effect(&d.id)?, closed)?;
            Some((at, Look::Booking { delegation: d.id.clone() }))
        };
        let looks: Vec<_> = self.trip.delegations.iter().filter(sent).filter_map(due).collect();
        let timer = looks.iter().map(|(at, _)| *at).min();
        Agenda { looks, follow: Vec::new(), timer }
    }

    /// The next watch read of a reference. One that could not tell is made again, less and less
    /// often, until the next watch time takes its place; a booking that has vanished is read again
    /// soon.
    fn watch_due(&self, d: &Delegation, e: &Effect, closed: Millis) -> Option<Millis> {
        if e.verdict == Verdict::Absent && self.is_wanted_booking(d) {
            return Some(self.again(d, e));
        }
        let first = self.world.waits.watch;
        let ends = WATCH_TIMES.iter().skip(1).chain([&WATCH_END]);
        for (times, end) in WATCH_TIMES.iter().zip(ends) {
            let (at, until) = (closed + first.times(*times), closed + first.times(*end));
            let told = e.clean_at().is_some_and(|clean| clean >= at);
            if told || self.now >= until {
                continue;
            }
            return Some(match e.checked_at.filter(|checked| *checked >= at) {
                None => at,
                Some(checked) => checked + self.retry(e.unknown_reads).max(Span((checked - at).0 / 4)),
            });
        }
        None
    }

    /// The booking of a step that is done.
    fn is_wanted_booking(&self, d: &Delegation) -> bool {
        let done = |s: &Step| s.name == d.step && s.standing == Standing::Done;
        d.outcome.is_some_and(|o| !matches!(o, Outcome::Rejected | Outcome::Refused | Outcome::Unreachable))
            && self.trip.attempts(&d.step).next_back().is_some_and(|newest| newest.id == d.id)
            && self.trip.closed == Some(Closed::Done)
            && self.trip.steps.iter().any(done)
            && d.signed.is_none()
    }

    fn delegation_looks(&self, d: &Delegation, looks: &mut Vec<(Millis, Look)>) {
        if let Some(at) = self.booking_due(d) {
            looks.push((at, Look::Booking { delegation: d.id.clone() }));
        }
        self.ghost_looks(d, looks);
        if !d.is_open() {
            return;
        }
        if let (Some(task), None) = (&d.task_id, d.ended) {
            looks.push((self.task_due(d), Look::Task { delegation: d.id.clone(), task: task.clone() }));
        }
        let request = self.trip.request(&d.id);
        if let Some(request) = request.filter(|m| m.state == SendState::InDoubt && d.ended.is_none()) {
            let until = request.may_send_until.unwrap_or(request.created_at);
            let at = self.list_due(d, until);
            self.list_look(d, at, looks);
        }
    }

    /// Second tasks are read until they have ended.
    fn ghost_looks(&self, d: &Delegation, looks: &mut Vec<(Millis, Look)>) {
        let live = self
            .trip
            .tasks
            .iter()
            .filter(|t| t.delegation == d.id && !t.snapshot.state.is_terminal())
            .filter(|t| match t.role {
                TaskRole::Kept => false,
                TaskRole::Ghost => true,
                TaskRole::Fork => d.ended_at.is_some_and(|ended| t.observed_at < ended),
            });
        for ghost in live {
            let tried = d.reads.tried_at.map_or(ghost.observed_at, |at| at.max(ghost.observed_at));
            let at = tried + self.retry(d.reads.failed.max(1)).max(self.world.waits.poll);
            looks.push((at, Look::Task { delegation: d.id.clone(), task: ghost.snapshot.task_id.clone() }));
        }
    }

    fn list_look(&self, d: &Delegation, at: Millis, looks: &mut Vec<(Millis, Look)>) {
        let agent = self.world.agent(&d.agent);
        if agent.is_none_or(|a| !a.is_not(Fact::Lists)) {
            let by_context = d.context_id.is_some() && agent.is_some_and(|a| a.is(Fact::KeepsContextId));
            let scope = if by_context { ListScope::Context } else { ListScope::Everything };
            let (delegation, context) = (d.id.clone(), d.context_id.clone());
            let then_booking = self.trip.has_effect(d);
            looks.push((at, Look::List { delegation, scope, context, then_booking }));
        } else if let Some(effect) = self.trip.wanted_effect(&d.id) {
            // Nothing else is read here, so the lookups set their own pace.
            let at = at.max(self.again(d, effect));
            looks.push((at, Look::Booking { delegation: d.id.clone() }));
        }
    }

    fn final_look(&self, d: &Delegation, looks: &mut Vec<(Millis, Look)>) {
        let Some(request) = self.trip.request(&d.id) else { return };
        let until = request.may_send_until.unwrap_or(request.created_at);
        let grace_end = until + self.world.landing_grace(&d.agent);
        // A list that stays incomplete is read less and less often.
        let again = d.reads.tried_at.map_or(grace_end, |at| {
            let slower = Span(((at - grace_end).0 / 4).clamp(0, self.world.waits.poll_longest.0));
            at + self.retry(d.reads.failed.max(1)).max(slower)
        });
        self.list_look(d, grace_end.max(again), looks);
    }

    fn retry(&self, tries: i64) -> Span {
        backoff(tries, self.world.waits.retry, self.world.waits.retry_longest)
    }

    /// Polling grows with the time since the last change; a failing read backs off.
    fn task_due(&self, d: &Delegation) -> Millis {
        let waits = self.world.waits;
        let Some(tried) = d.reads.tried_at.max(d.observed_at) else { return self.now };
        if d.reads.failed > 0 {
            return tried + self.retry(d.reads.failed);
        }
        let unchanged = tried - d.changed_at.unwrap_or(d.created_at);
        if self.waits_for_read(d) {
            return tried + Span((unchanged.0 / 16).clamp(waits.retry.0, waits.poll_longest.0));
        }
        let interval = match d.remote_state {
            // A permission is given elsewhere: it may clear by itself at any time (§9).
            Some(TaskState::AuthRequired) => waits.poll,
            _ => Span((unchanged.0 / 4).clamp(waits.poll.0, waits.poll_longest.0)),
        };
        tried + interval
    }

    /// Something of ours waits for this task to be read again soon.
    fn waits_for_read(&self, d: &Delegation) -> bool {
        let reply = self.trip.sent(&d.id, OutKind::Reply).any(|m| {
            m.state == SendState::InDoubt
                || (m.state == SendState::NotSent && m.setbacks > 0)
                || (m.state == SendState::Landed
                    && self
                        .trip
                        .questions
                        .iter()
                        .any(|q| Some(&q.id) == m.question.as_ref() && q.left_at.is_none()))
        });
        reply || self.trip.sent(&d.id, OutKind::Cancel).any(|m| m.task == d.task_id)
    }

    /// The first look at once; then at the end of the grace; then a settle time apart.
    fn list_due(&self, d: &Delegation, until: Millis) -> Millis {
        let grace_end = until + self.world.landing_grace(&d.agent);
        let not_before = d.doubt.not_before.unwrap_or_default();
        let Some(tried) = d.reads.tried_at.max(d.doubt.looked_at).filter(|at| *at >= until) else {
            // Whatever was read before the send says nothing about it.
            return not_before.max(d.reads.tried_at.map_or(self.now, |at| at + self.world.waits.retry));
        };
        let next = if d.reads.failed > 0 {
            tried + self.retry(d.reads.failed)
        } else if tried < grace_end {
            grace_end.min(tried + self.world.waits.poll)
        } else {
            tried + self.settle(d)
        };
        next.max(not_before)
    }

    fn settle(&self, d: &Delegation) -> Span {
        let names = self.trip.definition(&d.step).and_then(|s| s.effect.as_ref());
        self.world.settle(names.map(|e| e.booking_systems.as_slice()).unwrap_or_default())
    }

    /// When the bookings under a delegation's reference are to be read again, if at all.
    fn booking_due(&self, d: &Delegation) -> Option<Millis> {
        let own = || self.trip.effects.iter().filter(|e| e.delegation == d.id);
        let undo = own().filter_map(|e| self.undo_read_due(d, e)).min();
        let end = match (d.is_open(), d.ended, d.ended_at) {
            (true, Some(ended), Some(at)) => {
                own().filter(|e| !e.ghost).map(|e| self.outcome_read_due(d, e, ended, at)).min()
            }
            _ => None,
        };
        let unknown = own()
            .filter(|e| !d.is_open() && matches!(e.verdict, Verdict::Unknown))
            .map(|e| self.again(d, e))
            .min();
        [undo, end, unknown, self.given_up_due(d), self.ghost_read_due(d)].into_iter().flatten().min()
    }

    /// References of attempts that came to nothing are still read while the trip runs: a booking
    /// that comes late is undone as soon as it shows (§5, F-23).
    fn given_up_due(&self, d: &Delegation) -> Option<Millis> {
        let left_us = self.trip.request(&d.id).is_some_and(|m| m.number > 0);
        let nothing = |e: &&Effect| matches!(e.verdict, Verdict::Absent | Verdict::SettledAbsent);
        let effect = self.trip.wanted_effect(&d.id).filter(nothing).filter(|_| left_us && !d.is_open())?;
        Some(self.again(d, effect))
    }

    /// The read that counts the bookings under the reference once a second task has ended.
    fn ghost_read_due(&self, d: &Delegation) -> Option<Millis> {
        let checked = self.trip.wanted_effect(&d.id)?.checked_at.unwrap_or_default();
        let ended =
            self.trip.tasks.iter().filter(|t| {
                t.delegation == d.id && t.role == TaskRole::Ghost && t.snapshot.state.is_terminal()
            });
        ended.map(|t| t.observed_at + self.settle(d)).filter(|at| checked < *at).max()
    }

    fn outcome_read_due(&self, d: &Delegation, e: &Effect, ended: EndedAs, at: Millis) -> Millis {
        let read = e.checked_at.filter(|checked| *checked >= at);
        match (read, ended) {
            (None, _) => self.now,
            // Its work is unbounded: verified slowly until the deadline (§5).
            (Some(_), EndedAs::Message) => {
                self.again(d, e).max(e.checked_at.unwrap_or(at) + self.world.waits.poll)
            }
            (Some(_), _) => self.settle_read(d, e, at),
        }
    }

    fn undo_read_due(&self, d: &Delegation, e: &Effect) -> Option<Millis> {
        let c = self.trip.compensations.iter().find(|c| c.effect == e.id)?;
        let since = match c.state {
            CompensationState::Accepted | CompensationState::Stuck => c.accepted_at.or(c.requested_at)?,
            // Not confirmed: the read may settle it before the next try.
            CompensationState::Requested if c.reason.is_some() => c.requested_at?,
            _ => return None,
        };
        Some(match e.checked_at.filter(|at| *at >= since) {
            None => self.now,
            Some(_) => self.settle_read(d, e, since),
        })
    }

    /// The read that can settle the verdict comes at the settle time, not before it is needed.
    fn settle_read(&self, d: &Delegation, e: &Effect, since: Millis) -> Millis {
        let settled = since + self.settle(d);
        let again = self.again(d, e);
        let checked = e.checked_at.unwrap_or(since);
        if checked < settled && e.verdict != Verdict::Unknown {
            again.min(settled.max(checked + Span(1)))
        } else {
            again
        }
    }

    fn again(&self, d: &Delegation, e: &Effect) -> Millis {
        let Some(checked) = e.checked_at else { return self.now };
        let base = Span((self.settle(d).0 / 3).clamp(250, 30_000));
        // Unchanged for long: read less often.
        let since = e.present_first.or(e.absent_first).or(e.unknown_since).unwrap_or(checked);
        let slower = Span(((checked - since).0 / 4).clamp(0, self.world.waits.poll_longest.0));
        checked + base.max(slower)
    }

    fn follow(&self, d: &Delegation) -> Option<(DelegationId, TaskId)> {
        let live = d.is_open() && d.ended.is_none();
        let moving = matches!(d.remote_state, Some(TaskState::Submitted | TaskState::Working));
        let agent = self.world.agent(&d.agent)?;
        let can = agent.streaming && !agent.is_not(Fact::Streams);
        (live && moving && can).then(|| d.task_id.clone().map(|task| (d.id.clone(), task)))?
    }

    /// Times that no read covers: retries, ends of graces, limits.
    fn timers(&self) -> Vec<Millis> {
        let waits = self.world.waits;
        let mut timers = Vec::new();
        for out in
            self.trip.outbox.iter().filter(|m| !m.state.is_settled() && !self.in_flight.out.contains(&m.id))
        {
            let until = out.may_send_until.unwrap_or(out.created_at);
            match out.state {
                SendState::NotSent => timers.push(self.after_now(out.retry_at.unwrap_or(self.now))),
                _ => timers.push(self.after_now(until)),
            }
        }
        for c in &self.trip.compensations {
            match c.state {
                CompensationState::Requested if !self.in_flight.undo.contains(&c.id) => {
                    timers.push(c.retry_at.map_or(self.now + waits.retry, |at| self.after_now(at)));
                }
                CompensationState::Planned => timers.push(self.now + waits.reconcile),
                _ => {}
            }
        }
        timers.extend(
            self.trip
                .steps
                .iter()
                .filter(|s| s.standing == Standing::Open)
                .filter_map(|s| s.not_before.filter(|at| *at > self.now)),
        );
        for d in self.trip.delegations.iter().filter(|d| d.is_open() && d.stuck.is_none()) {
            if let Some(until) = self.trip.request(&d.id).and_then(|m| m.may_send_until) {
                timers
                    .push(self.after_now(until + self.world.landing_grace(&d.agent) + waits.unknown_verdict));
            }
        }
        if self.is_stuck() {
            timers.push(self.now + waits.reconcile);
        }
        timers
    }

    fn after_now(&self, at: Millis) -> Millis {
        if at > self.now { at } else { self.now + self.world.waits.reconcile }
    }

    fn is_stuck(&self) -> bool {
        self.trip.delegations.iter().any(|d| matches!(d.stuck, Some(StuckReason::Credential(_))))
    }
}
