//! What an agent has taken on: per task its order and the behaviour drawn for it, written before
//! the task's first event, so that a killed agent can carry on.

use super::Profile;
use super::behaviour::{self, Behaviour, Kind, Quirk};
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
    /// Whether nobody works on it any more, though its task says so.
    #[serde(default)]
    pub orphaned: bool,
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
    let job = match load(store, profile.name, &forked(message_id)).await? {
        Some(job) => job,
        None => {
            let behaviour = behaviour::draw(store, profile).await?;
            Job { behaviour, order: order(), authorised: false, orphaned: false }
        }
    };
    save(store, profile.name, task_id, message_id, &job).await?;
    Ok(job)
}

/// Notes that the task which a message is about to make goes on with another task's job.
pub async fn fork(store: &Store, agent: &str, task_id: &str, message_id: &str) -> Result<()> {
    let Some(mut job) = load(store, agent, task_id).await? else { return Ok(()) };
    job.behaviour.behaviour = Kind::Works;
    job.behaviour.also.clear();
    save(store, agent, &forked(message_id), "", &job).await
}

/// Under what a job waits for the task that a message makes.
fn forked(message_id: &str) -> String {
    format!("fork of {message_id}")
}

async fn save(store: &Store, agent: &str, task_id: &str, message_id: &str, job: &Job) -> Result<()> {
    sqlx::query(
        "INSERT INTO jobs (agent, task_id, message_id, body) VALUES ($1, $2, $3, $4)
         ON CONFLICT (agent, task_id) DO UPDATE SET body = excluded.body",
    )
    .bind(agent)
    .bind(task_id)
    .bind(message_id)
    .bind(serde_json::to_string(job)?)
    .execute(store.pool())
    .await?;
    Ok(())
}

/// Forgets all jobs of an agent.
pub async fn forget_all(store: &Store, agent: &str) -> Result<()> {
    sqlx::query("DELETE FROM jobs WHERE agent = $1").bind(agent).execute(store.pool()).await?;
    Ok(())
}

/// Leaves all jobs of an agent to nobody.
pub async fn orphan_all(store: &Store, agent: &str) -> Result<()> {
    sqlx::query("UPDATE jobs SET body = json_set(body, '$.orphaned', json('true')) WHERE agent = $1")
        .bind(agent)
        .execute(store.pool())
        .await?;
    Ok(())
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

/// Whether a task has an oddity.
pub async fn is_odd(store: &Store, agent: &str, task_id: &str, quirk: Quirk) -> Result<bool> {
    Ok(load(store, agent, task_id).await?.is_some_and(|job| job.behaviour.is_odd(quirk)))
}
