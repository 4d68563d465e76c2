//! Sending and landing: what became of a request whose answer was not read, or read as nonsense.

use crate::control::{CITYCAR, FLIGHTS, METROCAR, Play, attempts, is_done, newest, tells};
use domain::view::{TripState, TripView};
use futures::future::join_all;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The distinct message ids of what was sent.
fn ids(sent: &[Value]) -> BTreeSet<&str> {
    sent.iter().filter_map(|request| request["message_id"].as_str()).collect()
}

/// F-01: killed after the request was taken and before its answer was read.
#[tokio::test(flavor = "multi_thread")]
async fn f_01_killed_before_the_answer_was_read_looks_first_and_adopts() {
    let mut play = Play::stopped(true).await;
    play.works(FLIGHTS).await;
    play.faults(FLIGHTS, json!([{ "fault": "hold_answer", "times": 1 }])).await;
    play.run().await;
    let trip = play.trip(&["flight"]).await;
    play.until_standing(1).await;
    play.world.crash().await;
    let before = play.log(FLIGHTS).await.len();
    play.run().await;
    let view = play.done_at_once(&trip, "flight").await;
    let log = play.log(FLIGHTS).await;
    let first = log[before]["method"].as_str().unwrap_or_default();
    assert!(["ListTasks", "GetTask"].contains(&first), "the first traffic is a read: {first}");
    assert!(newest(&view, "flight").task_id.is_some(), "{view:#?}");
    play.sound_and_sent_once(1).await;
    play.world.stop().await;
}

/// F-01, the variant: killed before the agent took the request. The grace passes, then the same
/// message goes out again. (Every boundary by itself: `crash_points.rs`.)
#[tokio::test(flavor = "multi_thread")]
async fn f_01_killed_before_the_request_was_taken_sends_the_same_message_again() {
    let mut play = Play::stopped(true).await;
    play.works(FLIGHTS).await;
    play.faults(FLIGHTS, json!([{ "fault": "hang_before", "method": "SendMessage", "times": 1 }])).await;
    play.run().await;
    let trip = play.trip(&["flight"]).await;
    play.until_asked(FLIGHTS, "SendMessage", 1).await;
    play.world.crash().await;
    let before = play.log(FLIGHTS).await.len();
    play.run().await;
    let view = play.done_at_once(&trip, "flight").await;
    // A slow machine may let the first life itself earn the first resend.
    let sends = newest(&view, "flight").send_number;
    assert!(sends >= 2, "sent {sends} times");
    assert_eq!(play.log(FLIGHTS).await[before]["method"], "ListTasks", "a look goes before the resend");
    let sent = play.asked(FLIGHTS, "SendMessage").await;
    assert_eq!(ids(&sent).len(), 1, "always the same message: {sent:#?}");
    assert!(i64::try_from(sent.len()).is_ok_and(|sent| sent <= sends), "no send without a permission");
    assert!(play.count(FLIGHTS, "ListTasks").await >= 2, "two looks earn a resend");
    play.sound(1).await;
    play.world.stop().await;
}

/// F-02: whatever a proxy says, or does not say, the work goes on and is found.
/// (`returnImmediately` on the wire: `a2a_client.rs`,
/// `a_send_carries_what_the_protocol_and_the_design_ask_for`.)
#[tokio::test(flavor = "multi_thread")]
async fn f_02_an_answer_in_the_agents_place_is_unknown_and_never_failed() {
    let answers = [
        json!({ "fault": "status_after", "status": 524, "times": 1 }),
        json!({ "fault": "status_after", "status": 504, "times": 1 }),
        json!({ "fault": "html_200", "times": 1 }),
        json!({ "fault": "drop_after", "times": 1 }),
        json!({ "fault": "hang", "times": 1 }),
        json!({ "fault": "reset_mid_answer", "method": "SendMessage", "times": 1 }),
        json!({ "fault": "truncated_json", "method": "SendMessage", "times": 1 }),
        json!({ "fault": "error_after", "code": -32603, "times": 1 }),
        json!({ "fault": "error_after", "code": -32602, "times": 1 }),
        json!({ "fault": "status_after", "status": 503, "retry_after": 1, "times": 1 }),
        json!({ "fault": "status_after", "status": 429, "retry_after": 1, "times": 1 }),
    ];
    join_all(answers.map(|answer| async move {
        let mut play = Play::start().await;
        play.behave(FLIGHTS, json!({ "behaviour": "works", "delay_ms": 900 })).await;
        play.faults(FLIGHTS, json!([answer])).await;
        let trip = play.trip(&["flight"]).await;
        let view = play.done_at_once(&trip, "flight").await;
        assert_eq!(newest(&view, "flight").send_number, 1, "{answer}");
        assert!(newest(&view, "flight").failure.is_none(), "{answer}");
        play.sound_and_sent_once(1).await;
        play.world.stop().await;
    }))
    .await;
}

/// F-03: the first copy was slow, not lost, and lands after the second.
#[tokio::test(flavor = "multi_thread")]
async fn f_03_the_copy_that_was_only_slow_is_a_ghost_and_is_undone() {
    let mut play = Play::stopped(true).await;
    play.behave(FLIGHTS, json!({ "behaviour": "works", "delay_ms": 1500 })).await;
    play.faults(FLIGHTS, json!([{ "fault": "drop_before", "times": 1 }])).await;
    play.run().await;
    let trip = play.trip(&["flight"]).await;
    let sent = play.until_asked(FLIGHTS, "SendMessage", 2).await;
    assert_eq!(ids(&sent).len(), 1, "{sent:#?}");
    play.copy(FLIGHTS, &sent[0]).await;
    let view = play.done_at_once(&trip, "flight").await;
    let made = play.world.outside.tasks_by_message(FLIGHTS).await.expect("tasks");
    assert!(made.values().eq([&2]), "the agent made two tasks of one message: {made:?}");
    assert!(tells(&view, "second task"), "{view:#?}");
    let undone = view.effects.iter().filter(|e| e.ghost && e.verdict == "undone").count();
    let ghosts = view.effects.iter().filter(|e| e.ghost).count();
    assert_eq!(undone, ghosts, "every ghost is undone: {view:#?}");
    play.sound(1).await;
    play.world.stop().await;
}

