//! The support desk, for people and for programs: who gets in, what is refused and in what words,
//! and what an action leaves in the journal. Stuck rows are planted; no loop takes them up.

use super::*;
use domain::ids::TripId;
use serde_json::{Value, json};
use testkit::Kind;

const CASE: &str = "0195a1c0-0000-7000-8000-00000000000a";
const UNDO: &str = "0195a1c0-0000-7000-8000-00000000000c";

struct Desk {
    world: World,
    /// Holds the database; its agents and booking systems are registered.
    outside: testkit::World,
    trip: TripId,
}

/// With a stuck attempt at the car and a stuck undo of a flight, of one trip.
async fn desk() -> Desk {
    let outside = testkit::World::start(Kind::Sqlite).await.unwrap();
    let people = [("a", Role::Traveller), ("support", Role::Support), ("chief", Role::Admin)];
    let (config, folder) = settings();
    let world = world_around(outside.engine.clone(), &config, folder, &people).await;
    let trip = outside.new_trip(&["flight", "car"]).await.unwrap();
    let attempt = |id: &str, step: &str, claim: &str, ended: &str, stuck: &str| {
        format!(
            "INSERT INTO delegations (id, trip_id, step, purpose, agent_id, principal, ordinal, message_id, \
             context_id, reference, created_at, claim, outcome, closed_at, stuck, stuck_since, called_off, doubt, \
             read_health) SELECT '{id}', '{trip}', '{step}', 'step', MIN(id), 'p', 1, 'message-{step}', \
             'context-{step}', 'REF-{step}', 1, {claim}, {ended}, {stuck}, 1000, 0, '{{}}', '{{}}' FROM agents;"
        )
    };
    let claim = "'</script><script>document.title=1</script>'";
    let stuck = r#"'{"reason":"in_doubt","text":"<b>nothing</b> found"}'"#;
    outside.database.sql(&attempt(CASE, "car", claim, "NULL, NULL", stuck));
    outside.database.sql(&attempt("flight-attempt", "flight", "NULL", "'completed', 1", "NULL"));
    outside.database.sql(&format!(
        "INSERT INTO effects (id, trip_id, delegation_id, reference, ghost, booking_system, confirmation, verdict, \
         unknown_reads) VALUES ('e', '{trip}', 'flight-attempt', 'REF-flight', 0, 'northwind-air', 'NW-1', 'present', 0); \
         INSERT INTO compensations (id, trip_id, effect_id, step, rung, booking_system, confirmation, idempotency_key, \
         body, state, send_number, planned_at, reason, stuck_since) VALUES ('{UNDO}', '{trip}', 'e', 'flight', 1, \
         'northwind-air', 'NW-1', 'key', '{{}}', 'stuck', 1, 1, 'answered 409', 2000);"
    ));
    Desk { world, outside, trip }
}

impl Desk {
    /// The reason of the car's case goes.
    fn clear(&self) {
        self.outside
            .database
            .sql(&format!("UPDATE delegations SET stuck = NULL, stuck_since = NULL WHERE id = '{CASE}'"));
    }

    async fn act(&self, token: &str, id: &str, body: &Value) -> Answer {
        let path = format!("/api/v1/cases/{id}/actions");
        self.world.call(Method::POST, &path, token, Some(&body.to_string())).await
    }

    /// How many events of this kind the trip has.
    async fn events(&self, what: &str) -> usize {
        let viewer = &self.outside.traveller;
        let view = self.world.engine.trip_view(viewer, &self.trip).await.unwrap().unwrap();
        view.history.iter().filter(|event| event.what.starts_with(what)).count()
    }
}

fn check() -> Value {
    json!({ "action": "check_now", "reason": "The agent is back" })
}

#[tokio::test]
async fn the_api_is_for_support_and_admins() {
    let desk = desk().await;
    let case = format!("/api/v1/cases/{CASE}");
    for (name, role, read, acted) in [
        ("a", Role::Traveller, 403, 403),
        ("chief", Role::Traveller, 403, 403),
        ("support", Role::Support, 200, 202),
        ("chief", Role::Admin, 200, 202),
    ] {
        let token = desk.world.token(name, role).await;
        let call = async |path: &str| desk.world.call(Method::GET, path, &token, None).await.status.as_u16();
        assert_eq!((call("/api/v1/cases").await, call(&case).await), (read, read), "{name}");
        assert_eq!(desk.act(&token, CASE, &check()).await.status.as_u16(), acted, "{name}");
    }
    let stranger = desk.world.call(Method::GET, &case, "nonsense", None).await;
    assert_eq!(stranger.status, StatusCode::UNAUTHORIZED);
    assert_eq!(desk.events("Asked for everything").await, 2, "what was refused left nothing");
}

