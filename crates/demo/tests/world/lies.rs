//! Booking systems whose lookups and cancels are not to be trusted.

use crate::support::Demo;
use anyhow::{Context, Result};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::time::Duration;

const SYSTEM: &str = "northwind-air";

async fn booked() -> Result<(Demo, String)> {
    let demo = Demo::start().await?;
    demo.choose("skylark-flights", json!({ "behaviour": "works", "delay_ms": 0 })).await?;
    demo.ends("skylark-flights", "m", "TASK_STATE_COMPLETED").await?;
    let id = demo.booked(SYSTEM, "ref-m").await?[0]["id"].as_str().context("no id")?.to_owned();
    Ok((demo, id))
}

async fn misbehave(demo: &Demo, body: Value) -> Result<Value> {
    demo.control(Method::PUT, &format!("/booking-systems/{SYSTEM}/behaviour"), Some(body)).await
}

async fn found(demo: &Demo, lookup: &str, id: &str) -> Result<(Value, Value)> {
    misbehave(demo, json!({ "lookup": lookup })).await?;
    let list = format!("{}/bookings?reference=ref-m", demo.system_url(SYSTEM)?);
    let one = format!("{}/bookings/{id}", demo.system_url(SYSTEM)?);
    Ok((demo.http.get(list).send().await?.json().await?, demo.http.get(one).send().await?.json().await?))
}

async fn cancel(demo: &Demo, id: &str, key: &str) -> Result<(StatusCode, Value)> {
    let url = format!("{}/bookings/{id}/cancel", demo.system_url(SYSTEM)?);
    let answer = demo.http.post(url).header("Idempotency-Key", key).send().await?;
    Ok((answer.status(), answer.json().await?))
}

#[tokio::test]
async fn lookups_with_odd_shapes_and_prices() -> Result<()> {
    let (demo, id) = booked().await?;
    let (list, one) = found(&demo, "error_inside", &id).await?;
    assert!(list["error"].is_object() && one["error"].is_object());
    let (list, one) = found(&demo, "wrong_shape", &id).await?;
    assert!(list["bookings"].is_object() && one.is_array());
    for (lookup, amount) in
        [("price_negative", "-412.00"), ("price_exponent", "4.12e2"), ("price_words", "four hundred")]
    {
        let (list, one) = found(&demo, lookup, &id).await?;
        assert_eq!(
            (&list["bookings"][0]["total"]["amount"], &one["total"]["amount"]),
            (&json!(amount), &json!(amount))
        );
    }
    let (list, one) = found(&demo, "price_huge", &id).await?;
    assert!(list["bookings"][0]["total"]["amount"].as_str().is_some_and(|amount| amount.len() > 30));
    assert_eq!(one["status"], "CONFIRMED");
    let (_, one) = found(&demo, "price_without_currency", &id).await?;
    assert!(one["total"].get("currency").is_none());
    assert_eq!(found(&demo, "unknown_status", &id).await?.1["status"], "ON_HOLD");
    let (list, one) = found(&demo, "foreign_record", &id).await?;
    assert_ne!(list["bookings"][0]["reference"], "ref-m");
    assert_eq!((&one["id"], one["reference"] == "ref-m"), (&json!(id), false));
    let (list, _) = found(&demo, "two_records", &id).await?;
    let both: Vec<_> = list["bookings"].as_array().into_iter().flatten().map(|b| &b["reference"]).collect();
    assert_eq!(both, ["ref-m", "ref-m"]);
    assert_ne!(list["bookings"][0]["id"], list["bookings"][1]["id"]);
    Ok(())
}

#[tokio::test]
async fn lookups_that_are_not_json_or_no_answer() -> Result<()> {
    let (demo, id) = booked().await?;
    let url = format!("{}/bookings/{id}", demo.system_url(SYSTEM)?);
    for (lookup, status) in [("html_404", 404), ("html_200", 200)] {
        misbehave(&demo, json!({ "lookup": lookup })).await?;
        let answer = demo.http.get(&url).send().await?;
        assert_eq!(answer.status(), status);
        assert!(answer.text().await?.starts_with("<!doctype html>"));
    }
    misbehave(&demo, json!({ "lookup": "truncated" })).await?;
    let text = demo.http.get(&url).send().await?.text().await?;
    assert!(text.starts_with('{') && !text.ends_with('}'));
    misbehave(&demo, json!({ "lookup": "hang", "hang_ms": 50 })).await?;
    assert_eq!(demo.http.get(&url).send().await?.status(), 504);
    misbehave(&demo, json!({ "lookup": "error", "status": 500 })).await?;
    assert_eq!(demo.http.get(&url).send().await?.status(), 500);
    Ok(())
}

#[tokio::test]
async fn cancels_that_lie_or_keep_part_of_the_money() -> Result<()> {
    let (demo, id) = booked().await?;
    for (fault, status) in [("not_found", 404), ("accepted_202_does_nothing", 202), ("error", 502)] {
        misbehave(&demo, json!({ "cancel": fault, "status": 502, "times": 1 })).await?;
        assert_eq!(cancel(&demo, &id, "k").await?.0, status, "{fault}");
        assert_eq!(demo.booked(SYSTEM, "ref-m").await?[0]["status"], "CONFIRMED", "{fault}");
    }
    misbehave(&demo, json!({ "cancel": "error_kept_for_key", "times": 1 })).await?;
    assert_eq!(cancel(&demo, &id, "stuck").await?.0, 500);
    assert_eq!(cancel(&demo, &id, "stuck").await?.0, 500, "for ever, though all is well again");
    misbehave(&demo, json!({ "cancel": "partial_refund", "times": 1 })).await?;
    let (status, body) = cancel(&demo, &id, "half").await?;
    assert_eq!((status, &body["fee"]["amount"]), (StatusCode::OK, &json!("206.00")));

    let foreign = json!({ "reference": "ref-x", "total_cents": 100 });
    let made = demo.control(Method::POST, &format!("/ledgers/{SYSTEM}/bookings"), Some(foreign)).await?;
    let id = made["id"].as_str().context("an id")?;
    misbehave(&demo, json!({ "cancel": "done_but_error", "times": 1 })).await?;
    assert_eq!(cancel(&demo, id, "done").await?.0, 503);
    assert_eq!(demo.booked(SYSTEM, "ref-x").await?[0]["status"], "CANCELLED");
    misbehave(&demo, json!({ "cancel": "hang", "hang_ms": 50, "times": 1 })).await?;
    let hung = tokio::time::timeout(Duration::from_secs(5), cancel(&demo, id, "hung")).await?;
    assert_eq!(hung?.0, 504);
    Ok(())
}
