//! What answers say under faults of content.

use crate::support::Demo;
use anyhow::Result;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

const AGENT: &str = "skylark-flights";

async fn done() -> Result<(Demo, String)> {
    let demo = Demo::start().await?;
    demo.choose(AGENT, json!({ "behaviour": "works", "delay_ms": 0 })).await?;
    let (task, _) = demo.ends(AGENT, "m", "TASK_STATE_COMPLETED").await?;
    Ok((demo, task))
}

async fn under(demo: &Demo, task: &str, fault: Value) -> Result<Value> {
    demo.play(AGENT, json!([fault])).await?;
    demo.task(AGENT, task).await
}

fn time(value: &Value) -> Result<Timestamp> {
    Ok(value.as_str().unwrap_or_default().parse()?)
}

#[tokio::test]
async fn states_fields_lists_and_numbers() -> Result<()> {
    let (demo, task) = done().await?;
    let seen = under(&demo, &task, json!({ "fault": "wrong_state", "state": "TASK_STATE_NAPPING" })).await?;
    assert_eq!(seen["status"]["state"], "TASK_STATE_NAPPING");
    let seen = under(&demo, &task, json!({ "fault": "wrong_state" })).await?;
    assert_eq!(seen["status"]["state"], "TASK_STATE_PAUSED");
    let seen = under(&demo, &task, json!({ "fault": "unknown_fields" })).await?;
    assert!(seen["status"]["xUnknown"].is_object() && seen["history"][0]["xUnknown"].is_object());
    let seen = under(&demo, &task, json!({ "fault": "null_lists" })).await?;
    assert_eq!((&seen["history"], &seen["artifacts"]), (&Value::Null, &Value::Null));
    assert!(seen.get("history").is_some(), "null, not missing");
    let seen = under(&demo, &task, json!({ "fault": "numbers_as_strings" })).await?;
    let travellers = &seen["artifacts"][0]["parts"][1]["data"]["details"]["travellers"];
    assert!(travellers.is_string(), "{travellers}");
    demo.play(AGENT, json!([{ "fault": "null_lists" }])).await?;
    let list = demo.rpc(AGENT, "ListTasks", json!({ "contextId": "nothing" })).await?;
    assert_eq!(list.get("tasks"), Some(&Value::Null));
    demo.play(AGENT, json!([{ "fault": "leaves_out_empty" }])).await?;
    let list = demo.rpc(AGENT, "ListTasks", json!({ "contextId": "nothing" })).await?;
    assert_eq!(list, json!({ "pageSize": 50 }));
    Ok(())
}

#[tokio::test]
async fn ids_that_are_odd_doubled_or_of_somebody_else() -> Result<()> {
    let (demo, task) = done().await?;
    demo.play(AGENT, json!([{ "fault": "odd_ids", "size": 4_000 }])).await?;
    let list = demo.rpc(AGENT, "ListTasks", json!({})).await?;
    let odd = list["tasks"][0]["id"].as_str().unwrap_or_default().to_owned();
    assert!(odd.len() > 4_000 && odd.ends_with(&task));
    assert_eq!(demo.task(AGENT, &odd).await?["id"], odd);
    let mut url = reqwest::Url::parse(&format!("{}/rest/tasks", demo.agent_url(AGENT)?))?;
    url.path_segments_mut().map_err(|()| anyhow::anyhow!("no path"))?.push(&odd);
    assert_eq!(demo.http.get(url).send().await?.json::<Value>().await?["id"], odd);
    demo.choose("metrocar", json!({ "behaviour": "asks", "delay_ms": 0 })).await?;
    demo.play("metrocar", json!([{ "fault": "odd_ids" }])).await?;
    let (asked, _) = demo.ends("metrocar", "odd", "TASK_STATE_INPUT_REQUIRED").await?;
    let replied = demo.reply("metrocar", "reply", &asked, "manual").await?;
    assert_eq!(replied["task"]["id"], asked);

    let seen = under(&demo, &task, json!({ "fault": "foreign_context" })).await?;
    assert_eq!(seen["contextId"], "the-context-of-somebody-else");
    demo.play(AGENT, json!([{ "fault": "duplicate_tasks" }])).await?;
    let list = demo.rpc(AGENT, "ListTasks", json!({})).await?;
    assert_eq!((&list["tasks"][0]["id"], &list["tasks"][1]["id"]), (&json!(task), &json!(task)));
    Ok(())
}

