//! Crash points (DESIGN.md §15): the engine is dropped at its n-th boundary, for every n of a
//! story, the journal is opened again, and everything must still come to the right end.

use domain::ids::TripId;
use domain::view::{TripState, TripView};
use engine::commands::Answer;
use engine::crash_point::{CrashPoints, Stop};
use futures::StreamExt as _;
use std::sync::Arc;
use testkit::{Kind, World};

/// What a traveller does in a story: answers whatever is asked, by the step that it is about.
#[derive(Clone, Copy)]
struct Story {
    name: &'static str,
    steps: &'static [&'static str],
    answers: &'static [(&'static str, &'static str)],
    end: TripState,
}

const WORKED_EXAMPLE: Story = Story {
    name: "the worked example",
    steps: &["flight", "hotel", "car"],
    answers: &[("hotel", "two"), ("car", "cancel_trip")],
    end: TripState::Cancelled,
};

/// Answers open questions until the trip is closed or the engine stands still.
async fn live(
    world: &World,
    trip: &TripId,
    story: Story,
    stop: Option<&Arc<Stop>>,
    at: &str,
) -> Option<TripView> {
    let stopped = async {
        match stop {
            Some(stop) => stop.stopped().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = stopped => None,
        view = answer_all(world, trip, story, at) => Some(view),
    }
}

async fn answer_all(world: &World, trip: &TripId, story: Story, at: &str) -> TripView {
    testkit::wait::until(&format!("the end of {at}"), || async {
        let view = world.view(trip).await;
        for question in view.questions.iter().filter(|q| q.state == "open") {
            let answer = story.answers.iter().find(|(step, _)| *step == question.step);
            let value = answer.map_or("go_on", |(_, value)| *value).to_owned();
            // It may have been withdrawn since it was read.
            let _ = world
                .engine
                .answer(&world.traveller, &question.id.as_str().into(), &Answer::Choice(value))
                .await;
        }
        if view.state.is_closed() { Ok(view) } else { Err(view) }
    })
    .await
}

/// No agent works twice for one message, no booking stands that is not wanted, and every rule holds.
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

async fn sweep(kind: Kind, story: Story, stride: usize) {
    let counting = Stop::at(i64::MAX);
    run_once(kind, story, &counting, "undisturbed").await;
    let boundaries = counting.reached();
    let crashes = (1..=boundaries).step_by(stride).map(|n| async move {
        let at = format!("{}, crash at boundary {n} of {boundaries} on {kind:?}", story.name);
        run_once(kind, story, &Stop::at(n), &at).await;
    });
    let swept = futures::stream::iter(crashes).buffer_unordered(AT_ONCE).count().await;
    println!("crash points: {swept} of {} on {kind:?}", story.name);
}

async fn run_once(kind: Kind, story: Story, stop: &Arc<Stop>, at: &str) {
    let mut world = World::start(kind).await.expect("a world");
    quick(&world).await;
    world.run(CrashPoints::stopping(stop.clone())).await.expect("a loop");
    let trip = world.new_trip(story.steps).await.expect("a trip");
    let view = match live(&world, &trip, story, Some(stop), at).await {
        Some(view) => view,
        None => {
            world.crash().await;
            world.run(CrashPoints::default()).await.expect("a loop again");
            live(&world, &trip, story, None, at).await.expect("an end")
        }
    };
    assert_sound(&world, &view, story, at).await;
    world.crash().await;
}

/// The demo's agents as they are, but fast.
async fn quick(world: &World) {
    for (agent, behaviour) in [
        ("skylark-flights", "works"),
        ("harbour-hotels", "asks"),
        ("citycar", "rejects"),
        ("metrocar", "fails"),
    ] {
        let body = serde_json::json!({ "behaviour": behaviour, "delay_ms": 60 });
        world.outside.behave(agent, body).await.expect("a behaviour");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn worked_example_survives_a_crash_at_every_boundary_on_sqlite() {
    sweep(Kind::Sqlite, WORKED_EXAMPLE, 1).await;
}
