//! What an agent has taken on: per task its order and the behaviour drawn for it, written before
//! the task's first event, so that a killed agent can carry on.

use super::Profile;
use super::behaviour::{self, Behaviour};
use super::order::Order;
use crate::store::Store;
use anyhow::Result;
use serde::{Deserialize, Serialize};
use sqlx::Row;

/// A task's job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// How it goes.
    pub behaviour: Behaviour,
    /// What was asked for.
    pub order: Order,
    /// Whether the authorisation that it waited for is there.
    pub authorised: bool,
}

/// Loads a task's job, or draws a behaviour and makes it.
pub async fn take_on(
    store: &Store,
    profile: &Profile,
    task_id: &str,
    message_id: &str,
    order: impl FnOnce() -> Order,
) -> Result<Job> {
    if let Some(job) = load(store, profile.name, task_id).await? {
        return Ok(job);
    }
    let behaviour = behaviour::draw(store, profile).await?;
    let job = Job { behaviour, order: order(), authorised: false };
    sqlx::query("INSERT INTO jobs (agent, task_id, message_id, body) VALUES ($1, $2, $3, $4)")
        .bind(profile.name)
        .bind(task_id)
        .bind(message_id)
        .bind(serde_json::to_string(&job)?)
        .execute(store.pool())
        .await?;
    Ok(job)
}

/// A task's job.
pub async fn load(store: &Store, agent: &str, task_id: &str) -> Result<Option<Job>> {
    let row = sqlx::query("SELECT body FROM jobs WHERE agent = $1 AND task_id = $2")
        .bind(agent)
        .bind(task_id)
        .fetch_optional(store.pool())
        .await?;
    row.map(|row| Ok(serde_json::from_str(row.try_get("body")?)?)).transpose()
}

/// Notes that the authorisation is there.
pub async fn authorise(store: &Store, agent: &str, task_id: &str) -> Result<()> {
    sqlx::query(
        "UPDATE jobs SET body = json_set(body, '$.authorised', json('true'))
         WHERE agent = $1 AND task_id = $2",
    )
    .bind(agent)
    .bind(task_id)
    .execute(store.pool())
    .await?;
    Ok(())
}

/// Whether the answer to the message that made a task is to be withheld.
pub async fn answer_is_held(store: &Store, agent: &str, message_id: &str) -> Result<bool> {
    let row =
        sqlx::query("SELECT body FROM jobs WHERE agent = $1 AND message_id = $2 ORDER BY rowid DESC LIMIT 1")
            .bind(agent)
            .bind(message_id)
            .fetch_optional(store.pool())
            .await?;
    let Some(row) = row else { return Ok(false) };
    let job: Job = serde_json::from_str(row.try_get("body")?)?;
    Ok(job.behaviour.hold_answer)
}
