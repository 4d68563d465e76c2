//! Held answers and other faults of the wire.

use crate::support::{Demo, request};
use anyhow::Result;
use reqwest::Method;
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn a_held_answer_stops_no_work_even_when_the_client_is_gone() -> Result<()> {
    let demo = Demo::start().await?;
    let agent = "skylark-flights";
    demo.choose(agent, json!({ "behaviour": "works", "delay_ms": 0, "hold_answer": true })).await?;
    let gone = demo.http.post(demo.agent_url(agent)?).header("A2A-Version", "1.0").json(
        &json!({ "jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": request("gone", "ctx") }),
    );
    assert!(gone.timeout(Duration::from_millis(300)).send().await.is_err(), "no answer comes");
    let list = demo.rpc(agent, "ListTasks", json!({ "contextId": "ctx", "historyLength": 10 })).await?;
    assert_eq!(list["tasks"][0]["history"][0]["messageId"], "gone");
    let task = list["tasks"][0]["id"].as_str().unwrap_or_default();
    demo.reaches(agent, task, "TASK_STATE_COMPLETED").await?;
    demo.shows("/agents", |agents| agents["agents"][0]["held"] == 0).await?;

    let patient = demo.send(agent, "patient", "ctx");
    let release = async {
        demo.shows("/agents", |agents| agents["agents"][0]["held"] == 1).await?;
        demo.control(Method::POST, "/agents/skylark-flights/release", None).await
    };
    let (task, released) = tokio::join!(patient, release);
    assert_eq!(released?["released"], 1);
    demo.reaches(agent, &task?, "TASK_STATE_COMPLETED").await?;
    let log = demo.look("/agents/skylark-flights/requests").await?;
    assert!(log["requests"][0]["answered_at"].is_null());
    Ok(())
}

#[tokio::test]
async fn an_agent_goes_down_and_comes_up_where_it_was() -> Result<()> {
    let demo = Demo::start().await?;
    let path = "/agents/citycar/up";
    demo.control(Method::PUT, path, Some(json!({ "up": false }))).await?;
    let error = demo.post("citycar", "ListTasks", json!({})).await.err();
    let refused = error.and_then(|error| error.downcast::<reqwest::Error>().ok());
    assert!(refused.is_some_and(|error| error.is_connect()));
    demo.control(Method::PUT, path, Some(json!({ "up": true }))).await?;
    assert!(demo.rpc("citycar", "ListTasks", json!({})).await?["error"].is_null());
    Ok(())
}

#[tokio::test]
async fn faults_act_before_or_after_the_request_is_taken() -> Result<()> {
    let demo = Demo::start().await?;
    let agent = "citycar";
    for (fault, taken) in [("drop_before", 0), ("status_before", 0), ("drop_after", 1), ("status_after", 2)] {
        let chosen = json!({ "fault": fault, "times": 1, "status": 502 });
        demo.control(Method::PUT, "/agents/citycar/fault", Some(chosen)).await?;
        let answer = demo.post(agent, "SendMessage", request(fault, "ctx")).await;
        match fault {
            "drop_before" | "drop_after" => assert!(answer.is_err(), "{fault}"),
            _ => assert_eq!(answer?.status(), 502),
        }
        let list = demo.rpc(agent, "ListTasks", json!({ "contextId": "ctx" })).await?;
        assert_eq!(list["totalSize"].as_i64().unwrap_or(0), taken, "{fault}");
    }
    Ok(())
}

#[tokio::test]
async fn the_page_and_the_card_and_rest_answer() -> Result<()> {
    let demo = Demo::start().await?;
    let control = demo.world["control"].as_str().unwrap_or_default().to_owned();
    let form = format!("{control}/page/agents/citycar/behaviour");
    let chosen = demo
        .http
        .post(form)
        .header("content-type", "application/x-www-form-urlencoded")
        .body("behaviour=works&delay_ms=0&times=&hold_answer=true")
        .send()
        .await?;
    assert!(chosen.status().is_success());
    assert!(chosen.text().await?.contains("CityCar"));
    let behaviour = demo.look("/agents").await?["agents"][2]["behaviour"].clone();
    assert_eq!((&behaviour["behaviour"], &behaviour["hold_answer"]), (&json!("works"), &json!(true)));

    let url = demo.agent_url("citycar")?;
    let card = demo.http.get(format!("{url}/.well-known/agent-card.json")).send().await?.text().await?;
    assert!(card.contains("book-car"));
    let tasks = demo.http.get(format!("{url}/rest/tasks")).send().await?;
    assert!(tasks.status().is_success());
    let unknown = demo.http.get(format!("{control}/agents/nobody/tasks")).send().await?;
    assert_eq!(unknown.status(), 404);
    Ok(())
}
