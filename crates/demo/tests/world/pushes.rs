//! Push notifications, and cards that say what an agent offers.

use crate::support::{Demo, request};
use anyhow::{Context, Result};
use axum::http::HeaderMap;
use axum::{Json, Router};
use reqwest::Method;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;

const AGENT: &str = "skylark-flights";

type Seen = Arc<Mutex<Vec<(String, Value)>>>;

async fn webhook(seen: Seen) -> Result<String> {
    let take = move |headers: HeaderMap, Json(body): Json<Value>| async move {
        let token = headers.get("A2A-Notification-Token").and_then(|token| token.to_str().ok());
        if let Ok(mut seen) = seen.lock() {
            seen.push((token.unwrap_or_default().to_owned(), body));
        }
    };
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(axum::serve(listener, Router::new().fallback(take)).into_future());
    Ok(format!("http://{address}/hook"))
}

async fn offers(demo: &Demo, change: Value) -> Result<Value> {
    demo.control(Method::PUT, &format!("/agents/{AGENT}/card"), Some(change)).await?;
    let card = format!("{}/.well-known/agent-card.json", demo.agent_url(AGENT)?);
    Ok(demo.http.get(card).send().await?.json().await?)
}

fn count(seen: &Seen, token: &str) -> usize {
    seen.lock().map_or(0, |seen| seen.iter().filter(|(with, _)| with == token).count())
}

#[tokio::test]
async fn pushes_go_out_with_their_token_until_the_configs_are_forgotten() -> Result<()> {
    let mut demo = Demo::start().await?;
    let card = offers(&demo, json!({ "push": true })).await?;
    assert_eq!(card["capabilities"]["pushNotifications"], true);
    let seen = Seen::default();
    let url = webhook(seen.clone()).await?;
    demo.choose(AGENT, json!({ "behaviour": "works", "delay_ms": 600 })).await?;
    let task = demo.send(AGENT, "m", "m").await?;
    let config = json!({ "taskId": task, "url": url, "token": "made" });
    let made = demo.rpc(AGENT, "CreateTaskPushNotificationConfig", config).await?;
    assert!(made["id"].is_string(), "{made}");
    demo.reaches(AGENT, &task, "TASK_STATE_COMPLETED").await?;
    assert!(count(&seen, "made") >= 2);
    let last = seen.lock().ok().and_then(|seen| seen.last().cloned()).context("a push")?;
    assert_eq!(last.1["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED");

    let mut riding = request("ride", "ride");
    riding["configuration"]["taskPushNotificationConfig"] = json!({ "url": url, "token": "rode" });
    let task = demo.rpc(AGENT, "SendMessage", riding).await?["task"]["id"].clone();
    demo.kill_and_start().await?;
    assert_eq!(
        demo.look(&format!("/agents/{AGENT}/push")).await?["configs"].as_array().map(Vec::len),
        Some(2)
    );
    demo.reaches(AGENT, task.as_str().context("a task")?, "TASK_STATE_COMPLETED").await?;
    assert!(count(&seen, "rode") >= 3);

    let forget = format!("/agents/{AGENT}/push/forget");
    assert_eq!(demo.control(Method::POST, &forget, None).await?["forgotten"], 2);
    let list = demo.rpc(AGENT, "ListTaskPushNotificationConfigs", json!({ "taskId": task })).await?;
    assert!(list["configs"].as_array().is_none_or(Vec::is_empty), "{list}");
    Ok(())
}

#[tokio::test]
async fn what_a_card_does_not_offer_is_refused() -> Result<()> {
    let demo = Demo::start().await?;
    let before = offers(&demo, json!({})).await?;
    assert_eq!(before["capabilities"]["pushNotifications"], false);
    let config = json!({ "taskId": "t", "url": "http://127.0.0.1:1/", "token": "x" });
    let refused = demo.rpc(AGENT, "CreateTaskPushNotificationConfig", config).await?;
    assert_eq!(refused["error"]["code"], -32003);
    let mut riding = request("ride", "ride");
    riding["configuration"]["taskPushNotificationConfig"] = json!({ "url": "http://127.0.0.1:1/" });
    assert_eq!(demo.rpc(AGENT, "SendMessage", riding).await?["error"]["code"], -32003);

    let card = offers(&demo, json!({ "lists": false, "streaming": false })).await?;
    assert_eq!(card["capabilities"]["streaming"], false);
    assert_ne!(card["version"], before["version"]);
    assert_eq!(demo.rpc(AGENT, "ListTasks", json!({})).await?["error"]["code"], -32004);
    let task = demo.send(AGENT, "m", "m").await?;
    let refused = demo.rpc(AGENT, "SubscribeToTask", json!({ "id": task })).await?;
    assert_eq!(refused["error"]["code"], -32004);
    let back = offers(&demo, json!({ "lists": true, "streaming": true })).await?;
    assert_eq!(back["version"], before["version"]);
    assert!(demo.rpc(AGENT, "ListTasks", json!({})).await?["tasks"].is_array());
    Ok(())
}
