//! Lists that lie by omission: pages, tokens, filters and histories.

use crate::control::{CITYCAR, FLIGHTS, HOTELS, METROCAR, Play, attempts, is_done, newest};
use domain::view::TripState;
use futures::future::join_all;
use serde_json::{Value, json};

/// So many pages may be read for one trip until its case; a client that spins reads thousands.
const PAGES: usize = 1500;

/// F-06, F-07: the task is found over small pages, in doubled entries, in what was left out.
/// (A page boundary that moves: `a2a_client.rs`,
/// `pages_are_read_to_the_end_and_each_task_counts_once`.)
#[tokio::test(flavor = "multi_thread")]
async fn f_06_a_task_is_found_however_the_list_is_cut() {
    let lists = [
        json!([{ "fault": "unfiltered" }, { "fault": "small_pages", "size": 1 }]),
        json!([{ "fault": "unfiltered" }, { "fault": "small_pages", "size": 2 }, { "fault": "duplicate_tasks" }]),
        json!([{ "fault": "leaves_out_empty", "method": "ListTasks" }, { "fault": "list_lag", "ms": 500 }]),
        json!([{ "fault": "no_timestamps", "method": "ListTasks" }, { "fault": "exclusive_after" }]),
    ];
    join_all(lists.map(|list| async move {
        let mut play = Play::start().await;
        play.behave(FLIGHTS, json!({ "behaviour": "works", "delay_ms": 900 })).await;
        let mut faults = list.clone();
        faults.as_array_mut().expect("a list").push(json!({ "fault": "drop_after", "skip": 3, "times": 1 }));
        play.faults(FLIGHTS, faults).await;
        let mut trips = Vec::new();
        for number in 1..=4 {
            trips.push(play.trip(&["flight"]).await);
            play.until_asked(FLIGHTS, "SendMessage", number).await;
        }
        for trip in &trips {
            let view = play.done_at_once(trip, "flight").await;
            assert!(newest(&view, "flight").task_id.is_some(), "{list}: {view:#?}");
        }
        play.sound_and_worked_once(4).await;
        play.world.stop().await;
    }))
    .await;
}

/// F-07: absent fields are empty ones, so an empty list earns the resend.
#[tokio::test(flavor = "multi_thread")]
async fn f_07_an_absent_list_is_an_empty_one() {
    let mut play = Play::start().await;
    play.works(FLIGHTS).await;
    let faults = json!([
        { "fault": "leaves_out_empty", "method": "ListTasks" },
        { "fault": "drop_before", "times": 1 },
    ]);
    play.faults(FLIGHTS, faults).await;
    let trip = play.trip(&["flight"]).await;
    let view = play.done_at_once(&trip, "flight").await;
    assert_eq!(newest(&view, "flight").send_number, 2);
    play.sound(1).await;
    play.world.stop().await;
}

/// A lost request at an agent whose lists end in no sound way: nothing is earned, nothing is sent
/// again, the reason says whose fault it is, and trips elsewhere go on.
async fn earns_nothing(list: Value, reason: &str) {
    let mut play = Play::start().await;
    play.works(FLIGHTS).await;
    play.works(HOTELS).await;
    for _ in 0..2 {
        let before = play.trip(&["flight"]).await;
        play.done_at_once(&before, "flight").await;
    }
    let mut faults = list.clone();
    faults.as_array_mut().expect("a list").push(json!({ "fault": "drop_before", "times": 1 }));
    play.faults(FLIGHTS, faults).await;
    let trip = play.trip(&["flight"]).await;
    play.until_asked(FLIGHTS, "ListTasks", 1).await;
    let other = play.trip(&["hotel"]).await;
    play.done_at_once(&other, "hotel").await;
    let view = play.until(&trip, "a case", |view| view.state == TripState::NeedsSupport).await;
    let told = newest(&view, "flight").stuck_reason.clone().unwrap_or_default();
    assert!(told.contains(reason), "{list}: {told}");
    let pages = play.count(FLIGHTS, "ListTasks").await;
    assert!(pages <= PAGES, "{list}: {pages} pages");
    play.sound_and_sent_once(3).await;
    play.world.stop().await;
}

/// F-07: a full page, more tasks than it shows, and no token.
#[tokio::test(flavor = "multi_thread")]
async fn f_07_a_full_page_without_a_token_earns_nothing() {
    earns_nothing(json!([{ "fault": "unfiltered" }, { "fault": "full_page_without_token" }]), "not complete")
        .await;
}

/// F-08: tokens in a circle, the same one for ever, ever new ones. (The wire by itself:
/// `a2a_client.rs`, `pages_that_never_end_are_given_up`.)
#[tokio::test(flavor = "multi_thread")]
async fn f_08_tokens_without_end_earn_nothing() {
    let tokens = ["circular_tokens", "repeated_token", "endless_tokens"];
    join_all(tokens.map(|fault| earns_nothing(json!([{ "fault": fault }]), "list"))).await;
}

/// F-09: a history that is not all there hides our message; the booking shows that it landed.
#[tokio::test(flavor = "multi_thread")]
async fn f_09_a_message_missing_in_a_history_proves_nothing() {
    join_all(["no_history", "history_without_user"].map(|history| async move {
        let mut play = Play::stopped(false).await;
        play.behave(FLIGHTS, json!({ "behaviour": "works", "delay_ms": 1500 })).await;
        let faults = json!([
            { "fault": history }, { "fault": "swaps_context" }, { "fault": "drop_after", "times": 1 },
        ]);
        play.faults(FLIGHTS, faults).await;
        play.run().await;
        let trip = play.trip(&["flight"]).await;
        play.done_at_once(&trip, "flight").await;
        play.sound_and_worked_once(1).await;
        play.world.stop().await;
    }))
    .await;
}

