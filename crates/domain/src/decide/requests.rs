//! Requests that are not known to have landed: §5's table, and what a stuck row is told.

use super::Pass;
use crate::delegation::{Delegation, EndedAs, Outcome, StuckReason};
use crate::effect::Verdict;
use crate::ids::DelegationId;
use crate::landing::{self, Booking, InDoubt, Landing};
use crate::outbox::{OutMessage, SendState};
use crate::seen::ListScope;
use crate::time::Millis;
use crate::world::{AgentState, Fact};

/// How often one message may be sent again after "nothing landed" was earned.
const RESENDS: i64 = 2;

impl Pass<'_> {
    pub(super) fn requests(&mut self) {
        for id in self.delegation_ids() {
            let Some(delegation) = self.trip.delegation(&id).cloned() else { continue };
            let Some(request) = self.trip.request(&id).cloned() else { continue };
            if !delegation.is_open() || delegation.ended.is_some() {
                continue;
            }
            match request.state {
                SendState::NotSent => self.not_sent(&delegation, &request),
                SendState::InDoubt => self.in_doubt(&delegation, &request),
                SendState::Intent | SendState::Landed | SendState::Refused => {}
            }
        }
    }

    fn not_sent(&mut self, delegation: &Delegation, request: &OutMessage) {
        if self.trip.is_ending() {
            self.refuse_out(&request.id, "the trip is ending");
            self.close_delegation(
                &delegation.id,
                Outcome::NeverLanded,
                "The request never left us, and the trip is ending",
            );
            return;
        }
        let parked = matches!(delegation.stuck, Some(StuckReason::Credential(_)));
        let tried = request.number > 0;
        if tried && !parked && self.now >= delegation.created_at + self.world.waits.not_sent_patience {
            let note = request.note.clone().unwrap_or_default();
            self.refuse_out(&request.id, &note);
            self.set_failure(&delegation.id, &format!("not reachable: {note}"));
            self.close_delegation(
                &delegation.id,
                Outcome::Unreachable,
                "The agent could not be reached; nothing left us, so the next agent is safe",
            );
            return;
        }
        if request.retry_at.is_none_or(|at| at <= self.now) {
            self.permit(&request.id);
        }
    }

    fn in_doubt(&mut self, delegation: &Delegation, request: &OutMessage) {
        let grace_end = self.grace_end(delegation, request);
        self.count_empty_look(&delegation.id, grace_end);
        let Some(delegation) = self.trip.delegation(&delegation.id).cloned() else { return };
        if delegation.doubt.refusal.is_some() && self.after_refusal(&delegation, request, grace_end) {
            return;
        }
        let doubt = self.doubt(&delegation, grace_end);
        match landing::judge(doubt) {
            Landing::LookAgain => {}
            Landing::Resend => {
                if doubt.agent_can_be_believed && landing::looked_twice(&doubt) {
                    self.note_never_left(&request.id);
                }
                self.resend(&delegation, request);
            }
            Landing::NeverLanded => {
                self.refuse_out(&request.id, "it never landed");
                self.settle_absent(&delegation.id);
                self.close_delegation(&delegation.id, Outcome::NeverLanded, "Looked for twice past the grace, a settle time apart, and no booking at both: it never landed");
            }
            Landing::Adopt => {
                self.set_landed(&request.id);
                if let Some(d) = self.trip.delegation_mut(&delegation.id) {
                    d.ended = Some(EndedAs::Lost);
                    d.ended_at = Some(self.now);
                }
                self.unstick_doubt(&delegation.id);
                self.tell(
                    &delegation.id,
                    "landed_by_booking",
                    "The request did land: the records show its booking, though its task is not to be found",
                    Some("Evidence of the effect wins"),
                );
            }
            Landing::Stuck => self.stick_in_doubt(&delegation),
        }
    }

    pub(super) fn grace_end(&self, delegation: &Delegation, request: &OutMessage) -> Millis {
        let grace = self.world.landing_grace(&delegation.agent);
        request.may_send_until.unwrap_or(request.created_at) + grace
    }

    /// Counts the newest complete look as an empty one, if it is sound, past the grace, and the
    /// booking was read absent with it (§5, *earned* a to d).
    fn count_empty_look(&mut self, id: &DelegationId, grace_end: Millis) {
        let effect = self.trip.wanted_effect(id).cloned();
        let Some(d) = self.trip.delegation_mut(id) else { return };
        let Some(looked) = d.doubt.looked_at else { return };
        let sound = d.doubt.look_found_nothing && d.doubt.not_counted.is_none() && looked >= grace_end;
        if !sound || d.doubt.empty_last.is_some_and(|last| looked <= last) {
            return;
        }
        let absent = effect
            .is_none_or(|e| e.verdict == Verdict::Absent && e.checked_at.is_some_and(|at| at >= looked));
        if absent {
            d.doubt.empty_first.get_or_insert(looked);
            d.doubt.empty_last = Some(looked);
        }
    }

    /// Whether an empty look of this scope can mean anything (§5, *earned* b and d).
    pub(super) fn look_is_sound(
        &self,
        id: &DelegationId,
        scope: ListScope,
        strangers: i64,
    ) -> Result<(), String> {
        let agent = self.trip.delegation(id).and_then(|d| self.world.agent(&d.agent));
        let Some(agent) = agent else { return Err("the agent is not registered any more".to_owned()) };
        match scope {
            ListScope::Context if !agent.is(Fact::KeepsContextId) => {
                return Err(
                    "this agent was not seen to keep our context id, so an empty list by it proves nothing"
                        .to_owned(),
                );
            }
            ListScope::Everything if strangers > 0 => {
                return Err(format!(
                    "{strangers} listed tasks belong to nobody known here; one of them could be ours"
                ));
            }
            ListScope::Context | ListScope::Everything => {}
        }
        // After an error answer a bare message is not to be expected, unless it was seen here.
        let refused = self.trip.delegation(id).is_some_and(|d| d.doubt.refusal.is_some());
        if agent.is(Fact::AnswersWithTasks) || (refused && !agent.is_not(Fact::AnswersWithTasks)) {
            Ok(())
        } else {
            Err("this agent was not seen to answer with tasks, and a bare message leaves no trace in a list"
                .to_owned())
        }
    }

    fn doubt(&self, delegation: &Delegation, grace_end: Millis) -> InDoubt {
        let agent = self.world.agent(&delegation.agent);
        let effect = self.trip.wanted_effect(&delegation.id);
        let limit = self.world.waits.unknown_verdict;
        let booking = match effect.map(|e| e.verdict) {
            Some(Verdict::Present) => Booking::Present,
            _ if self.now >= grace_end + limit => Booking::TooLong,
            _ => Booking::Open,
        };
        let not_yet = delegation.doubt.not_before.is_some_and(|at| at > self.now);
        InDoubt {
            now: self.now,
            grace_end,
            empty: delegation.doubt.empty_first.zip(delegation.doubt.empty_last),
            settle: self.settle(&delegation.step),
            agent_can_be_believed: agent.is_some_and(|a| a.is(Fact::AnswersWithTasks)),
            deduplicates: agent.is_some_and(|a| a.is(Fact::DeduplicatesDurably)),
            has_effect: self.trip.has_effect(delegation),
            ending: self.trip.is_ending(),
            may_resend: !not_yet
                && delegation.doubt.resends < RESENDS
                && agent.is_some_and(|a| a.state != AgentState::Disabled),
            looked_past_grace: self.looked_past_grace(delegation, grace_end),
            booking,
        }
    }

    /// A complete look past the grace found nothing; where nothing can be listed, the lookup of the
    /// reference is all the look there is.
    fn looked_past_grace(&self, delegation: &Delegation, grace_end: Millis) -> bool {
        let past = |at: Option<Millis>| at.is_some_and(|at| at >= grace_end);
        let lists = self.world.agent(&delegation.agent).is_none_or(|a| !a.is_not(Fact::Lists));
        if lists {
            return delegation.doubt.look_found_nothing && past(delegation.doubt.looked_at);
        }
        self.trip.wanted_effect(&delegation.id).is_none_or(|e| past(e.checked_at))
    }

    /// Earned: none of the sends so far has landed.
    fn note_never_left(&mut self, out: &crate::ids::OutboxId) {
        if let Some(message) = self.out_mut(out) {
            message.setbacks = message.number;
        }
    }

    fn resend(&mut self, delegation: &Delegation, request: &OutMessage) {
        self.unstick_doubt(&delegation.id);
        self.reset_looks(&delegation.id);
        if let Some(d) = self.trip.delegation_mut(&delegation.id) {
            d.doubt.resends += 1;
        }
        self.permit(&request.id);
        self.tell(
            &delegation.id,
            "resend",
            "Nothing of the request was found: the same message is sent again",
            Some("Looked for twice past the grace, a settle time apart, and no booking at both"),
        );
    }

    /// Earlier looks say nothing about a send that is permitted now.
    fn reset_looks(&mut self, id: &DelegationId) {
        if let Some(d) = self.trip.delegation_mut(id) {
            d.doubt.looked_at = None;
            d.doubt.look_found_nothing = false;
            d.doubt.empty_first = None;
            d.doubt.empty_last = None;
            d.doubt.not_before = None;
            d.doubt.refusal = None;
        }
    }

    /// An error answer that may hide a started task: none found past the grace → once more
    /// without our contextId, then a new attempt (§7). True if this decided the row.
    fn after_refusal(&mut self, delegation: &Delegation, request: &OutMessage, grace_end: Millis) -> bool {
        let doubt = self.doubt(delegation, grace_end);
        let nothing = match (doubt.has_effect, doubt.now >= grace_end) {
            (true, _) => landing::looked_twice(&doubt) && doubt.booking != Booking::Present,
            (false, past) => past && doubt.looked_past_grace,
        };
        if !nothing {
            return false;
        }
        let refusal = delegation.doubt.refusal.clone().unwrap_or_default();
        if !delegation.doubt.context_dropped && delegation.context_id.is_some() && !self.trip.is_ending() {
            self.drop_context(&delegation.id, request);
            self.note_never_left(&request.id);
            self.reset_looks(&delegation.id);
            self.permit(&request.id);
            self.tell(
                &delegation.id,
                "resend_without_context",
                "The same message is sent once more without our context id",
                Some("The agent answered with an error and left no task"),
            );
        } else {
            self.refuse_out(&request.id, &refusal);
            self.close_refused(&delegation.id, &refusal);
        }
        true
    }

    fn drop_context(&mut self, id: &DelegationId, request: &OutMessage) {
        let mut body: serde_json::Value = serde_json::from_str(&request.body).unwrap_or_default();
        if let Some(object) = body.as_object_mut() {
            object.remove("contextId");
        }
        if let Some(message) = self.out_mut(&request.id) {
            message.body = body.to_string();
        }
        let agent = self.trip.delegation(id).map(|d| d.agent.clone());
        if let Some(d) = self.trip.delegation_mut(id) {
            d.context_id = None;
            d.doubt.context_dropped = true;
        }
        if let Some(agent) = agent {
            self.learn(&agent, Fact::KeepsContextId, false);
        }
    }

    pub(super) fn close_refused(&mut self, id: &DelegationId, text: &str) {
        self.set_failure(id, text);
        let what = format!("The agent refused the request: {text}");
        self.agent_said(id, "refused", &what);
        self.close_delegation(id, Outcome::Refused, "Refused for good: nothing was done");
    }

    fn stick_in_doubt(&mut self, delegation: &Delegation) {
        let why = delegation
            .doubt
            .not_counted
            .clone()
            .unwrap_or_else(|| "nothing was found, and that proves nothing".to_owned());
        self.stick(self.now, &delegation.id, StuckReason::InDoubt(why));
    }

    /// Marks a row as stuck, once. Looks and reads go on, and clear it where they can.
    pub(super) fn stick(&mut self, at: Millis, id: &DelegationId, reason: StuckReason) {
        let sentence = reason.sentence();
        let Some(d) = self.trip.delegation_mut(id) else { return };
        // The first reason stays until it clears: two that hold at once would take turns for ever.
        if d.stuck.is_some() {
            return;
        }
        d.stuck = Some(reason);
        d.stuck_since = Some(at);
        self.tell(
            id,
            "stuck",
            &format!("Support is needed. {sentence}"),
            Some("No rule may decide this alone"),
        );
    }

    pub(super) fn unstick_if(&mut self, id: &DelegationId, clears: impl Fn(&StuckReason) -> bool) {
        let Some(d) = self.trip.delegation_mut(id) else { return };
        if d.stuck.as_ref().is_some_and(clears) {
            d.stuck = None;
            d.stuck_since = None;
            self.tell(id, "unstuck", "The reason for the case has gone", None);
        }
    }

    pub(super) fn unstick_doubt(&mut self, id: &DelegationId) {
        self.unstick_if(id, |r| matches!(r, StuckReason::InDoubt(_) | StuckReason::Credential(_)));
    }

    pub(super) fn unstick_credential(&mut self, id: &DelegationId) {
        self.unstick_if(id, |r| matches!(r, StuckReason::Credential(_)));
    }

    pub(super) fn unstick_verdict(&mut self, id: &DelegationId) {
        self.unstick_if(id, |r| matches!(r, StuckReason::UnknownVerdict(_) | StuckReason::MessageOnly));
    }

    pub(super) fn set_failure(&mut self, id: &DelegationId, text: &str) {
        if let Some(d) = self.trip.delegation_mut(id) {
            d.failure_summary = Some(super::brief(text, 300));
        }
    }

    pub(super) fn settle_absent(&mut self, id: &DelegationId) {
        for effect in self.trip.effects.iter_mut().filter(|e| &e.delegation == id && !e.ghost) {
            if matches!(effect.verdict, Verdict::Expected | Verdict::Absent | Verdict::Unknown) {
                effect.verdict = Verdict::SettledAbsent;
            }
        }
    }

    /// Closes a delegation. A stuck reason goes with it.
    pub(super) fn close_delegation(&mut self, id: &DelegationId, outcome: Outcome, why: &str) {
        // Nothing has landed: what the records cannot tell is no question any more.
        if matches!(outcome, Outcome::Refused | Outcome::NeverLanded | Outcome::Unreachable) {
            self.settle_absent(id);
        }
        let Some(d) = self.trip.delegation_mut(id) else { return };
        d.outcome = Some(outcome);
        d.closed_at = Some(self.now);
        d.stuck = None;
        d.stuck_since = None;
        // A success is told of with its step; a trip that is ending has no step to tell of.
        if outcome != Outcome::Completed || self.trip.is_ending() {
            let what = format!("This attempt is closed: {}", outcome_words(outcome));
            self.tell(id, "attempt_closed", &what, Some(why));
        }
        self.withdraw_questions(id, "the attempt is over");
    }
}

/// An outcome in words.
pub(crate) fn outcome_words(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "completed",
        Outcome::Failed => "the agent failed",
        Outcome::Rejected => "the agent rejected it",
        Outcome::Canceled => "cancelled",
        Outcome::Deadline => "not done in time",
        Outcome::FalseClaim => "the agent claimed a booking that does not exist",
        Outcome::Refused => "the agent refused the request",
        Outcome::Unreachable => "the agent could not be reached",
        Outcome::NeverLanded => "the request never reached the agent",
        Outcome::Lost => "the agent lost the task",
    }
}
