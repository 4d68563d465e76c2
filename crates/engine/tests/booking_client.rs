//! The client of booking systems against systems that answer, fail and babble (DESIGN.md §8).

mod fake_http;

use domain::booking::{BookingRead, CancelAnswer, Record, RecordState};
use domain::money::Money;
use engine::a2a::{Http, Limits};
use engine::booking::{BookingClient, BookingSystem, CancelCall, HttpBookings, LookupBy, LookupRead};
use engine::net::AddressPolicy;
use fake_http::{Fake, Then, http, json};
use serde_json::{Value, json as value};
use std::sync::Arc;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(5);

fn client() -> HttpBookings {
    client_that_waits(LIMIT)
}

fn client_that_waits(read: Duration) -> HttpBookings {
    let limits = Limits { read, body_bytes: 100_000, ..Limits::default() };
    HttpBookings::new(Arc::new(Http::new(AddressPolicy::demo(), limits).expect("builds")))
}

fn system(url: &str, change: impl FnOnce(&mut Value)) -> BookingSystem {
    let mut definition = value!({"name": "Hotels", "base_url": url.replace("/rpc", "/api"),
        "credential": {"kind": "api_key", "in": "header", "name": "X-Key", "value": "s3cret"},
        "lookup": {"url": "/bookings{?reference}", "items": "/bookings",
            "by_confirmation": "/bookings/{confirmation}", "item": "", "confirmation": "/id",
            "reference": "/reference", "state": "/status", "present": ["CONFIRMED"],
            "absent": ["CANCELLED"], "absent_on": [404], "absent_on_empty": true,
            "price": "/total/amount", "currency": "/total/currency", "fee": "/fee/amount"},
        "cancel": {"method": "POST", "url": "/bookings/{confirmation}/cancel", "by_reference": null,
            "idempotent": true},
        "settle_seconds": 120});
    change(&mut definition);
    serde_json::from_value(definition).expect("reads")
}

/// How long to wait for a server that does this: only silence is not waited out.
fn patience(then: &Then) -> Duration {
    if matches!(then, Then::Hang(_)) { Duration::from_millis(150) } else { LIMIT }
}

/// What a lookup by reference `R` makes of this answer.
async fn lookup(then: Then) -> LookupRead {
    let client = client_that_waits(patience(&then));
    let fake = Fake::start(move |_, _| then.clone()).await;
    client.lookup(&system(&fake.url, |_| {}), LookupBy::Reference("R")).await
}

async fn lookup_json(body: &str) -> BookingRead {
    lookup(Then::Close(json(200, body))).await.result
}

fn booking(id: &str, reference: &str, status: &str, amount: &str) -> String {
    format!(
        r#"{{"id":{id},"reference":{reference},"status":{status},"total":{{"amount":{amount},"currency":"EUR"}},"fee":null}}"#
    )
}

