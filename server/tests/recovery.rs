//! What a start finds: reads at once, a dead holder's trips taken over, a stuck case where nobody
//! vouches, agents that are down; and an end in time.

use engine::clock::{Clock as _, SystemClock};
use futures::StreamExt as _;
use serde_json::{Value, json};
use testkit::process::{App, Service, attempt, list, step, text, until_trip};
use testkit::wait::until;
use testkit::{Api, Kind};

const PROGRAM: &str = env!("CARGO_BIN_EXE_holdfast");

async fn behave(service: &Service, agent: &str, behaviour: &str, delay_ms: u64) {
    let behaviour = json!({ "behaviour": behaviour, "delay_ms": delay_ms });
    service.outside.behave(agent, behaviour).await.expect("a behaviour");
}

fn closed(view: &Value) -> bool {
    view["closed_at"].is_i64()
}

/// Milliseconds of the clock that the request log is written by.
fn now() -> i64 {
    SystemClock.now().0
}

#[tokio::test(flavor = "multi_thread")]
async fn every_unfinished_delegation_is_read_again_at_once_on_sqlite() {
    let (killed, healthy, reads) = reads_after_a_kill(Kind::Sqlite).await;
    for read in &reads {
        assert!((killed..healthy + 2_000).contains(read), "killed {killed}, up {healthy}, reads {reads:?}");
    }
}

/// The dead holder's heartbeat was good for 3 s and renewed every second.
#[tokio::test(flavor = "multi_thread")]
async fn every_unfinished_delegation_is_read_again_when_the_heartbeat_has_run_out_on_postgres() {
    let (killed, healthy, reads) = reads_after_a_kill(Kind::Postgres).await;
    let over = killed + 3_000;
    for read in &reads {
        let in_time = (killed + 1_000..healthy.max(over) + 3_000).contains(read);
        assert!(in_time, "killed {killed}, up {healthy}, reads {reads:?}");
    }
}

/// Three trips with two open tasks each, and no timer that could come to their rescue: when the
/// app was killed and answered again, and when each task was first read after that.
async fn reads_after_a_kill(kind: Kind) -> (i64, i64, Vec<i64>) {
    let mut service = Service::new(PROGRAM, kind).await;
    for wait in ["POLL", "POLL_LONGEST", "RECONCILE", "STREAM_IDLE"] {
        service.app.set(&format!("HOLDFAST_WAIT_{wait}"), "600");
    }
    service.app.start(&[]).await;
    service.register(true).await;
    behave(&service, "skylark-flights", "goes_quiet", 100).await;
    behave(&service, "harbour-hotels", "asks", 100).await;
    let mut tasks = Vec::new();
    for _ in 0..3 {
        let trip = service.new_trip(&["flight", "hotel"]).await;
        service.question(&trip, "hotel").await;
        let known = |view: &Value| attempt(view, "flight")["remote_state"] == "WORKING";
        let view = service.until(&trip, "the flight's task", known).await;
        for (agent, name) in [("skylark-flights", "flight"), ("harbour-hotels", "hotel")] {
            tasks.push((agent, attempt(&view, name)["task_id"].clone()));
        }
    }
    service.app.kill().await;
    let killed = now();
    let (mut asked, mut reads) = (Vec::new(), Vec::new());
    for (agent, _) in &tasks {
        asked.push(service.log(agent).await.len());
    }
    service.app.start(&[]).await;
    let healthy = now();
    for ((agent, task), before) in tasks.iter().zip(asked) {
        let read = until(&format!("a read of {task} at {agent}"), || async {
            let new = service.log(agent).await.split_off(before);
            let found = new.iter().find(|r| r["method"] == "GetTask" && r["task_id"] == *task).cloned();
            found.ok_or(new)
        })
        .await;
        reads.push(millis(&read["at"]));
    }
    service.app.stop().await;
    (killed, healthy, reads)
}

fn millis(at: &Value) -> i64 {
    text(at).parse::<jiff::Timestamp>().expect("a time").as_millisecond()
}

/// Two processes on one database: an answer given to either reaches the holder, and when the
/// holder is killed the other finishes its trip, without a second copy of anything.
#[tokio::test(flavor = "multi_thread")]
async fn another_process_takes_over_from_a_killed_holder() {
    let mut service = Service::new(PROGRAM, Kind::Postgres).await;
    service.app.start(&[("HOLDFAST_HOLD_AT", "send.before_write:flight")]).await;
    service.register(true).await;
    behave(&service, "skylark-flights", "works", 100).await;
    behave(&service, "harbour-hotels", "asks", 100).await;
    let trip = service.new_trip(&["flight", "hotel"]).await;
    let question = service.question(&trip, "hotel").await;

    let mut other = App::new(PROGRAM, &service.database.url);
    other.start(&[]).await;
    let there: Api = other.api_like(&service.traveller);
    let path = format!("/questions/{}/answer", text(&question["id"]));
    there.write(&path, &json!({ "choice": "one" })).await;
    let done = |view: &Value| step(view, "hotel")["state"] == "done";
    let before = until_trip(&there, &trip, "the holder to send the answer", done).await;
    assert_eq!(attempt(&before, "flight")["send_state"], "intent", "the holder stands still");
    assert_eq!(service.sends("skylark-flights").await, Vec::<Value>::new());

    service.app.kill().await;
    let view = until_trip(&there, &trip, "the other to finish", closed).await;
    assert_eq!(view["state"], "done", "{view:#}");
    assert_eq!(attempt(&before, "flight")["message_id"], attempt(&view, "flight")["message_id"]);
    assert_eq!(service.sends("skylark-flights").await.len(), 1);
    assert_eq!(service.sends("harbour-hotels").await.len(), 2, "the request and the reply");
    assert_eq!(service.outside.standing().await.expect("ledgers").len(), 2);
    service.assert_sound().await;
    other.stop().await;
}

