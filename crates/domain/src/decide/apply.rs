//! Applies observations to the rows: what the outside said becomes what is recorded, and nothing
//! is decided yet. Snapshots replace, never merge; terminal states stick.

use super::{Pass, brief};
use crate::delegation::EndedAs;
use crate::failure::{Failure, FailureClass};
use crate::ids::{DelegationId, OutboxId};
use crate::outbox::{OutKind, OutMessage, SendState};
use crate::seen::{Answer, Seen, What};
use crate::task::{AgentMessage, Snapshot};
use crate::time::Millis;
use crate::world::Fact;

impl Pass<'_> {
    /// Applies one observation. One about a row that is not there changes nothing.
    pub(super) fn apply(&mut self, seen: &Seen) {
        let at = seen.at;
        match &seen.what {
            What::Sent { out, number, answer } => self.apply_sent(at, out, *number, answer),
            What::CancelSent { out, number, answer } => self.apply_cancel_sent(at, out, *number, answer),
            What::Task { delegation, task, source, answer } => {
                self.apply_task_read(at, delegation, task, *source, answer);
            }
            What::List { delegation, scope, answer } => self.apply_list(at, delegation, *scope, answer),
            What::NoStream { delegation } => {
                if let Some(agent) = self.trip.delegation(delegation).map(|d| d.agent.clone()) {
                    self.learn(&agent, Fact::Streams, false);
                }
            }
            What::Booking { delegation, reads } => self.apply_booking(at, delegation, reads),
            What::Undo { compensation, number, answer } => self.apply_undo(at, compensation, *number, answer),
        }
    }

    pub(super) fn out_mut(&mut self, id: &OutboxId) -> Option<&mut OutMessage> {
        self.trip.outbox.iter_mut().find(|m| &m.id == id)
    }

    fn apply_sent(&mut self, at: Millis, out: &OutboxId, number: i64, answer: &Answer) {
        let Some(message) = self.trip.out(out).cloned() else { return };
        if message.state.is_settled() || message.number != number {
            // Found out otherwise meanwhile; a task in a late answer is still looked at.
            if let Answer::Task(snapshot) = answer {
                self.take_answer_task(at, &message, snapshot);
            }
            return;
        }
        match answer {
            Answer::Task(snapshot) => {
                self.set_landed(out);
                self.take_answer_task(at, &message, snapshot);
            }
            Answer::Message(words) => self.apply_bare_message(at, &message, words),
            Answer::Failed(failure) if message.kind == OutKind::Request => {
                self.apply_request_failure(at, &message, failure);
            }
            Answer::Failed(failure) => self.apply_reply_failure(at, &message, failure),
        }
    }

    pub(super) fn set_landed(&mut self, out: &OutboxId) {
        if let Some(message) = self.out_mut(out) {
            message.state = SendState::Landed;
            message.setbacks = 0;
            message.retry_at = None;
            message.note = None;
        }
    }

    fn take_answer_task(&mut self, at: Millis, message: &OutMessage, snapshot: &Snapshot) {
        let Some(delegation) = self.trip.delegation(&message.delegation).cloned() else { return };
        if message.kind == OutKind::Request {
            self.learn(&delegation.agent, Fact::AnswersWithTasks, true);
            if let (Some(ours), Some(theirs)) = (&delegation.context_id, &snapshot.context_id) {
                self.learn(&delegation.agent, Fact::KeepsContextId, ours == theirs);
            }
        }
        match &delegation.task_id {
            None => self.adopt_task(at, &delegation.id, snapshot, "The agent answered with its task"),
            Some(known) if known == &snapshot.task_id => self.take_snapshot(at, &delegation.id, snapshot),
            Some(_) if message.kind == OutKind::Reply => self.take_fork(at, &delegation.id, snapshot),
            Some(_) => self.take_ghost_task(at, &delegation.id, snapshot),
        }
    }

    fn apply_bare_message(&mut self, at: Millis, message: &OutMessage, words: &AgentMessage) {
        self.set_landed(&message.id);
        let text = brief(&words.text, 500);
        self.agent_said(&message.delegation, "message_answer", &format!("Answered without a task: {text}"));
        if message.kind == OutKind::Reply {
            return;
        }
        if let Some(agent) = self.trip.delegation(&message.delegation).map(|d| d.agent.clone()) {
            self.learn(&agent, Fact::AnswersWithTasks, false);
        }
        if let Some(delegation) = self.trip.delegation_mut(&message.delegation) {
            delegation.ended = Some(EndedAs::Message);
            delegation.ended_at = Some(at);
            delegation.observed_at = Some(at);
            delegation.claim = Some(text);
        }
    }

    fn apply_request_failure(&mut self, at: Millis, message: &OutMessage, failure: &Failure) {
        let text = brief(&failure.text, 300);
        // This send did nothing; one before it, whose fate was not found out, may have.
        let never_left_before = message.number <= message.setbacks + 1;
        match &failure.class {
            FailureClass::NotSent if never_left_before => self.request_not_sent(at, message, &text),
            FailureClass::Credential if never_left_before => {
                self.request_not_sent(at, message, &text);
                self.stick_credential(at, &message.delegation, &text);
            }
            FailureClass::NotSent | FailureClass::Credential => {
                self.doubt_out(&message.id, &text);
                if failure.class == FailureClass::Credential {
                    self.stick_credential(at, &message.delegation, &text);
                }
                let what = format!("The request did not leave again: {text}");
                self.tell(&message.delegation, "not_sent", &what, None);
            }
            FailureClass::RefusedForGood if never_left_before => {
                self.refuse_out(&message.id, &text);
                self.close_refused(&message.delegation, &text);
            }
            FailureClass::RefusedForNow { retry_after } => {
                let wait = retry_after.unwrap_or(self.world.waits.retry);
                self.doubt_out(&message.id, &text);
                if let Some(delegation) = self.trip.delegation_mut(&message.delegation) {
                    delegation.doubt.not_before = Some(at + wait);
                }
                self.tell(
                    &message.delegation,
                    "refused_for_now",
                    &format!("The agent is busy: {text}"),
                    None,
                );
            }
            FailureClass::Unknown => {
                self.doubt_out(&message.id, &text);
                let what =
                    format!("No usable answer came, so the request may or may not have arrived: {text}");
                self.tell(&message.delegation, "send_in_doubt", &what, None);
            }
            FailureClass::RefusedForGood
            | FailureClass::LookFirst
            | FailureClass::Capability
            | FailureClass::TaskNotFound
            | FailureClass::State => {
                self.doubt_out(&message.id, &text);
                if let Some(delegation) = self.trip.delegation_mut(&message.delegation) {
                    delegation.doubt.refusal = Some(text.clone());
                }
                let what = format!("The agent answered with an error: {text}");
                self.tell(
                    &message.delegation,
                    "send_refused_look",
                    &what,
                    Some("A refusal may leave a task behind: look first"),
                );
            }
        }
    }

    fn request_not_sent(&mut self, at: Millis, message: &OutMessage, text: &str) {
        let first = message.setbacks == 0;
        self.set_back(at, &message.id, text);
        if first {
            let what = format!("The request did not leave: {text}");
            self.tell(&message.delegation, "not_sent", &what, None);
        }
    }

    /// Back to `not_sent`, to be tried again after a backoff, with a commit of its own.
    pub(super) fn set_back(&mut self, at: Millis, out: &OutboxId, text: &str) {
        let waits = self.world.waits;
        if let Some(message) = self.out_mut(out) {
            message.state = SendState::NotSent;
            message.setbacks += 1;
            message.note = Some(text.to_owned());
            message.retry_at =
                Some(at + crate::backoff::backoff(message.setbacks, waits.retry, waits.retry_longest));
        }
    }

    pub(super) fn refuse_out(&mut self, out: &OutboxId, text: &str) {
        if let Some(message) = self.out_mut(out) {
            message.state = SendState::Refused;
            message.note = Some(text.to_owned());
            message.retry_at = None;
        }
    }

    pub(super) fn doubt_out(&mut self, out: &OutboxId, text: &str) {
        if let Some(message) = self.out_mut(out) {
            message.state = SendState::InDoubt;
            message.note = Some(text.to_owned());
        }
    }

    pub(super) fn stick_credential(&mut self, at: Millis, delegation: &DelegationId, text: &str) {
        self.stick(at, delegation, crate::delegation::StuckReason::Credential(text.to_owned()));
    }

    fn apply_reply_failure(&mut self, at: Millis, message: &OutMessage, failure: &Failure) {
        let text = brief(&failure.text, 300);
        match &failure.class {
            FailureClass::NotSent => self.set_back(at, &message.id, &text),
            FailureClass::Credential => {
                self.set_back(at, &message.id, &text);
                self.stick_credential(at, &message.delegation, &text);
            }
            FailureClass::Unknown | FailureClass::RefusedForNow { .. } => {
                self.doubt_out(&message.id, &text);
                let what = format!("It is not known whether the answer reached the agent: {text}");
                self.tell(&message.delegation, "reply_in_doubt", &what, None);
            }
            // Any refusal of a reply: GetTask decides (§7). Nothing was taken, so it is tried
            // again while the same question stands.
            _ => {
                self.set_back(at, &message.id, &text);
                let what = format!("The agent did not take the answer yet: {text}");
                self.tell(&message.delegation, "reply_refused", &what, None);
            }
        }
    }

    fn apply_cancel_sent(
        &mut self,
        at: Millis,
        out: &OutboxId,
        number: i64,
        answer: &Result<Snapshot, Failure>,
    ) {
        let Some(message) = self.trip.out(out).cloned() else { return };
        if message.number != number || message.state.is_settled() {
            return;
        }
        match answer {
            Ok(snapshot) => {
                self.set_landed(out);
                if let Some(task) = &message.task {
                    self.take_read(at, &message.delegation, task, snapshot);
                }
            }
            Err(failure) => {
                let text = brief(&failure.text, 300);
                match failure.class {
                    FailureClass::NotSent | FailureClass::Credential | FailureClass::RefusedForNow { .. } => {
                        self.set_back(at, out, &text);
                    }
                    FailureClass::Unknown => self.doubt_out(out, &text),
                    // Already over, or purged: re-read, never "cancel failed" (§5, F-27).
                    _ => self.set_landed(out),
                }
            }
        }
    }
}