/// F-03, after the end: the copy books when the trip is closed; the watch finds and undoes it.
#[tokio::test(flavor = "multi_thread")]
async fn f_03_a_copy_that_lands_after_the_end_reopens_the_trip_and_is_undone() {
    let mut play = Play::stopped(true).await;
    play.works(FLIGHTS).await;
    play.faults(FLIGHTS, json!([{ "fault": "drop_before", "times": 1 }])).await;
    play.run().await;
    let trip = play.trip(&["flight"]).await;
    play.done_at_once(&trip, "flight").await;
    let sent = play.asked(FLIGHTS, "SendMessage").await;
    play.copy(FLIGHTS, &sent[0]).await;
    play.until_standing(2).await;
    let undone = |view: &TripView| view.effects.iter().any(|e| e.ghost && e.verdict == "undone");
    let view = play.until(&trip, "the second booking undone", undone).await;
    assert!(tells(&view, "turned up"), "{view:#?}");
    play.done(&trip).await;
    play.sound(1).await;
    play.world.stop().await;
}

/// F-03 by the wire alone: the connection breaks, the request is taken seconds later.
#[tokio::test(flavor = "multi_thread")]
async fn f_03_a_request_that_lands_late_books_once_in_the_end() {
    let mut play = Play::stopped(true).await;
    play.behave(FLIGHTS, json!({ "behaviour": "works", "delay_ms": 1500 })).await;
    play.faults(FLIGHTS, json!([{ "fault": "lands_late", "ms": 1500, "times": 1 }])).await;
    play.run().await;
    let trip = play.trip(&["flight"]).await;
    let view = play.done_at_once(&trip, "flight").await;
    assert!(newest(&view, "flight").task_id.is_some());
    play.sound(1).await;
    play.world.stop().await;
}

/// F-04 (a): our context is refused: the same message once more without it, and that is kept.
#[tokio::test(flavor = "multi_thread")]
async fn f_04_a_refused_context_is_left_out_and_remembered() {
    let mut play = Play::start().await;
    play.works(FLIGHTS).await;
    play.faults(FLIGHTS, json!([{ "fault": "refuses_context" }])).await;
    let first = play.trip(&["flight"]).await;
    let view = play.done_at_once(&first, "flight").await;
    assert_eq!(newest(&view, "flight").context_id, None);
    let sent = play.asked(FLIGHTS, "SendMessage").await;
    assert_eq!((sent.len(), ids(&sent).len()), (2, 1), "{sent:#?}");
    assert!(sent[1]["context_id"].is_null(), "{sent:#?}");
    let second = play.trip(&["flight"]).await;
    play.done_at_once(&second, "flight").await;
    let sent = play.asked(FLIGHTS, "SendMessage").await;
    assert_eq!(sent.len(), 3, "no context is tried again: {sent:#?}");
    play.sound(2).await;
    play.world.stop().await;
}

/// F-04 (b): the agent makes a context of its own, and the answer that says so is lost.
#[tokio::test(flavor = "multi_thread")]
async fn f_04_a_swapped_context_is_never_searched_by() {
    let mut play = Play::stopped(false).await;
    play.behave(FLIGHTS, json!({ "behaviour": "works", "delay_ms": 2500 })).await;
    let lost = json!([{ "fault": "swaps_context" }, { "fault": "drop_after", "times": 1 }]);
    play.faults(FLIGHTS, lost.clone()).await;
    play.run().await;
    for number in 1..=2 {
        let trip = play.trip(&["flight"]).await;
        let found = |view: &TripView| newest_task(view).is_some();
        play.until(&trip, "the task by its message", found).await;
        play.done_at_once(&trip, "flight").await;
        play.sound_and_sent_once(number).await;
        play.faults(FLIGHTS, lost.clone()).await;
    }
    play.world.stop().await;
}

fn newest_task(view: &TripView) -> Option<&str> {
    view.steps[0].delegations.last()?.task_id.as_deref()
}

/// F-05: "method not found" to a send is a refusal: nothing landed, the next agent is safe. (Card
/// and wire in other shapes: `a2a_client.rs`, `odd_but_certain_answers_are_read`.)
#[tokio::test(flavor = "multi_thread")]
async fn f_05_an_agent_that_does_not_know_the_method_has_refused() {
    let mut play = Play::start().await;
    play.works(METROCAR).await;
    play.faults(CITYCAR, json!([{ "fault": "unsupported", "method": "SendMessage", "code": -32601 }])).await;
    let trip = play.trip(&["car"]).await;
    let view = play.done(&trip).await;
    assert!(is_done(&view, "car"), "{view:#?}");
    let outcomes: Vec<_> = attempts(&view, "car").iter().map(|a| a.outcome.as_deref()).collect();
    assert_eq!(outcomes, [Some("refused"), Some("completed")]);
    assert_eq!(view.state, TripState::Done);
    play.sound_and_sent_once(1).await;
    play.world.stop().await;
}