fn listed(bookings: &[String]) -> String {
    format!(r#"{{"bookings":[{}]}}"#, bookings.join(","))
}

fn euro(minor: i64) -> Money {
    Money { minor, currency: "EUR".into(), digits: 2 }
}

fn assert_unknown(read: &BookingRead, part: &str, name: &str) {
    let BookingRead::Unknown(reason) = read else { panic!("{name}: {read:?}") };
    assert!(reason.contains(part), "{name}: {reason:?} says {part:?}");
}

#[tokio::test]
async fn all_bookings_of_a_reference_are_found() {
    let text = listed(&[
        booking(r#""B1""#, r#""R""#, r#""CONFIRMED""#, "412.50"),
        booking("17", r#""R""#, r#""CANCELLED""#, r#""99""#).replace("null", r#"{"amount":10.1}"#),
    ]);
    let fake = Fake::start(move |_, _| Then::Close(json(200, &text))).await;
    let read = client().lookup(&system(&fake.url, |_| {}), LookupBy::Reference("R/ä 1")).await;
    assert_unknown(&read.result, "2 bookings, all of other references", "not ours");
    let request = fake.requests().remove(0);
    assert_eq!(request.line(), "GET /api/bookings?reference=R%2F%C3%A4%201 HTTP/1.1");
    assert_eq!(request.header("x-key"), Some("s3cret"));

    let read = client().lookup(&system(&fake.url, |_| {}), LookupBy::Reference("R")).await;
    let record = |confirmation: &str, state, price, fee| Record {
        confirmation: confirmation.into(),
        reference: Some("R".into()),
        state,
        price: Some(price),
        fee,
    };
    let expected = vec![
        record("B1", RecordState::Present, euro(41_250), None),
        record("17", RecordState::Absent, euro(9_900), Some(euro(1_010))),
    ];
    assert_eq!(read.result, BookingRead::Found(expected));
    assert_eq!((read.status, read.note), (Some(200), None));
    assert!(read.raw.contains("412.50"));
}

#[tokio::test]
async fn absent_is_only_what_the_definition_believes() {
    let absent = [
        Then::Close(json(200, r#"{"bookings":[]}"#)),
        Then::Close(json(404, r#"{"error":"no such booking"}"#)),
    ];
    for then in absent {
        assert_eq!(lookup(then).await.result, BookingRead::Absent);
    }
    let html = "<html>404 Not Found</html>";
    for (name, then, part) in [
        ("a gateway's 404", Then::Close(http(404, "Content-Type: text/html\r\n", html)), "own words"),
        ("an empty 404", Then::Close(http(404, "", "")), "own words"),
        ("410, not listed", Then::Close(json(410, "{}")), "HTTP 410"),
        ("500", Then::Close(json(500, r#"{"bookings":[]}"#)), "HTTP 500"),
        ("503", Then::Close(http(503, "Retry-After: 1\r\n", "")), "HTTP 503"),
        ("401", Then::Close(json(401, "{}")), "HTTP 401"),
        ("a redirect", Then::Close(http(302, "Location: /login\r\n", "")), "HTTP 302"),
        ("HTML with 200", Then::Close(http(200, "", html)), "no JSON"),
        ("cut JSON", Then::Close(json(200, r#"{"bookings":["#)), "no JSON"),
        ("nothing", Then::Close(Vec::new()), ""),
        ("reset", Then::Reset(Vec::new()), ""),
        ("silence", Then::Hang(Vec::new()), "time limit"),
        ("too large", Then::Close(json(200, &"x".repeat(200_000))), "larger"),
        ("too deep", Then::Close(json(200, &"[".repeat(9_000))), "deep"),
    ] {
        assert_unknown(&lookup(then).await.result, part, name);
    }
    let fake = Fake::start(|_, _| Then::Close(json(200, r#"{"bookings":[]}"#))).await;
    let strict = system(&fake.url, |definition| definition["lookup"]["absent_on_empty"] = value!(false));
    let read = client().lookup(&strict, LookupBy::Reference("R")).await;
    assert_unknown(&read.result, "does not believe", "an empty list");
}

#[tokio::test]
async fn a_record_that_cannot_be_read_makes_the_read_unknown() {
    let good = || booking(r#""B1""#, r#""R""#, r#""CONFIRMED""#, "1");
    let confirmed = r#""CONFIRMED""#;
    for (name, text, part) in [
        ("no list", r#"{"data":[]}"#.to_owned(), "no list"),
        ("a null list", r#"{"bookings":null}"#.to_owned(), "no list"),
        ("an unknown state", booking(r#""B""#, r#""R""#, r#""PENDING""#, "1"), "PENDING"),
        ("a null state", booking(r#""B""#, r#""R""#, "null", "1"), "state"),
        ("a negative price", booking(r#""B""#, r#""R""#, confirmed, "-1"), "no price"),
        ("an exponent", booking(r#""B""#, r#""R""#, confirmed, "1e3"), "no price"),
        ("a null price", booking(r#""B""#, r#""R""#, confirmed, "null"), "price"),
        ("too many decimals", booking(r#""B""#, r#""R""#, confirmed, "1.005"), "decimals"),
        ("no currency", good().replace(r#","currency":"EUR""#, ""), "currency"),
        ("an unknown currency", good().replace("EUR", "EURO"), "EURO"),
        ("no fee member", good().replace(r#","fee":null"#, ""), "fee"),
        ("no confirmation", good().replace(r#""id":"B1","#, ""), "confirmation"),
        ("no reference member", good().replace(r#""reference":"R","#, ""), "reference"),
        ("no object", "7".to_owned(), "no object"),
    ] {
        let text = if name.ends_with("list") { text } else { listed(&[good(), text]) };
        assert_unknown(&lookup_json(&text).await, part, name);
    }
}

#[tokio::test]
async fn bookings_of_others_are_left_out_and_noted() {
    let text = listed(&[
        booking(r#""B1""#, r#""R""#, r#""CONFIRMED""#, "1"),
        booking(r#""B2""#, r#""R2""#, r#""CONFIRMED""#, "2"),
        booking(r#""B3""#, "null", r#""CONFIRMED""#, "3"),
    ]);
    let read = lookup(Then::Close(json(200, &text))).await;
    let BookingRead::Found(records) = read.result else { panic!("found") };
    assert_eq!(records.len(), 1);
    assert!(read.note.expect("a note").starts_with("2 bookings"));
}

#[tokio::test]
async fn a_confirmation_finds_that_booking_or_nothing_is_known() {
    let text = booking(r#""B1""#, "null", r#""CONFIRMED""#, "1");
    let fake = Fake::start(move |_, _| Then::Close(json(200, &text))).await;
    let hotels = system(&fake.url, |_| {});
    let read = client().lookup(&hotels, LookupBy::Confirmation("B1")).await;
    assert!(matches!(&read.result, BookingRead::Found(records) if records[0].reference.is_none()));
    let read = client().lookup(&hotels, LookupBy::Confirmation("B2/../B1")).await;
    assert_unknown(&read.result, "about booking B1", "another booking");
    assert_eq!(fake.requests()[1].line(), "GET /api/bookings/B2%2F..%2FB1 HTTP/1.1");
    for odd in ["..", "."] {
        let read = client().lookup(&hotels, LookupBy::Confirmation(odd)).await;
        assert_unknown(&read.result, "cannot be a confirmation", odd);
    }
    let without = system(&fake.url, |definition| definition["lookup"]["by_confirmation"] = value!(null));
    let read = client().lookup(&without, LookupBy::Confirmation("B1")).await;
    assert_unknown(&read.result, "no lookup by confirmation", "none defined");
    assert_eq!(fake.requests().len(), 2);
}

const CALL: CancelCall<'static> = CancelCall {
    confirmation: Some("B1"),
    reference: Some("R"),
    idempotency_key: "key-1",
    body: "{\"reason\": \"trip  ended\"}",
};

async fn cancel(then: Then) -> CancelAnswer {
    let limit = patience(&then);
    let fake = Fake::start(move |_, _| then.clone()).await;
    let answer = client().cancel(&system(&fake.url, |_| {}), &CALL, limit).await;
    assert_eq!(fake.requests().len(), 1);
    answer
}

#[tokio::test]
async fn a_cancel_carries_its_key_and_its_body_byte_for_byte() {
    let fake = Fake::start(|_, _| Then::Close(json(202, r#"{"ok":1}"#))).await;
    let answer = client().cancel(&system(&fake.url, |_| {}), &CALL, LIMIT).await;
    assert_eq!(answer, CancelAnswer::Accepted(r#"{"ok":1}"#.into()));
    let request = fake.requests().remove(0);
    assert_eq!(request.line(), "POST /api/bookings/B1/cancel HTTP/1.1");
    assert_eq!(request.header("idempotency-key"), Some("key-1"));
    assert_eq!(request.header("x-key"), Some("s3cret"));
    assert_eq!(request.body, CALL.body);
}

#[tokio::test]
async fn a_cancels_answer_is_a_claim_or_unknown() {
    for status in [400, 404, 409, 410, 422, 429] {
        let answer = cancel(Then::Close(json(status, "no"))).await;
        assert_eq!(answer, CancelAnswer::Refused { status, text: "no".into() });
    }
    for then in [
        Then::Close(json(500, "{}")),
        Then::Close(http(503, "Retry-After: 3\r\n", "")),
        Then::Close(http(302, "Location: /\r\n", "")),
        Then::Close(Vec::new()),
        Then::Reset(Vec::new()),
        Then::Hang(Vec::new()),
    ] {
        let answer = cancel(then.clone()).await;
        assert!(matches!(answer, CancelAnswer::Unknown(_)), "{then:?}: {answer:?}");
    }
}

#[tokio::test]
async fn a_cancel_that_never_left_is_not_sent() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let closed = format!("http://{}/rpc", listener.local_addr().expect("an address"));
    drop(listener);
    let by_reference = CancelCall { confirmation: None, ..CALL };
    let strange_key = CancelCall { idempotency_key: "a\nb", ..CALL };
    let climbing = CancelCall { confirmation: Some(".."), ..CALL };
    let none = system(&closed, |definition| definition["cancel"] = value!(null));
    for (system, call) in [
        (system(&closed, |_| {}), CALL),
        (system(&closed, |_| {}), by_reference),
        (system(&closed, |_| {}), strange_key),
        (system(&closed, |_| {}), climbing),
        (none, CALL),
    ] {
        let answer = client().cancel(&system, &call, LIMIT).await;
        assert!(matches!(answer, CancelAnswer::NotSent(_)), "{call:?}: {answer:?}");
    }
}

#[tokio::test]
async fn a_cancel_by_reference_uses_its_own_template() {
    let fake = Fake::start(|_, _| Then::Close(http(204, "", ""))).await;
    let system = system(&fake.url, |definition| {
        definition["cancel"]["by_reference"] = value!("/bookings{?reference}");
        definition["cancel"]["method"] = value!("DELETE");
    });
    let call = CancelCall { confirmation: None, body: "", ..CALL };
    assert_eq!(client().cancel(&system, &call, LIMIT).await, CancelAnswer::Accepted(String::new()));
    assert_eq!(fake.requests()[0].line(), "DELETE /api/bookings?reference=R HTTP/1.1");
}