/// F-09, where nothing landed: a stranger's task could be ours, so nothing is sent again.
#[tokio::test(flavor = "multi_thread")]
async fn f_09_a_stranger_in_the_list_could_be_ours() {
    let mut play = Play::stopped(false).await;
    play.works(FLIGHTS).await;
    let stranger = json!({ "body": { "jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": { "message": {
        "messageId": "a-stranger", "role": "ROLE_USER", "parts": [{ "text": "Good day" }] } } } });
    play.copy(FLIGHTS, &stranger).await;
    let standing = play.world.outside.standing().await.expect("ledgers").len();
    let faults = json!([
        { "fault": "no_history" }, { "fault": "swaps_context" }, { "fault": "drop_before", "times": 1 },
    ]);
    play.faults(FLIGHTS, faults).await;
    play.run().await;
    let trip = play.trip(&["flight"]).await;
    let view = play.until(&trip, "a case", |view| view.state == TripState::NeedsSupport).await;
    let told = newest(&view, "flight").stuck_reason.clone().unwrap_or_default();
    assert!(told.contains("could be ours") || told.contains("proves nothing"), "{told}");
    let sent = play.asked(FLIGHTS, "SendMessage").await;
    assert_eq!(sent.len(), 2, "the stranger's and ours, once: {sent:#?}");
    assert_eq!(play.world.violations().await, Vec::<String>::new());
    assert_eq!(play.world.outside.standing().await.expect("ledgers").len(), standing);
    play.world.stop().await;
}

/// F-10: another worker answers now and then; any hit wins.
#[tokio::test(flavor = "multi_thread")]
async fn f_10_one_not_found_decides_nothing() {
    let mut play = Play::start().await;
    play.behave(FLIGHTS, json!({ "behaviour": "works", "delay_ms": 3000 })).await;
    let faults = json!([
        { "fault": "unsupported", "method": "SubscribeToTask" },
        { "fault": "not_found", "times": 1 },
        { "fault": "not_found", "skip": 2, "times": 1 },
        { "fault": "not_found", "skip": 3, "times": 1 },
    ]);
    play.faults(FLIGHTS, faults).await;
    let trip = play.trip(&["flight"]).await;
    let view = play.done_at_once(&trip, "flight").await;
    assert_eq!(newest(&view, "flight").remote_state.as_deref(), Some("COMPLETED"));
    play.sound_and_worked_once(1).await;
    play.world.stop().await;
}

/// F-10: the agent forgot the task for good; its booking is adopted.
#[tokio::test(flavor = "multi_thread")]
async fn f_10_a_forgotten_task_with_a_booking_is_adopted() {
    let mut play = Play::start().await;
    play.behave(FLIGHTS, json!({ "behaviour": "books_then_forgets", "delay_ms": 300 })).await;
    let trip = play.trip(&["flight"]).await;
    play.done_at_once(&trip, "flight").await;
    play.sound_and_worked_once(1).await;
    play.world.stop().await;
}

/// F-10: the agent forgot a task that booked nothing: another agent is asked.
#[tokio::test(flavor = "multi_thread")]
async fn f_10_a_forgotten_task_without_a_booking_goes_to_another_agent() {
    let mut play = Play::start().await;
    play.behave(CITYCAR, json!({ "behaviour": "goes_quiet" })).await;
    play.works(METROCAR).await;
    let trip = play.trip(&["car"]).await;
    let at_work = |view: &domain::view::TripView| {
        attempts(view, "car").iter().any(|a| a.remote_state.as_deref() == Some("WORKING"))
    };
    play.until(&trip, "work", at_work).await;
    play.post(&format!("/agents/{CITYCAR}/forget"), json!({})).await;
    let view = play.done(&trip).await;
    assert!(is_done(&view, "car"), "{view:#?}");
    let outcomes: Vec<_> = attempts(&view, "car").iter().map(|a| a.outcome.as_deref()).collect();
    assert_eq!(outcomes, [Some("lost"), Some("completed")]);
    play.sound_and_worked_once(1).await;
    play.world.stop().await;
}

/// F-10: the agent hides a task that works on and books: the next agent is asked meanwhile, and
/// the late booking is undone.
#[tokio::test(flavor = "multi_thread")]
async fn f_10_a_task_that_was_only_hidden_books_once_in_the_end() {
    let mut play = Play::start().await;
    let slow = json!({ "behaviour": "works", "delay_ms": 5000 });
    play.behave(CITYCAR, slow.clone()).await;
    play.behave(METROCAR, slow).await;
    let hidden = json!([{ "fault": "not_found" }, { "fault": "unsupported", "method": "SubscribeToTask" }]);
    play.faults(CITYCAR, hidden).await;
    let trip = play.trip(&["car"]).await;
    let view = play.done(&trip).await;
    assert_eq!(newest(&view, "car").outcome.as_deref(), Some("completed"), "{view:#?}");
    assert!(attempts(&view, "car").len() <= 2, "{view:#?}");
    play.sound_and_worked_once(1).await;
    play.world.stop().await;
}
