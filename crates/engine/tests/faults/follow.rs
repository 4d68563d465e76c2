//! Following: errors where a stream was expected, streams that end at the wrong time, and framing.
//!
//! F-12 on the wire: `a2a_client.rs`, `an_error_in_place_of_a_stream_is_that_error`. F-17: the
//! target `storm`.

use crate::control::{FLIGHTS, HOTELS, Play, newest, tells};
use engine::commands::Answer;
use futures::future::join_all;
use serde_json::json;

/// F-12, F-13: the typed error without framing, twice on a live task: there is no stream, and the
/// next delegation knows it.
#[tokio::test(flavor = "multi_thread")]
async fn f_12_an_error_without_framing_says_that_there_is_no_stream() {
    let mut play = Play::start().await;
    play.behave(FLIGHTS, json!({ "behaviour": "goes_quiet" })).await;
    play.faults(FLIGHTS, json!([{ "fault": "unsupported", "method": "SubscribeToTask" }])).await;
    let trip = play.trip(&["flight"]).await;
    play.until_asked(FLIGHTS, "SubscribeToTask", 2).await;
    play.until_asked(FLIGHTS, "GetTask", 8).await;
    let second = play.trip(&["flight"]).await;
    play.until(&second, "work", |view| newest_state(view).is_some_and(|state| state == "WORKING")).await;
    let read = play.asked(FLIGHTS, "GetTask").await.len();
    play.until_asked(FLIGHTS, "GetTask", read + 4).await;
    assert_eq!(play.asked(FLIGHTS, "SubscribeToTask").await.len(), 2, "polling goes on alone");
    assert_eq!(newest(&play.world.view(&trip).await, "flight").remote_state.as_deref(), Some("WORKING"));
    play.sound_and_sent_once(0).await;
    play.world.stop().await;
}

fn newest_state(view: &domain::view::TripView) -> Option<&str> {
    view.steps[0].delegations.last()?.remote_state.as_deref()
}

/// So many subscriptions to one task are a backoff; a hot loop makes hundreds.
const SUBSCRIPTIONS: usize = 10;

async fn artifacts(play: &Play) -> i64 {
    let pool = sqlx::AnyPool::connect(&play.world.database.url).await.expect("the journal");
    sqlx::query_scalar("SELECT COUNT(*) FROM artifacts").fetch_one(&pool).await.expect("a count")
}

/// F-11: the stream breaks after each first event, a question and an artifact come meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn f_11_what_came_while_we_were_away_is_in_the_snapshot() {
    let mut play = Play::start().await;
    play.behave(HOTELS, json!({ "behaviour": "asks", "delay_ms": 400 })).await;
    let faults = json!([{ "fault": "reset_mid_answer", "method": "SubscribeToTask", "size": 1 }]);
    play.faults(HOTELS, faults).await;
    let trip = play.trip(&["hotel"]).await;
    play.world.answer(&trip, "hotel", Answer::Choice("two".to_owned())).await;
    let view = play.done_at_once(&trip, "hotel").await;
    assert_eq!(view.questions.len(), 1, "asked once: {view:#?}");
    assert_eq!(artifacts(&play).await, 1);
    play.sound_and_worked_once(1).await;
    play.world.stop().await;
}

/// F-11: a stream that does not begin with the task.
#[tokio::test(flavor = "multi_thread")]
async fn f_11_a_stream_without_a_snapshot_is_read_by_get_task_first() {
    let mut play = Play::start().await;
    play.behave(FLIGHTS, json!({ "behaviour": "works", "delay_ms": 900 })).await;
    play.faults(FLIGHTS, json!([{ "fault": "no_snapshot" }])).await;
    let trip = play.trip(&["flight"]).await;
    play.done_at_once(&trip, "flight").await;
    assert!(play.count(FLIGHTS, "GetTask").await >= 1);
    assert_eq!(artifacts(&play).await, 1);
    play.sound_and_worked_once(1).await;
    play.world.stop().await;
}

/// F-13: "unsupported", because it was over by the time we came: nothing is remembered of it.
#[tokio::test(flavor = "multi_thread")]
async fn f_13_unsupported_at_a_task_that_is_over_is_not_remembered() {
    let mut play = Play::start().await;
    play.behave(FLIGHTS, json!({ "behaviour": "works", "delay_ms": 0 })).await;
    // The answer says what was so before it was held up.
    let faults = json!([
        { "fault": "unsupported", "method": "SubscribeToTask", "times": 2 },
        { "fault": "slow", "ms": 400, "times": 2 },
    ]);
    play.faults(FLIGHTS, faults).await;
    for _ in 0..2 {
        let over = play.trip(&["flight"]).await;
        play.done_at_once(&over, "flight").await;
    }
    let before = play.count(FLIGHTS, "SubscribeToTask").await;
    play.behave(FLIGHTS, json!({ "behaviour": "works", "delay_ms": 900 })).await;
    play.faults(FLIGHTS, json!([])).await;
    let next = play.trip(&["flight"]).await;
    play.done_at_once(&next, "flight").await;
    assert!(play.count(FLIGHTS, "SubscribeToTask").await > before, "the next task is streamed");
    play.sound_and_worked_once(3).await;
    play.world.stop().await;
}