#[tokio::test]
async fn answers_without_end() -> Result<()> {
    let (demo, task) = done().await?;
    let body = |size: usize| json!([{ "fault": "huge_body", "size": size }]);
    for size in [1_000, 3_000_000] {
        demo.play(AGENT, body(size)).await?;
        let text = demo.post(AGENT, "GetTask", json!({ "id": task })).await?.text().await?;
        let seen: Value = serde_json::from_str(&text)?;
        let artifacts = seen["result"]["artifacts"].as_array().map_or(&[][..], Vec::as_slice);
        let huge = artifacts.last().and_then(|artifact| artifact["parts"][0]["text"].as_str());
        assert_eq!(huge.map(str::len), Some(size));
    }
    demo.play(AGENT, json!([{ "fault": "deep_json", "size": 200_000 }])).await?;
    let text = demo.post(AGENT, "GetTask", json!({ "id": task })).await?.text().await?;
    assert_eq!((text.matches('[').count() > 200_000, text.ends_with('}')), (true, true));
    let seen = under(&demo, &task, json!({ "fault": "many_artifacts", "size": 5_000 })).await?;
    assert_eq!(seen["artifacts"].as_array().map(Vec::len), Some(5_001));
    Ok(())
}

#[tokio::test]
async fn an_agent_whose_clock_is_wrong() -> Result<()> {
    let (demo, task) = done().await?;
    let truth = time(&demo.task(AGENT, &task).await?["status"]["timestamp"])?;
    for seconds in [300_i64, -300] {
        demo.play(AGENT, json!([{ "fault": "clock_skew", "seconds": seconds }])).await?;
        let answer = demo.post(AGENT, "GetTask", json!({ "id": task })).await?;
        let date = answer.headers()["date"].to_str()?.to_owned();
        let date = jiff::fmt::rfc2822::parse(&date)?.timestamp();
        let off = date.duration_since(Timestamp::UNIX_EPOCH)
            - truth.duration_since(Timestamp::UNIX_EPOCH)
            - SignedDuration::from_secs(seconds);
        assert!(off.abs() < SignedDuration::from_secs(30), "{date}");
        let seen = answer.json::<Value>().await?["result"]["status"]["timestamp"].clone();
        assert_eq!(time(&seen)?, truth.checked_add(SignedDuration::from_secs(seconds))?);
        for (margin, found) in [(-1, 1), (1, 0)] {
            let after = time(&seen)?.checked_add(SignedDuration::from_secs(margin))?;
            let params = json!({ "statusTimestampAfter": after.to_string() });
            let list = demo.rpc(AGENT, "ListTasks", params).await?;
            assert_eq!(list["totalSize"].as_i64().unwrap_or(0), found, "its filter goes by its clock");
        }
    }
    Ok(())
}

#[tokio::test]
async fn timestamps_and_histories_that_are_not_all_there() -> Result<()> {
    let (demo, task) = done().await?;
    let seen = under(&demo, &task, json!({ "fault": "no_timestamps" })).await?;
    assert!(seen["status"].get("timestamp").is_none());
    let params = json!({ "statusTimestampAfter": "2020-01-01T00:00:00Z" });
    assert_eq!(demo.rpc(AGENT, "ListTasks", params).await?["tasks"], json!([]));
    let seen = under(&demo, &task, json!({ "fault": "timestamps_without_zone" })).await?;
    assert!(seen["status"]["timestamp"].as_str().is_some_and(|at| !at.ends_with('Z')));

    let hotel = "harbour-hotels";
    demo.choose(hotel, json!({ "behaviour": "asks", "delay_ms": 0 })).await?;
    let (asked, _) = demo.ends(hotel, "first", "TASK_STATE_INPUT_REQUIRED").await?;
    demo.reply(hotel, "second", &asked, "one").await?;
    demo.reaches(hotel, &asked, "TASK_STATE_COMPLETED").await?;
    demo.play(hotel, json!([{ "fault": "cut_history", "size": 1 }])).await?;
    let seen = demo.task(hotel, &asked).await?;
    assert_eq!(seen["history"].as_array().map(Vec::len), Some(1));
    assert_eq!(seen["history"][0]["messageId"], "second");
    demo.play(hotel, json!([{ "fault": "no_history" }])).await?;
    assert!(demo.task(hotel, &asked).await?.get("history").is_none());
    demo.play(hotel, json!([{ "fault": "history_without_user" }])).await?;
    assert_eq!(demo.task(hotel, &asked).await?["history"], json!([]));
    Ok(())
}
