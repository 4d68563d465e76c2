//! The worked example over the API, against the real binary and the demo world, with SIGKILL at
//! the two told moments: before the hotel's task id is recorded, and in the middle of the undo.

use serde_json::{Value, json};
use testkit::process::{Service, TRAVELLER, attempt, list, step, text};
use testkit::wait::until;
use testkit::{Api, Kind};

const PROGRAM: &str = env!("CARGO_BIN_EXE_holdfast");
const AGENTS: [&str; 4] = ["skylark-flights", "harbour-hotels", "citycar", "metrocar"];

#[tokio::test(flavor = "multi_thread")]
async fn the_trip_survives_two_kills_on_sqlite() {
    the_story(Kind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_trip_survives_two_kills_on_postgres() {
    the_story(Kind::Postgres).await;
}

async fn the_story(kind: Kind) {
    let mut service = Service::new(PROGRAM, kind).await;
    // The hotel's answer is withheld: the kill has as long as this before the send gives up.
    service.app.set("HOLDFAST_WAIT_SEND_LIMIT", "6");
    service.app.set("HOLDFAST_WAIT_HEARTBEAT", "7");
    let held = json!({ "behaviour": "asks", "delay_ms": 300, "hold_answer": true, "times": 1 });
    service.outside.behave("harbour-hotels", held).await.expect("a behaviour");

    service.app.start(&[("HOLDFAST_HOLD_AT", "send.before_write:car")]).await;
    service.register(true).await;
    let trip = service.new_trip(&["flight", "hotel", "car"]).await;
    let before = up_to_the_kill(&service, &trip).await;
    service.app.kill().await;

    until("the flight agent to finish on its own", || async {
        let ledger = service.outside.ledger("northwind-air").await.expect("a ledger");
        if list(&ledger["bookings"]).count() == 1 { Ok(()) } else { Err(ledger) }
    })
    .await;
    service.app.start(&[]).await;
    hotel_is_found_and_answered(&service, &trip, &before).await;
    flight_is_adopted(&service, &trip, &before).await;
    car_is_sent_once_after_looking(&service, &before).await;
    metrocar_goes_on_from_citycar(&service, &trip).await;

    let decision = service.question(&trip, "car").await;
    assert_eq!(decision["kind"], "decision", "{decision:#}");
    // A new life that stands still in the middle of the undo.
    service.app.stop().await;
    service.app.start(&[("HOLDFAST_HOLD_AT", "undo.after_answer:hotel")]).await;
    service.answer(&trip, "car", "cancel_trip").await;
    the_hotel_has_been_told(&service, &trip).await;
    service.app.kill().await;

    service.app.start(&[]).await;
    let end = service.until(&trip, "the end", |view| view["closed_at"].is_i64()).await;
    assert_eq!(end["state"], "cancelled", "{end:#}");
    undone_in_reverse_and_once(&service, &end).await;
    money_is_what_the_ledgers_say(&service, &end).await;
    history_tells_who_what_and_why(&end);
    no_message_was_sent_twice(&service).await;
    service.assert_sound().await;
    service.app.stop().await;
}

/// Three intents are journaled; flight is recorded, the hotel has its request, the car nothing.
async fn up_to_the_kill(service: &Service, trip: &str) -> Value {
    let begun = |view: &Value| {
        attempt(view, "flight")["task_id"].is_string()
            && ["hotel", "car"].iter().all(|name| attempt(view, name)["send_state"] == "intent")
    };
    service.until(trip, "three delegations with their intents", begun).await;
    let asked = until("the hotel agent to be asked", || async {
        let sent = service.sends("harbour-hotels").await;
        if sent.len() == 1 { Ok(sent[0].clone()) } else { Err(sent) }
    })
    .await;
    let before = service.traveller.read(&format!("/trips/{trip}")).await;
    let hotel = attempt(&before, "hotel");
    assert_eq!(asked["message_id"], hotel["message_id"]);
    assert_eq!((&hotel["task_id"], &hotel["send_state"]), (&Value::Null, &json!("intent")), "{before:#}");
    let car = attempt(&before, "car");
    assert_eq!((&car["send_state"], &car["send_number"]), (&json!("intent"), &json!(1)));
    for agent in ["citycar", "metrocar"] {
        assert_eq!(service.log(agent).await, Vec::<Value>::new(), "{agent} has heard nothing");
    }
    before
}

/// ListTasks on our contextId finds the task; its question is answered on that task and context.
async fn hotel_is_found_and_answered(service: &Service, trip: &str, before: &Value) {
    let question = service.question(trip, "hotel").await;
    assert_eq!((&question["kind"], &question["text"]), (&json!("input"), &json!("Two rooms or one?")));
    let view = service.traveller.read(&format!("/trips/{trip}")).await;
    let (lost, found) = (attempt(before, "hotel"), attempt(&view, "hotel"));
    for same in ["id", "message_id", "context_id", "reference"] {
        assert_eq!(lost[same], found[same], "{same}");
    }
    assert!(found["task_id"].is_string(), "{found:#}");

    service.answer(trip, "hotel", "two").await;
    let (status, late) = answer_again(&service.traveller, &question).await;
    assert_eq!(status, 409, "{late:#}");
    service
        .until(trip, "the hotel's records to confirm", |view| step(view, "hotel")["state"] == "done")
        .await;

    let log = service.log("harbour-hotels").await;
    assert_eq!(log[0]["message_id"], found["message_id"], "{log:#?}");
    assert_eq!(
        (&log[1]["method"], &log[1]["context_id"]),
        (&json!("ListTasks"), &found["context_id"]),
        "{log:#?}"
    );
    let sends: Vec<&Value> = log.iter().filter(|request| request["method"] == "SendMessage").collect();
    assert_eq!(sends.len(), 2, "the request once, the reply once: {sends:#?}");
    let reply = sends[1];
    assert_ne!(reply["message_id"], found["message_id"]);
    assert_eq!((&reply["task_id"], &reply["context_id"]), (&found["task_id"], &found["context_id"]));
    let ledger = service.outside.ledger("harbour-hotels").await.expect("a ledger");
    assert_eq!(ledger["bookings"][0]["details"]["rooms"], 2, "{ledger:#}");
    assert_eq!(ledger["bookings"][0]["reference"], found["reference"]);
}

async fn answer_again(api: &Api, question: &Value) -> (u16, Value) {
    let path = format!("/questions/{}/answer", text(&question["id"]));
    api.post(&path, &json!({ "choice": "one" })).await
}

/// The flight was finished while nobody looked: GetTask says so, the airline's records confirm it.
async fn flight_is_adopted(service: &Service, trip: &str, before: &Value) {
    let view = service.until(trip, "the flight", |view| step(view, "flight")["state"] == "done").await;
    let (known, now) = (attempt(before, "flight"), attempt(&view, "flight"));
    assert_eq!(known["task_id"], now["task_id"]);
    assert_eq!((&now["outcome"], &now["ordinal"]), (&json!("completed"), &json!(1)), "{now:#}");
    let log = service.log("skylark-flights").await;
    let read = |request: &&Value| request["method"] == "GetTask" && request["task_id"] == known["task_id"];
    assert!(log.iter().any(|request| read(&request)), "{log:#?}");
    let ledger = service.outside.ledger("northwind-air").await.expect("a ledger");
    let flight = list(&view["effects"]).find(|effect| effect["step"] == "flight").expect("an effect");
    assert_eq!((&flight["verdict"], &flight["ghost"]), (&json!("present"), &json!(false)));
    assert_eq!(flight["confirmation"], ledger["bookings"][0]["id"]);
}

/// The car's journaled message leaves once, and only after two looks found nothing.
async fn car_is_sent_once_after_looking(service: &Service, before: &Value) {
    let car = attempt(before, "car");
    let log = until("the car's request", || async {
        let log = service.log("citycar").await;
        if log.iter().any(|request| request["method"] == "SendMessage") { Ok(log) } else { Err(log) }
    })
    .await;
    let sent = log.iter().position(|request| request["method"] == "SendMessage").expect("a send");
    assert_eq!(log[sent]["message_id"], car["message_id"]);
    let looks =
        log[..sent].iter().filter(|r| r["method"] == "ListTasks" && r["context_id"] == car["context_id"]);
    assert!(looks.count() >= 2, "earned by two looks: {log:#?}");
}

/// The second car agent gets a new message with the first one's task id and reason.
async fn metrocar_goes_on_from_citycar(service: &Service, trip: &str) {
    service.question(trip, "car").await;
    let view = service.traveller.read(&format!("/trips/{trip}")).await;
    let attempts: Vec<&Value> = list(&step(&view, "car")["delegations"]).collect();
    let [first, second] = attempts[..] else { panic!("two attempts, the budget: {attempts:#?}") };
    assert_eq!((&first["outcome"], &second["outcome"]), (&json!("rejected"), &json!("failed")), "{view:#}");
    assert_eq!(second["previous"], first["id"]);
    assert_ne!(second["message_id"], first["message_id"]);
    let sends = service.sends("metrocar").await;
    assert_eq!(sends.len(), 1, "{sends:#?}");
    assert_eq!(sends[0]["message_id"], second["message_id"]);
    let reason = "No cars left on those dates.";
    let metadata = &sends[0]["metadata"];
    assert_eq!(metadata["previous_task_id"], first["task_id"], "{metadata:#}");
    assert!(text(&metadata["previous_failure"]).contains(reason), "{metadata:#}");
    let words = sends[0]["body"]["params"]["message"]["parts"][0]["text"].to_string();
    assert!(words.contains(text(&first["task_id"])) && words.contains(reason), "{words}");
}

/// The hotel's system has cancelled; the answer is not recorded, and nothing else has begun.
async fn the_hotel_has_been_told(service: &Service, trip: &str) {
    until("the hotel's system to be told", || async {
        let cancels = cancels(service, "harbour-hotels").await;
        if cancels.len() == 1 { Ok(()) } else { Err(cancels) }
    })
    .await;
    let view = service.traveller.read(&format!("/trips/{trip}")).await;
    assert_eq!(compensation(&view, "hotel")["state"], "requested", "{view:#}");
    assert_eq!(compensation(&view, "flight")["state"], "planned", "{view:#}");
}

fn compensation<'a>(view: &'a Value, step: &str) -> &'a Value {
    let mut effects = list(&view["effects"]).filter(|effect| effect["step"] == step);
    &effects.find(|effect| effect["compensation"].is_object()).expect("a compensation")["compensation"]
}

