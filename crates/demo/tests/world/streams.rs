//! Streams under faults: framing, order, and ends.

use crate::support::Demo;
use anyhow::Result;
use futures::StreamExt;
use serde_json::{Value, json};
use std::time::Duration;

const AGENT: &str = "skylark-flights";

/// A task that works long enough to be followed, and its stream under faults as raw text.
async fn stream(demo: &Demo, name: &str, faults: Value) -> Result<String> {
    let task = demo.send(AGENT, name, name).await?;
    demo.play(AGENT, faults).await?;
    let answer = demo.post(AGENT, "SubscribeToTask", json!({ "id": task })).await?;
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    let mut body = answer.bytes_stream();
    let mut text = Vec::new();
    // A reset ends it with an error, which is as good an end here.
    while let Some(Ok(bytes)) = body.next().await {
        text.extend_from_slice(&bytes);
    }
    Ok(String::from_utf8(text)?)
}

async fn start() -> Result<Demo> {
    let demo = Demo::start().await?;
    demo.choose(AGENT, json!({ "behaviour": "works", "delay_ms": 600 })).await?;
    Ok(demo)
}

fn kinds(text: &str) -> Vec<String> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
    let payloads = data.map(|data| serde_json::from_str::<Value>(data).unwrap_or_default()["result"].clone());
    payloads
        .map(|payload| match (payload["statusUpdate"]["status"]["state"].as_str(), payload.as_object()) {
            (Some(state), _) => state.to_owned(),
            (None, Some(object)) => object.keys().next().cloned().unwrap_or_default(),
            (None, None) => "junk".to_owned(),
        })
        .collect()
}

const WORKING: &str = "TASK_STATE_WORKING";
const COMPLETED: &str = "TASK_STATE_COMPLETED";

#[tokio::test]
async fn events_doubled_swapped_missing_unknown_and_junk() -> Result<()> {
    let demo = start().await?;
    let doubled = stream(&demo, "twice", json!([{ "fault": "duplicate_events" }])).await?;
    let all = ["task", "task", WORKING, WORKING, WORKING, WORKING];
    assert_eq!(kinds(&doubled)[..6], all);
    let swapped = kinds(&stream(&demo, "swap", json!([{ "fault": "reordered_events" }])).await?);
    assert_eq!(swapped, ["task", WORKING, WORKING, COMPLETED, "artifactUpdate"]);
    let missing = kinds(&stream(&demo, "no", json!([{ "fault": "no_snapshot" }])).await?);
    assert_eq!(missing, [WORKING, WORKING, "artifactUpdate", COMPLETED]);
    let unknown = kinds(&stream(&demo, "unknown", json!([{ "fault": "unknown_event" }])).await?);
    assert_eq!(unknown[..4], ["task", "somethingNew", WORKING, "somethingNew"]);
    let junk = kinds(&stream(&demo, "junk", json!([{ "fault": "junk_event" }])).await?);
    assert_eq!(junk[..3], ["task", "junk", WORKING]);
    let revived = kinds(&stream(&demo, "revived", json!([{ "fault": "revives_in_stream" }])).await?);
    assert_eq!(revived[revived.len() - 2..], [COMPLETED, WORKING]);
    Ok(())
}

#[tokio::test]
async fn streams_that_end_break_or_never_do() -> Result<()> {
    let demo = start().await?;
    assert_eq!(kinds(&stream(&demo, "one", json!([{ "fault": "stream_ends_early" }])).await?), ["task"]);
    let none = stream(&demo, "none", json!([{ "fault": "stream_ends_early", "size": 0 }])).await?;
    assert_eq!(none, "");
    let quiet = stream(&demo, "quiet", json!([{ "fault": "quiet_stream", "ms": 100 }])).await?;
    assert_eq!(quiet, "");
    let error = stream(&demo, "error", json!([{ "fault": "stream_error" }])).await?;
    assert!(error.contains("-32001") && error.matches("data:").count() == 1, "{error}");
    let reset = stream(&demo, "reset", json!([{ "fault": "reset_mid_answer", "method": "stream" }])).await?;
    assert!(kinds(&reset)[0] == "task" && reset.ends_with("\"res"), "{reset}");
    let cut = stream(&demo, "cut", json!([{ "fault": "truncated_json", "method": "stream" }])).await?;
    assert_eq!(kinds(&cut)[..2], ["junk", WORKING]);
    let open = stream(&demo, "open", json!([{ "fault": "stream_stays_open", "ms": 200 }]));
    let open = tokio::time::timeout(Duration::from_secs(10), open).await??;
    assert_eq!(kinds(&open).last().map(String::as_str), Some(COMPLETED));

    let task = demo.send(AGENT, "for-ever", "for-ever").await?;
    demo.play(AGENT, json!([{ "fault": "quiet_stream", "size": 1 }])).await?;
    let answer = demo.post(AGENT, "SubscribeToTask", json!({ "id": task })).await?;
    let mut body = answer.bytes_stream();
    assert!(body.next().await.is_some(), "the snapshot");
    demo.reaches(AGENT, &task, COMPLETED).await?;
    assert!(tokio::time::timeout(Duration::from_millis(100), body.next()).await.is_err());
    Ok(())
}

#[tokio::test]
async fn every_legal_framing() -> Result<()> {
    let demo = start().await?;
    let framed = |name: &'static str| json!([{ "fault": name }]);
    let crlf = stream(&demo, "crlf", framed("sse_crlf")).await?;
    assert!(crlf.contains("\r\n\r\n") && !crlf.replace("\r\n", "").contains('\n'));
    let cr = stream(&demo, "cr", framed("sse_cr")).await?;
    assert!(cr.contains("\r\r") && !cr.contains('\n'));
    assert!(stream(&demo, "bom", framed("sse_bom")).await?.starts_with('\u{feff}'));
    assert!(stream(&demo, "comments", framed("sse_comments")).await?.starts_with(": opened\n\n: ping\n"));
    let lines = stream(&demo, "lines", framed("sse_multi_line")).await?;
    let first = lines.split("\n\n").next().unwrap_or_default();
    let joined: Vec<_> = first.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    assert!(joined.len() > 10);
    assert!(serde_json::from_str::<Value>(&joined.join("\n"))?["result"]["task"].is_object());
    assert!(stream(&demo, "space", framed("sse_no_space")).await?.contains("\ndata:{"));
    assert!(stream(&demo, "fields", framed("sse_fields")).await?.contains("event: message\nretry: 3000\n"));
    let last = stream(&demo, "last", framed("sse_no_final_blank")).await?;
    assert!(last.ends_with("}\n") && !last.ends_with("\n\n"));
    let bytes = stream(&demo, "bytes", json!([{ "fault": "sse_bytewise" }, { "fault": "sse_crlf" }])).await?;
    assert_eq!(kinds(&bytes).last().map(String::as_str), Some(COMPLETED));
    let skew = json!([{ "fault": "wrong_state" }, { "fault": "duplicate_events" }]);
    assert_eq!(kinds(&stream(&demo, "skew", skew).await?)[2], "TASK_STATE_PAUSED");
    Ok(())
}
