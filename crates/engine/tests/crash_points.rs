//! Crash points (DESIGN.md §15): the engine is dropped at its n-th boundary, for every n of a
//! story, the journal is opened again, and everything must still come to the right end. Pairs
//! crash again during the recovery.

use domain::ids::TripId;
use domain::view::{StepState, TripState, TripView};
use engine::commands::Answer;
use engine::crash_point::{CrashPoints, Stop};
use futures::StreamExt as _;
use serde_json::json;
use std::sync::Arc;
use testkit::{Kind, World};

/// What agents do and what a traveller does, and how it must end.
#[derive(Clone, Copy)]
struct Story {
    name: &'static str,
    steps: &'static [&'static str],
    behaviours: &'static [(&'static str, &'static str)],
    /// Answers by the step that is asked about.
    answers: &'static [(&'static str, &'static str)],
    /// The traveller cancels once this step is done.
    cancel_after: Option<&'static str>,
    end: TripState,
}

const WORKED_EXAMPLE: Story = Story {
    name: "the worked example",
    steps: &["flight", "hotel", "car"],
    behaviours: &[
        ("skylark-flights", "works"),
        ("harbour-hotels", "asks"),
        ("citycar", "rejects"),
        ("metrocar", "fails"),
    ],
    answers: &[("hotel", "two"), ("car", "cancel_trip")],
    cancel_after: None,
    end: TripState::Cancelled,
};

const QUESTION: Story = Story {
    name: "a question answered",
    steps: &["hotel"],
    behaviours: &[("harbour-hotels", "asks_twice")],
    answers: &[("hotel", "two")],
    cancel_after: None,
    end: TripState::Done,
};

const RE_DELEGATION: Story = Story {
    name: "a re-delegation after a claim without a booking",
    steps: &["car"],
    behaviours: &[("citycar", "claims_without_booking"), ("metrocar", "works")],
    answers: &[],
    cancel_after: None,
    end: TripState::Done,
};

const CANCEL: Story = Story {
    name: "a cancel with undo",
    steps: &["flight", "hotel"],
    behaviours: &[("skylark-flights", "works"), ("harbour-hotels", "goes_quiet")],
    answers: &[],
    cancel_after: Some("flight"),
    end: TripState::Cancelled,
};

const BOOKED_THOUGH_FAILED: Story = Story {
    name: "booked though the agent failed",
    steps: &["flight"],
    behaviours: &[("skylark-flights", "fails_after_booking")],
    answers: &[],
    cancel_after: None,
    end: TripState::Done,
};

/// Lives on until the trip is closed or the engine stands still.
async fn live(world: &World, trip: &TripId, story: Story, stop: &Arc<Stop>, at: &str) -> Option<TripView> {
    tokio::select! {
        () = stop.stopped() => None,
        view = to_the_end(world, trip, story, at) => Some(view),
    }
}

async fn to_the_end(world: &World, trip: &TripId, story: Story, at: &str) -> TripView {
    testkit::wait::until(&format!("the end of {at}"), || async {
        let view = world.view(trip).await;
        for question in view.questions.iter().filter(|q| q.state == "open") {
            let answer = story.answers.iter().find(|(step, _)| *step == question.step);
            let offered = |value: &&str| question.choices.iter().any(|c| c.value == **value);
            let answer = match (question.choices.first(), answer.map(|(_, value)| *value).filter(offered)) {
                (_, Some(value)) => Answer::Choice(value.to_owned()),
                (Some(first), None) => Answer::Choice(first.value.clone()),
                (None, None) => Answer::Text("as you think best".to_owned()),
            };
            // It may have been withdrawn since it was read.
            let _ = world.engine.answer(&world.traveller, &question.id.as_str().into(), &answer).await;
        }
        let done = |name| view.steps.iter().any(|s| s.name == name && s.state == StepState::Done);
        if view.can_cancel && story.cancel_after.is_some_and(done) {
            // It may have been closed since it was read.
            let _ = world.engine.cancel_trip(&world.traveller, trip).await;
        }
        if view.state.is_closed() { Ok(view) } else { Err(view) }
    })
    .await
}