async fn cancels(service: &Service, system: &str) -> Vec<Value> {
    let ledger = service.outside.ledger(system).await.expect("a ledger");
    list(&ledger["operations"]).filter(|operation| operation["operation"] == "cancel").cloned().collect()
}

/// Hotel first and verified gone, then the flight; each done once, under one key.
async fn undone_in_reverse_and_once(service: &Service, end: &Value) {
    let mut keys = Vec::new();
    for system in ["harbour-hotels", "northwind-air"] {
        let cancels = cancels(service, system).await;
        let done = cancels.iter().filter(|operation| operation["note"] == "cancelled");
        assert_eq!(done.count(), 1, "{cancels:#?}");
        let key = &cancels[0]["idempotency_key"];
        assert!(key.is_string() && cancels.iter().all(|c| &c["idempotency_key"] == key), "{cancels:#?}");
        keys.push(key.clone());
    }
    assert_ne!(keys[0], keys[1]);
    let (hotel, flight) = (compensation(end, "hotel"), compensation(end, "flight"));
    assert_eq!((&hotel["rung"], &flight["rung"]), (&json!(1), &json!(2)));
    for rung in [hotel, flight] {
        assert_eq!(rung["state"], "verified");
    }
    let order = (hotel["verified_at"].as_i64(), flight["requested_at"].as_i64());
    assert!(order.0.is_some() && order.0 <= order.1, "hotel verified gone before the flight: {order:?}");
    let (told_first, told_second) =
        (cancels(service, "harbour-hotels").await, cancels(service, "northwind-air").await);
    // Times of one clock in one format: they compare as text.
    assert!(text(&told_first[0]["at"]) < text(&told_second[0]["at"]));
    assert_eq!(service.outside.standing().await.expect("ledgers"), Vec::<Value>::new());
}

