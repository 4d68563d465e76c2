//! A world that nobody touched plays the worked example; other behaviours play what they say.

use crate::support::{Demo, request};
use anyhow::Result;
use reqwest::Method;
use serde_json::json;

const ENDS: &str = "/ledgers/harbour-hotels";

#[tokio::test]
async fn the_untouched_world_books_asks_rejects_and_fails() -> Result<()> {
    let demo = Demo::start().await?;
    let flight = demo.send("skylark-flights", "f1", "trip").await?;
    let hotel = demo.send("harbour-hotels", "h1", "trip").await?;
    let first_car = demo.send("citycar", "c1", "trip").await?;
    let second_car = demo.send("metrocar", "c2", "trip").await?;

    let asked = demo.reaches("harbour-hotels", &hotel, "TASK_STATE_INPUT_REQUIRED").await?;
    let parts = &asked["status"]["message"]["parts"];
    assert_eq!(parts[0]["text"], "Two rooms or one?");
    assert_eq!(parts[1]["data"]["choices"][1], json!({ "value": "two", "label": "Two rooms" }));
    demo.reply("harbour-hotels", "h2", &hotel, "two").await?;
    let done = demo.reaches("harbour-hotels", &hotel, "TASK_STATE_COMPLETED").await?;
    let ids: Vec<_> = done["history"].as_array().into_iter().flatten().map(|m| &m["messageId"]).collect();
    assert_eq!(ids, ["h1", "h2"]);
    let rooms = demo.booked("harbour-hotels", "ref-h1").await?;
    assert_eq!((rooms.len(), &rooms[0]["details"]["rooms"]), (1, &json!(2)));
    assert_eq!(rooms[0]["fee"]["amount"], "0.00");

    let rejected = demo.reaches("citycar", &first_car, "TASK_STATE_REJECTED").await?;
    assert_eq!(rejected["status"]["message"]["parts"][0]["text"], "No cars left on those dates.");
    demo.reaches("metrocar", &second_car, "TASK_STATE_FAILED").await?;
    assert!(demo.booked("metrocar-records", "ref-c2").await?.is_empty());

    let flown = demo.reaches("skylark-flights", &flight, "TASK_STATE_COMPLETED").await?;
    let booked = demo.booked("northwind-air", "ref-f1").await?;
    assert_eq!(booked[0]["total"], json!({ "amount": "412.00", "currency": "EUR" }));
    assert_eq!(booked[0]["fee"]["amount"], "25.00");
    let claim = &flown["artifacts"][0]["parts"][1]["data"];
    assert_eq!((&claim["confirmation"], &claim["reference"]), (&booked[0]["id"], &json!("ref-f1")));
    Ok(())
}

