//! What agents do wrong with tasks.

use crate::support::{Demo, request};
use anyhow::{Context, Result};
use reqwest::Method;
use serde_json::{Value, json};

const AGENT: &str = "metrocar";
const RECORDS: &str = "metrocar-records";

async fn ends(demo: &Demo, kind: &str, state: &str) -> Result<(String, Value)> {
    demo.choose(AGENT, json!({ "behaviour": kind, "delay_ms": 0, "late_ms": 150 })).await?;
    demo.ends(AGENT, kind, state).await
}

#[tokio::test]
async fn last_words_that_are_not_what_is_booked() -> Result<()> {
    let demo = Demo::start().await?;
    for (kind, state, at_once, later) in [
        ("rejects_but_books", "TASK_STATE_REJECTED", Some(1), 1),
        ("fails_books_late", "TASK_STATE_FAILED", None, 1),
        ("books_late", "TASK_STATE_COMPLETED", None, 1),
        ("books_twice", "TASK_STATE_COMPLETED", Some(2), 2),
        ("completes_bare", "TASK_STATE_COMPLETED", Some(1), 1),
    ] {
        let (_, task) = ends(&demo, kind, state).await?;
        let booked = demo.booked(RECORDS, &format!("ref-{kind}")).await?.len();
        assert!(at_once.is_none_or(|count| count == booked), "{kind}: {booked}");
        demo.books(RECORDS, &format!("ref-{kind}"), later).await?;
        if kind == "completes_bare" {
            assert!(task.get("artifacts").is_none_or(|list| list == &json!([])));
            assert!(task["status"].get("message").is_none_or(Value::is_null));
        }
    }
    Ok(())
}

#[tokio::test]
async fn it_undoes_its_booking_or_completes_after_all() -> Result<()> {
    let demo = Demo::start().await?;
    ends(&demo, "fails_then_undoes", "TASK_STATE_FAILED").await?;
    let ledger = format!("/ledgers/{RECORDS}");
    demo.shows(&ledger, |ledger| ledger["bookings"][0]["status"] == "CANCELLED").await?;
    let (task, _) = ends(&demo, "completes_after_failing", "TASK_STATE_FAILED").await?;
    let after = demo.reaches(AGENT, &task, "TASK_STATE_COMPLETED").await?;
    assert!(after["artifacts"][0]["parts"][1]["data"]["confirmation"].is_string());
    demo.books(RECORDS, "ref-completes_after_failing", 1).await?;
    let (task, _) = {
        demo.choose(AGENT, json!({ "behaviour": "books_then_forgets", "delay_ms": 0 })).await?;
        (demo.send(AGENT, "forgets", "forgets").await?, ())
    };
    demo.books(RECORDS, "ref-forgets", 1).await?;
    demo.shows("/agents/metrocar/tasks", |tasks| !tasks.to_string().contains(&task)).await?;
    assert_eq!(demo.task(AGENT, &task).await?["error"]["code"], -32001);
    Ok(())
}

