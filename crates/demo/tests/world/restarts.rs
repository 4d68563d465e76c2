//! Killed with SIGKILL, the demo keeps its tasks and carries on with them.

use crate::support::{Demo, request};
use anyhow::Result;
use reqwest::Method;
use serde_json::json;

#[tokio::test]
async fn a_working_task_goes_on_after_a_kill_and_books_once() -> Result<()> {
    let mut demo = Demo::start().await?;
    let agent = "skylark-flights";
    demo.choose(agent, json!({ "behaviour": "works", "delay_ms": 600 })).await?;
    let task = demo.send(agent, "w", "x").await?;
    demo.reaches(agent, &task, "TASK_STATE_WORKING").await?;
    let before = demo.world.clone();
    demo.kill_and_start().await?;
    assert_eq!(demo.world, before, "the addresses are the same");

    let params = json!({ "id": task });
    let stream = demo.post(agent, "SubscribeToTask", params).await?.text().await?;
    assert!(stream.contains("TASK_STATE_COMPLETED"), "a resumed task can be followed: {stream}");
    let done = demo.reaches(agent, &task, "TASK_STATE_COMPLETED").await?;
    let ids: Vec<_> = done["history"].as_array().into_iter().flatten().map(|m| &m["messageId"]).collect();
    assert_eq!(ids, ["w"], "what the agent told itself is in no history");
    assert_eq!(demo.booked("northwind-air", "ref-w").await?.len(), 1);
    Ok(())
}

#[tokio::test]
async fn a_question_outlives_a_kill() -> Result<()> {
    let mut demo = Demo::start().await?;
    let agent = "harbour-hotels";
    demo.choose(agent, json!({ "behaviour": "asks", "delay_ms": 50 })).await?;
    let task = demo.send(agent, "q", "x").await?;
    let asked = demo.reaches(agent, &task, "TASK_STATE_INPUT_REQUIRED").await?;
    demo.kill_and_start().await?;
    assert_eq!(demo.task(agent, &task).await?, asked);
    let answer = demo.reply(agent, "r", &task, "One room").await?;
    assert_eq!(answer["task"]["status"]["state"], "TASK_STATE_WORKING");
    demo.kill_and_start().await?;
    demo.reaches(agent, &task, "TASK_STATE_COMPLETED").await?;
    let booked = demo.booked(agent, "ref-q").await?;
    assert_eq!((booked.len(), &booked[0]["details"]["rooms"]), (1, &json!(1)));
    Ok(())
}

#[tokio::test]
async fn choices_requests_and_who_is_down_outlive_a_kill_and_sigterm_is_clean() -> Result<()> {
    let mut demo = Demo::start().await?;
    demo.choose("citycar", json!({ "behaviour": "goes_quiet", "times": 2 })).await?;
    demo.control(Method::PUT, "/agents/metrocar/up", Some(json!({ "up": false }))).await?;
    let task = demo.send("citycar", "g", "x").await?;
    demo.kill_and_start().await?;

    let agents = demo.look("/agents").await?;
    assert_eq!(agents["agents"][2]["behaviour"]["times"], 1);
    assert_eq!(agents["agents"][3]["up"], false);
    let refused = demo.post("metrocar", "SendMessage", request("x", "x")).await;
    assert!(refused.is_err(), "a down agent refuses connections");
    let log = demo.look("/agents/citycar/requests").await?;
    assert_eq!(log["requests"][0]["message_id"], "g");
    assert_eq!(log["requests"][0]["metadata"]["reference"], "ref-g");
    assert_eq!(demo.task("citycar", &task).await?["status"]["state"], "TASK_STATE_WORKING");
    assert!(demo.terminate()?, "SIGTERM ends it with status 0");
    Ok(())
}
