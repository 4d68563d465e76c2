//! Outcomes and verification: what a last word is worth, and when "nothing there" counts.

use crate::control::{CITYCAR, FLIGHTS, METROCAR, Play, attempts, is_done, newest};
use domain::view::TripView;
use futures::future::join_all;
use serde_json::json;

/// The outcome of each attempt at the car.
fn outcomes(view: &TripView) -> Vec<Option<&str>> {
    attempts(view, "car").iter().map(|attempt| attempt.outcome.as_deref()).collect()
}

/// F-22: a failure without a booking is no empty success: the next agent is told of it.
#[tokio::test(flavor = "multi_thread")]
async fn f_22_a_failure_goes_to_the_next_agent_as_a_summary() {
    let ends = [("fails", "failed"), ("rejects", "rejected"), ("claims_without_booking", "false_claim")];
    join_all(ends.map(|(behaviour, outcome)| async move {
        let mut play = Play::start().await;
        let said = json!({ "behaviour": behaviour, "delay_ms": 60, "reason": "no car <b>left</b>" });
        play.behave(CITYCAR, said).await;
        play.works(METROCAR).await;
        let trip = play.trip(&["car"]).await;
        let view = play.done(&trip).await;
        assert_eq!(outcomes(&view), [Some(outcome), Some("completed")]);
        let told = play.asked(METROCAR, "SendMessage").await[0]["body"].to_string();
        let previous = attempts(&view, "car")[0].task_id.clone().expect("a task");
        assert!(told.contains(&previous), "{behaviour}: the next agent is told of {previous}: {told}");
        play.sound_and_worked_once(1).await;
        play.world.stop().await;
    }))
    .await;
}

/// F-22: COMPLETED without a word, and a state that nobody knows for a while.
#[tokio::test(flavor = "multi_thread")]
async fn f_22_the_state_alone_counts_and_the_records_decide() {
    let mut play = Play::start().await;
    for (number, behaviour) in ["completes_bare", "unknown_state", "replies_with_message"].iter().enumerate()
    {
        play.behave(FLIGHTS, json!({ "behaviour": behaviour, "delay_ms": 400 })).await;
        let trip = play.trip(&["flight"]).await;
        let view = play.done_at_once(&trip, "flight").await;
        assert!(view.effects.iter().all(|effect| effect.verdict == "present"), "{behaviour}: {view:#?}");
        play.sound_and_worked_once(number + 1).await;
    }
    play.world.stop().await;
}

/// F-22: an acknowledgement is no result: the step waits for the booking.
#[tokio::test(flavor = "multi_thread")]
async fn f_22_an_acknowledgement_waits_for_the_booking() {
    let mut play = Play::start().await;
    play.behave(FLIGHTS, json!({ "behaviour": "acknowledges", "delay_ms": 60, "late_ms": 3500 })).await;
    let trip = play.trip(&["flight"]).await;
    let answered = |view: &TripView| newest(view, "flight").send_state == "landed";
    let begun = |view: &TripView| !attempts(view, "flight").is_empty() && answered(view);
    let view = play.until(&trip, "the message", begun).await;
    assert!(!is_done(&view, "flight"), "{view:#?}");
    let view = play.done_at_once(&trip, "flight").await;
    assert_eq!(view.effects[0].verdict, "present");
    play.sound_and_worked_once(1).await;
    play.world.stop().await;
}

/// F-23: FAILED is a claim: a booking within the settle time is adopted.
#[tokio::test(flavor = "multi_thread")]
async fn f_23_a_booking_soon_after_a_failure_is_adopted() {
    let mut play = Play::start().await;
    play.behave(CITYCAR, json!({ "behaviour": "fails_books_late", "delay_ms": 60, "late_ms": 300 })).await;
    let trip = play.trip(&["car"]).await;
    let view = play.done_at_once(&trip, "car").await;
    assert_eq!(view.effects[0].verdict, "present");
    assert_eq!(play.count(METROCAR, "SendMessage").await, 0);
    play.sound_and_worked_once(1).await;
    play.world.stop().await;
}

/// F-23: a booking of the given-up attempt, while the next agent works, is undone.
#[tokio::test(flavor = "multi_thread")]
async fn f_23_a_booking_long_after_a_failure_is_a_ghost_and_is_undone() {
    let mut play = Play::start().await;
    play.behave(CITYCAR, json!({ "behaviour": "fails_books_late", "delay_ms": 60, "late_ms": 3500 })).await;
    play.behave(METROCAR, json!({ "behaviour": "works", "delay_ms": 6000 })).await;
    let trip = play.trip(&["car"]).await;
    let view = play.done(&trip).await;
    assert_eq!(outcomes(&view), [Some("failed"), Some("completed")]);
    let undone = view.effects.iter().filter(|effect| effect.verdict == "undone").count();
    assert_eq!(undone, 1, "{:#?}", view.effects);
    play.sound_and_worked_once(1).await;
    play.world.stop().await;
}

