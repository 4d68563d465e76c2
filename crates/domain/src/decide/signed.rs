//! What support signed for: the one way out of a row that no rule may decide.

use super::Pass;
use crate::delegation::{Delegation, Outcome, Signed, SignedOutcome};
use crate::effect::Verdict;
use crate::outbox::SendState;
use crate::trip::Standing;

impl Pass<'_> {
    pub(super) fn signed(&mut self) {
        for id in self.delegation_ids() {
            let Some(delegation) = self.trip.delegation(&id).cloned() else { continue };
            let Some(signed) = delegation.signed.clone().filter(|_| delegation.is_open()) else { continue };
            self.settle_messages(&delegation);
            match &signed.outcome {
                SignedOutcome::NotBooked => self.signed_not_booked(&delegation, &signed),
                SignedOutcome::Booked { booking_system, confirmation } => {
                    self.signed_booked(&delegation, &signed, booking_system, confirmation);
                }
            }
        }
    }

    /// The fate of what was sent is as the person says; nothing of it is sent again.
    fn settle_messages(&mut self, delegation: &Delegation) {
        for message in self.trip.outbox.iter_mut().filter(|m| m.delegation == delegation.id) {
            if !message.state.is_settled() {
                message.state = SendState::Refused;
                message.note = Some("support has signed for the outcome".to_owned());
            }
        }
    }

    fn signed_not_booked(&mut self, delegation: &Delegation, signed: &Signed) {
        for effect in self.trip.effects.iter_mut().filter(|e| e.delegation == delegation.id && !e.ghost) {
            effect.verdict = Verdict::SettledAbsent;
        }
        self.set_failure(&delegation.id, "support found that nothing was booked");
        let outcome = if delegation.task_id.is_some() { Outcome::Lost } else { Outcome::NeverLanded };
        self.close_delegation(&delegation.id, outcome, &reason(signed));
    }

    fn signed_booked(&mut self, delegation: &Delegation, signed: &Signed, system: &str, confirmation: &str) {
        let now = self.now;
        for effect in self.trip.effects.iter_mut().filter(|e| e.delegation == delegation.id && !e.ghost) {
            effect.booking_system = Some(system.to_owned());
            effect.confirmation = Some(confirmation.to_owned());
            effect.verdict = Verdict::Present;
            effect.verified_at.get_or_insert(now);
        }
        self.close_delegation(&delegation.id, Outcome::Completed, &reason(signed));
        if !self.trip.is_ending() {
            self.set_standing(&delegation.step, Standing::Done);
            let what = format!("{}: done, as signed for", self.trip.step_title(&delegation.step));
            self.tell_step(Some(&delegation.step), "step_done", &what, Some(&reason(signed)));
        }
    }
}

fn reason(signed: &Signed) -> String {
    format!("Signed for by {}: {}", signed.by, super::brief(&signed.evidence, 300))
}
