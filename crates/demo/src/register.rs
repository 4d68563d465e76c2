//! Tells a Holdfast where the world is: booking systems first, then the agents that book there.

use anyhow::{Context, Result, bail};
use reqwest::StatusCode;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// Registers everything that a `world.json` describes.
pub async fn register(world: &Path, app: &str, token: &str) -> Result<()> {
    let text = std::fs::read_to_string(world).with_context(|| format!("cannot read {}", world.display()))?;
    let world: Value = serde_json::from_str(&text).context("world.json is not JSON")?;
    crate::choose_tls();
    let http = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(30)).build()?;
    for (list, path) in [("booking_systems", "booking-systems"), ("agents", "agents")] {
        for entry in world[list].as_array().context("world.json lacks a list")? {
            let name = entry["name"].as_str().unwrap_or("?");
            let url = format!("{}/api/v1/{path}", app.trim_end_matches('/'));
            let answer = http
                .post(&url)
                .bearer_auth(token)
                .json(&entry["registration"])
                .send()
                .await
                .with_context(|| format!("cannot reach {url}"))?;
            let status = answer.status();
            if status == StatusCode::CONFLICT {
                println!("{name} is registered already");
            } else if status.is_success() {
                println!("{name} registered");
            } else {
                let text = answer.text().await.unwrap_or_default();
                bail!("{name} was not registered: {status}\n{text}");
            }
        }
    }
    Ok(())
}