async fn money_is_what_the_ledgers_say(service: &Service, end: &Value) {
    let (mut paid, mut kept) = (0, 0);
    for system in ["harbour-hotels", "northwind-air"] {
        let ledger = service.outside.ledger(system).await.expect("a ledger");
        for booking in list(&ledger["bookings"]) {
            paid += cents(&booking["total"]);
            kept += cents(&booking["fee"]);
        }
    }
    assert!(paid > kept && kept > 0, "{paid} and {kept}");
    let wanted = json!([
        { "currency": "EUR", "digits": 2, "held": 0, "refunded": paid - kept, "fees": kept, "in_doubt": 0 }
    ]);
    assert_eq!(end["money"], wanted);
}

fn cents(money: &Value) -> i64 {
    assert_eq!(money["currency"], "EUR");
    text(&money["amount"]).replace('.', "").parse().expect("an amount")
}

/// Who, what and why, numbered without gaps up to the trip's number.
fn history_tells_who_what_and_why(end: &Value) {
    let history: Vec<&Value> = list(&end["history"]).collect();
    let newest = end["seq"].as_i64().expect("a number");
    for (place, event) in (0..).zip(&history) {
        assert_eq!(event["seq"], newest - place, "{history:#?}");
        assert!(!text(&event["actor"]).is_empty() && !text(&event["what"]).is_empty(), "{event:#}");
    }
    assert!(history.len() == 50 || history.last().is_some_and(|event| event["seq"] == 1), "{history:#?}");
    let by = |actor: &str, what: &str| {
        let found =
            history.iter().any(|e| text(&e["actor"]).contains(actor) && text(&e["what"]).contains(what));
        assert!(found, "{actor}: {what}: {history:#?}");
    };
    by(TRAVELLER, "Answered: Two rooms");
    by(TRAVELLER, "Answered too late: One room");
    by("CityCar", "REJECTED: No cars left on those dates.");
    by("MetroCar", "FAILED: ");
    let why = |what: &str| {
        let event = history.iter().find(|e| text(&e["what"]).contains(what));
        text(&event.unwrap_or_else(|| panic!("no event: {what}"))["why"]).to_owned()
    };
    assert!(why("Attempt 2 of 2 is handed to MetroCar").contains("rejected"));
    assert!(why("The trip is being cancelled").contains("traveller"));
    assert!(why("The trip is cancelled").contains("verified gone"));
}

