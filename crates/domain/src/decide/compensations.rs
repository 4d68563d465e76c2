//! Compensations: the ladder of undos in reverse order of verification, one rung at a time, each
//! journaled before its call and finished only when the records show that it is gone (§8).

use super::{Action, Pass, brief};
use crate::backoff::backoff;
use crate::booking::CancelAnswer;
use crate::compensation::{Compensation, CompensationState};
use crate::effect::{Effect, Verdict};
use crate::ids::{CompensationId, EffectId};
use crate::time::Millis;
use crate::trip::Standing;

/// So many failed calls in a row end stuck.
const TRIES: i64 = 8;

impl Pass<'_> {
    pub(super) fn compensations(&mut self) {
        self.plan_undos();
        for id in self.rungs() {
            self.found_requested(&id);
            self.verify_undo(&id);
        }
        self.next_rung();
    }

    /// Rungs in undo order.
    fn rungs(&self) -> Vec<CompensationId> {
        let mut rungs: Vec<&Compensation> = self.trip.compensations.iter().collect();
        rungs.sort_by_key(|c| c.rung);
        rungs.into_iter().map(|c| c.id.clone()).collect()
    }

    fn rung(&self, id: &CompensationId) -> Option<Compensation> {
        self.trip.compensations.iter().find(|c| &c.id == id).cloned()
    }

    fn rung_mut(&mut self, id: &CompensationId) -> Option<&mut Compensation> {
        self.trip.compensations.iter_mut().find(|c| &c.id == id)
    }

    /// Plans the undo of every booking that is not wanted: ghosts at any time, the others when
    /// the trip is ending and every attempt's fate is known (a stuck one does not hold up the
    /// rest), so that the order is that of the whole trip.
    fn plan_undos(&mut self) {
        let all_known = self.trip.delegations.iter().all(|d| !d.is_open() || d.stuck.is_some());
        let mut unwanted: Vec<Effect> = self
            .trip
            .effects
            .iter()
            .filter(|e| e.verdict == Verdict::Present)
            .filter(|e| !self.trip.compensations.iter().any(|c| c.effect == e.id))
            .filter(|e| e.ghost || (self.trip.is_ending() && all_known) || self.is_late_loser(e))
            .cloned()
            .collect();
        unwanted.sort_by_key(|e| std::cmp::Reverse((e.verified_at, e.id.clone())));
        for effect in unwanted {
            self.plan_undo(&effect);
        }
    }

    /// A booking of an attempt that was closed as having come to nothing.
    fn is_late_loser(&self, effect: &Effect) -> bool {
        let Some(delegation) = self.trip.delegation(&effect.delegation) else { return false };
        let newer = self.trip.attempts(&delegation.step).any(|d| d.ordinal > delegation.ordinal);
        let given_up =
            self.trip.steps.iter().any(|s| {
                s.name == delegation.step && matches!(s.standing, Standing::Skipped | Standing::Failed)
            });
        !delegation.is_open() && (newer || given_up)
    }

    fn plan_undo(&mut self, effect: &Effect) {
        let (Some(system), Some(confirmation)) = (&effect.booking_system, &effect.confirmation) else {
            return;
        };
        let Some(step) = self.trip.delegation(&effect.delegation).map(|d| d.step.clone()) else { return };
        let id = CompensationId(self.ids.next_id());
        let rung = self.trip.compensations.iter().map(|c| c.rung).max().unwrap_or(0) + 1;
        let body = serde_json::json!({ "reason": "cancelled by the customer", "reference": effect.reference.as_str() });
        self.trip.compensations.push(Compensation {
            idempotency_key: format!("undo-{id}"),
            id,
            effect: effect.id.clone(),
            step,
            rung,
            booking_system: system.clone(),
            confirmation: confirmation.clone(),
            body: body.to_string(),
            state: CompensationState::Planned,
            number: 0,
            may_send_until: None,
            planned_at: self.now,
            requested_at: None,
            accepted_at: None,
            verified_at: None,
            retry_at: None,
            reason: None,
            stuck_since: None,
        });
        let what = format!("Undo {rung} is planned: booking {} at {system}", brief(confirmation, 80));
        self.tell(
            &effect.delegation,
            "undo_planned",
            &what,
            Some("In reverse of the order in which bookings were verified"),
        );
    }

    /// A requested call that is not under way here was left by a dead process, or failed: the
    /// same call again, once its time is over. It is idempotent by its key.
    fn found_requested(&mut self, id: &CompensationId) {
        let Some(c) = self.rung(id) else { return };
        let open = c.state == CompensationState::Requested && !self.in_flight.undo.contains(id);
        if open && c.retry_at.is_none() {
            let at = c.may_send_until.unwrap_or(self.now);
            if let Some(rung) = self.rung_mut(id) {
                rung.retry_at = Some(at);
            }
        }
    }

    /// Starts or repeats the next rung that may run: one at a time; a stuck rung holds back only
    /// the bookings of steps that its own step depends on.
    fn next_rung(&mut self) {
        for id in self.rungs() {
            let Some(c) = self.rung(&id) else { continue };
            match c.state {
                CompensationState::Verified | CompensationState::Signed | CompensationState::Stuck => {}
                _ if self.is_held(&c) => {}
                CompensationState::Planned => {
                    self.permit_undo(&id);
                    return;
                }
                CompensationState::Requested => {
                    if c.retry_at.is_some_and(|at| at <= self.now) {
                        self.permit_undo(&id);
                    }
                    return;
                }
                CompensationState::Accepted => return,
            }
        }
    }

    fn is_held(&self, rung: &Compensation) -> bool {
        self.trip.compensations.iter().any(|other| {
            other.state == CompensationState::Stuck && self.trip.workflow.depends_on(&other.step, &rung.step)
        })
    }

    fn permit_undo(&mut self, id: &CompensationId) {
        let (now, until) = (self.now, self.now + self.world.waits.send_limit);
        let Some(c) = self.rung_mut(id) else { return };
        let first = c.number == 0;
        c.state = CompensationState::Requested;
        c.number += 1;
        c.may_send_until = Some(until);
        c.requested_at.get_or_insert(now);
        c.retry_at = None;
        let (number, effect, rung) = (c.number, c.effect.clone(), c.rung);
        self.actions.push(Action::Undo { compensation: id.clone(), number });
        if first {
            self.begin_phase(&effect);
            self.tell_effect(
                &effect,
                "undo_requested",
                &format!("Undo {rung} is requested at the booking system"),
                None,
            );
        }
    }

    fn begin_phase(&mut self, effect: &EffectId) {
        if let Some(e) = self.trip.effects.iter_mut().find(|e| &e.id == effect) {
            e.begin_phase();
        }
    }

    fn tell_effect(&mut self, effect: &EffectId, kind: &str, what: &str, why: Option<&str>) {
        if let Some(delegation) = self.trip.effect(effect).map(|e| e.delegation.clone()) {
            self.tell(&delegation, kind, what, why);
        }
    }

    pub(super) fn apply_undo(&mut self, at: Millis, id: &CompensationId, number: i64, answer: &CancelAnswer) {
        let Some(c) = self.rung(id) else { return };
        if c.state != CompensationState::Requested || c.number != number {
            return;
        }
        match answer {
            CancelAnswer::Accepted(_) => {
                if let Some(rung) = self.rung_mut(id) {
                    rung.state = CompensationState::Accepted;
                    rung.accepted_at = Some(at);
                    rung.reason = None;
                }
                self.begin_phase(&c.effect);
                self.tell_effect(
                    &c.effect,
                    "undo_accepted",
                    &format!("{} accepted undo {}", c.booking_system, c.rung),
                    Some("Accepted is not verified: the records are read until it is gone"),
                );
            }
            CancelAnswer::Refused { status, text } => {
                self.undo_failed(at, &c, &format!("answered {status}: {}", brief(text, 200)));
            }
            CancelAnswer::NotSent(text) | CancelAnswer::Unknown(text) => {
                self.undo_failed(at, &c, &brief(text, 200))
            }
        }
    }

    /// A failed try keeps its intent and is repeated with backoff; the reads may settle it first.
    fn undo_failed(&mut self, at: Millis, c: &Compensation, text: &str) {
        let waits = self.world.waits;
        let told = c.reason.as_deref() == Some(text);
        let Some(rung) = self.rung_mut(&c.id) else { return };
        rung.reason = Some(text.to_owned());
        rung.retry_at = Some(at + backoff(c.number, waits.retry, waits.retry_longest));
        if !told {
            self.tell_effect(
                &c.effect,
                "undo_failed",
                &format!("{} did not confirm undo {}: {text}", c.booking_system, c.rung),
                None,
            );
        }
        if c.number >= TRIES {
            self.stick_rung(c, text);
        }
    }

    fn stick_rung(&mut self, c: &Compensation, text: &str) {
        let now = self.now;
        if let Some(rung) = self.rung_mut(&c.id) {
            rung.state = CompensationState::Stuck;
            rung.reason = Some(text.to_owned());
            rung.stuck_since = Some(now);
        }
        self.tell_effect(
            &c.effect,
            "undo_stuck",
            &format!("Support is needed: undo {} does not succeed: {text}", c.rung),
            Some("No rule may decide this alone"),
        );
    }

    /// Verified gone is settled absent, since the yes (or, without one, since the request).
    fn verify_undo(&mut self, id: &CompensationId) {
        let Some(c) = self.rung(id) else { return };
        let open = matches!(
            c.state,
            CompensationState::Requested | CompensationState::Accepted | CompensationState::Stuck
        );
        let Some(since) = c.accepted_at.or(c.requested_at).filter(|_| open) else { return };
        let Some(effect) = self.trip.effect(&c.effect).cloned() else { return };
        let settle = self.settle(&c.step);
        if effect.settled_absent(since, settle) {
            let now = self.now;
            if let Some(rung) = self.rung_mut(id) {
                rung.state = CompensationState::Verified;
                rung.verified_at = Some(now);
                rung.retry_at = None;
                rung.stuck_since = None;
                rung.reason = None;
            }
            if let Some(e) = self.trip.effects.iter_mut().find(|e| e.id == c.effect) {
                e.verdict = Verdict::Undone;
            }
            self.tell_effect(
                &c.effect,
                "undo_verified",
                &format!("The records show that undo {} is done: the booking is gone", c.rung),
                Some("Not shown by two reads over the settle time"),
            );
        } else if c.state == CompensationState::Accepted && self.was_ignored(&effect, since) {
            self.accepted_and_ignored(&c);
        }
    }

    fn was_ignored(&self, effect: &Effect, since: Millis) -> bool {
        effect.verdict == Verdict::Present
            && effect.present_last.is_some_and(|at| at >= since + self.world.waits.unknown_verdict)
    }

    /// Said yes, and still there: the same call once more, then stuck.
    fn accepted_and_ignored(&mut self, c: &Compensation) {
        if c.number < 2 {
            let now = self.now;
            if let Some(rung) = self.rung_mut(&c.id) {
                rung.state = CompensationState::Requested;
                rung.accepted_at = None;
                rung.retry_at = Some(now);
                rung.reason = Some("accepted, and the records still show the booking".to_owned());
            }
            return;
        }
        self.stick_rung(c, "the booking system said yes, and its records still show the booking");
    }
}