/// The car's crash of the worked example at an agent for which nobody vouches: that nothing is
/// found proves nothing there, so the message never leaves again and a person has to look.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_nobody_vouches_for_ends_stuck_at_the_same_crash() {
    let mut service = Service::new(PROGRAM, Kind::Sqlite).await;
    service.app.set("HOLDFAST_WAIT_UNKNOWN_VERDICT", "2");
    service.app.start(&[("HOLDFAST_HOLD_AT", "send.before_write:car")]).await;
    service.register(false).await;
    let trip = service.new_trip(&["car"]).await;
    service.until(&trip, "the intent", |view| attempt(view, "car")["send_state"] == "intent").await;
    assert_eq!(service.log("citycar").await, Vec::<Value>::new());
    service.app.kill().await;

    // Twice: a stuck case outlives a start, and no start sends.
    for _ in 0..2 {
        service.app.start(&[]).await;
        let view = service.until(&trip, "a stuck case", |view| view["state"] == "needs_support").await;
        let car = attempt(&view, "car");
        assert!(!text(&car["stuck_reason"]).is_empty(), "{car:#}");
        assert_eq!((&car["ordinal"], &car["outcome"]), (&json!(1), &Value::Null), "{car:#}");
        let cases = service.admin.read("/cases").await;
        let mut ours = list(&cases["cases"]).filter(|case| case["trip"] == trip.as_str());
        let case = ours.next().unwrap_or_else(|| panic!("no case of {trip}: {cases:#}"));
        assert_eq!((&case["id"], ours.next()), (&car["id"], None));
        assert_eq!(service.traveller.get("/cases").await.0, 403);
        let looked = service.log("citycar").await.len();
        until("one more look at the agent", || async {
            let log = service.log("citycar").await;
            if log.len() > looked { Ok(()) } else { Err(log) }
        })
        .await;
        for agent in ["citycar", "metrocar"] {
            assert_eq!(service.sends(agent).await, Vec::<Value>::new(), "{agent}");
        }
        service.app.stop().await;
    }
    service.assert_sound().await;
}

/// Connection refused: nothing left us, so the same message is tried until the agent is there.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_is_down_is_tried_until_it_comes_up() {
    let mut service = Service::new(PROGRAM, Kind::Sqlite).await;
    service.app.start(&[]).await;
    service.register(true).await;
    behave(&service, "skylark-flights", "works", 100).await;
    service.outside.up("skylark-flights", false).await.expect("down");
    let trip = service.new_trip(&["flight"]).await;
    let tried = |view: &Value| {
        let flight = attempt(view, "flight");
        flight["send_state"] == "not_sent" && flight["send_number"].as_i64() >= Some(2)
    };
    let before = service.until(&trip, "a second try that did not leave", tried).await;
    // The patience goes over a start.
    service.app.kill().await;
    service.app.start(&[]).await;
    let number = attempt(&before, "flight")["send_number"].as_i64();
    let again = |view: &Value| tried(view) && attempt(view, "flight")["send_number"].as_i64() > number;
    service.until(&trip, "one more try", again).await;
    service.outside.up("skylark-flights", true).await.expect("up");
    let view = service.until(&trip, "the end", closed).await;
    assert_eq!(view["state"], "done", "{view:#}");
    let flight = attempt(&view, "flight");
    assert_eq!(
        (&flight["ordinal"], &flight["message_id"]),
        (&json!(1), &attempt(&before, "flight")["message_id"])
    );
    assert_eq!(service.sends("skylark-flights").await.len(), 1);
    service.assert_sound().await;
    service.app.stop().await;
}

/// Streams that browsers and programs hold open do not hold up the end.
#[tokio::test(flavor = "multi_thread")]
async fn it_ends_in_time_with_a_stream_open() {
    let mut service = Service::new(PROGRAM, Kind::Sqlite).await;
    service.app.start(&[]).await;
    service.register(true).await;
    behave(&service, "skylark-flights", "goes_quiet", 100).await;
    let trip = service.new_trip(&["flight"]).await;
    service.until(&trip, "work", |view| attempt(view, "flight")["remote_state"] == "WORKING").await;
    let path = format!("/trips/{trip}/events");
    let request = service.traveller.request(reqwest::Method::GET, &path);
    let mut stream =
        request.send().await.expect("a stream").error_for_status().expect("a stream").bytes_stream();
    let first = stream.next().await.expect("an event").expect("an event");
    assert!(String::from_utf8_lossy(&first).contains(&trip), "the first event is the whole view");
    service.app.stop().await;
    while let Some(Ok(_)) = stream.next().await {}
    service.assert_sound().await;
}
