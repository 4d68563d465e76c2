//! Outcomes: once the agent's part has ended, the records decide what it comes to (§6).

use super::Pass;
use crate::delegation::{Delegation, EndedAs, Outcome};
use crate::effect::{Effect, Verdict};
use crate::outcome::{Circumstances, Judgement, Records, judge};
use crate::time::Millis;
use crate::trip::Standing;
use crate::world::Fact;

impl Pass<'_> {
    pub(super) fn outcomes(&mut self) {
        for id in self.delegation_ids() {
            let Some(delegation) = self.trip.delegation(&id).cloned() else { continue };
            if let (true, Some(ended)) = (delegation.is_open(), delegation.ended) {
                self.outcome(&delegation, ended);
            }
        }
    }

    fn outcome(&mut self, delegation: &Delegation, ended: EndedAs) {
        let around = Circumstances {
            has_effect: self.trip.has_effect(delegation),
            rejects_truthfully: self
                .world
                .agent(&delegation.agent)
                .is_none_or(|agent| !agent.is_not(Fact::RejectsTruthfully)),
            past_deadline: self.now >= self.deadline(delegation),
        };
        let judgement = judge(ended, self.records(delegation), around);
        if !matches!(judgement, Judgement::Stuck(_)) {
            self.note_readable_again(delegation);
        }
        match judgement {
            Judgement::ReadAgain => {}
            Judgement::Stands(outcome) => self.stands(delegation, ended, outcome),
            Judgement::Nothing(outcome) => self.nothing(delegation, ended, outcome),
            Judgement::Stuck(reason) => {
                let note = self.trip.wanted_effect(&delegation.id).and_then(|e| e.note.clone());
                let reason = match (reason, note) {
                    (crate::delegation::StuckReason::UnknownVerdict(_), Some(note)) => {
                        crate::delegation::StuckReason::UnknownVerdict(super::brief(&note, 300))
                    }
                    (reason, _) => reason,
                };
                self.stick(self.now, &delegation.id, reason);
            }
        }
    }

    fn note_readable_again(&mut self, delegation: &Delegation) {
        let readable = self
            .trip
            .wanted_effect(&delegation.id)
            .is_some_and(|e| matches!(e.verdict, Verdict::Present | Verdict::Absent));
        if readable {
            self.unstick_verdict(&delegation.id);
        }
    }

    /// What the reads since the end was seen amount to.
    fn records(&self, delegation: &Delegation) -> Records {
        let Some(effect) = self.trip.wanted_effect(&delegation.id) else { return Records::Unread };
        let since = delegation.ended_at.unwrap_or(delegation.created_at);
        let settle = self.settle(&delegation.step);
        let limit = self.world.waits.unknown_verdict;
        match (read_since(effect, since), effect.verdict) {
            (false, _) | (_, Verdict::Expected) => Records::Unread,
            (_, Verdict::Present) if effect.settled_present(since, settle) => Records::SettledPresent,
            (_, Verdict::Present) => Records::Present,
            (_, Verdict::Absent | Verdict::SettledAbsent | Verdict::Undone)
                if effect.settled_absent(since, settle) =>
            {
                Records::SettledAbsent
            }
            // Undone while it was stuck: what ended since may have booked again.
            (_, Verdict::Absent | Verdict::SettledAbsent | Verdict::Undone) => Records::Absent,
            (_, Verdict::Unknown) => {
                let from = effect.unknown_since.unwrap_or(since).max(since);
                if self.now >= from + limit { Records::UnknownTooLong } else { Records::Unknown }
            }
        }
    }

    fn stands(&mut self, delegation: &Delegation, ended: EndedAs, outcome: Outcome) {
        let has_effect = self.trip.has_effect(delegation);
        let why = match (has_effect, outcome) {
            (true, Outcome::Completed) => "The records show the booking".to_owned(),
            (true, _) => format!(
                "Booked, though the agent said {}: the records still show it at the settle time",
                ended.word()
            ),
            (false, _) => "The step makes no booking, so the agent's word counts".to_owned(),
        };
        if outcome == Outcome::Rejected {
            self.learn(&delegation.agent, Fact::RejectsTruthfully, false);
        }
        self.close_delegation(&delegation.id, outcome, &why);
        if self.trip.is_ending() {
            return;
        }
        if let Some(step) =
            self.trip.steps.iter_mut().find(|s| s.name == delegation.step && s.standing == Standing::Open)
        {
            step.standing = Standing::Done;
            let title = self.trip.step_title(&delegation.step);
            let marked = if outcome == Outcome::Completed { "" } else { ", booked though the agent failed" };
            self.tell_step(
                Some(&delegation.step),
                "step_done",
                &format!("{title}: done{marked}"),
                Some(&why),
            );
        }
    }

    fn nothing(&mut self, delegation: &Delegation, ended: EndedAs, outcome: Outcome) {
        let said =
            delegation.claim.clone().unwrap_or_else(|| format!("it said {} without a reason", ended.word()));
        self.set_failure(&delegation.id, &said);
        let why = match outcome {
            Outcome::FalseClaim => {
                "The agent said COMPLETED and the records show nothing over the settle time"
            }
            Outcome::Rejected => "The agent rejected it and the records show nothing",
            _ => "The records show nothing over the settle time",
        };
        if self.trip.wanted_effect(&delegation.id).is_some_and(|e| {
            e.settled_absent(delegation.ended_at.unwrap_or_default(), self.settle(&delegation.step))
        }) {
            self.settle_absent(&delegation.id);
        }
        self.close_delegation(&delegation.id, outcome, why);
    }
}

fn read_since(effect: &Effect, since: Millis) -> bool {
    effect.checked_at.is_some_and(|at| at >= since)
}
