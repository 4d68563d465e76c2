//! Bad input of agents: odd ids, huge and deep bodies, nulls, numbers as text, foreign contexts.
//! Each trip reaches its end, or a case with its reason, and the agent is not flooded.

use crate::control::{FLIGHTS, Play, newest};
use futures::future::join_all;
use serde_json::{Value, json};

/// So many requests for one trip are a pace; a loop that spins makes hundreds in its seconds.
const CALM: usize = 90;

/// Plays a fault on every answer to a trip's calls; returns why it is with support, if it is.
async fn plays(fault: Value) -> Option<String> {
    let mut play = Play::stopped(true).await;
    play.behave(FLIGHTS, json!({ "behaviour": "works", "delay_ms": 400 })).await;
    play.faults(FLIGHTS, json!([fault])).await;
    play.run().await;
    let trip = play.trip(&["flight"]).await;
    let (view, case) = play.done_or_case(&trip).await;
    assert_eq!(newest(&view, "flight").ordinal, 1, "{fault}: no second agent for one answer: {view:#?}");
    let asked = play.log(FLIGHTS).await.len();
    assert!(asked <= CALM, "{fault}: {asked} requests");
    play.sound_and_worked_once(1).await;
    play.world.stop().await;
    case
}

/// What changes nothing about the meaning ends in the booking.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_only_odd_ends_in_the_booking() {
    let faults = [
        json!({ "fault": "odd_ids" }),
        json!({ "fault": "odd_ids", "size": 3000 }),
        json!({ "fault": "null_lists" }),
        json!({ "fault": "numbers_as_strings" }),
        json!({ "fault": "leaves_out_empty" }),
        json!({ "fault": "unknown_fields" }),
    ];
    let cases = join_all(faults.map(plays)).await;
    assert_eq!(cases, vec![None; 6]);
}

/// What cannot be read, or lies, is got round: another read, or the booking by its reference.
#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_read_is_got_round() {
    let faults = [
        json!({ "fault": "foreign_context" }),
        json!({ "fault": "huge_body" }),
        json!({ "fault": "deep_json" }),
        json!({ "fault": "many_artifacts", "size": 20_000 }),
        json!({ "fault": "wrong_state", "state": "TASK_STATE_UNSPECIFIED", "times": 4 }),
        json!({ "fault": "wrong_state", "state": "working", "times": 4 }),
    ];
    let cases = join_all(faults.map(plays)).await;
    assert_eq!(cases, vec![None; 6]);
}

/// Two trips at once, their answers lost, at an agent that says one context for all.
#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_context_mixes_up_no_trips() {
    let mut play = Play::stopped(false).await;
    play.behave(FLIGHTS, json!({ "behaviour": "works", "delay_ms": 2500 })).await;
    play.faults(FLIGHTS, json!([{ "fault": "foreign_context" }, { "fault": "drop_after", "times": 2 }]))
        .await;
    play.run().await;
    let trips = [play.trip(&["flight"]).await, play.trip(&["flight"]).await];
    let mut tasks = Vec::new();
    for trip in &trips {
        let view = play.done_at_once(trip, "flight").await;
        tasks.push(newest(&view, "flight").task_id.clone());
    }
    assert_ne!(tasks[0], tasks[1], "each has its own task");
    play.sound_and_worked_once(2).await;
    play.world.stop().await;
}
