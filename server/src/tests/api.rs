//! What a program meets.

use super::*;

const TRIP: &str = r#"{"workflow":"travel","title":"To the fjords","steps":["flight"],"inputs":{"origin":"Hamburg",
    "destination":"Bergen","start":"2027-03-01","end":"2027-03-08","travellers":2}}"#;

#[tokio::test]
async fn a_trip_is_made_read_and_cancelled() {
    let world = world().await;
    let token = world.token("a", Role::Traveller).await;
    let made = world.call(Method::POST, "/api/v1/trips", &token, Some(TRIP)).await;
    assert_eq!(made.status, StatusCode::CREATED, "{}", made.text);
    let path = made.location().to_owned();
    assert_eq!(path, format!("/api/v1/trips/{}", made.json()["id"].as_str().unwrap()));
    assert_eq!(world.call(Method::GET, &path, &token, None).await.json()["title"], "To the fjords");
    let preview = world.call(Method::GET, &format!("{path}/cancel-preview"), &token, None).await;
    assert_eq!(preview.status, StatusCode::OK);
    for outcome in ["recorded", "already_ending"] {
        let answer = world.call(Method::POST, &format!("{path}/cancel"), &token, None).await;
        assert_eq!((answer.status, &answer.json()["outcome"]), (StatusCode::ACCEPTED, &outcome.into()));
    }
    let other = world.token("b", Role::Traveller).await;
    for (method, path) in [
        (Method::GET, path.clone()),
        (Method::GET, format!("{path}/events")),
        (Method::GET, format!("{path}/cancel-preview")),
        (Method::POST, format!("{path}/cancel")),
    ] {
        assert_eq!(world.call(method, &path, &other, None).await.status, StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test]
async fn the_same_key_and_body_give_the_same_trip() {
    let world = world().await;
    let token = world.token("a", Role::Traveller).await;
    let send = async |body: &str, key: &str| {
        let request = Request::post("/api/v1/trips")
            .header(header::AUTHORIZATION, format!("Bearer {token}"))
            .header(header::CONTENT_TYPE, "application/json")
            .header("idempotency-key", key);
        world.send(request.body(body.to_owned().into()).unwrap()).await
    };
    let (first, second) = (send(TRIP, "k").await, send(TRIP, "k").await);
    assert_eq!(first.location(), second.location());
    assert_eq!(send(&TRIP.replace("fjords", "hills"), "k").await.status, StatusCode::CONFLICT);
    assert_eq!(send(TRIP, "").await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn every_refusal_is_a_problem_with_its_own_status() {
    let world = world().await;
    let traveller = world.token("a", Role::Traveller).await;
    let admin = world.token("admin", Role::Admin).await;
    let large = format!("\"{}\"", "x".repeat(300_000));
    let cases = [
        (Method::GET, "/api/v1/trips", "nonsense", None, 401),
        (Method::GET, "/api/v1/nowhere", &admin, None, 404),
        (Method::GET, "/api/v1/trips/unknown", &admin, None, 404),
        (Method::DELETE, "/api/v1/trips", &admin, None, 405),
        (Method::POST, "/api/v1/trips", &admin, Some("{"), 400),
        (Method::POST, "/api/v1/trips", &admin, Some(r#"{"workflow":"travel","steps":[],"x":1}"#), 422),
        (Method::POST, "/api/v1/trips", &admin, Some(large.as_str()), 413),
        (Method::POST, "/api/v1/trips", &admin, None, 415),
        (Method::POST, "/api/v1/questions/unknown/answer", &admin, Some(r#"{"text":"x"}"#), 404),
        (Method::POST, "/api/v1/agents", &traveller, Some("{}"), 403),
        (Method::POST, "/api/v1/booking-systems", &traveller, Some("{}"), 403),
        (Method::GET, "/api/v1/cases", &traveller, None, 403),
    ];
    for (method, path, token, body, status) in cases {
        let answer = world.call(method.clone(), path, token, body).await;
        assert_eq!(answer.status.as_u16(), status, "{method} {path} {}", answer.text);
        assert_eq!(answer.headers[header::CONTENT_TYPE], "application/problem+json");
        assert_eq!(answer.json()["status"], status);
    }
}

#[tokio::test]
async fn a_cookie_opens_nothing_here() {
    let world = world().await;
    let cookie = world.sign_in("admin").await;
    assert_eq!(world.get("/api/v1/trips", &cookie).await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn lists_are_under_their_names() {
    let world = world().await;
    let token = world.token("admin", Role::Admin).await;
    for (path, name) in [
        ("trips", "trips"),
        ("questions", "questions"),
        ("agents", "agents"),
        ("booking-systems", "booking_systems"),
        ("cases", "cases"),
    ] {
        let answer = world.call(Method::GET, &format!("/api/v1/{path}"), &token, None).await;
        assert!(answer.json()[name].is_array(), "{path}: {}", answer.text);
    }
}
