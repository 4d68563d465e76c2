//! Bad input over the API and over forms of the real binary: each gets a clear message in its
//! place, and nothing recorded is lost.

use reqwest::header::{CONTENT_TYPE, COOKIE, LOCATION, SET_COOKIE};
use serde_json::{Value, json};
use testkit::process::{App, PASSWORD, Service, TRAVELLER, list, new_trip, step, text};
use testkit::{Api, Kind};

const PROGRAM: &str = env!("CARGO_BIN_EXE_holdfast");
const OTHER: &str = "other@example.org";
const HTML: &str = "<script>alert('x')</script> & \"<b>quiet</b>\"";

/// A running service with a second traveller.
async fn running(kind: Kind) -> (Service, Api) {
    let mut service = Service::new(PROGRAM, kind).await;
    service.app.add_user(OTHER, "traveller", PASSWORD).await;
    let other = service.app.api(OTHER, "traveller").await;
    service.app.start(&[]).await;
    service.register(true).await;
    for agent in ["skylark-flights", "harbour-hotels"] {
        let kind = if agent == "harbour-hotels" { "asks" } else { "works" };
        let behaviour = json!({ "behaviour": kind, "delay_ms": 100 });
        service.outside.behave(agent, behaviour).await.expect("a behaviour");
    }
    (service, other)
}

/// A browser without JavaScript that follows no redirect.
struct Browser {
    address: String,
    http: reqwest::Client,
    cookie: String,
}

struct Page {
    status: u16,
    location: String,
    cookie: String,
    text: String,
}

impl Browser {
    async fn sign_in(app: &App, email: &str) -> Self {
        let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build();
        let mut browser =
            Self { address: app.address(), http: http.expect("a client"), cookie: String::new() };
        let page = browser.post("/login", &[("email", email), ("password", PASSWORD)]).await;
        assert_eq!(page.status, 303, "{}", page.text);
        browser.cookie = page.cookie;
        browser
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Page {
        let answer = request.header(COOKIE, &self.cookie).send().await.expect("a page");
        let header =
            |name| answer.headers().get(name).and_then(|v| v.to_str().ok()).unwrap_or_default().to_owned();
        let (status, location, cookie) = (answer.status().as_u16(), header(LOCATION), header(SET_COOKIE));
        let cookie = cookie.split(';').next().unwrap_or_default().to_owned();
        Page { status, location, cookie, text: answer.text().await.expect("a page") }
    }

    async fn get(&self, path: &str) -> Page {
        self.send(self.http.get(format!("{}{path}", self.address))).await
    }

    async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Page {
        self.post_from("same-origin", path, fields).await
    }

    async fn post_from(&self, site: &str, path: &str, fields: &[(&str, &str)]) -> Page {
        let request = self.http.post(format!("{}{path}", self.address));
        let request = request.header("sec-fetch-site", site);
        self.send(request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(encoded(fields)))
            .await
    }
}

fn encoded(fields: &[(&str, &str)]) -> String {
    let encode = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    fields
        .iter()
        .map(|(name, value)| format!("{}={}", encode(name), encode(value)))
        .collect::<Vec<_>>()
        .join("&")
}

/// The fields of a sound form, as the page of a new trip would send them.
fn form<'a>(body: &'a Value, key: &'a str) -> Vec<(&'static str, &'a str)> {
    let inputs = &body["inputs"];
    let of = |name| text(&inputs[name]);
    vec![
        ("workflow", "travel"),
        ("idempotency_key", key),
        ("steps", "flight"),
        ("origin", of("origin")),
        ("destination", of("destination")),
        ("start", of("start")),
        ("end", of("end")),
        ("travellers", body["inputs"]["travellers"].as_str().unwrap_or("2")),
        ("notes", of("notes")),
    ]
}

