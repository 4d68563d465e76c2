//! The booking systems: lookups, cancels with their keys, and what can be wrong with either.

use crate::support::Demo;
use anyhow::{Context, Result};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::time::Duration;

const SYSTEM: &str = "northwind-air";

async fn a_booking(demo: &Demo, name: &str) -> Result<String> {
    demo.choose("skylark-flights", json!({ "behaviour": "works", "delay_ms": 0 })).await?;
    let task = demo.send("skylark-flights", name, "x").await?;
    demo.reaches("skylark-flights", &task, "TASK_STATE_COMPLETED").await?;
    let booked = demo.booked(SYSTEM, &format!("ref-{name}")).await?;
    Ok(booked[0]["id"].as_str().context("no id")?.to_owned())
}

async fn cancel(demo: &Demo, id: &str, key: &str) -> Result<(StatusCode, Value)> {
    let url = format!("{}/bookings/{id}/cancel", demo.system_url(SYSTEM)?);
    let answer = demo.http.post(url).header("Idempotency-Key", key).send().await?;
    Ok((answer.status(), answer.json().await?))
}

async fn misbehave(demo: &Demo, body: Value) -> Result<Value> {
    demo.control(Method::PUT, &format!("/booking-systems/{SYSTEM}/behaviour"), Some(body)).await
}

#[tokio::test]
async fn a_cancel_counts_once_per_key_and_the_fee_is_kept() -> Result<()> {
    let mut demo = Demo::start().await?;
    let id = a_booking(&demo, "one").await?;
    let first = cancel(&demo, &id, "key").await?;
    assert_eq!((first.0, &first.1["status"]), (StatusCode::OK, &json!("CANCELLED")));
    assert_eq!(first.1["fee"]["amount"], "25.00");
    demo.kill_and_start().await?;
    assert_eq!(cancel(&demo, &id, "key").await?, first, "the same answer, also after a kill");
    assert_eq!(cancel(&demo, &id, "other").await?.0, StatusCode::CONFLICT);
    assert_eq!(cancel(&demo, "NW-NOTHERE", "third").await?.0, StatusCode::NOT_FOUND);
    let url = format!("{}/bookings/{id}", demo.system_url(SYSTEM)?);
    let shown: Value = demo.http.get(url).send().await?.json().await?;
    assert_eq!(shown["status"], "CANCELLED");
    let ledger = demo.look("/ledgers/northwind-air").await?;
    let cancels = ledger["operations"].as_array().into_iter().flatten();
    let keys: Vec<_> =
        cancels.filter(|done| done["operation"] == "cancel").map(|done| &done["idempotency_key"]).collect();
    assert_eq!(keys, ["key", "key", "other", "third"]);
    Ok(())
}

#[tokio::test]
async fn bookings_are_made_by_agents_only_and_asked_for_by_reference() -> Result<()> {
    let demo = Demo::start().await?;
    let url = format!("{}/bookings", demo.system_url(SYSTEM)?);
    assert_eq!(demo.http.post(&url).json(&json!({})).send().await?.status(), 401);
    assert_eq!(demo.http.get(&url).send().await?.status(), 400);
    assert!(demo.booked(SYSTEM, "nobody").await?.is_empty());
    assert_eq!(demo.http.get(format!("{url}/NW-NOTHERE")).send().await?.status(), 404);
    Ok(())
}

#[tokio::test]
async fn lookups_and_cancels_fail_as_chosen_and_recover() -> Result<()> {
    let demo = Demo::start().await?;
    let id = a_booking(&demo, "two").await?;
    let url = format!("{}/bookings/{id}", demo.system_url(SYSTEM)?);
    misbehave(&demo, json!({ "lookup": "error", "times": 1 })).await?;
    assert_eq!(demo.http.get(&url).send().await?.status(), 503);
    misbehave(&demo, json!({ "lookup": "absent", "times": 2 })).await?;
    assert_eq!(demo.http.get(&url).send().await?.status(), 404);
    assert!(demo.booked(SYSTEM, "ref-two").await?.is_empty());
    misbehave(&demo, json!({ "lookup": "hang", "times": 1 })).await?;
    let hung = demo.http.get(&url).timeout(Duration::from_millis(200)).send().await;
    assert!(hung.is_err_and(|error| error.is_timeout()));
    assert_eq!(demo.booked(SYSTEM, "ref-two").await?.len(), 1);
    misbehave(&demo, json!({ "lag_ms": 3_600_000 })).await?;
    assert!(demo.booked(SYSTEM, "ref-two").await?.is_empty(), "lookups lag behind");

    for (fault, status) in [("conflict", 409), ("error", 503), ("accepts_and_does_nothing", 200)] {
        misbehave(&demo, json!({ "cancel": fault, "times": 1 })).await?;
        assert_eq!(cancel(&demo, &id, "k").await?.0, status, "{fault}");
        assert_eq!(demo.booked(SYSTEM, "ref-two").await?[0]["status"], "CONFIRMED", "{fault}");
    }
    misbehave(&demo, json!({ "cancel": "hang", "times": 1 })).await?;
    let cancel_url = format!("{url}/cancel");
    let hung = demo.http.post(cancel_url).header("Idempotency-Key", "k");
    assert!(hung.timeout(Duration::from_millis(200)).send().await.is_err());
    assert_eq!(demo.booked(SYSTEM, "ref-two").await?[0]["status"], "CANCELLED");
    assert_eq!(cancel(&demo, &id, "k").await?.0, StatusCode::OK, "the answer kept for the key");
    Ok(())
}
