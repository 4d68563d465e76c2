//! Faults by chance, that come the same way again.

use crate::support::Demo;
use anyhow::Result;
use reqwest::Method;
use serde_json::{Value, json};

/// What the first answers of an agent are under a seed.
async fn answers(demo: &Demo, seed: u64) -> Result<Vec<u16>> {
    let body =
        json!({ "seed": seed, "rate": 0.5, "faults": ["status_before", "error_after", "unknown_fields"] });
    demo.control(Method::POST, "/seed", Some(body)).await?;
    let mut statuses = Vec::new();
    for _ in 0..30 {
        statuses.push(demo.post("citycar", "ListTasks", json!({})).await?.status().as_u16());
    }
    Ok(statuses)
}

#[tokio::test]
async fn the_same_seed_plays_the_same_faults() -> Result<()> {
    let demo = Demo::start().await?;
    let first = answers(&demo, 11).await?;
    assert!(first.iter().any(|status| *status != 200) && first.contains(&200));
    assert_eq!(first, answers(&demo, 11).await?);
    assert_ne!(first, answers(&demo, 12).await?);
    assert_eq!(demo.look("/seed").await?["seed"]["seed"], 12);
    demo.control(Method::DELETE, "/seed", None).await?;
    assert_eq!(demo.look("/seed").await?["seed"], Value::Null);
    for _ in 0..20 {
        assert_eq!(demo.post("citycar", "ListTasks", json!({})).await?.status(), 200);
    }
    Ok(())
}

#[tokio::test]
async fn new_tasks_and_lookups_meet_chance_too() -> Result<()> {
    let demo = Demo::start().await?;
    demo.choose("citycar", json!({ "behaviour": "works", "delay_ms": 0 })).await?;
    let seed = json!({ "seed": 5, "rate": 1.0, "systems_rate": 1.0, "faults": ["unknown_fields"],
        "behaviours": ["rejects"], "quirks": [], "lookups": ["error"], "cancels": ["conflict"] });
    demo.control(Method::POST, "/seed", Some(seed)).await?;
    demo.ends("citycar", "m", "TASK_STATE_REJECTED").await?;
    let url = format!("{}/bookings?reference=x", demo.system_url("citycar-records")?);
    assert_eq!(demo.http.get(url).send().await?.status(), 503);
    let bad = demo.control(Method::POST, "/seed", Some(json!({ "seed": 1, "rate": 2.0 }))).await;
    assert!(bad.is_err_and(|error| error.to_string().contains("422")));
    demo.control(Method::POST, "/reset", None).await?;
    assert_eq!(demo.look("/seed").await?["seed"], Value::Null, "a reset ends it");
    Ok(())
}
