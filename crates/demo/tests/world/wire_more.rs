//! Faults of the wire, alone and together.

use crate::support::{Demo, request};
use anyhow::Result;
use reqwest::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const AGENT: &str = "metrocar";

async fn quick() -> Result<Demo> {
    let demo = Demo::start().await?;
    demo.choose(AGENT, json!({ "behaviour": "works", "delay_ms": 0 })).await?;
    Ok(demo)
}

#[tokio::test]
async fn a_request_lands_late_though_its_connection_broke() -> Result<()> {
    let demo = quick().await?;
    demo.play(AGENT, json!([{ "fault": "lands_late", "ms": 400, "times": 1 }])).await?;
    assert!(demo.post(AGENT, "SendMessage", request("late", "late")).await.is_err());
    let list = demo.rpc(AGENT, "ListTasks", json!({ "contextId": "late" })).await?;
    assert_eq!(list["totalSize"].as_i64().unwrap_or(0), 0, "not yet");
    demo.books("metrocar-records", "ref-late", 1).await?;

    demo.play(AGENT, json!([{ "fault": "slow_request", "ms": 300, "times": 1 }])).await?;
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": request("left", "c") });
    let left = demo.http.post(demo.agent_url(AGENT)?).header("A2A-Version", "1.0").json(&body);
    assert!(left.timeout(Duration::from_millis(50)).send().await.is_err());
    demo.books("metrocar-records", "ref-left", 1).await?;
    Ok(())
}

#[tokio::test]
async fn slow_hanging_and_dripping_answers() -> Result<()> {
    let demo = quick().await?;
    let start = Instant::now();
    demo.play(AGENT, json!([{ "fault": "slow", "method": "ListTasks", "ms": 150, "times": 1 }])).await?;
    demo.rpc(AGENT, "ListTasks", json!({})).await?;
    assert!(start.elapsed() >= Duration::from_millis(150));
    for (fault, tasks) in [("hang_before", 0), ("hang", 1)] {
        demo.play(AGENT, json!([{ "fault": fault, "ms": 50, "times": 1 }])).await?;
        assert_eq!(demo.post(AGENT, "SendMessage", request(fault, fault)).await?.status(), 504);
        let list = demo.rpc(AGENT, "ListTasks", json!({ "contextId": fault })).await?;
        assert_eq!(list["totalSize"].as_i64().unwrap_or(0), tasks, "{fault}");
    }
    let drip = json!([{ "fault": "drip", "method": "ListTasks", "ms": 2, "size": 40 }]);
    demo.play(AGENT, drip).await?;
    assert!(demo.rpc(AGENT, "ListTasks", json!({})).await?["tasks"].is_array());
    Ok(())
}

#[tokio::test]
async fn broken_bodies_and_gateway_pages() -> Result<()> {
    let demo = quick().await?;
    demo.play(AGENT, json!([{ "fault": "truncated_json", "method": "ListTasks" }])).await?;
    let text = demo.post(AGENT, "ListTasks", json!({})).await?.text().await?;
    assert!(text.starts_with('{') && serde_json::from_str::<Value>(&text).is_err());
    demo.play(AGENT, json!([{ "fault": "reset_mid_answer", "method": "ListTasks" }])).await?;
    let answer = demo.post(AGENT, "ListTasks", json!({})).await?;
    assert_eq!(answer.status(), 200);
    assert!(answer.bytes().await.is_err(), "half of it, then the connection breaks");
    demo.play(AGENT, json!([{ "fault": "html_200", "times": 1 }])).await?;
    let page = demo.post(AGENT, "SendMessage", request("page", "page")).await?;
    assert_eq!((page.status().as_u16(), page.text().await?.starts_with("<!doctype")), (200, true));
    demo.books("metrocar-records", "ref-page", 1).await?;
    Ok(())
}