/// What is wrong, the field that must be named, and the inputs or steps that are wrong.
fn wrong_trips() -> Vec<(&'static str, &'static str, Value)> {
    let input = |name: &str, value: Value| json!({ "inputs": { name: value } });
    vec![
        ("an impossible date", "start", input("start", json!("2031-02-30"))),
        ("an empty date", "start", input("start", json!(""))),
        ("no date at all", "end", input("end", json!("next week"))),
        ("an end before the start", "end", input("end", json!("2001-01-01"))),
        ("a day long gone", "start", json!({ "inputs": { "start": "2001-01-01", "end": "2001-01-02" } })),
        ("100 kB of notes", "notes", input("notes", json!("n".repeat(100_000)))),
        ("nobody who travels", "travellers", input("travellers", json!(0))),
        ("a crowd", "travellers", input("travellers", json!(10))),
        ("a number in words", "travellers", input("travellers", json!("two"))),
        ("nowhere to go", "destination", input("destination", json!("  "))),
        ("nothing chosen", "steps", json!({ "steps": [] })),
        ("a step that is none", "steps", json!({ "steps": ["flight", "rocket"] })),
        ("a workflow that is none", "workflow", json!({ "workflow": "conquest" })),
        ("a title of 1,000 letters", "title", json!({ "title": "t".repeat(1_000) })),
    ]
}

