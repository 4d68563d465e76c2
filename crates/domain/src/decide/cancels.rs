//! CancelTask: for every live task of an ending trip, of a step past its deadline, and for ghosts.

use super::Pass;
use crate::delegation::{Delegation, StuckReason};
use crate::ids::{OutboxId, TaskId};
use crate::outbox::{OutKind, OutMessage, SendState};
use crate::question::QuestionState;
use crate::task::TaskRole;
use crate::time::{Millis, Span};

impl Pass<'_> {
    pub(super) fn cancels(&mut self) {
        for id in self.delegation_ids() {
            let Some(delegation) = self.trip.delegation(&id).cloned() else { continue };
            self.cancel_ghosts(&delegation);
            let Some(task) = delegation.task_id.clone() else { continue };
            if !delegation.is_open() || delegation.ended.is_some() {
                continue;
            }
            self.call_off_late(&delegation);
            let called_off = self.trip.delegation(&id).is_some_and(|d| d.called_off);
            if self.trip.is_ending() || called_off {
                self.cancel_task(&delegation, &task);
            }
        }
    }

    /// A second task for the same request is cancelled and read until it has ended (§5, Ghosts).
    fn cancel_ghosts(&mut self, delegation: &Delegation) {
        let live: Vec<TaskId> = self
            .trip
            .tasks
            .iter()
            .filter(|t| t.delegation == delegation.id && t.role == TaskRole::Ghost)
            .filter(|t| !t.snapshot.state.is_terminal())
            .map(|t| t.snapshot.task_id.clone())
            .collect();
        for task in live {
            self.cancel_task(delegation, &task);
        }
    }

    /// The deadline of a delegation's step; its clock stands while a question is open.
    pub(crate) fn deadline(&self, delegation: &Delegation) -> Millis {
        let seconds = self.trip.definition(&delegation.step).and_then(|s| s.deadline_seconds);
        let limit = seconds.map_or(self.world.waits.deadline, Span::seconds);
        let asked: i64 = self
            .trip
            .questions
            .iter()
            .filter(|q| q.delegation.as_ref() == Some(&delegation.id))
            .map(|q| match q.state {
                QuestionState::Open => (self.now - q.asked_at).0,
                _ => q.answered_at.or(q.left_at).map_or(0, |end| (end - q.asked_at).0),
            })
            .sum();
        delegation.created_at + limit + Span(asked.max(0))
    }

    fn call_off_late(&mut self, delegation: &Delegation) {
        let asking = self.trip.open_question(&delegation.id).is_some();
        if self.trip.is_ending() || delegation.called_off || asking || self.now < self.deadline(delegation) {
            return;
        }
        if let Some(d) = self.trip.delegation_mut(&delegation.id) {
            d.called_off = true;
        }
        self.tell(
            &delegation.id,
            "deadline",
            "Not done by the deadline: the agent is asked to stop",
            Some("The step's deadline"),
        );
    }

    fn cancel_task(&mut self, delegation: &Delegation, task: &TaskId) {
        let known = self.trip.sent(&delegation.id, OutKind::Cancel).find(|m| m.task.as_ref() == Some(task));
        let Some(cancel) = known.cloned() else {
            let out = self.write_cancel(delegation, task);
            self.permit(&out);
            let kept = delegation.task_id.as_ref() == Some(task);
            let what = if kept {
                "The agent is asked to cancel its task"
            } else {
                "The agent is asked to cancel the second task"
            };
            self.tell(&delegation.id, "cancel_intended", what, None);
            return;
        };
        if self.now >= cancel.created_at + self.world.waits.cancel_limit {
            self.stick(self.now, &delegation.id, StuckReason::CancelIgnored);
        }
        let read =
            self.trip.tasks.iter().find(|t| t.delegation == delegation.id && &t.snapshot.task_id == task);
        let read_at = read.map(|t| t.observed_at);
        let again = match cancel.state {
            SendState::NotSent => cancel.retry_at.is_none_or(|at| at <= self.now),
            // A cancel in doubt: GetTask first; not terminal → CancelTask again (§5).
            SendState::InDoubt => {
                let until = cancel.may_send_until.unwrap_or(cancel.created_at);
                self.now >= until && read_at.is_some_and(|at| at >= until)
            }
            SendState::Intent | SendState::Landed | SendState::Refused => false,
        };
        if again {
            self.permit(&cancel.id);
        }
    }

    fn write_cancel(&mut self, delegation: &Delegation, task: &TaskId) -> OutboxId {
        let id = OutboxId(self.ids.next_id());
        self.trip.outbox.push(OutMessage {
            task: Some(task.clone()),
            ..OutMessage::unsent(id.clone(), delegation.id.clone(), OutKind::Cancel, String::new(), self.now)
        });
        id
    }
}
