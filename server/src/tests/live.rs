//! The live view.

use super::*;
use axum::body::BodyDataStream;
use futures::StreamExt;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(5);

async fn open(world: &World, path: &str, name: header::HeaderName, value: &str) -> BodyDataStream {
    let response = world.raw(Request::get(path).header(name, value).body(Body::empty()).unwrap()).await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()[header::CONTENT_TYPE], "text/event-stream");
    response.into_body().into_data_stream()
}

async fn next(stream: &mut BodyDataStream) -> Option<String> {
    let chunk = tokio::time::timeout(SOON, stream.next()).await.expect("an event or the end");
    chunk.map(|bytes| String::from_utf8(bytes.unwrap().to_vec()).unwrap())
}

fn view(event: &str) -> serde_json::Value {
    let data = event.lines().find_map(|line| line.strip_prefix("data: ")).expect("an event with data");
    serde_json::from_str(data).unwrap()
}

#[tokio::test]
async fn the_first_event_is_the_whole_trip_and_a_change_is_the_next() {
    let world = world().await;
    let cookie = world.sign_in("a").await;
    let trip = world.trip(&cookie).await;
    let mut stream = open(&world, &format!("{trip}/live"), header::COOKIE, &cookie).await;
    let first = next(&mut stream).await.unwrap();
    let seq = view(&first)["seq"].as_i64().unwrap();
    assert!(first.contains(&format!("id: {seq}\n")) && first.contains("retry: "), "{first}");
    assert_eq!(view(&first)["title"], "To the fjords");
    world.post(&format!("{trip}/cancel"), &cookie, &[("confirm", "yes")]).await;
    let second = next(&mut stream).await.unwrap();
    assert!(view(&second)["seq"].as_i64().unwrap() > seq);
    assert_eq!(view(&second)["can_cancel"], false);
}

#[tokio::test]
async fn streams_end_with_the_process() {
    let world = world().await;
    let cookie = world.sign_in("a").await;
    let trip = world.trip(&cookie).await;
    let token = world.token("a", Role::Traveller).await;
    let mut page = open(&world, &format!("{trip}/live"), header::COOKIE, &cookie).await;
    let bearer = format!("Bearer {token}");
    let mut program = open(&world, &format!("/api/v1{trip}/events"), header::AUTHORIZATION, &bearer).await;
    assert!(next(&mut page).await.is_some() && next(&mut program).await.is_some());
    world.end.cancel();
    assert_eq!((next(&mut page).await, next(&mut program).await), (None, None));
    assert_eq!(world.get("/readyz", "").await.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(world.get("/healthz", "").await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_stream_ends_with_its_session_and_no_other() {
    let world = world().await;
    let (mine, other) = (world.sign_in("a").await, world.sign_in("a").await);
    let trip = world.trip(&mine).await;
    let mut ends = open(&world, &format!("{trip}/live"), header::COOKIE, &mine).await;
    let mut stays = open(&world, &format!("{trip}/live"), header::COOKIE, &other).await;
    assert!(next(&mut ends).await.is_some() && next(&mut stays).await.is_some());
    world.post("/logout", &mine, &[]).await;
    assert_eq!(next(&mut ends).await, None);
    assert!(tokio::time::timeout(Duration::from_millis(300), stays.next()).await.is_err(), "still open");
}
