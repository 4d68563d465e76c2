//! ListTasks: filters, order, pages, history and artifacts.

use crate::support::Demo;
use anyhow::Result;
use serde_json::{Value, json};

fn ids(list: &Value) -> Vec<String> {
    let tasks = list["tasks"].as_array().into_iter().flatten();
    tasks.filter_map(|task| task["id"].as_str().map(str::to_owned)).collect()
}

#[tokio::test]
async fn tasks_are_listed_by_filters_newest_first_in_pages() -> Result<()> {
    let demo = Demo::start().await?;
    let agent = "metrocar";
    demo.choose(agent, json!({ "behaviour": "works", "delay_ms": 0 })).await?;
    let mut made = Vec::new();
    for number in 0..5 {
        let task = demo.send(agent, &format!("m{number}"), "one").await?;
        demo.reaches(agent, &task, "TASK_STATE_COMPLETED").await?;
        made.insert(0, task);
    }
    demo.choose(agent, json!({ "behaviour": "goes_quiet" })).await?;
    let quiet = demo.send(agent, "quiet", "two").await?;

    let one = demo.rpc(agent, "ListTasks", json!({ "contextId": "one", "pageSize": 2 })).await?;
    assert_eq!((ids(&one), &one["totalSize"]), (made[..2].to_vec(), &json!(5)));
    let mut pages = ids(&one);
    let mut token = one["nextPageToken"].clone();
    while token.as_str().is_some_and(|token| !token.is_empty()) {
        let params = json!({ "contextId": "one", "pageSize": 2, "pageToken": token });
        let page = demo.rpc(agent, "ListTasks", params).await?;
        pages.extend(ids(&page));
        token = page["nextPageToken"].clone();
    }
    assert_eq!(pages, made);

    let working = demo.rpc(agent, "ListTasks", json!({ "status": "TASK_STATE_WORKING" })).await?;
    assert_eq!(ids(&working), std::slice::from_ref(&quiet));
    let third = demo.task(agent, &made[2]).await?;
    let after = json!({ "statusTimestampAfter": third["status"]["timestamp"] });
    let mut since = vec![quiet];
    since.extend_from_slice(&made[..3]);
    assert_eq!(ids(&demo.rpc(agent, "ListTasks", after).await?), since, "the moment itself counts");

    let bare = demo.rpc(agent, "ListTasks", json!({ "contextId": "one", "historyLength": 0 })).await?;
    assert!(bare["tasks"][0].get("history").is_none_or(|history| history == &json!([])));
    assert!(bare["tasks"][0].get("artifacts").is_none());
    let full = json!({ "contextId": "one", "includeArtifacts": true, "historyLength": 1 });
    let full = demo.rpc(agent, "ListTasks", full).await?;
    assert_eq!(full["tasks"][0]["history"][0]["messageId"], "m4");
    assert_eq!(full["tasks"][0]["artifacts"].as_array().map(Vec::len), Some(1));
    let bad = demo.rpc(agent, "ListTasks", json!({ "pageToken": "nonsense" })).await?;
    assert_eq!(bad["error"]["code"], -32602);
    Ok(())
}