/// F-14: a stream that ends well, or says nothing for ever, says nothing about the task.
async fn ends_by_get_task(fault: serde_json::Value) {
    let mut play = Play::start().await;
    play.behave(FLIGHTS, json!({ "behaviour": "works", "delay_ms": 4000 })).await;
    play.faults(FLIGHTS, json!([fault])).await;
    let trip = play.trip(&["flight"]).await;
    play.done_at_once(&trip, "flight").await;
    let subscribed = play.count(FLIGHTS, "SubscribeToTask").await;
    assert!((1..=SUBSCRIPTIONS).contains(&subscribed), "{fault}: {subscribed} subscriptions");
    play.sound_and_worked_once(1).await;
    play.world.stop().await;
}

/// F-14: (a) EOF after the snapshot, (b) EOF without an event, (c) open and silent, and open
/// still after the last word. F-15: junk is a drop and never skipped.
#[tokio::test(flavor = "multi_thread")]
async fn f_14_the_end_of_a_stream_says_nothing() {
    let faults = [
        json!({ "fault": "stream_ends_early" }),
        json!({ "fault": "stream_ends_early", "size": 0 }),
        json!({ "fault": "quiet_stream", "size": 1 }),
        json!({ "fault": "stream_stays_open" }),
        json!({ "fault": "junk_event" }),
    ];
    join_all(faults.map(ends_by_get_task)).await;
}

/// F-15: the same end, over one stream each, whatever the framing.
#[tokio::test(flavor = "multi_thread")]
async fn f_15_every_legal_framing_is_read() {
    let alone = [
        "sse_crlf",
        "sse_cr",
        "sse_bom",
        "sse_comments",
        "sse_multi_line",
        "sse_no_space",
        "sse_fields",
        "sse_no_final_blank",
        "sse_bytewise",
        "unknown_event",
        "duplicate_events",
        "unknown_fields",
    ];
    let mut framings: Vec<Vec<&str>> = alone.iter().map(|name| vec![*name]).collect();
    framings.push(vec![
        "sse_crlf",
        "sse_bytewise",
        "sse_bom",
        "sse_multi_line",
        "sse_comments",
        "sse_fields",
    ]);
    framings.push(vec!["sse_cr", "sse_bytewise", "sse_no_space", "sse_no_final_blank", "unknown_event"]);
    join_all(framings.chunks(4).map(each_over_one_stream)).await;
}

/// A trip for each framing, one after the other, at one agent.
async fn each_over_one_stream(framings: &[Vec<&str>]) {
    let mut play = Play::start().await;
    play.behave(FLIGHTS, json!({ "behaviour": "works", "delay_ms": 700 })).await;
    for (number, framing) in framings.iter().enumerate() {
        let faults: Vec<_> =
            framing.iter().map(|name| json!({ "fault": name, "method": "stream" })).collect();
        play.faults(FLIGHTS, faults.into()).await;
        let trip = play.trip(&["flight"]).await;
        play.done_at_once(&trip, "flight").await;
        let subscribed = play.count(FLIGHTS, "SubscribeToTask").await;
        assert!(subscribed <= number + 1, "{framing:?}: {subscribed} streams; one each is enough");
        play.sound_and_worked_once(number + 1).await;
    }
    play.world.stop().await;
}

/// F-16: WORKING after the last word, on the stream; and statuses without any timestamp.
#[tokio::test(flavor = "multi_thread")]
async fn f_16_a_finished_task_stays_finished() {
    let faults = [
        json!([{ "fault": "revives_in_stream" }]),
        json!([{ "fault": "no_timestamps" }]),
        json!([{ "fault": "timestamps_without_zone" }, { "fault": "duplicate_events" }]),
        json!([{ "fault": "reordered_events" }]),
    ];
    join_all(faults.map(|fault| async move {
        let mut play = Play::start().await;
        play.behave(FLIGHTS, json!({ "behaviour": "works", "delay_ms": 700 })).await;
        play.faults(FLIGHTS, fault.clone()).await;
        let trip = play.trip(&["flight"]).await;
        let view = play.done_at_once(&trip, "flight").await;
        assert_eq!(newest(&view, "flight").remote_state.as_deref(), Some("COMPLETED"), "{fault}");
        play.sound_and_worked_once(1).await;
        play.world.stop().await;
    }))
    .await;
}

/// F-16: another last word afterwards is a contradiction: kept, shown, and verified again.
#[tokio::test(flavor = "multi_thread")]
async fn f_16_another_last_word_is_shown_as_a_contradiction() {
    let mut play = Play::start().await;
    play.behave(FLIGHTS, json!({ "behaviour": "completes_after_failing", "delay_ms": 200, "late_ms": 300 }))
        .await;
    let trip = play.trip(&["flight"]).await;
    let view = play.done_at_once(&trip, "flight").await;
    if tells(&view, "FAILED") {
        assert_eq!(newest(&view, "flight").remote_state.as_deref(), Some("FAILED"), "never replaced");
    }
    assert_eq!(view.effects[0].verdict, "present", "{view:#?}");
    play.sound_and_worked_once(1).await;
    play.world.stop().await;
}
