//! Following: errors where a stream was expected.

use crate::control::{FLIGHTS, Play, newest};
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
