//! Lists under faults: pages, tokens, filters and lag.

use crate::support::Demo;
use anyhow::Result;
use serde_json::{Value, json};
use std::time::Duration;

const AGENT: &str = "metrocar";

async fn three() -> Result<(Demo, Vec<String>)> {
    let demo = Demo::start().await?;
    demo.choose(AGENT, json!({ "behaviour": "works", "delay_ms": 0 })).await?;
    let mut tasks = Vec::new();
    for name in ["a", "b", "c"] {
        tasks.push(demo.ends(AGENT, name, "TASK_STATE_COMPLETED").await?.0);
    }
    Ok((demo, tasks))
}

async fn page(demo: &Demo, token: &Value) -> Result<(usize, Value)> {
    let params = if token.is_null() { json!({}) } else { json!({ "pageToken": token }) };
    let page = demo.rpc(AGENT, "ListTasks", params).await?;
    Ok((page["tasks"].as_array().map_or(0, Vec::len), page["nextPageToken"].clone()))
}

#[tokio::test]
async fn page_tokens_that_lead_nowhere() -> Result<()> {
    let (demo, _) = three().await?;
    demo.play(AGENT, json!([{ "fault": "circular_tokens" }])).await?;
    let mut token = Value::Null;
    for wanted in ["a", "b", "a"] {
        let (count, next) = page(&demo, &token).await?;
        assert_eq!((count, next.as_str()), (3, Some(wanted)));
        token = next;
    }
    for (fault, tokens) in [("repeated_token", ["again", "again"]), ("endless_tokens", ["page-1", "page-2"])]
    {
        demo.play(AGENT, json!([{ "fault": fault }])).await?;
        let (count, first) = page(&demo, &Value::Null).await?;
        assert_eq!((count, first.as_str()), (3, Some(tokens[0])));
        let (count, second) = page(&demo, &first).await?;
        assert_eq!((count, second.as_str()), (0, Some(tokens[1])));
    }
    Ok(())
}

#[tokio::test]
async fn small_pages_and_a_full_one_without_a_token() -> Result<()> {
    let (demo, tasks) = three().await?;
    demo.play(AGENT, json!([{ "fault": "small_pages", "size": 2 }])).await?;
    let (count, token) = page(&demo, &Value::Null).await?;
    assert_eq!(count, 2);
    assert_eq!(page(&demo, &token).await?, (1, json!("")));
    let rest = format!("{}/rest/tasks?contextId=a&pageSize=50", demo.agent_url(AGENT)?);
    let list: Value = demo.http.get(&rest).send().await?.json().await?;
    assert_eq!((&list["pageSize"], &list["tasks"][0]["id"]), (&json!(2), &json!(tasks[0])), "REST too");
    demo.play(AGENT, json!([{ "fault": "full_page_without_token", "size": 2 }])).await?;
    let list = demo.rpc(AGENT, "ListTasks", json!({ "pageSize": 50 })).await?;
    assert_eq!(list["tasks"].as_array().map(Vec::len), Some(2));
    assert_eq!((&list["nextPageToken"], &list["totalSize"]), (&json!(""), &json!(3)));
    Ok(())
}

#[tokio::test]
async fn filters_ignored_exclusive_or_behind() -> Result<()> {
    let (demo, tasks) = three().await?;
    let asked = json!({ "contextId": "b", "statusTimestampAfter": "2099-01-01T00:00:00Z" });
    assert_eq!(demo.rpc(AGENT, "ListTasks", asked.clone()).await?["totalSize"].as_i64().unwrap_or(0), 0);
    demo.play(AGENT, json!([{ "fault": "unfiltered" }])).await?;
    assert_eq!(demo.rpc(AGENT, "ListTasks", asked).await?["totalSize"], 3);

    demo.play(AGENT, json!([])).await?;
    let last = demo.task(AGENT, &tasks[2]).await?["status"]["timestamp"].clone();
    let after = json!({ "statusTimestampAfter": last });
    assert_eq!(demo.rpc(AGENT, "ListTasks", after.clone()).await?["totalSize"], 1);
    demo.play(AGENT, json!([{ "fault": "exclusive_after" }])).await?;
    assert_eq!(demo.rpc(AGENT, "ListTasks", after).await?["totalSize"].as_i64().unwrap_or(0), 0);

    demo.play(AGENT, json!([{ "fault": "list_lag", "ms": 400 }])).await?;
    let fresh = demo.send(AGENT, "fresh", "fresh").await?;
    let asked = json!({ "contextId": "fresh" });
    let list = demo.rpc(AGENT, "ListTasks", asked.clone()).await?;
    assert_eq!((&list["tasks"], &list["totalSize"]), (&json!([]), &json!(0)));
    assert_eq!(demo.task(AGENT, &fresh).await?["id"], fresh, "GetTask knows it at once");
    tokio::time::sleep(Duration::from_millis(450)).await;
    assert_eq!(demo.rpc(AGENT, "ListTasks", asked).await?["totalSize"], 1);
    Ok(())
}
