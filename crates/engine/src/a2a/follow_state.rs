//! What a stream amounts to: items applied to a snapshot (DESIGN.md §5, Following). Pure.
//!
//! Nothing here is recorded: the follower hands what it saw to the loop.

use super::client::StreamItem;
use super::limits::{Limits, cut};
use domain::ids::TaskId;
use domain::task::{Artifact, Snapshot};

/// One task as its stream shows it. One for each connection: it begins empty, so that an update
/// that comes before a snapshot asks for one instead of being laid over an older copy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Followed {
    /// The task so far.
    pub snapshot: Option<Snapshot>,
    /// Events of unknown kinds.
    pub skipped: u64,
    /// Whether something new came after the snapshot: only this resets the count of drops
    /// (faults.md F-14).
    pub progressed: bool,
}

/// What an item did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    /// The whole task was replaced.
    Replaced,
    /// Something changed.
    Changed,
    /// Nothing changed: an older update, another task's, a sign of idleness, an end.
    Nothing,
    /// An update to what we have not seen: GetTask, then go on (F-11).
    NeedsSnapshot,
    /// The task has ended, and this says otherwise. Kept out of the snapshot: the loop records
    /// it as a contradiction and verifies again (F-16).
    Contradiction,
}

impl Followed {
    /// A follower that begins with what GetTask showed.
    pub fn from_snapshot(snapshot: Snapshot) -> Self {
        Self { snapshot: Some(snapshot), ..Self::default() }
    }

    /// Applies an item, in order of arrival.
    pub fn apply(&mut self, item: &StreamItem) -> Applied {
        let applied = match item {
            StreamItem::Snapshot(new) => return self.replace(new),
            StreamItem::Status { task_id, .. } | StreamItem::Artifact { task_id, .. } => {
                match (&mut self.snapshot, task_id) {
                    (None, _) => Applied::NeedsSnapshot,
                    (Some(held), Some(id)) if held.task_id != *id => Applied::Nothing,
                    (Some(held), _) => update(held, item),
                }
            }
            StreamItem::Skipped => {
                self.skipped += 1;
                Applied::Nothing
            }
            StreamItem::Message(_)
            | StreamItem::Idle
            | StreamItem::Refused(_)
            | StreamItem::Ended
            | StreamItem::Broken(_) => Applied::Nothing,
        };
        self.progressed |= applied == Applied::Changed;
        applied
    }

    /// A snapshot replaces what we hold, whole; only a terminal state stays.
    fn replace(&mut self, new: &Snapshot) -> Applied {
        match &self.snapshot {
            Some(held) if other_task(held, &new.task_id) => Applied::Nothing,
            Some(held) if held.state.is_terminal() && held.state != new.state => Applied::Contradiction,
            _ => {
                self.snapshot = Some(new.clone());
                Applied::Replaced
            }
        }
    }
}

fn other_task(held: &Snapshot, id: &TaskId) -> bool {
    held.task_id != *id
}

fn update(held: &mut Snapshot, item: &StreamItem) -> Applied {
    match item {
        StreamItem::Status { state, timestamp, message, .. } => {
            if held.state.is_terminal() {
                let same = held.state == *state;
                return if same { Applied::Nothing } else { Applied::Contradiction };
            }
            if let (Some(new), Some(old)) = (timestamp, held.timestamp)
                && *new < old
            {
                return Applied::Nothing;
            }
            let same = held.state == *state && held.timestamp == *timestamp && held.message == *message;
            held.state = state.clone();
            held.timestamp = *timestamp;
            held.message.clone_from(message);
            if same { Applied::Nothing } else { Applied::Changed }
        }
        StreamItem::Artifact { artifact, append, .. } => add(&mut held.artifacts, artifact, *append),
        _ => Applied::Nothing,
    }
}

