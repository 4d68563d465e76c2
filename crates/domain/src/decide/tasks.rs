//! Takes snapshots: adopts the task that was found, replaces our copy, keeps second tasks in
//! view, and notes how the agent's part ended.

use super::{Pass, brief};
use crate::delegation::{EndedAs, StuckReason};
use crate::failure::{Failure, FailureClass};
use crate::ids::{DelegationId, TaskId};
use crate::outbox::{OutKind, OutMessage, SendState};
use crate::seen::{ListScope, Listed, Source};
use crate::task::{Snapshot, TaskCopy, TaskRole, TaskState};
use crate::time::Millis;
use crate::world::Fact;

/// So many spread reads of the protocol's own TaskNotFound are believed (§5, F-10).
const NOT_FOUND_BELIEVED: i64 = 3;

impl Pass<'_> {
    pub(super) fn apply_task_read(
        &mut self,
        at: Millis,
        id: &DelegationId,
        task: &TaskId,
        _source: Source,
        answer: &Result<Snapshot, Failure>,
    ) {
        let Some(delegation) = self.trip.delegation_mut(id) else { return };
        delegation.reads.tried_at = Some(at);
        match answer {
            Ok(snapshot) => {
                delegation.reads.failed = 0;
                delegation.reads.reason = None;
                delegation.doubt.not_found_reads = 0;
                delegation.doubt.not_found_first = None;
                self.unstick_credential(id);
                self.take_read(at, id, task, snapshot);
            }
            Err(failure) => self.apply_failed_read(at, id, task, failure),
        }
    }

    /// A snapshot of the kept task, or of one that is kept in view beside it.
    pub(super) fn take_read(&mut self, at: Millis, id: &DelegationId, task: &TaskId, snapshot: &Snapshot) {
        let kept = self.trip.delegation(id).and_then(|d| d.task_id.clone());
        if kept.as_ref() == Some(task) {
            if &snapshot.task_id == task {
                self.take_snapshot(at, id, snapshot);
            }
            return;
        }
        if let Some(copy) =
            self.trip.tasks.iter_mut().find(|t| &t.delegation == id && &t.snapshot.task_id == task)
        {
            copy.snapshot = snapshot.clone();
            copy.observed_at = at;
        }
    }

    fn apply_failed_read(&mut self, at: Millis, id: &DelegationId, task: &TaskId, failure: &Failure) {
        let grace = self.trip.delegation(id).map(|d| self.world.landing_grace(&d.agent)).unwrap_or_default();
        let Some(delegation) = self.trip.delegation_mut(id) else { return };
        delegation.reads.failed += 1;
        delegation.reads.reason = Some(brief(&failure.text, 300));
        match failure.class {
            FailureClass::Credential => self.stick_credential(at, id, &brief(&failure.text, 300)),
            FailureClass::TaskNotFound if delegation.task_id.as_ref() == Some(task) => {
                delegation.doubt.not_found_reads += 1;
                let first = *delegation.doubt.not_found_first.get_or_insert(at);
                let believed = delegation.doubt.not_found_reads >= NOT_FOUND_BELIEVED && at - first >= grace;
                if believed && delegation.ended.is_none() {
                    delegation.ended = Some(EndedAs::Lost);
                    delegation.ended_at = Some(at);
                    self.tell(
                        id,
                        "task_lost",
                        "The agent does not know its task any more",
                        Some("TaskNotFound, read three times over the landing grace"),
                    );
                }
            }
            _ => {}
        }
    }

    /// Records the task that belongs to a request, and goes on from its snapshot.
    pub(super) fn adopt_task(&mut self, at: Millis, id: &DelegationId, snapshot: &Snapshot, how: &str) {
        let Some(delegation) = self.trip.delegation_mut(id) else { return };
        delegation.task_id = Some(snapshot.task_id.clone());
        let request = self.trip.request(id).map(|m| (m.id.clone(), m.state));
        if let Some((out, state)) = request
            && state != SendState::Landed
        {
            self.set_landed(&out);
        }
        self.trip.tasks.push(TaskCopy {
            delegation: id.clone(),
            role: TaskRole::Kept,
            snapshot: snapshot.clone(),
            observed_at: at,
        });
        self.unstick_doubt(id);
        let what = format!("{how}: {}", brief(snapshot.task_id.as_str(), 80));
        self.tell(id, "task_known", &what, None);
        self.take_snapshot(at, id, snapshot);
    }

    /// Replaces our copy of the kept task.
    pub(super) fn take_snapshot(&mut self, at: Millis, id: &DelegationId, snapshot: &Snapshot) {
        let Some(delegation) = self.trip.delegation(id).cloned() else { return };
        let old = self
            .trip
            .tasks
            .iter_mut()
            .find(|t| &t.delegation == id && t.snapshot.task_id == snapshot.task_id);
        let Some(copy) = old else { return };
        // A read that began before what we hold was seen may be older than it; an end never is.
        if at < copy.observed_at && !snapshot.state.is_terminal() {
            return;
        }
        let contradiction = copy.snapshot.state.is_terminal()
            && delegation.ended.is_some()
            && copy.snapshot.state != snapshot.state;
        let changed = copy.snapshot != *snapshot || delegation.remote_state.is_none();
        copy.observed_at = at;
        if contradiction {
            self.note_contradiction(at, id, snapshot);
            return;
        }
        copy.snapshot = snapshot.clone();
        self.note_progress(at, id, snapshot, changed);
    }

    fn note_contradiction(&mut self, at: Millis, id: &DelegationId, snapshot: &Snapshot) {
        let now = self.now;
        let told = self.trip.delegation(id).is_some_and(|d| d.observed_at == Some(at));
        if let Some(delegation) = self.trip.delegation_mut(id) {
            delegation.observed_at = Some(at);
            // The booking may have changed with it: the settle time begins anew (F-16).
            delegation.ended_at = Some(now);
        }
        if !told {
            let what = format!(
                "The ended task now reports {}: a contradiction, kept as a read",
                snapshot.state.word()
            );
            self.tell(id, "contradiction", &what, Some("A terminal state is never replaced"));
        }
    }

    fn note_progress(&mut self, at: Millis, id: &DelegationId, snapshot: &Snapshot, changed: bool) {
        let Some(delegation) = self.trip.delegation_mut(id) else { return };
        let before = delegation.remote_state.clone();
        delegation.observed_at = Some(at);
        delegation.status_timestamp = snapshot.timestamp;
        delegation.remote_state = Some(snapshot.state.clone());
        if changed {
            delegation.changed_at = Some(at);
        }
        // A question is told of when it is kept.
        if before.as_ref() != Some(&snapshot.state) && !snapshot.state.is_interrupted() {
            let words = snapshot.message.as_ref().map(|m| brief(&m.text, 300)).filter(|t| !t.is_empty());
            let what = match words {
                Some(words) => format!("{}: {words}", snapshot.state.word()),
                None => snapshot.state.word().to_owned(),
            };
            self.agent_said(id, "agent_state", &what);
        }
        if snapshot.state.is_terminal() {
            self.note_end(id, snapshot);
        }
    }

    fn note_end(&mut self, id: &DelegationId, snapshot: &Snapshot) {
        let now = self.now;
        let asked = self.trip.sent(id, OutKind::Cancel).any(|m| m.task.as_ref() == Some(&snapshot.task_id));
        let Some(delegation) = self.trip.delegation_mut(id) else { return };
        if delegation.ended.is_some() {
            return;
        }
        delegation.ended = Some(match snapshot.state {
            TaskState::Completed => EndedAs::Completed,
            TaskState::Rejected => EndedAs::Rejected,
            _ if delegation.called_off => EndedAs::Deadline,
            TaskState::Canceled if asked => EndedAs::CanceledByUs,
            TaskState::Canceled => EndedAs::Canceled,
            _ => EndedAs::Failed,
        });
        // A read counts from its beginning, the agent's last word at the latest from now.
        delegation.ended_at = Some(now);
        delegation.claim = claim_text(snapshot);
        delegation.claimed_confirmation = claimed_confirmation(snapshot);
        if matches!(
            delegation.stuck,
            Some(StuckReason::CancelIgnored | StuckReason::UnknownState(_) | StuckReason::ReplyInDoubt)
        ) {
            delegation.stuck = None;
            delegation.stuck_since = None;
        }
    }

    /// A task that is over settles what was sent to it: a reply or cancel in doubt no longer
    /// matters, one that did not leave is not sent any more.
    pub(super) fn settle_messages_to_ended_tasks(&mut self) {
        for place in 0..self.trip.outbox.len() {
            let message = &self.trip.outbox[place];
            if message.kind == OutKind::Request || message.state.is_settled() || !self.is_over(message) {
                continue;
            }
            let message = &mut self.trip.outbox[place];
            match message.state {
                SendState::NotSent => {
                    message.state = SendState::Refused;
                    message.note = Some("the task had ended".to_owned());
                }
                SendState::InDoubt => message.state = SendState::Landed,
                SendState::Intent | SendState::Landed | SendState::Refused => {}
            }
        }
    }

    /// Whether the task that a message was for has ended.
    fn is_over(&self, message: &OutMessage) -> bool {
        let Some(delegation) = self.trip.delegation(&message.delegation) else { return true };
        let for_kept = message.task.is_none() || message.task == delegation.task_id;
        if for_kept {
            return delegation.ended.is_some() || !delegation.is_open();
        }
        let copy = self.trip.tasks.iter().find(|t| Some(&t.snapshot.task_id) == message.task.as_ref());
        copy.is_none_or(|t| t.snapshot.state.is_terminal())
    }

    /// A second task for the same request: kept in view, its booking is found by the reference.
    pub(super) fn take_ghost_task(&mut self, at: Millis, id: &DelegationId, snapshot: &Snapshot) {
        let known =
            self.trip.tasks.iter().any(|t| &t.delegation == id && t.snapshot.task_id == snapshot.task_id);
        if known {
            return;
        }
        self.trip.tasks.push(TaskCopy {
            delegation: id.clone(),
            role: TaskRole::Ghost,
            snapshot: snapshot.clone(),
            observed_at: at,
        });
        let what =
            format!("A second task turned up for the same request: {}", brief(snapshot.task_id.as_str(), 80));
        self.tell(id, "ghost_task", &what, Some("It is cancelled, and its booking undone, if it made one"));
    }

    /// The agent answered a reply with another task: followed as part of the same attempt (F-19).
    pub(super) fn take_fork(&mut self, at: Millis, id: &DelegationId, snapshot: &Snapshot) {
        if let Some(copy) =
            self.trip.tasks.iter_mut().find(|t| &t.delegation == id && t.role == TaskRole::Kept)
        {
            copy.role = TaskRole::Fork;
        }
        if let Some(delegation) = self.trip.delegation_mut(id) {
            delegation.task_id = Some(snapshot.task_id.clone());
            delegation.remote_state = None;
        }
        self.trip.tasks.push(TaskCopy {
            delegation: id.clone(),
            role: TaskRole::Kept,
            snapshot: snapshot.clone(),
            observed_at: at,
        });
        let what = format!(
            "The agent answered with another task, which is followed now: {}",
            brief(snapshot.task_id.as_str(), 80)
        );
        self.tell(id, "fork", &what, None);
        self.take_snapshot(at, id, snapshot);
    }

    pub(super) fn apply_list(
        &mut self,
        at: Millis,
        id: &DelegationId,
        scope: ListScope,
        answer: &Result<Listed, Failure>,
    ) {
        let Some(delegation) = self.trip.delegation(id).cloned() else { return };
        match answer {
            Ok(listed) => self.take_list(at, &delegation, scope, listed),
            Err(failure) => {
                if failure.class == FailureClass::Capability {
                    self.learn(&delegation.agent, Fact::Lists, false);
                }
                if let Some(d) = self.trip.delegation_mut(id) {
                    d.reads.tried_at = Some(at);
                    d.reads.failed += 1;
                    d.reads.reason = Some(brief(&failure.text, 300));
                    d.doubt.not_counted =
                        Some(format!("the agent's list could not be read: {}", brief(&failure.text, 200)));
                }
            }
        }
    }

    fn take_list(
        &mut self,
        at: Millis,
        delegation: &crate::delegation::Delegation,
        scope: ListScope,
        listed: &Listed,
    ) {
        let id = &delegation.id;
        let hits = self.own_tasks(delegation, listed);
        if let Some(d) = self.trip.delegation_mut(id) {
            d.reads.tried_at = Some(at);
            d.reads.failed = 0;
            d.reads.reason = None;
        }
        self.unstick_credential(id);
        if let Some(first) = hits.first() {
            if delegation.task_id.is_none() {
                self.learn(&delegation.agent, Fact::AnswersWithTasks, true);
                self.adopt_task(at, id, first, "Found the agent's task by looking for it");
            }
            for other in &hits {
                let kept = self.trip.delegation(id).and_then(|d| d.task_id.clone());
                if kept.as_ref() != Some(&other.task_id) {
                    self.take_ghost_task(at, id, other);
                }
            }
        }
        match &listed.incomplete {
            Some(why) => {
                if let Some(d) = self.trip.delegation_mut(id) {
                    d.doubt.not_counted = Some(format!("the agent's list is not complete: {why}"));
                }
            }
            None => self.note_complete_look(at, id, scope, listed.strangers, hits.is_empty()),
        }
    }

    /// Tasks of ours among those listed: our contextId or our messageId. The one with most to
    /// show (ended first, then moving) comes first, then in the list's order.
    fn own_tasks(&self, delegation: &crate::delegation::Delegation, listed: &Listed) -> Vec<Snapshot> {
        let mut hits: Vec<Snapshot> = listed
            .tasks
            .iter()
            .filter(|task| {
                let context = delegation.context_id.is_some() && task.context_id == delegation.context_id;
                context || task.history_ids.contains(&delegation.message_id)
            })
            .cloned()
            .collect();
        hits.sort_by_key(|task| match task.state {
            TaskState::Completed => 0,
            TaskState::Submitted => 2,
            _ => 1,
        });
        hits
    }

    fn note_complete_look(
        &mut self,
        at: Millis,
        id: &DelegationId,
        scope: ListScope,
        strangers: i64,
        empty: bool,
    ) {
        let believed = self.look_is_sound(id, scope, strangers);
        let Some(d) = self.trip.delegation_mut(id) else { return };
        d.doubt.looked_at = Some(at);
        d.doubt.look_found_nothing = empty;
        d.doubt.not_counted = match (&believed, empty) {
            (Err(why), true) => Some(why.clone()),
            _ => None,
        };
    }
}

/// What the agent says of its end: the status message, else the first artifact's text.
fn claim_text(snapshot: &Snapshot) -> Option<String> {
    let message = snapshot.message.as_ref().map(|m| m.text.as_str()).filter(|t| !t.trim().is_empty());
    let artifact = snapshot.artifacts.iter().map(|a| a.text.as_str()).find(|t| !t.trim().is_empty());
    message.or(artifact).map(|text| brief(text, 500))
}

/// The confirmation number that the artifacts claim: a claim, never proof.
fn claimed_confirmation(snapshot: &Snapshot) -> Option<String> {
    let data = snapshot.artifacts.iter().flat_map(|a| &a.data);
    data.filter_map(|d| d.get("confirmation")?.as_str()).next().map(|text| brief(text, 100))
}
