//! The demo world as a test sees it: started in this process, driven and read by its control API.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::PathBuf;

/// The agents and booking systems outside. They outlive every engine of a test.
pub struct Outside {
    control: String,
    http: reqwest::Client,
    description: Value,
    _running: Option<demo::world::Running>,
    folder: tempfile::TempDir,
}

impl Outside {
    /// Starts a demo world on free ports.
    ///
    /// # Errors
    /// It did not start.
    pub async fn start() -> Result<Self> {
        demo::choose_tls();
        let folder = tempfile::tempdir()?;
        let data = folder.path().join("demo");
        let running = demo::world::Running::start(&demo::world::Options { data, base_port: 0 }).await?;
        let (control, description) = (running.world.control_url(), running.world.description());
        Ok(Self { control, http: reqwest::Client::new(), description, _running: Some(running), folder })
    }

    /// Bodies of `POST /agents`.
    pub fn agents(&self) -> Vec<Value> {
        registrations(&self.description["agents"])
    }

    /// Bodies of `POST /booking-systems`.
    pub fn booking_systems(&self) -> Vec<Value> {
        registrations(&self.description["booking_systems"])
    }

    /// The file that describes the world, for the real binaries.
    pub fn world_file(&self) -> PathBuf {
        self.folder.path().join("demo/world.json")
    }

    /// Chooses an agent's next behaviour.
    ///
    /// # Errors
    /// The control API refused.
    pub async fn behave(&self, agent: &str, behaviour: Value) -> Result<()> {
        self.put(&format!("/agents/{agent}/behaviour"), behaviour).await
    }

    /// Plays a fault of the wire at an agent.
    ///
    /// # Errors
    /// The control API refused.
    pub async fn fault(&self, agent: &str, fault: Value) -> Result<()> {
        self.put(&format!("/agents/{agent}/fault"), fault).await
    }

    /// Makes an agent reachable or not.
    ///
    /// # Errors
    /// The control API refused.
    pub async fn up(&self, agent: &str, up: bool) -> Result<()> {
        self.put(&format!("/agents/{agent}/up"), json!({ "up": up })).await
    }

    /// Chooses how a booking system answers.
    ///
    /// # Errors
    /// The control API refused.
    pub async fn booking_system(&self, name: &str, behaviour: Value) -> Result<()> {
        self.put(&format!("/booking-systems/{name}/behaviour"), behaviour).await
    }

    /// Lets an agent's held answers go.
    ///
    /// # Errors
    /// The control API refused.
    pub async fn release(&self, agent: &str) -> Result<()> {
        let url = format!("{}/agents/{agent}/release", self.control);
        self.http.post(url).send().await?.error_for_status()?;
        Ok(())
    }

    /// An agent as the control API shows it.
    ///
    /// # Errors
    /// The control API failed.
    pub async fn agent(&self, name: &str) -> Result<Value> {
        let all = self.get("/agents").await?;
        let agents = all["agents"].as_array().context("a list of agents")?;
        agents.iter().find(|a| a["name"] == name).cloned().context("the agent")
    }

    /// What an agent was asked, by method; oldest first.
    ///
    /// # Errors
    /// The control API failed.
    pub async fn requests(&self, agent: &str, method: &str) -> Result<Vec<Value>> {
        let log = self.get(&format!("/agents/{agent}/requests")).await?;
        let all = log["requests"].as_array().cloned().unwrap_or_default();
        Ok(all.into_iter().filter(|r| r["method"] == method).collect())
    }

    /// How many tasks an agent has made for each message of ours.
    ///
    /// # Errors
    /// The control API failed.
    pub async fn tasks_by_message(&self, agent: &str) -> Result<HashMap<String, u32>> {
        let all = self.get(&format!("/agents/{agent}/tasks")).await?;
        let mut counts = HashMap::new();
        for entry in all["tasks"].as_array().into_iter().flatten() {
            let first = entry["task"]["history"][0]["messageId"].as_str();
            *counts.entry(first.context("a task with its request")?.to_owned()).or_default() += 1;
        }
        Ok(counts)
    }

    /// A booking system's ledger: `bookings` and `operations`.
    ///
    /// # Errors
    /// The control API failed.
    pub async fn ledger(&self, name: &str) -> Result<Value> {
        self.get(&format!("/ledgers/{name}")).await
    }

    /// Bookings that stand, over all ledgers.
    ///
    /// # Errors
    /// The control API failed.
    pub async fn standing(&self) -> Result<Vec<Value>> {
        let all = self.get("/ledgers").await?;
        let ledgers = all["ledgers"].as_array().cloned().unwrap_or_default();
        let bookings = ledgers.iter().flat_map(|l| l["bookings"].as_array().cloned().unwrap_or_default());
        Ok(bookings.filter(|b| b["status"] == "CONFIRMED").collect())
    }

    async fn get(&self, path: &str) -> Result<Value> {
        let answer = self.http.get(format!("{}{path}", self.control)).send().await?.error_for_status()?;
        Ok(answer.json().await?)
    }

    async fn put(&self, path: &str, body: Value) -> Result<()> {
        let answer = self.http.put(format!("{}{path}", self.control)).json(&body).send().await?;
        let status = answer.status();
        anyhow::ensure!(status.is_success(), "{path}: {status}: {}", answer.text().await?);
        Ok(())
    }
}

fn registrations(list: &Value) -> Vec<Value> {
    list.as_array().into_iter().flatten().map(|entry| entry["registration"].clone()).collect()
}