#[tokio::test]
async fn odd_ways_to_a_good_end() -> Result<()> {
    let demo = Demo::start().await?;
    let (task, _) = ends(&demo, "auth_clears", "TASK_STATE_AUTH_REQUIRED").await?;
    demo.reaches(AGENT, &task, "TASK_STATE_COMPLETED").await?;
    demo.choose(AGENT, json!({ "behaviour": "unknown_state", "delay_ms": 200 })).await?;
    let task = demo.send(AGENT, "unknown", "unknown").await?;
    demo.reaches(AGENT, &task, "TASK_STATE_PAUSED").await?;
    demo.reaches(AGENT, &task, "TASK_STATE_COMPLETED").await?;
    let (task, first) = ends(&demo, "asks_same_twice", "TASK_STATE_INPUT_REQUIRED").await?;
    demo.reply(AGENT, "r1", &task, "manual").await?;
    demo.shows("/agents/metrocar/tasks", |tasks| {
        let task = &tasks["tasks"][0]["task"];
        task["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
            && task["status"]["message"]["messageId"] != first["status"]["message"]["messageId"]
    })
    .await?;
    let second = demo.task(AGENT, &task).await?;
    assert_eq!(second["status"]["message"]["parts"], first["status"]["message"]["parts"]);
    demo.reply(AGENT, "r2", &task, "manual").await?;
    demo.reaches(AGENT, &task, "TASK_STATE_COMPLETED").await?;
    demo.choose(AGENT, json!({ "behaviour": "acknowledges", "delay_ms": 0, "late_ms": 100 })).await?;
    let answer = demo.rpc(AGENT, "SendMessage", request("ticket", "x")).await?;
    assert!(answer["message"]["parts"][0]["text"].as_str().is_some_and(|text| text.contains("ticket")));
    demo.books(RECORDS, "ref-ticket", 1).await?;
    Ok(())
}

#[tokio::test]
async fn cancels_that_are_not_what_they_seem() -> Result<()> {
    let demo = Demo::start().await?;
    let odd = |quirk: &str| json!({ "behaviour": "works", "delay_ms": 400, "late_ms": 100, "also": [quirk] });
    demo.choose(AGENT, odd("ignores_cancel")).await?;
    let task = demo.send(AGENT, "ignored", "ignored").await?;
    let answer = demo.rpc(AGENT, "CancelTask", json!({ "id": task })).await?;
    assert_eq!(answer["status"]["state"], "TASK_STATE_WORKING");
    demo.reaches(AGENT, &task, "TASK_STATE_COMPLETED").await?;
    assert_eq!(demo.booked(RECORDS, "ref-ignored").await?.len(), 1);

    demo.choose(AGENT, odd("books_though_cancelled")).await?;
    let task = demo.send(AGENT, "though", "though").await?;
    let answer = demo.rpc(AGENT, "CancelTask", json!({ "id": task })).await?;
    assert_eq!(answer["status"]["state"], "TASK_STATE_CANCELED");
    demo.books(RECORDS, "ref-though", 1).await?;

    demo.choose(AGENT, json!({ "behaviour": "books_then_dawdles", "delay_ms": 5_000 })).await?;
    let task = demo.send(AGENT, "stays", "stays").await?;
    demo.books(RECORDS, "ref-stays", 1).await?;
    let answer = demo.rpc(AGENT, "CancelTask", json!({ "id": task })).await?;
    assert_eq!(answer["status"]["state"], "TASK_STATE_CANCELED");
    assert_eq!(demo.booked(RECORDS, "ref-stays").await?[0]["status"], "CONFIRMED");
    Ok(())
}

#[tokio::test]
async fn second_messages_book_twice_and_replies_fork() -> Result<()> {
    let demo = Demo::start().await?;
    let busy = json!({ "behaviour": "works", "delay_ms": 1_000, "also": ["busy_books_twice"] });
    demo.choose(AGENT, busy).await?;
    let task = demo.send(AGENT, "busy", "busy").await?;
    let answer = demo.reply(AGENT, "again", &task, "hello?").await?;
    assert_eq!((&answer["task"]["id"], &answer["task"]["contextId"]), (&json!(task), &json!("busy")));
    demo.reaches(AGENT, &task, "TASK_STATE_COMPLETED").await?;
    demo.books(RECORDS, "ref-busy", 2).await?;

    demo.choose(AGENT, json!({ "behaviour": "asks", "delay_ms": 0, "also": ["forks"] })).await?;
    let (asked, _) = demo.ends(AGENT, "fork", "TASK_STATE_INPUT_REQUIRED").await?;
    let answer = demo.reply(AGENT, "reply", &asked, "manual").await?;
    let other = answer["task"]["id"].as_str().context("a task")?;
    assert_ne!(other, asked);
    assert_eq!(answer["task"]["contextId"], "fork");
    demo.reaches(AGENT, other, "TASK_STATE_COMPLETED").await?;
    demo.books(RECORDS, "ref-fork", 1).await?;
    assert_eq!(demo.task(AGENT, &asked).await?["status"]["state"], "TASK_STATE_INPUT_REQUIRED");
    Ok(())
}

#[tokio::test]
async fn one_agent_restarts_and_forgets_or_leaves_orphans() -> Result<()> {
    let demo = Demo::start().await?;
    let restart = async |how: Value| demo.control(Method::POST, "/agents/metrocar/restart", Some(how)).await;
    demo.choose(AGENT, json!({ "behaviour": "works", "delay_ms": 300 })).await?;
    let kept = demo.send(AGENT, "kept", "kept").await?;
    restart(json!({})).await?;
    demo.reaches(AGENT, &kept, "TASK_STATE_COMPLETED").await?;
    assert_eq!(demo.booked(RECORDS, "ref-kept").await?.len(), 1);

    let orphan = demo.send(AGENT, "orphan", "orphan").await?;
    restart(json!({ "orphan": true, "down_ms": 400 })).await?;
    assert_eq!(demo.task(AGENT, &orphan).await?["status"]["state"], "TASK_STATE_WORKING");
    assert!(demo.booked(RECORDS, "ref-orphan").await?.is_empty());
    let subscribed = demo.rpc(AGENT, "SubscribeToTask", json!({ "id": orphan })).await?;
    assert_eq!(subscribed["error"]["code"], -32001);
    demo.reply(AGENT, "wake", &orphan, "are you there?").await?;
    demo.reaches(AGENT, &orphan, "TASK_STATE_COMPLETED").await?;

    let gone = demo.send(AGENT, "gone", "gone").await?;
    restart(json!({ "forget": true })).await?;
    assert_eq!(demo.task(AGENT, &gone).await?["error"]["code"], -32001);
    let list = demo.rpc(AGENT, "ListTasks", json!({})).await?;
    assert!(list["tasks"].as_array().is_none_or(Vec::is_empty), "{list}");

    let one = demo.send(AGENT, "one", "one").await?;
    let body = Some(json!({ "task": one }));
    let answer = demo.control(Method::POST, "/agents/metrocar/forget", body).await?;
    assert_eq!(answer["forgotten"], 1);
    assert_eq!(demo.task(AGENT, &one).await?["error"]["code"], -32001);
    let (two, _) = demo.ends(AGENT, "two", "TASK_STATE_COMPLETED").await?;
    demo.control(Method::POST, "/agents/metrocar/forget", Some(json!({}))).await?;
    assert_eq!(demo.task(AGENT, &two).await?["error"]["code"], -32001);
    Ok(())
}