/// F-23: an agent that books, fails, and undoes its own booking: nothing stays, the next is asked.
#[tokio::test(flavor = "multi_thread")]
async fn f_23_an_agent_that_undoes_its_own_booking_is_not_adopted() {
    let mut play = Play::start().await;
    play.behave(CITYCAR, json!({ "behaviour": "fails_then_undoes", "delay_ms": 60, "late_ms": 300 })).await;
    play.works(METROCAR).await;
    let trip = play.trip(&["car"]).await;
    let view = play.done(&trip).await;
    assert!(is_done(&view, "car"), "{view:#?}");
    play.sound_and_worked_once(1).await;
    play.world.stop().await;
}

/// F-24: absent at first, and present within the settle time: the replica was late.
#[tokio::test(flavor = "multi_thread")]
async fn f_24_a_present_after_an_absent_wins() {
    let systems = [json!({ "lag_ms": 600 }), json!({ "lookup": "absent", "times": 1 })];
    join_all(systems.map(|system| async move {
        let mut play = Play::start().await;
        play.works(CITYCAR).await;
        play.world.outside.booking_system("citycar-records", system.clone()).await.expect("a lag");
        let trip = play.trip(&["car"]).await;
        let view = play.done_at_once(&trip, "car").await;
        assert_eq!(view.effects[0].verdict, "present", "{system}");
        assert_eq!(play.count(METROCAR, "SendMessage").await, 0, "{system}");
        play.sound_and_worked_once(1).await;
        play.world.stop().await;
    }))
    .await;
}

/// F-24, later than the definition says: another agent was asked, and the late one is undone.
#[tokio::test(flavor = "multi_thread")]
async fn f_24_a_replica_later_than_its_settle_time_books_once_in_the_end() {
    let mut play = Play::start().await;
    play.works(CITYCAR).await;
    play.behave(METROCAR, json!({ "behaviour": "works", "delay_ms": 5000 })).await;
    play.world.outside.booking_system("citycar-records", json!({ "lag_ms": 4000 })).await.expect("a lag");
    let trip = play.trip(&["car"]).await;
    let view = play.done(&trip).await;
    assert_eq!(newest(&view, "car").outcome.as_deref(), Some("completed"), "{view:#?}");
    play.sound_and_worked_once(1).await;
    play.world.stop().await;
}

/// F-24's kind: what the records say in no sound way is unknown, never absent. (Each answer by
/// itself: `booking_client.rs`.)
#[tokio::test(flavor = "multi_thread")]
async fn f_24_nonsense_in_the_records_is_never_absent() {
    let nonsense =
        ["error", "error_inside", "wrong_shape", "truncated", "html_404", "html_200", "unknown_status"];
    join_all(nonsense.map(|lookup| async move {
        let mut play = Play::start().await;
        play.works(CITYCAR).await;
        let system = json!({ "lookup": lookup, "times": 3 });
        play.world.outside.booking_system("citycar-records", system).await.expect("nonsense");
        let trip = play.trip(&["car"]).await;
        let view = play.done_at_once(&trip, "car").await;
        assert_eq!(view.effects[0].verdict, "present", "{lookup}");
        assert_eq!(play.count(METROCAR, "SendMessage").await, 0, "{lookup}");
        play.sound_and_worked_once(1).await;
        play.world.stop().await;
    }))
    .await;
}

/// F-24, the other order: what was seen present is not lost by an absent that comes after.
#[tokio::test(flavor = "multi_thread")]
async fn f_24_an_absent_after_a_present_loses_nothing() {
    let mut play = Play::start().await;
    play.behave(CITYCAR, json!({ "behaviour": "fails_after_booking", "delay_ms": 60 })).await;
    let trip = play.trip(&["car"]).await;
    let seen = |view: &TripView| view.effects.iter().any(|effect| effect.verdict == "present");
    play.until(&trip, "the booking", seen).await;
    let once = json!({ "lookup": "absent", "times": 1 });
    play.world.outside.booking_system("citycar-records", once).await.expect("an absent");
    let view = play.done_at_once(&trip, "car").await;
    assert_eq!(view.effects[0].verdict, "present");
    assert_eq!(play.count(METROCAR, "SendMessage").await, 0);
    play.sound_and_worked_once(1).await;
    play.world.stop().await;
}
