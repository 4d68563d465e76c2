//! Follows a task's stream (DESIGN.md §5, Following). A follower writes nothing: it hands what it
//! saw to the loop. The end of a stream says nothing; GetTask decides.

use super::look::get_task;
use super::{Outcome, Work};
use crate::a2a::{Applied, Followed, StreamItem};
use crate::hints::Nudge;
use domain::failure::FailureClass;
use domain::ids::{DelegationId, TaskId};
use domain::seen::{Source, What};
use domain::task::Snapshot;
use domain::time::Span;
use futures::StreamExt as _;
use serde_json::json;
use tokio::sync::mpsc;

/// So many drops in a row, and polling alone goes on.
const DROPS: u32 = 8;
/// The longest wait before a reconnect.
const LONGEST: Span = Span::seconds(30);

/// So many refusals of the stream of a task that is read back as live mean that there is none.
const REFUSALS: u32 = 2;

/// Follows until the task ends, the stream is given up, or the runner has gone.
pub(crate) async fn follow(work: Work, delegation: DelegationId, task: TaskId, runner: mpsc::Sender<Nudge>) {
    let (mut drops, mut refusals) = (0_u32, 0_u32);
    while drops < DROPS {
        let end = follow_once(&work, &delegation, &task, &runner).await;
        // Whatever the stream said at its end: GetTask decides.
        let read = get_task(&work, &delegation, &task).await;
        let (over, live) = (is_over(&read), snapshot_of(&read).is_some());
        if hand_over(&runner, read).await.is_err() || over {
            return;
        }
        (drops, refusals) = match end {
            End::RunnerGone => return,
            End::Refused => (drops + 1, refusals + u32::from(live)),
            // Something new came after the snapshot: only that resets the count (F-14).
            End::Dropped { progressed: true } => (1, 0),
            End::Dropped { progressed: false } => (drops + 1, 0),
        };
        if refusals >= REFUSALS {
            let seen = work.seen(What::NoStream { delegation });
            // Gone or not, there is nothing more to follow.
            let _ = hand_over(&runner, Outcome { seen: vec![seen], ..Outcome::default() }).await;
            return;
        }
        let wait = Span((1000_i64 << drops.min(10)).min(LONGEST.0));
        tokio::time::sleep(crate::clock::full_jitter(wait).to_std()).await;
    }
}

enum End {
    RunnerGone,
    /// The agent says that there is no stream of this task.
    Refused,
    Dropped {
        progressed: bool,
    },
}

async fn follow_once(work: &Work, id: &DelegationId, task: &TaskId, runner: &mpsc::Sender<Nudge>) -> End {
    let dropped = |progressed| End::Dropped { progressed };
    let Some(agent) = work.trip.delegation(id).map(|d| d.agent.clone()) else { return End::RunnerGone };
    let Ok(target) = work.target(&agent).await else { return dropped(false) };
    let idle = work.inner.waits.stream_idle.to_std();
    work.boundary("follow.before", &work.step(id)).await;
    let mut stream = match work.inner.agents.subscribe(&target, task, idle).await {
        Ok(stream) => stream,
        // The same word as an event would be: with or without framing (F-12).
        Err(failure) if failure.class == FailureClass::Capability => return End::Refused,
        Err(_) => return dropped(false),
    };
    let mut followed = Followed::default();
    while let Some(item) = stream.next().await {
        let outcome = match (&item, followed.apply(&item)) {
            // A silent stream, or an update to what was not seen: read, then go on.
            (StreamItem::Idle, _) | (_, Applied::NeedsSnapshot | Applied::Contradiction) => {
                let read = get_task(work, id, task).await;
                if let (None, Some(snapshot)) = (&followed.snapshot, snapshot_of(&read)) {
                    followed = Followed::from_snapshot(snapshot);
                }
                read
            }
            (_, Applied::Replaced | Applied::Changed) => match &followed.snapshot {
                Some(snapshot) => seen_on_stream(work, id, snapshot),
                None => continue,
            },
            (StreamItem::Refused(failure), _) if failure.class == FailureClass::Capability => {
                return End::Refused;
            }
            (StreamItem::Refused(_) | StreamItem::Ended | StreamItem::Broken(_), _) => break,
            (_, Applied::Nothing) => continue,
        };
        if hand_over(runner, outcome).await.is_err() {
            return End::RunnerGone;
        }
    }
    dropped(followed.progressed)
}

fn seen_on_stream(work: &Work, id: &DelegationId, snapshot: &Snapshot) -> Outcome {
    let kept = json!({ "task": snapshot });
    let what = What::Task {
        delegation: id.clone(),
        task: snapshot.task_id.clone(),
        source: Source::Stream,
        answer: Ok(snapshot.clone()),
    };
    Outcome {
        reads: vec![work.read(id.as_str(), "subscribe", &kept)],
        seen: vec![work.seen(what)],
        look: None,
    }
}

fn snapshot_of(outcome: &Outcome) -> Option<Snapshot> {
    outcome.seen.iter().find_map(|seen| match &seen.what {
        What::Task { answer: Ok(snapshot), .. } => Some(snapshot.clone()),
        _ => None,
    })
}

/// Nothing more is to be followed: the task has ended or waits for a person.
fn is_over(outcome: &Outcome) -> bool {
    snapshot_of(outcome).is_some_and(|s| s.state.is_terminal() || s.state.is_interrupted())
}

async fn hand_over(runner: &mpsc::Sender<Nudge>, outcome: Outcome) -> Result<(), ()> {
    runner.send(Nudge::Seen(Box::new(outcome))).await.map_err(|_| ())
}
