//! The agents' push configs on disk: the server crate sends a push for each event to those it
//! finds here.

use super::card::CardSwitch;
use crate::clock;
use crate::store::Store;
use a2a::{A2AError, TaskPushNotificationConfig};
use a2a_server::{HttpPushSender, HttpPushSenderConfig, PushConfigStore};
use anyhow::Result;
use async_trait::async_trait;
use sqlx::Row;
use std::time::Duration;

/// One agent's push configs.
#[derive(Clone, Debug)]
pub struct PushTable {
    store: Store,
    agent: &'static str,
    card: CardSwitch,
}

impl PushTable {
    /// The push configs of an agent.
    pub fn new(store: Store, agent: &'static str, card: CardSwitch) -> Self {
        Self { store, agent, card }
    }

    /// All configs, of all tasks.
    pub async fn all(&self) -> Result<Vec<TaskPushNotificationConfig>> {
        let rows = sqlx::query("SELECT body FROM push_configs WHERE agent = $1 ORDER BY task_id, id")
            .bind(self.agent)
            .fetch_all(self.store.pool())
            .await?;
        rows.iter().map(|row| Ok(serde_json::from_str(row.try_get("body")?)?)).collect()
    }

    /// Drops all configs, and says how many there were.
    pub async fn forget_all(&self) -> Result<u64> {
        let done = sqlx::query("DELETE FROM push_configs WHERE agent = $1")
            .bind(self.agent)
            .execute(self.store.pool())
            .await?;
        Ok(done.rows_affected())
    }

    async fn of_task(&self, task_id: &str) -> Result<Vec<TaskPushNotificationConfig>> {
        let rows = sqlx::query("SELECT body FROM push_configs WHERE agent = $1 AND task_id = $2 ORDER BY id")
            .bind(self.agent)
            .bind(task_id)
            .fetch_all(self.store.pool())
            .await?;
        rows.iter().map(|row| Ok(serde_json::from_str(row.try_get("body")?)?)).collect()
    }
}

#[async_trait]
impl PushConfigStore for PushTable {
    async fn save(
        &self,
        mut config: TaskPushNotificationConfig,
    ) -> Result<TaskPushNotificationConfig, A2AError> {
        if !self.card.get().push {
            return Err(A2AError::push_notification_not_supported());
        }
        if config.url.is_empty() || config.task_id.is_empty() {
            return Err(A2AError::invalid_params("a push config needs a url and a task"));
        }
        let id = config.id.get_or_insert_with(clock::new_id).clone();
        sqlx::query(
            "INSERT INTO push_configs (agent, task_id, id, body) VALUES ($1, $2, $3, $4)
             ON CONFLICT (agent, task_id, id) DO UPDATE SET body = excluded.body",
        )
        .bind(self.agent)
        .bind(&config.task_id)
        .bind(id)
        .bind(serde_json::to_string(&config).map_err(broken)?)
        .execute(self.store.pool())
        .await
        .map_err(broken)?;
        Ok(config)
    }

    async fn get(&self, task_id: &str, config_id: &str) -> Result<TaskPushNotificationConfig, A2AError> {
        let all = self.of_task(task_id).await.map_err(broken)?;
        let found = all.into_iter().find(|config| config.id.as_deref() == Some(config_id));
        found.ok_or_else(|| A2AError::task_not_found(config_id))
    }

    async fn list(&self, task_id: &str) -> Result<Vec<TaskPushNotificationConfig>, A2AError> {
        if !self.card.get().push {
            return Ok(Vec::new());
        }
        self.of_task(task_id).await.map_err(broken)
    }

    async fn delete(&self, task_id: &str, config_id: &str) -> Result<(), A2AError> {
        sqlx::query("DELETE FROM push_configs WHERE agent = $1 AND task_id = $2 AND id = $3")
            .bind(self.agent)
            .bind(task_id)
            .bind(config_id)
            .execute(self.store.pool())
            .await
            .map_err(broken)?;
        Ok(())
    }

    async fn delete_all(&self, task_id: &str) -> Result<(), A2AError> {
        sqlx::query("DELETE FROM push_configs WHERE agent = $1 AND task_id = $2")
            .bind(self.agent)
            .bind(task_id)
            .execute(self.store.pool())
            .await
            .map_err(broken)?;
        Ok(())
    }
}

/// Sends pushes also to this machine, and does not wait long for whom it cannot reach.
pub fn sender() -> HttpPushSender {
    HttpPushSender::new(Some(HttpPushSenderConfig {
        timeout: Duration::from_secs(3),
        fail_on_error: false,
        validate_urls: false,
    }))
}

fn broken(error: impl std::fmt::Display) -> A2AError {
    tracing::error!(%error, "the push configs cannot be read or written");
    A2AError::internal("Internal error")
}