#[tokio::test]
async fn an_action_answers_with_three_facts_and_a_case_with_what_is_known() {
    let desk = desk().await;
    let token = desk.world.token("support", Role::Support).await;
    let answer = desk.act(&token, CASE, &check()).await;
    assert_eq!(answer.json(), json!({ "requested": true, "accepted": true, "verified": null }));
    let case = desk.world.call(Method::GET, &format!("/api/v1/cases/{CASE}"), &token, None).await.json();
    assert_eq!(case["case"]["check_asked"]["by"], "support@example.org");
    assert_eq!((&case["case"]["open"], &case["case"]["reference"]), (&json!(true), &json!("REF-car")));
    assert_eq!(case["words"][0]["quote"], "</script><script>document.title=1</script>", "data is data");
    let list = desk.world.call(Method::GET, "/api/v1/cases", &token, None).await.json();
    let ids: Vec<&Value> = list["cases"].as_array().unwrap().iter().map(|case| &case["id"]).collect();
    assert_eq!(ids, [CASE, UNDO], "longest stuck first");
    let undone = json!({ "action": "record_outcome", "reason": "They wrote so", "outcome": "undone" });
    assert_eq!(desk.act(&token, UNDO, &undone).await.status, StatusCode::ACCEPTED);
    assert_eq!(desk.act(&token, UNDO, &undone).await.status, StatusCode::CONFLICT, "twice");
    assert_eq!(desk.events("Signed for").await, 1);
}