#[tokio::test]
async fn protocol_errors_before_and_after() -> Result<()> {
    let demo = quick().await?;
    demo.play(AGENT, json!([{ "fault": "error_after", "status": 500, "times": 1 }])).await?;
    let answer = demo.post(AGENT, "SendMessage", request("after", "after")).await?;
    assert_eq!(answer.status(), 500);
    let body: Value = answer.json().await?;
    assert_eq!((&body["error"]["code"], &body["id"]), (&json!(-32603), &json!(1)));
    demo.books("metrocar-records", "ref-after", 1).await?;
    demo.play(AGENT, json!([{ "fault": "error_before", "code": -32009, "times": 1 }])).await?;
    let error = demo.rpc(AGENT, "SendMessage", request("before", "before")).await?;
    assert_eq!(error["error"]["data"][0]["reason"], "VERSION_NOT_SUPPORTED");
    assert!(demo.booked("metrocar-records", "ref-before").await?.is_empty());

    for code in [-32601, -32004] {
        demo.play(AGENT, json!([{ "fault": "unsupported", "code": code }])).await?;
        assert_eq!(demo.rpc(AGENT, "ListTasks", json!({})).await?["error"]["code"], code);
    }
    let rest = demo.http.get(format!("{}/rest/tasks", demo.agent_url(AGENT)?)).send().await?;
    assert_eq!(rest.status(), 400);
    assert_eq!(rest.json::<Value>().await?["error"]["details"][0]["reason"], "UNSUPPORTED_OPERATION");
    demo.play(AGENT, json!([{ "fault": "unsupported", "method": "SubscribeToTask" }])).await?;
    assert_eq!(demo.rpc(AGENT, "SubscribeToTask", json!({ "id": "x" })).await?["error"]["code"], -32004);
    demo.play(AGENT, json!([{ "fault": "not_found", "times": 1 }])).await?;
    let (task, _) = (demo.send(AGENT, "there", "there").await?, ());
    assert_eq!(demo.task(AGENT, &task).await?["error"]["code"], -32001);
    assert_eq!(demo.task(AGENT, &task).await?["id"], task, "the next read finds it");
    Ok(())
}

#[tokio::test]
async fn too_many_requests_and_the_context_that_is_not_kept() -> Result<()> {
    let demo = quick().await?;
    for status in [429, 503] {
        let chosen = json!([{ "fault": "status_before", "status": status, "retry_after": 2, "times": 1 }]);
        demo.play(AGENT, chosen).await?;
        let answer = demo.post(AGENT, "SendMessage", request("busy", "busy")).await?;
        assert_eq!((answer.status().as_u16(), &answer.headers()["retry-after"]), (status, &"2".parse()?));
    }
    demo.play(AGENT, json!([{ "fault": "refuses_context" }])).await?;
    let mut first = request("own", "ours");
    assert_eq!(demo.rpc(AGENT, "SendMessage", first.clone()).await?["error"]["code"], -32602);
    first["message"].as_object_mut().map(|message| message.remove("contextId"));
    assert!(demo.rpc(AGENT, "SendMessage", first).await?["task"]["id"].is_string());
    demo.play(AGENT, json!([{ "fault": "swaps_context" }])).await?;
    let answer = demo.rpc(AGENT, "SendMessage", request("swap", "ours")).await?;
    assert_ne!(answer["task"]["contextId"], "ours");
    let list = demo.rpc(AGENT, "ListTasks", json!({ "contextId": "ours" })).await?;
    assert_eq!(list["totalSize"].as_i64().unwrap_or(0), 0);
    Ok(())
}

#[tokio::test]
async fn faults_play_together_and_after_some_calls() -> Result<()> {
    let demo = quick().await?;
    let (_, _) = demo.ends(AGENT, "a", "TASK_STATE_COMPLETED").await?;
    demo.play(
        AGENT,
        json!([{ "fault": "unknown_fields" }, { "fault": "numbers_as_strings" }, { "fault": "small_pages", "skip": 1 }]),
    )
    .await?;
    let first = demo.rpc(AGENT, "ListTasks", json!({})).await?;
    assert_eq!((&first["pageSize"], &first["xUnknown"]["deep"][2]), (&json!("50"), &json!("two")));
    assert_eq!(demo.rpc(AGENT, "ListTasks", json!({})).await?["pageSize"], "1");
    let add = json!({ "fault": "status_before", "method": "*", "status": 500, "times": 1 });
    let view = demo.control(Method::POST, "/agents/metrocar/faults", Some(add)).await?;
    assert_eq!(view["faults"].as_array().map(Vec::len), Some(4));
    assert_eq!(demo.post(AGENT, "GetTask", json!({ "id": "x" })).await?.status(), 500);
    demo.control(Method::DELETE, "/agents/metrocar/faults", None).await?;
    assert_eq!(demo.look("/agents/metrocar/faults").await?["faults"], json!([]));
    Ok(())
}

#[tokio::test]
async fn everything_that_can_be_played_is_listed() -> Result<()> {
    let demo = Demo::start().await?;
    let all = demo.look("/faults").await?;
    for (section, name) in
        [("wire", "lands_late"), ("behaviours", "books_late"), ("also", "forks"), ("lookups", "two_records")]
    {
        let entries = all[section].as_array().into_iter().flatten();
        let found = entries.into_iter().find(|entry| entry["name"] == name);
        assert!(found.is_some_and(|entry| entry["does"].as_str().is_some_and(|does| does.ends_with('.'))));
    }
    let page = demo.http.get(demo.world["control"].as_str().unwrap_or_default()).send().await?.text().await?;
    assert!(page.contains("fails_then_undoes") && page.contains("sse_bytewise"));
    Ok(())
}
