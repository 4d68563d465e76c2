//! Replies: an answer becomes a journaled message on the same task, one at a time, and a reply in
//! doubt is settled by the task (DESIGN.md §5).

use super::Pass;
use super::questions::Asking;
use crate::backoff::backoff;
use crate::delegation::{Delegation, StuckReason};
use crate::effect::Verdict;
use crate::ids::{DelegationId, MessageId, OutboxId};
use crate::outbox::{OutKind, OutMessage, SendState};
use crate::question::{Question, QuestionKind, QuestionState};
use serde_json::json;

/// A reply refused so often while the question stands is given up.
const REFUSALS: i64 = 8;

impl Pass<'_> {
    pub(super) fn replies(&mut self) {
        for id in self.delegation_ids() {
            let Some(delegation) = self.trip.delegation(&id).cloned() else { continue };
            if !delegation.is_open() {
                continue;
            }
            self.settle_doubtful_replies(&delegation);
            if delegation.ended.is_none() && !self.trip.is_ending() && !delegation.called_off {
                self.retry_replies(&delegation);
                self.new_replies(&delegation);
            }
        }
        if self.trip.is_ending() {
            self.drop_unsent_replies();
        }
    }

    fn replies_of(&self, id: &DelegationId) -> Vec<OutMessage> {
        self.trip.sent(id, OutKind::Reply).cloned().collect()
    }

    fn question_of(&self, reply: &OutMessage) -> Option<Question> {
        self.trip.questions.iter().find(|q| Some(&q.id) == reply.question.as_ref()).cloned()
    }

    /// §5, "a reply in doubt": its messageId in history, or the status moved on → landed. The
    /// same question, recognisable for certain, past the grace and without a booking → the same
    /// reply again. Anything less → stuck.
    fn settle_doubtful_replies(&mut self, delegation: &Delegation) {
        for reply in self.replies_of(&delegation.id) {
            if reply.state != SendState::InDoubt {
                continue;
            }
            let Some(question) = self.question_of(&reply) else { continue };
            let Some(snapshot) = self.kept_snapshot(delegation) else { continue };
            let in_history = reply.message_id.as_ref().is_some_and(|id| snapshot.history_ids.contains(id));
            if in_history || self.has_moved_on(delegation, &question) {
                self.set_landed(&reply.id);
                self.tell(
                    &delegation.id,
                    "reply_landed",
                    "The answer did reach the agent",
                    Some("Read back from the task"),
                );
                continue;
            }
            let grace_end = self.grace_end(delegation, &reply);
            let read_since = delegation.observed_at.is_some_and(|at| at >= grace_end);
            if self.now < grace_end || !read_since {
                continue;
            }
            if !self.still_asked(delegation, &question) {
                continue;
            }
            let certain = Asking::of(&snapshot).is_certainly(&Asking::read(&question.key));
            self.resend_reply(delegation, &reply, certain);
        }
    }

    fn resend_reply(&mut self, delegation: &Delegation, reply: &OutMessage, same: bool) {
        let booked = self.trip.wanted_effect(&delegation.id).is_some_and(|e| e.verdict == Verdict::Present);
        let certain = same && !booked && !self.trip.is_ending();
        if certain {
            self.permit(&reply.id);
            self.tell(
                &delegation.id,
                "resend_reply",
                "The agent still asks the same: the same answer is sent again",
                Some("Same question past the grace, no booking under the reference"),
            );
        } else if !self.trip.is_ending() {
            self.stick(self.now, &delegation.id, StuckReason::ReplyInDoubt);
        }
    }

    fn retry_replies(&mut self, delegation: &Delegation) {
        for reply in self.replies_of(&delegation.id) {
            if reply.state != SendState::NotSent || self.is_busy(&delegation.id) {
                continue;
            }
            let Some(question) = self.question_of(&reply) else { continue };
            if self.has_moved_on(delegation, &question) {
                self.give_up_reply(&reply.id, &question, "the agent no longer asks this");
            } else if reply.setbacks > REFUSALS {
                let note = reply.note.clone().unwrap_or_default();
                self.give_up_reply(
                    &reply.id,
                    &question,
                    &format!("the agent did not take the answer: {note}"),
                );
            } else if reply.retry_at.is_none_or(|at| at <= self.now)
                && self.read_since(delegation, &reply)
                && self.still_asked(delegation, &question)
            {
                self.permit(&reply.id);
            }
        }
    }

    /// The task was read after the last setback: a refusal may hide that the answer was taken, and
    /// GetTask decides.
    fn read_since(&self, delegation: &Delegation, reply: &OutMessage) -> bool {
        let Some(retry_at) = reply.retry_at else { return true };
        let waits = self.world.waits;
        let set_back = retry_at - backoff(reply.setbacks, waits.retry, waits.retry_longest);
        delegation.observed_at.is_some_and(|at| at >= set_back)
    }

    fn give_up_reply(&mut self, reply: &OutboxId, question: &Question, why: &str) {
        self.refuse_out(reply, why);
        let note = format!("Not delivered: {why}.");
        if let Some(q) = self.trip.questions.iter_mut().find(|q| q.id == question.id) {
            q.note = Some(note.clone());
        }
        if let Some(id) = &question.delegation {
            self.tell(id, "reply_given_up", &note, None);
        }
    }

    fn new_replies(&mut self, delegation: &Delegation) {
        let waiting: Vec<Question> = self
            .trip
            .questions
            .iter()
            .filter(|q| q.delegation.as_ref() == Some(&delegation.id))
            .filter(|q| q.state == QuestionState::Answered && q.kind != QuestionKind::Decision)
            .filter(|q| !self.trip.outbox.iter().any(|m| m.question.as_ref() == Some(&q.id)))
            .cloned()
            .collect();
        for question in waiting {
            if self.is_busy(&delegation.id) {
                return;
            }
            if !self.still_asked(delegation, &question) {
                continue;
            }
            let out = self.write_reply(delegation, &question);
            self.permit(&out);
            self.tell(&delegation.id, "reply_intended", "The answer is sent on the same task", None);
        }
    }

    fn write_reply(&mut self, delegation: &Delegation, question: &Question) -> OutboxId {
        let message_id = MessageId(self.ids.next_id());
        let answer = question.answer.clone().unwrap_or_default();
        let mut parts = vec![json!({ "text": answer })];
        if !question.choices.is_empty() {
            parts.push(json!({ "data": { "choice": answer } }));
        }
        let snapshot = self.kept_snapshot(delegation);
        // Every reply carries the task's own id and context (F-18).
        let context = snapshot.and_then(|s| s.context_id).or_else(|| delegation.context_id.clone());
        let mut body = json!({
            "messageId": message_id.as_str(),
            "taskId": delegation.task_id.as_ref().map(|t| t.as_str()),
            "role": "ROLE_USER",
            "parts": parts,
            "metadata": { "delegation": delegation.id.as_str() },
        });
        if let (Some(context), Some(object)) = (context, body.as_object_mut()) {
            object.insert("contextId".to_owned(), json!(context.as_str()));
        }
        let id = OutboxId(self.ids.next_id());
        let (to, body) = (delegation.id.clone(), body.to_string());
        self.trip.outbox.push(OutMessage {
            message_id: Some(message_id),
            question: Some(question.id.clone()),
            ..OutMessage::unsent(id.clone(), to, OutKind::Reply, body, self.now)
        });
        id
    }

    fn drop_unsent_replies(&mut self) {
        for message in &mut self.trip.outbox {
            if message.kind == OutKind::Reply && message.state == SendState::NotSent {
                message.state = SendState::Refused;
                message.note = Some("the trip is ending".to_owned());
            }
        }
    }
}
