//! The worked example in one process, undisturbed: the shape that every crash sweep compares with.

use domain::view::{StepState, TripState};
use engine::commands::Answer;
use engine::crash_point::CrashPoints;
use testkit::{Kind, World};

#[tokio::test(flavor = "multi_thread")]
async fn the_worked_example_ends_cancelled_on_sqlite() {
    worked_example(Kind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_worked_example_ends_cancelled_on_postgres() {
    worked_example(Kind::Postgres).await;
}

async fn worked_example(kind: Kind) {
    let mut world = World::start(kind).await.expect("a world");
    world.run(CrashPoints::default()).await.expect("a loop");
    let trip = world.new_trip(&["flight", "hotel", "car"]).await.expect("a trip");
    world.answer(&trip, "hotel", Answer::Choice("two".to_owned())).await;
    world
        .until(&trip, "flight and hotel done", |view| {
            view.steps.iter().filter(|s| s.state == StepState::Done).count() == 2
        })
        .await;
    world.answer(&trip, "car", Answer::Choice("cancel_trip".to_owned())).await;
    let view = world.until(&trip, "the end", |view| view.state.is_closed()).await;
    assert_eq!(view.state, TripState::Cancelled);
    assert!(world.outside.standing().await.expect("ledgers").is_empty());
    assert_eq!(world.violations().await, Vec::<String>::new());
    world.stop().await;
}