/// No agent works twice for one message, no booking stands that is not wanted, every rule holds.
async fn assert_sound(world: &World, view: &TripView, story: Story, at: &str) {
    assert_eq!(view.state, story.end, "{at}: {view:#?}");
    assert_eq!(world.violations().await, Vec::<String>::new(), "{at}");
    for agent in ["skylark-flights", "harbour-hotels", "citycar", "metrocar"] {
        // A request that was cut off while the agent took it may be asked for again; what must
        // not happen is that the agent works twice.
        let tasks = world.outside.tasks_by_message(agent).await.expect("tasks");
        assert!(tasks.values().all(|times| *times == 1), "{at}: {agent} works twice: {tasks:?}");
    }
    let standing = world.outside.standing().await.expect("ledgers");
    let wanted = view.effects.iter().filter(|e| e.verdict == "present" && !e.ghost).count();
    assert_eq!(standing.len(), wanted, "{at}: {standing:#?}");
}

/// So many worlds live at the same time: each waits most of the time.
const AT_ONCE: usize = 12;

/// Crashes at every `stride`-th boundary, and at so many sampled pairs of boundaries.
async fn sweep(kind: Kind, story: Story, stride: usize, pairs: i64) {
    let counting = Stop::at(i64::MAX);
    run_once(kind, story, vec![counting.clone()], story.name).await;
    let boundaries = counting.reached();
    let single = (1..=boundaries).step_by(stride).map(|n| vec![n]);
    // A fixed multiplicative sequence spreads the pairs over both crashes, the same in every run.
    let paired = (1..=pairs).map(|p| vec![1 + (p * 37) % boundaries, 1 + (p * 23) % (boundaries / 2).max(1)]);
    let crashes: Vec<Vec<i64>> = single.chain(paired).collect();
    let count = crashes.len();
    futures::stream::iter(crashes)
        .map(|crash| async move {
            let at = format!("{}, crashes at {crash:?} of {boundaries} boundaries, {kind:?}", story.name);
            run_once(kind, story, crash.into_iter().map(Stop::at).collect(), &at).await;
        })
        .buffer_unordered(AT_ONCE)
        .count()
        .await;
    println!("crash points: {count} crashes of {} on {kind:?}, {pairs} of them pairs", story.name);
}

async fn run_once(kind: Kind, story: Story, stops: Vec<Arc<Stop>>, at: &str) {
    let mut world = World::start(kind).await.expect("a world");
    for (agent, behaviour) in story.behaviours {
        let body = json!({ "behaviour": behaviour, "delay_ms": 60 });
        world.outside.behave(agent, body).await.expect("a behaviour");
    }
    let mut trip = None;
    let never = Stop::at(i64::MAX);
    for stop in stops.into_iter().chain([never]) {
        world.run(CrashPoints::stopping(stop.clone())).await.expect("a loop");
        let trip = match &trip {
            Some(trip) => trip,
            None => trip.insert(world.new_trip(story.steps).await.expect("a trip")),
        };
        let end = live(&world, trip, story, &stop, at).await;
        world.crash().await;
        if let Some(view) = end {
            assert_sound(&world, &view, story, at).await;
            return;
        }
    }
    unreachable!("the last life is never stopped");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_worked_example_survives_a_crash_at_every_boundary() {
    sweep(Kind::Sqlite, WORKED_EXAMPLE, 1, 12).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_worked_example_survives_crashes_on_postgres() {
    sweep(Kind::Postgres, WORKED_EXAMPLE, 9, 4).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_answered_survives_crashes() {
    sweep(Kind::Sqlite, QUESTION, 3, 4).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_re_delegation_survives_crashes() {
    sweep(Kind::Sqlite, RE_DELEGATION, 3, 4).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_with_undo_survives_crashes() {
    sweep(Kind::Sqlite, CANCEL, 3, 4).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_booking_of_an_agent_that_failed_survives_crashes() {
    sweep(Kind::Sqlite, BOOKED_THOUGH_FAILED, 3, 4).await;
}