#[tokio::test]
async fn a_wrong_action_is_named_and_leaves_nothing() {
    let desk = desk().await;
    let token = desk.world.token("support", Role::Support).await;
    let record = |outcome: &str| json!({ "action": "record_outcome", "reason": "r", "outcome": outcome });
    let booked = |number: &str, system: &str| {
        json!({ "action": "record_outcome", "reason": "r", "outcome": "booked", "confirmation": number,
            "booking_system": system })
    };
    for (body, field) in [
        (json!({ "action": "check_now" }), "reason"),
        (json!({ "action": "check_now", "reason": " \n" }), "reason"),
        (json!({ "action": "check_now", "reason": "x".repeat(5000) }), "reason"),
        (json!({ "action": "check_now", "reason": "r", "force": true }), "force"),
        (json!({ "action": "delete", "reason": "r" }), ""),
        (json!({ "reason": "r" }), "action"),
        (json!("check_now"), ""),
        (record("maybe"), ""),
        (record("undone"), "outcome"),
        (record("booked"), "confirmation"),
        (booked("CC\u{0}1", "citycar-records"), "confirmation"),
        (booked("CC-1", "nobody-s"), "booking_system"),
    ] {
        let answer = desk.act(&token, CASE, &body).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{body} {}", answer.text);
        assert_eq!(answer.headers[header::CONTENT_TYPE], "application/problem+json");
        assert_eq!(answer.json()["errors"][0]["field"], field, "{body} {}", answer.text);
    }
    let large = json!({ "action": "check_now", "reason": "x".repeat(1_000_000) });
    assert_eq!(desk.act(&token, CASE, &large).await.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(desk.act(&token, "unknown", &check()).await.status, StatusCode::NOT_FOUND);
    assert_eq!(desk.act(&token, "%00", &check()).await.status, StatusCode::NOT_FOUND);
    assert_eq!(desk.events("Asked for everything").await + desk.events("Signed for").await, 0);
    desk.clear();
    assert_eq!(desk.act(&token, CASE, &check()).await.status, StatusCode::CONFLICT);
    let case = desk.world.call(Method::GET, &format!("/api/v1/cases/{CASE}"), &token, None).await;
    assert_eq!(case.json()["case"]["open"], false);
}

#[tokio::test]
async fn a_late_booking_can_be_read_again_but_not_signed_for() {
    let desk = desk().await;
    let stuck = "UPDATE delegations SET stuck = '{\"reason\":\"late_booking\"}', stuck_since = 1 WHERE step = 'flight'";
    desk.outside.database.sql(stuck);
    let token = desk.world.token("support", Role::Support).await;
    let case = desk.world.call(Method::GET, "/api/v1/cases/flight-attempt", &token, None).await.json();
    assert_eq!(
        (&case["case"]["cause"], &case["actions"][0]["refused"]),
        (&json!("late_booking"), &Value::Null)
    );
    let why = case["actions"][1]["refused"].as_str().unwrap();
    assert!(why.contains("attempt itself is closed"), "{why}");
    let signed = json!({ "action": "record_outcome", "reason": "r", "outcome": "not_booked" });
    assert_eq!(desk.act(&token, "flight-attempt", &signed).await.status, StatusCode::CONFLICT);
    assert_eq!(desk.act(&token, "flight-attempt", &check()).await.status, StatusCode::ACCEPTED);
}

#[tokio::test]
async fn the_pages_are_there_for_staff_only() {
    let desk = desk().await;
    let (case, checked) = (format!("/desk/cases/{CASE}"), format!("/desk/checked?since=1&cases={CASE}"));
    for (name, status) in [("a", 404), ("support", 200), ("chief", 200)] {
        let cookie = desk.world.sign_in(name).await;
        for path in ["/desk", "/desk?cause=in_doubt", &case, &checked] {
            let page = desk.world.get(path, &cookie).await;
            assert_eq!(page.status.as_u16(), status, "{name} {path}");
            assert_eq!(page.text.contains("found"), status == 200, "the reason is for staff: {name} {path}");
            assert!(!page.text.contains("<b>nothing") && !page.text.contains("<script>document"), "{path}");
        }
        assert_eq!(desk.world.get("/desk/cases/unknown", &cookie).await.status, StatusCode::NOT_FOUND);
    }
    let traveller = desk.world.sign_in("a").await;
    for path in ["/desk", &case] {
        let sent = [("action", "check_now"), ("check_reason", "r"), ("reason", "r"), ("case", CASE)];
        assert_eq!(desk.world.post(path, &traveller, &sent).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    assert_eq!(desk.events("Asked for everything").await, 0);
    assert_eq!(desk.world.get(&case, "").await.location(), format!("/login?next=/desk/cases/{CASE}"));
}

#[tokio::test]
async fn a_check_is_told_as_what_it_is() {
    let desk = desk().await;
    let cookie = desk.world.sign_in("support").await;
    let path = format!("/desk/cases/{CASE}");
    let sent = [("action", "check_now"), ("check_reason", "The agent is <i>back</i>")];
    let answer = desk.world.post(&path, &cookie, &sent).await;
    assert_eq!((answer.status, answer.location()), (StatusCode::SEE_OTHER, path.as_str()));
    let page = desk.world.get(&path, &cookie).await.text;
    assert!(page.contains("Requested and taken in; not verified yet."));
    assert!(page.contains("The agent is &lt;i&gt;back&lt;/i&gt;"));
    let again = desk.world.get(&path, &cookie).await.text;
    assert!(!again.contains("Requested and taken in;"), "said once");
    assert!(again.contains("requested and accepted, not verified yet."), "and still true after a reload");
}

#[tokio::test]
async fn a_wrong_form_comes_back_with_what_was_typed() {
    let desk = desk().await;
    let cookie = desk.world.sign_in("support").await;
    let path = format!("/desk/cases/{CASE}");
    let long = "long ".repeat(1000);
    type Wrong<'a> = (&'a [(&'a str, &'a str)], &'a str, &'a str);
    let forms: [Wrong<'_>; 5] = [
        (&[("action", "check_now"), ("check_reason", " ")], "Give a reason", "field-check_reason-wrong"),
        (&[("action", "check_now"), ("check_reason", &long)], "too long", "long long"),
        (&[("action", "delete"), ("reason", "typed")], "Choose one of the actions", "typed"),
        (&[("action", "record_outcome"), ("reason", "typed")], "Choose what you found", "typed"),
        (
            &[
                ("action", "record_outcome"),
                ("outcome", "booked"),
                ("confirmation", "C<1"),
                ("reason", "typed"),
            ],
            "Name a registered booking system",
            "C&lt;1",
        ),
    ];
    for (sent, sentence, kept) in forms {
        let page = desk.world.post(&path, &cookie, sent).await;
        assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY, "{sent:?}");
        assert!(page.text.contains(sentence) && page.text.contains(kept), "{sent:?} {}", page.text);
    }
    let megabyte = "x".repeat(1_000_000);
    let sent = [("action", "check_now"), ("check_reason", megabyte.as_str())];
    assert_eq!(desk.world.post(&path, &cookie, &sent).await.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(desk.events("Asked for everything").await + desk.events("Signed for").await, 0);
}

#[tokio::test]
async fn a_case_that_has_moved_on_says_so_and_keeps_what_was_written() {
    let desk = desk().await;
    let cookie = desk.world.sign_in("support").await;
    let path = format!("/desk/cases/{CASE}");
    let sent =
        [("action", "record_outcome"), ("outcome", "not_booked"), ("reason", "Asked them, no booking")];
    assert_eq!(desk.world.post(&path, &cookie, &sent).await.status, StatusCode::SEE_OTHER);
    let twice = desk.world.post(&path, &cookie, &sent).await;
    assert_eq!(twice.status, StatusCode::CONFLICT);
    assert!(twice.text.contains("signed for it already"), "{}", twice.text);
    desk.clear();
    let late = desk.world.post(&path, &cookie, &sent).await;
    assert_eq!(late.status, StatusCode::CONFLICT);
    assert!(late.text.contains("has moved on") && late.text.contains("Asked them, no booking"));
    let page = desk.world.get(&path, &cookie).await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(
        page.text.contains("Not stuck any more") && page.text.contains("Signed for: there is no booking")
    );
    assert_eq!(desk.events("Signed for").await, 1);
}

#[tokio::test]
async fn several_are_checked_each_with_its_own_result() {
    let desk = desk().await;
    let cookie = desk.world.sign_in("support").await;
    for (sent, sentence) in [
        (vec![("reason", "typed")], "Choose at least one case."),
        (vec![("case", CASE), ("reason", "")], "Give a reason"),
    ] {
        let page = desk.world.post("/desk", &cookie, &sent).await;
        assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(page.text.contains(sentence), "{}", page.text);
    }
    assert_eq!(desk.events("Asked for everything").await, 0);
    let sent = [
        ("case", CASE),
        ("case", UNDO),
        ("case", CASE),
        ("case", "unknown"),
        ("reason", "The agent is back"),
    ];
    let answer = desk.world.post("/desk", &cookie, &sent).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    let address = answer.location().to_owned();
    for _ in 0..2 {
        let page = desk.world.get(&address, &cookie).await.text;
        assert!(page.contains("2 requested, 2 accepted, 0 verified yet."), "{page}");
        assert!(page.contains("2 still stuck: request in doubt 1, undo stuck 1."), "{page}");
        assert!(page.contains("there is no case"));
    }
    desk.clear();
    let page = desk.world.get(&address, &cookie).await.text;
    assert!(page.contains("2 requested, 2 accepted, 1 verified yet."), "{page}");
    let all = [("all", "yes"), ("shown", CASE), ("shown", UNDO), ("reason", "Once more")];
    let address = desk.world.post("/desk", &cookie, &all).await.location().to_owned();
    let page = desk.world.get(&address, &cookie).await.text;
    assert!(page.contains("1 requested, 1 accepted, 0 verified yet."), "{page}");
    assert!(page.contains("Not requested: the case had moved on."));
}

#[tokio::test]
async fn no_other_site_acts_on_a_case() {
    let desk = desk().await;
    let cookie = desk.world.sign_in("support").await;
    for path in ["/desk".to_owned(), format!("/desk/cases/{CASE}")] {
        let request = Request::post(&path)
            .header(header::COOKIE, &cookie)
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header("sec-fetch-site", "cross-site");
        let sent = form(&[("action", "check_now"), ("check_reason", "r"), ("reason", "r"), ("case", CASE)]);
        assert_eq!(desk.world.send(request.body(sent.into()).unwrap()).await.status, StatusCode::FORBIDDEN);
        desk.world
            .get(&format!("{path}?action=check_now&check_reason=r&reason=r&case={CASE}"), &cookie)
            .await;
    }
    assert_eq!(desk.events("Asked for everything").await, 0);
}