async fn no_message_was_sent_twice(service: &Service) {
    for agent in AGENTS {
        let sends = service.sends(agent).await;
        let mut ids: Vec<&str> = sends.iter().map(|request| text(&request["message_id"])).collect();
        ids.sort_unstable();
        let sent = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), sent, "{agent}: {sends:#?}");
    }
}

/// The same moment of the undo, by an abort inside the process instead of a kill from outside.
#[tokio::test(flavor = "multi_thread")]
async fn an_abort_in_the_middle_of_the_undo_is_recovered_the_same_way() {
    let mut service = Service::new(PROGRAM, Kind::Sqlite).await;
    for (agent, behaviour) in [("skylark-flights", "goes_quiet"), ("harbour-hotels", "works")] {
        let behaviour = json!({ "behaviour": behaviour, "delay_ms": 100 });
        service.outside.behave(agent, behaviour).await.expect("a behaviour");
    }
    service.app.start(&[("HOLDFAST_CRASH_AT", "undo.after_answer:hotel")]).await;
    service.register(true).await;
    let trip = service.new_trip(&["flight", "hotel"]).await;
    service.until(&trip, "the hotel booked", |view| step(view, "hotel")["state"] == "done").await;
    service.traveller.write(&format!("/trips/{trip}/cancel"), &json!({})).await;
    service.app.aborted().await;
    assert_eq!(cancels(&service, "harbour-hotels").await.len(), 1);
    service.app.start(&[]).await;
    let end = service.until(&trip, "the end", |view| view["closed_at"].is_i64()).await;
    assert_eq!(
        (&end["state"], &attempt(&end, "flight")["outcome"]),
        (&json!("cancelled"), &json!("canceled"))
    );
    let cancels = cancels(&service, "harbour-hotels").await;
    assert_eq!(
        cancels.iter().filter(|operation| operation["note"] == "cancelled").count(),
        1,
        "{cancels:#?}"
    );
    assert_eq!(service.outside.standing().await.expect("ledgers"), Vec::<Value>::new());
    no_message_was_sent_twice(&service).await;
    service.assert_sound().await;
    service.app.stop().await;
}