/// Artifacts are keyed by their ids; parts are appended only to one that we hold.
fn add(artifacts: &mut Vec<Artifact>, new: &Artifact, append: bool) -> Applied {
    let limits = Limits::default();
    let room = artifacts.len() < limits.artifacts;
    let known = artifacts.iter_mut().find(|known| known.artifact_id == new.artifact_id);
    match (known, append) {
        (Some(known), true) => {
            if !new.text.is_empty() {
                let line_end = if known.text.is_empty() { "" } else { "\n" };
                known.text = cut(&format!("{}{line_end}{}", known.text, new.text), limits.text_bytes);
            }
            let room = limits.artifacts.saturating_sub(known.data.len());
            known.data.extend(new.data.iter().take(room).cloned());
        }
        (Some(known), false) => known.clone_from(new),
        (None, true) => return Applied::NeedsSnapshot,
        (None, false) if room => artifacts.push(new.clone()),
        (None, false) => return Applied::Nothing,
    }
    Applied::Changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::task::TaskState;
    use domain::time::Millis;

    fn task(state: TaskState, at: Option<i64>) -> Snapshot {
        Snapshot {
            task_id: "T".into(),
            context_id: None,
            state,
            timestamp: at.map(Millis),
            message: None,
            artifacts: Vec::new(),
            history_ids: Vec::new(),
        }
    }

    fn status(state: TaskState, at: Option<i64>) -> StreamItem {
        StreamItem::Status {
            task_id: Some("T".into()),
            context_id: None,
            state,
            timestamp: at.map(Millis),
            message: None,
        }
    }

    fn part(id: &str, text: &str, append: bool) -> StreamItem {
        let artifact = Artifact { artifact_id: id.into(), name: None, text: text.into(), data: Vec::new() };
        StreamItem::Artifact { task_id: None, artifact, append, last_chunk: false }
    }

    #[test]
    fn an_update_is_ignored_only_if_both_stamps_exist_and_its_is_older() {
        use TaskState::{InputRequired, Working};
        for (held, new, applied) in [
            (Some(5), Some(4), Applied::Nothing),
            (Some(5), Some(5), Applied::Changed),
            (Some(5), None, Applied::Changed),
            (None, Some(1), Applied::Changed),
        ] {
            let mut followed = Followed::from_snapshot(task(Working, held));
            assert_eq!(followed.apply(&status(InputRequired, new)), applied, "{held:?} {new:?}");
        }
    }

    #[test]
    fn a_terminal_state_stays() {
        let mut followed = Followed::from_snapshot(task(TaskState::Completed, Some(1)));
        assert_eq!(followed.apply(&status(TaskState::Working, Some(9))), Applied::Contradiction);
        let canceled = StreamItem::Snapshot(task(TaskState::Canceled, Some(10)));
        assert_eq!(followed.apply(&canceled), Applied::Contradiction);
        assert_eq!(followed.apply(&part("A", "ticket", false)), Applied::Changed);
        let held = followed.snapshot.expect("held");
        assert_eq!((held.state, held.artifacts.len()), (TaskState::Completed, 1));
    }

    #[test]
    fn parts_are_appended_only_to_what_is_held_and_a_snapshot_replaces_them() {
        let mut followed = Followed::default();
        assert_eq!(followed.apply(&part("A", "1", false)), Applied::NeedsSnapshot);
        assert_eq!(followed.apply(&StreamItem::Snapshot(task(TaskState::Working, None))), Applied::Replaced);
        assert!(!followed.progressed);
        assert_eq!(followed.apply(&part("A", "1", true)), Applied::NeedsSnapshot);
        assert_eq!(followed.apply(&part("A", "1", false)), Applied::Changed);
        assert_eq!(followed.apply(&part("A", "2", true)), Applied::Changed);
        assert!(followed.progressed);
        assert_eq!(followed.snapshot.as_ref().expect("held").artifacts[0].text, "1\n2");
        followed.apply(&StreamItem::Snapshot(task(TaskState::Working, None)));
        assert_eq!(followed.snapshot.expect("held").artifacts, []);
    }

    #[test]
    fn another_tasks_update_changes_nothing() {
        let mut followed = Followed::from_snapshot(task(TaskState::Working, None));
        let other = StreamItem::Snapshot(Snapshot { task_id: "T2".into(), ..task(TaskState::Failed, None) });
        assert_eq!(followed.apply(&other), Applied::Nothing);
        assert_eq!(followed.apply(&StreamItem::Skipped), Applied::Nothing);
        assert_eq!(followed.skipped, 1);
    }
}