#[tokio::test]
async fn a_behaviour_with_times_goes_before_the_standing_one() -> Result<()> {
    let demo = Demo::start().await?;
    demo.choose("citycar", json!({ "behaviour": "works", "delay_ms": 0 })).await?;
    demo.choose("citycar", json!({ "behaviour": "fails_after_booking", "delay_ms": 0, "times": 1 })).await?;
    let first = demo.send("citycar", "a", "x").await?;
    demo.reaches("citycar", &first, "TASK_STATE_FAILED").await?;
    assert_eq!(demo.booked("citycar-records", "ref-a").await?.len(), 1);
    let second = demo.send("citycar", "b", "x").await?;
    demo.reaches("citycar", &second, "TASK_STATE_COMPLETED").await?;

    demo.choose("citycar", json!({ "behaviour": "claims_without_booking", "delay_ms": 0 })).await?;
    let third = demo.send("citycar", "c", "x").await?;
    let claim = demo.reaches("citycar", &third, "TASK_STATE_COMPLETED").await?;
    assert!(claim["artifacts"][0]["parts"][1]["data"]["confirmation"].is_string());
    assert!(demo.booked("citycar-records", "ref-c").await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn it_asks_twice_wants_permission_and_answers_with_a_message() -> Result<()> {
    let demo = Demo::start().await?;
    let agent = "harbour-hotels";
    demo.choose(agent, json!({ "behaviour": "asks_twice", "delay_ms": 0 })).await?;
    let task = demo.send(agent, "q1", "x").await?;
    let first = demo.reaches(agent, &task, "TASK_STATE_INPUT_REQUIRED").await?;
    demo.reply(agent, "q2", &task, "One room").await?;
    let question = |tasks: &serde_json::Value| tasks["tasks"][0]["task"]["status"].clone();
    let seen = demo
        .shows("/agents/harbour-hotels/tasks", |tasks| {
            let status = question(tasks);
            status["state"] == "TASK_STATE_INPUT_REQUIRED"
                && status["message"]["messageId"] != first["status"]["message"]["messageId"]
        })
        .await?;
    assert_eq!(question(&seen)["message"]["parts"][0]["text"], "With breakfast?");
    demo.reply(agent, "q3", &task, "yes").await?;
    demo.reaches(agent, &task, "TASK_STATE_COMPLETED").await?;
    assert_eq!(demo.booked(agent, "ref-q1").await?[0]["details"]["breakfast"], true);

    demo.choose(agent, json!({ "behaviour": "auth", "delay_ms": 0 })).await?;
    let (by_reply, by_link) = (demo.send(agent, "p1", "x").await?, demo.send(agent, "p2", "x").await?);
    for task in [&by_reply, &by_link] {
        demo.reaches(agent, task, "TASK_STATE_AUTH_REQUIRED").await?;
    }
    demo.reply(agent, "p3", &by_reply, "I have done it").await?;
    demo.control(Method::POST, &format!("/agents/{agent}/tasks/{by_link}/authorise"), None).await?;
    for task in [&by_reply, &by_link] {
        demo.reaches(agent, task, "TASK_STATE_COMPLETED").await?;
    }

    demo.choose(agent, json!({ "behaviour": "replies_with_message", "delay_ms": 0 })).await?;
    let answer = demo.rpc(agent, "SendMessage", request("m1", "x")).await?;
    assert!(answer["message"]["parts"][0]["text"].as_str().is_some_and(|text| text.starts_with("Booked")));
    assert_eq!(demo.booked(agent, "ref-m1").await?.len(), 1);
    Ok(())
}

#[tokio::test]
async fn a_cancelled_task_books_nothing_more() -> Result<()> {
    let demo = Demo::start().await?;
    let agent = "harbour-hotels";
    for behaviour in ["slow", "goes_quiet"] {
        demo.choose(agent, json!({ "behaviour": behaviour })).await?;
        let task = demo.send(agent, behaviour, "x").await?;
        let answer = demo.rpc(agent, "CancelTask", json!({ "id": task })).await?;
        assert_eq!(answer["status"]["state"], "TASK_STATE_CANCELED");
        let again = demo.rpc(agent, "CancelTask", json!({ "id": task })).await?;
        assert_eq!(again["status"]["state"], "TASK_STATE_CANCELED");
    }
    demo.choose(agent, json!({ "behaviour": "works", "delay_ms": 0 })).await?;
    let done = demo.send(agent, "done", "x").await?;
    demo.reaches(agent, &done, "TASK_STATE_COMPLETED").await?;
    let refused = demo.rpc(agent, "CancelTask", json!({ "id": done })).await?;
    assert_eq!(refused["error"]["code"], -32002);
    assert_eq!(demo.look(ENDS).await?["bookings"].as_array().map(Vec::len), Some(1));

    demo.control(Method::POST, "/reset", None).await?;
    assert_eq!(demo.look(ENDS).await?["bookings"].as_array().map(Vec::len), Some(0));
    assert_eq!(demo.task(agent, &done).await?["error"]["code"], -32001);
    Ok(())
}
