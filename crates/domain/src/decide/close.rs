//! The end of a trip: closed only when no send is in doubt, no effect is unknown, and every effect
//! is wanted or verified gone (DESIGN.md §10, rule 6).

use super::Pass;
use crate::compensation::CompensationState;
use crate::delegation::{Delegation, Outcome, StuckReason};
use crate::effect::{Effect, Verdict};
use crate::ids::DelegationId;
use crate::task::{TaskCopy, TaskRole};
use crate::trip::{Closed, Goal, Standing, Trip};
use crate::world::{Fact, World};

impl Pass<'_> {
    pub(super) fn close(&mut self) {
        self.settle_late_bookings();
        self.stick_endless_final_looks();
        self.note_vanished();
        if !self.is_settled() || awaits_final_look(&self.trip, self.world).next().is_some() {
            return;
        }
        let any_done = self.trip.steps.iter().any(|s| s.standing == Standing::Done);
        let closed = match self.trip.goal {
            Goal::Run if any_done => Closed::Done,
            Goal::Run | Goal::Compensate => Closed::Failed,
            Goal::Cancel => Closed::Cancelled,
        };
        self.trip.closed_at = Some(self.now);
        self.trip.closed = Some(closed);
        let what = match closed {
            Closed::Done => "The trip is done",
            Closed::Cancelled => "The trip is cancelled: everything booked is verified gone",
            Closed::Failed => "The trip could not be completed: nothing booked is left",
        };
        self.tell_step(
            None,
            "trip_closed",
            what,
            Some("No send is in doubt, and every booking is wanted or verified gone"),
        );
    }

    fn is_settled(&self) -> bool {
        let trip = &self.trip;
        let steps = trip.is_ending()
            || trip.steps.iter().all(|s| matches!(s.standing, Standing::Done | Standing::Skipped));
        steps
            && trip.delegations.iter().all(|d| !d.is_open() && d.stuck.is_none())
            && trip.outbox.iter().all(|m| m.state.is_settled())
            && trip.compensations.iter().all(|c| c.state.is_finished())
            && trip.effects.iter().all(|e| self.is_effect_settled(e))
            && trip.tasks.iter().all(|t| self.is_ghost_settled(t))
    }

    /// A second task has ended, and the bookings under its reference were read a settle time later.
    fn is_ghost_settled(&self, copy: &TaskCopy) -> bool {
        let Some(delegation) = self.trip.delegation(&copy.delegation) else { return true };
        match copy.role {
            TaskRole::Kept => return true,
            // Read once more after the task that it was forked into has ended (F-19).
            TaskRole::Fork => {
                return copy.snapshot.state.is_terminal()
                    || delegation.ended_at.is_none_or(|ended| copy.observed_at >= ended);
            }
            TaskRole::Ghost => {}
        }
        let settled = copy.observed_at + self.settle(&delegation.step);
        let read = self
            .trip
            .wanted_effect(&copy.delegation)
            .is_none_or(|e| e.checked_at.is_some_and(|at| at >= settled));
        copy.snapshot.state.is_terminal() && read
    }

    /// After the end, a booking that nobody wants reopens the trip, and so does a wanted one that
    /// is gone: the first is undone, and support sees both.
    pub(super) fn reopen(&mut self) {
        if self.trip.closed_at.is_none() {
            return;
        }
        let mut found: Vec<(DelegationId, StuckReason)> = Vec::new();
        for effect in self.trip.effects.iter().filter(|e| !self.is_signed(e)) {
            let reason = match effect.verdict {
                Verdict::Present if !self.is_wanted(effect) => StuckReason::LateBooking,
                Verdict::Absent if self.has_vanished(effect) => StuckReason::BookingGone,
                _ => continue,
            };
            found.push((effect.delegation.clone(), reason));
        }
        if found.is_empty() {
            return;
        }
        self.trip.closed_at = None;
        self.trip.closed = None;
        self.tell_step(
            None,
            "trip_reopened",
            "The trip is opened again: its bookings changed after its end",
            Some("References are read for a day after the end"),
        );
        for (delegation, reason) in found {
            self.stick(self.now, &delegation, reason);
        }
    }

    /// A wanted booking that two reads, a settle time apart, do not show any more.
    fn has_vanished(&self, effect: &Effect) -> bool {
        let Some(delegation) = self.trip.delegation(&effect.delegation) else { return false };
        let since = effect.absent_first.unwrap_or_default();
        self.is_wanted(effect) && effect.settled_absent(since, self.settle(&delegation.step))
    }

    /// The look before the close that cannot be had (a list that is never complete) is a case in the
    /// end; a good look or a signature clears it.
    fn stick_endless_final_looks(&mut self) {
        let awaited: Vec<DelegationId> = awaits_final_look(&self.trip, self.world)
            .filter(|d| !d.is_open())
            .map(|d| d.id.clone())
            .collect();
        for id in self.delegation_ids() {
            let Some(d) = self.trip.delegation(&id).cloned().filter(|d| !d.is_open()) else { continue };
            if !awaited.contains(&id) {
                self.unstick_if(&id, |r| matches!(r, StuckReason::InDoubt(_)));
                continue;
            }
            let Some(grace_end) = self.trip.request(&id).map(|m| self.grace_end(&d, m)) else { continue };
            if self.now >= grace_end + self.world.waits.unknown_verdict {
                let why = d
                    .doubt
                    .not_counted
                    .unwrap_or_else(|| "the last look before the end cannot be had".to_owned());
                self.stick(self.now, &id, StuckReason::InDoubt(why));
            }
        }
    }

    /// A late booking is off the desk once it is undone, a vanished one once it is back or signed for.
    pub(super) fn settle_late_bookings(&mut self) {
        for id in self.delegation_ids() {
            let own = || self.trip.effects.iter().filter(|e| e.delegation == id);
            let none_late = own().all(|e| e.verdict != Verdict::Present || self.is_wanted(e));
            let none_gone = own().all(|e| e.verdict == Verdict::Present || self.is_signed(e));
            self.unstick_if(&id, |r| match r {
                StuckReason::LateBooking => none_late,
                StuckReason::BookingGone => none_gone,
                _ => false,
            });
        }
    }

    /// A booking that made its step done and that the records do not show any more is a case.
    fn note_vanished(&mut self) {
        let vanished: Vec<DelegationId> = self
            .trip
            .effects
            .iter()
            .filter(|e| e.verdict == Verdict::Absent && self.has_vanished(e) && !self.is_signed(e))
            .map(|e| e.delegation.clone())
            .collect();
        for id in vanished {
            self.stick(self.now, &id, StuckReason::BookingGone);
        }
    }

    fn is_effect_settled(&self, effect: &Effect) -> bool {
        if self.is_signed(effect) {
            return true;
        }
        let outcome = self.trip.delegation(&effect.delegation).and_then(|d| d.outcome);
        match effect.verdict {
            Verdict::SettledAbsent | Verdict::Undone => true,
            Verdict::Present => self.is_wanted(effect),
            // Nothing left us, or the agent did nothing by the protocol's own word: no read is owed.
            Verdict::Expected => {
                matches!(outcome, Some(Outcome::Unreachable | Outcome::Refused | Outcome::NeverLanded))
            }
            // A truthful rejection is believed with one read (§6).
            Verdict::Absent => {
                matches!(outcome, Some(Outcome::Rejected | Outcome::Refused | Outcome::NeverLanded))
            }
            Verdict::Unknown => matches!(outcome, Some(Outcome::Unreachable)),
        }
    }

    /// A person has signed for it: that it is gone, or for the outcome of its attempt.
    fn is_signed(&self, effect: &Effect) -> bool {
        self.trip.compensations.iter().any(|c| c.effect == effect.id && c.state == CompensationState::Signed)
            || (effect.verdict == Verdict::Absent
                && self.trip.delegation(&effect.delegation).is_some_and(|d| d.signed.is_some()))
    }

    /// The booking of the attempt that made its step done.
    fn is_wanted(&self, effect: &Effect) -> bool {
        let Some(d) = self.trip.delegation(&effect.delegation) else { return false };
        let done = self.trip.steps.iter().any(|s| s.name == d.step && s.standing == Standing::Done);
        let newest = self.trip.attempts(&d.step).next_back().is_some_and(|newest| newest.id == d.id);
        !self.trip.is_ending() && !effect.ghost && done && newest
    }
}

/// Delegations whose request was sent more than once and not looked for since, past the grace of
/// the newest send: a trip closes only after that look (§5, traces.md V9).
pub(crate) fn awaits_final_look<'a>(
    trip: &'a Trip,
    world: &'a World,
) -> impl Iterator<Item = &'a Delegation> {
    // Support has signed for what was found out by other means.
    trip.delegations.iter().filter(|d| d.signed.is_none()).filter(move |d| {
        let Some(request) = trip.request(&d.id).filter(|m| m.number > 1) else { return false };
        let until = request.may_send_until.unwrap_or(request.created_at);
        let grace_end = until + world.landing_grace(&d.agent);
        // Where nothing can be listed, the bookings under the reference are all that can be read.
        let lists = world.agent(&d.agent).is_none_or(|a| !a.is_not(Fact::Lists));
        let looked = !lists || d.doubt.looked_at.is_some_and(|at| at >= grace_end);
        let counted =
            trip.wanted_effect(&d.id).is_none_or(|e| e.checked_at.is_some_and(|at| at >= grace_end));
        let is_owed = d.outcome != Some(Outcome::Unreachable);
        is_owed && (!looked || !counted)
    })
}