fn with(mut body: Value, changes: &Value) -> Value {
    for (name, value) in changes.as_object().into_iter().flatten() {
        match value.as_object() {
            Some(inner) => inner.iter().for_each(|(name, value)| body["inputs"][name] = value.clone()),
            None => body[name] = value.clone(),
        }
    }
    body
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_trip_is_refused_by_field_and_nothing_is_recorded() {
    let (mut service, _) = running(Kind::Sqlite).await;
    let browser = Browser::sign_in(&service.app, TRAVELLER).await;
    for (what, field, changes) in wrong_trips() {
        let body = with(new_trip(&["flight"]), &changes);
        let (status, problem) = service.traveller.post("/trips", &body).await;
        assert_eq!(status, 422, "{what}: {problem:#}");
        assert_eq!(problem["type"], "urn:holdfast:problem:invalid");
        let error = list(&problem["errors"]).find(|error| error["field"] == field);
        let error = error.unwrap_or_else(|| panic!("{what} should be said of {field}: {problem:#}"));
        assert!(!text(&error["message"]).is_empty());
        if field == "workflow" || body["inputs"]["travellers"].is_number() && field == "travellers" {
            continue;
        }
        let steps: Vec<&str> = list(&body["steps"]).map(text).collect();
        let mut fields = form(&body, "k");
        fields.retain(|(name, _)| *name != "steps");
        fields.extend(steps.iter().map(|step| ("steps", *step)));
        fields.extend(body["title"].as_str().map(|title| ("title", title)));
        let page = browser.post("/trips/new", &fields).await;
        assert_eq!(page.status, 422, "{what}: {}", page.text);
        // Leptos may write the sentence with entities: compare its words only.
        let sentence = text(&error["message"]).split(['"', '\'', '’', '&', '<']).next().unwrap_or_default();
        assert!(page.text.contains(sentence), "{what}: {sentence} in {}", page.text);
        if field != "destination" {
            assert!(page.text.contains("value=\"Vienna\""), "{what}: what was typed is kept");
        }
    }
    assert_eq!(service.traveller.read("/trips").await["trips"], json!([]));
    service.app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_request_is_a_problem_that_says_why() {
    let (mut service, _) = running(Kind::Sqlite).await;
    let api = &service.traveller;
    let post = || api.request(reqwest::Method::POST, "/trips");
    let json = |body: &'static str| post().header(CONTENT_TYPE, "application/json").body(body);
    let long = json!({ "workflow": "travel", "steps": [], "inputs": { "notes": "n".repeat(300_000) } });
    let cases = [
        ("no JSON", json("{"), 400, "malformed"),
        ("another type", post().body("workflow=travel"), 415, "unsupported-media-type"),
        ("an unknown field", json(r#"{"workflow":"travel","steps":[],"colour":"red"}"#), 422, "invalid"),
        ("too large", post().json(&long), 413, "too-large"),
        ("an empty key", post().header("idempotency-key", "").json(&new_trip(&["flight"])), 400, "malformed"),
        ("no such address", api.request(reqwest::Method::GET, "/nowhere"), 404, "not-found"),
        ("no such method", api.request(reqwest::Method::DELETE, "/trips"), 405, "method-not-allowed"),
        ("not for travellers", api.request(reqwest::Method::GET, "/agents"), 403, "forbidden"),
    ];
    for (what, request, status, slug) in cases {
        let (got, problem) = Api::send(request).await;
        assert_eq!(
            (got, &problem["type"]),
            (status, &json!(format!("urn:holdfast:problem:{slug}"))),
            "{what}"
        );
        assert_eq!(problem["status"], status);
        assert!(!text(&problem["detail"]).is_empty(), "{what}: {problem:#}");
    }
    let nobody = reqwest::Client::new().get(format!("{}/api/v1/trips", service.app.address()));
    assert_eq!(Api::send(nobody).await.0, 401);
    assert_eq!(api.read("/trips").await["trips"], json!([]));

    // An agent that is down when it is registered.
    service.outside.up("metrocar", false).await.expect("down");
    let mut body = service.outside.agents().pop().expect("an agent");
    body["card_url"] = json!(text(&body["card_url"]).replace("127.0.0.1", "localhost"));
    let (status, problem) = service.admin.post("/agents", &body).await;
    assert_eq!((status, &problem["errors"][0]["field"]), (422, &json!("card_url")), "{problem:#}");
    service.app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_trip_sent_twice_is_one_trip() {
    let (mut service, other) = running(Kind::Sqlite).await;
    let post = |api: &Api, body: &Value| {
        Api::send(api.request(reqwest::Method::POST, "/trips").header("idempotency-key", "one").json(body))
    };
    let body = new_trip(&["flight"]);
    let (first, second) = (post(&service.traveller, &body).await, post(&service.traveller, &body).await);
    assert_eq!((first.0, second.0), (201, 201));
    assert_eq!(first.1["id"], second.1["id"]);
    let reused = post(&service.traveller, &new_trip(&["hotel"])).await;
    assert_eq!(reused.0, 409, "{:#}", reused.1);
    assert!(text(&reused.1["detail"]).contains("Idempotency-Key"), "{:#}", reused.1);
    let others = post(&other, &body).await;
    assert_eq!(others.0, 201, "a key is its owner's: {:#}", others.1);
    assert_ne!(first.1["id"], others.1["id"]);

    let browser = Browser::sign_in(&service.app, TRAVELLER).await;
    let page = browser.get("/trips/new").await;
    let key = hidden(&page.text, "idempotency_key");
    let (first, second) = (form(&body, &key), form(&body, &key));
    let (first, second) =
        (browser.post("/trips/new", &first).await, browser.post("/trips/new", &second).await);
    assert_eq!((first.status, second.status), (303, 303), "{}", first.text);
    assert_eq!(first.location, second.location);
    let mut changed = form(&body, &key);
    changed.push(("title", "Another one"));
    let page = browser.post("/trips/new", &changed).await;
    assert_eq!(page.status, 409);
    assert!(page.text.contains("Another one") && page.text.contains("was sent before"), "{}", page.text);
    assert_ne!(hidden(&page.text, "idempotency_key"), key, "sent again, it is a new trip");
    assert_eq!(list(&service.traveller.read("/trips").await["trips"]).count(), 2);
    service.app.stop().await;
}

/// The value of a hidden field.
fn hidden(page: &str, name: &str) -> String {
    let tags = page.split('<').filter(|tag| tag.starts_with("input") && tag.contains("hidden"));
    let mut named = tags.filter(|tag| tag.contains(&format!("name=\"{name}\"")));
    let tag = named.next().unwrap_or_else(|| panic!("no hidden {name} in {page}"));
    let (_, value) = tag.split_once("value=\"").expect("a value");
    value.split('"').next().unwrap_or_default().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn html_in_a_trip_is_shown_as_text() {
    let (mut service, _) = running(Kind::Sqlite).await;
    let browser = Browser::sign_in(&service.app, TRAVELLER).await;
    let body = with(new_trip(&["flight"]), &json!({ "title": HTML, "inputs": { "notes": HTML } }));
    let mut wrong = form(&body, "k");
    wrong.retain(|(name, _)| *name != "steps");
    let page = browser.post("/trips/new", &wrong).await;
    assert_eq!(page.status, 422);
    assert_shown_as_text(&page.text);
    service
        .outside
        .behave("skylark-flights", json!({ "behaviour": "fails", "reason": HTML }))
        .await
        .expect("told");
    let trip = service.traveller.write("/trips", &body).await;
    let id = text(&trip["id"]);
    service.question(id, "flight").await;
    for path in
        [format!("/trips/{id}"), format!("/trips/{id}/cancel"), "/trips".to_owned(), "/inbox".to_owned()]
    {
        let page = browser.get(&path).await;
        assert_eq!(page.status, 200, "{path}");
        assert_shown_as_text(&page.text);
    }
    service.app.stop().await;
}

fn assert_shown_as_text(page: &str) {
    assert!(page.contains("&lt;script&gt;alert("), "it is shown: {page}");
    assert!(!page.contains("<script>alert(") && !page.contains("<b>quiet"), "and not as HTML: {page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_and_cancels_that_come_too_late_are_told_so() {
    let (mut service, other) = running(Kind::Sqlite).await;
    let browser = Browser::sign_in(&service.app, TRAVELLER).await;
    let trip = service.new_trip(&["flight", "hotel"]).await;
    let question = service.question(&trip, "hotel").await;
    let id = text(&question["id"]);
    let (api, page) = (format!("/questions/{id}/answer"), format!("/trips/{trip}/questions/{id}"));
    for (body, status) in [
        (json!({ "choice": "three" }), 422),
        (json!({ "text": "two, please" }), 422),
        (json!({ "choice": "two", "text": "two" }), 422),
    ] {
        assert_eq!(service.traveller.post(&api, &body).await.0, status, "{body}");
    }
    assert_eq!(browser.post(&page, &[("choice", "")]).await.status, 422);
    assert_eq!(other.post(&api, &json!({ "choice": "one" })).await.0, 404, "somebody else's");
    assert_eq!(service.question(&trip, "hotel").await["id"], question["id"], "still open");

    let (status, answered) = service.traveller.post(&api, &json!({ "choice": "two" })).await;
    assert_eq!(
        (status, &answered["state"], &answered["answered_by"]),
        (200, &json!("answered"), &json!(TRAVELLER))
    );
    let (status, late) = service.admin.post(&api, &json!({ "choice": "one" })).await;
    assert_eq!(status, 409, "{late:#}");
    assert!(text(&late["detail"]).contains("answered already by traveller@example.org"), "{late:#}");
    let late = browser.post(&page, &[("choice", "one")]).await;
    assert_eq!(late.status, 409);
    assert!(late.text.contains("answered already by"), "{}", late.text);

    let done = |view: &Value| view["closed_at"].is_i64();
    let view = service.until(&trip, "the end", done).await;
    assert_eq!(view["questions"][0]["answer"], "two", "the first counts: {view:#}");
    let (status, closed) = service.traveller.post(&format!("/trips/{trip}/cancel"), &json!({})).await;
    assert_eq!(status, 409, "{closed:#}");
    assert!(text(&closed["detail"]).contains("closed"), "{closed:#}");
    service.assert_sound().await;
    service.app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_pressed_twice_is_one_cancel() {
    let (mut service, _) = running(Kind::Sqlite).await;
    let browser = Browser::sign_in(&service.app, TRAVELLER).await;
    let trip = service.new_trip(&["flight", "hotel"]).await;
    service.question(&trip, "hotel").await;
    service.until(&trip, "the flight", |view| step(view, "flight")["state"] == "done").await;
    let path = format!("/trips/{trip}/cancel");
    let first = service.traveller.write(&path, &json!({})).await;
    assert_eq!(first["outcome"], "recorded");
    let second = service.traveller.write(&path, &json!({})).await;
    assert_eq!(second["outcome"], "already_ending");
    let page = browser.post(&path, &[("confirm", "yes")]).await;
    assert_eq!((page.status, &page.location), (303, &format!("/trips/{trip}")));
    let end = service.until(&trip, "the end", |view| view["closed_at"].is_i64()).await;
    assert_eq!(end["state"], "cancelled", "{end:#}");
    let asked = list(&end["history"])
        .filter(|event| text(&event["what"]).contains("Asked for the trip to be cancelled"));
    assert_eq!(asked.count(), 1, "{end:#}");
    assert_eq!(service.outside.standing().await.expect("ledgers"), Vec::<Value>::new());
    service.assert_sound().await;
    service.app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_and_foreign_trips_are_not_there_on_sqlite() {
    nothing_of_others_is_there(Kind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_and_foreign_trips_are_not_there_on_postgres() {
    nothing_of_others_is_there(Kind::Postgres).await;
}

async fn nothing_of_others_is_there(kind: Kind) {
    let (mut service, other) = running(kind).await;
    let trip = service.new_trip(&["hotel"]).await;
    let question = text(&service.question(&trip, "hotel").await["id"]).to_owned();
    let browser = Browser::sign_in(&service.app, OTHER).await;
    for id in [trip.as_str(), "unknown", "a%2Fb", "a%00b", "0198c0de-0000-7000-8000-000000000000"] {
        for path in
            [format!("/trips/{id}"), format!("/trips/{id}/events"), format!("/trips/{id}/cancel-preview")]
        {
            let (status, problem) = other.get(&path).await;
            assert_eq!((status, &problem["title"]), (404, &json!("Not found")), "{path}");
        }
        assert_eq!(other.post(&format!("/trips/{id}/cancel"), &json!({})).await.0, 404, "{id}");
        for path in [format!("/trips/{id}"), format!("/trips/{id}/cancel"), format!("/trips/{id}/live")] {
            assert_eq!(browser.get(&path).await.status, 404, "{path}");
        }
        assert_eq!(browser.get(&format!("/trips/{id}/questions/{question}")).await.status, 404);
        for path in [format!("/trips/{id}/cancel"), format!("/trips/{id}/questions/{question}")] {
            assert_eq!(browser.post(&path, &[("choice", "one")]).await.status, 404, "{path}");
        }
    }
    let own = Browser::sign_in(&service.app, TRAVELLER).await;
    let body = new_trip(&["flight"]);
    let paths = [
        "/trips/new".to_owned(),
        format!("/trips/{trip}/cancel"),
        format!("/trips/{trip}/questions/{question}"),
        "/login".to_owned(),
        "/logout".to_owned(),
    ];
    for path in &paths {
        for site in ["cross-site", "same-site"] {
            let page = own.post_from(site, path, &form(&body, "k")).await;
            assert_eq!(page.status, 403, "{path} from {site}: {}", page.text);
        }
    }
    let trips = service.traveller.read("/trips").await;
    assert_eq!(list(&trips["trips"]).count(), 1, "nothing came of all that: {trips:#}");
    assert_eq!(service.question(&trip, "hotel").await["state"], "open");
    service.app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_zero_byte_stops_nothing_on_sqlite() {
    a_zero_byte_stops_nothing(Kind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_zero_byte_stops_nothing_on_postgres() {
    a_zero_byte_stops_nothing(Kind::Postgres).await;
}

/// PostgreSQL takes no zero byte in a text: neither people nor agents may stop a trip with one.
async fn a_zero_byte_stops_nothing(kind: Kind) {
    let (mut service, _) = running(kind).await;
    let inputs = json!({ "inputs": { "notes": "a quiet\u{0} room", "origin": "Lis\u{0}bon" } });
    let (status, problem) = service.traveller.post("/trips", &with(new_trip(&["flight"]), &inputs)).await;
    assert_eq!(status, 422, "{problem:#}");
    let browser = Browser::sign_in(&service.app, TRAVELLER).await;
    let page = browser.post("/login", &[("email", "a\u{0}@example.org"), ("password", "a\u{0}b")]).await;
    assert_eq!(page.status, 422, "{}", page.text);

    let keyed = browser.post("/trips/new", &form(&new_trip(&[]), "k\u{0}k")).await;
    assert_eq!(keyed.status, 303, "{}", keyed.text);
    service.outside.behave("skylark-flights", json!({ "behaviour": "auth" })).await.expect("told");
    let trip = service.new_trip(&["flight"]).await;
    let path = format!("/questions/{}/answer", text(&service.question(&trip, "flight").await["id"]));
    service.traveller.write(&path, &json!({ "text": "It is\u{0} done" })).await;
    service.until(&trip, "the end", |view| view["state"] == "done").await;

    let rejects = json!({ "behaviour": "rejects", "reason": "No seats\u{0} left." });
    service.outside.behave("skylark-flights", rejects).await.expect("told");
    let trip = service.new_trip(&["flight"]).await;
    let question = service.question(&trip, "flight").await;
    assert_eq!(question["kind"], "decision", "the rejection was understood: {question:#}");
    service.answer(&trip, "flight", "cancel_trip").await;
    service.until(&trip, "the end", |view| view["closed_at"].is_i64()).await;
    service.assert_sound().await;
    service.app.stop().await;
}
