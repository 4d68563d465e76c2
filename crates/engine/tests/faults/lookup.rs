//! Looking for what may have landed: agents that cannot be listed.

use crate::control::{FLIGHTS, Play, attempts, is_done, newest};
use domain::ids::TripId;
use domain::view::TripState;
use serde_json::json;

/// So many lookups in a few seconds are a pace; a loop that spins makes hundreds.
const CALM: i64 = 40;

async fn lookups(play: &Play, trip: &TripId) -> i64 {
    play.reads(trip, "lookup").await.iter().map(|(_, times)| times).sum()
}

/// F-07, F-08, their kind: no list to be had. The records are read at a pace of their own.
#[tokio::test(flavor = "multi_thread")]
async fn a_doubt_at_an_agent_without_lists_does_not_spin() {
    let mut play = Play::stopped(false).await;
    play.works(FLIGHTS).await;
    play.put(&format!("/agents/{FLIGHTS}/card"), json!({ "lists": false })).await;
    play.faults(FLIGHTS, json!([{ "fault": "drop_before", "times": 1 }])).await;
    play.run().await;
    let trip = play.trip(&["flight"]).await;
    let view = play.until(&trip, "a case", |view| view.state == TripState::NeedsSupport).await;
    let reason = newest(&view, "flight").stuck_reason.clone().unwrap_or_default();
    assert!(reason.contains("list could not be read"), "{reason}");
    let read = lookups(&play, &trip).await;
    assert!(read <= CALM, "{read} lookups until the case");
    assert_eq!(play.asked(FLIGHTS, "ListTasks").await.len(), 1, "its lack of lists is remembered");
    play.sound_and_sent_once(0).await;
    play.world.stop().await;
}

/// The last look of a trip whose request took two sends: the bookings alone where nothing lists.
#[tokio::test(flavor = "multi_thread")]
async fn the_last_look_at_an_agent_without_lists_ends() {
    let mut play = Play::stopped(true).await;
    play.works(FLIGHTS).await;
    play.world.outside.up(FLIGHTS, false).await.expect("down");
    play.put(&format!("/agents/{FLIGHTS}/card"), json!({ "lists": false })).await;
    play.run().await;
    let trip = play.trip(&["flight"]).await;
    let held = |view: &domain::view::TripView| {
        attempts(view, "flight").iter().any(|attempt| attempt.send_state == "not_sent")
    };
    play.until(&trip, "a send that did not leave", held).await;
    play.world.outside.up(FLIGHTS, true).await.expect("up");
    let view = play.done(&trip).await;
    assert!(is_done(&view, "flight"));
    assert!(newest(&view, "flight").send_number > 1);
    let read = lookups(&play, &trip).await;
    assert!(read <= CALM, "{read} lookups until the end");
    play.sound(1).await;
    play.world.stop().await;
}
