//! The agents' tasks on disk, with the listing that the protocol asks for.

use super::behaviour::Quirk;
use super::jobs;
use crate::clock;
use crate::store::Store;
use a2a::{A2AError, ListTasksRequest, ListTasksResponse, Task, TaskState};
use a2a_server::TaskStore;
use a2a_server::pagination::resolve_page_size;
use a2a_server::task_store::TaskVersion;
use async_trait::async_trait;
use sqlx::Row;
use sqlx::sqlite::SqliteRow;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

const LIST: &str = "
SELECT body FROM tasks WHERE agent = $1
  AND ($2 IS NULL OR state = $2) AND ($3 IS NULL OR status_at >= $3)
  AND ($4 IS NULL OR status_at < $4 OR (status_at = $4 AND id < $5))
ORDER BY status_at DESC, id DESC LIMIT $6";
const COUNT: &str = "
SELECT count(*) AS n FROM tasks WHERE agent = $1
  AND ($2 IS NULL OR state = $2) AND ($3 IS NULL OR status_at >= $3)";
const LIST_OF_CONTEXT: &str = "
SELECT body FROM tasks WHERE agent = $1 AND context_id = $7
  AND ($2 IS NULL OR state = $2) AND ($3 IS NULL OR status_at >= $3)
  AND ($4 IS NULL OR status_at < $4 OR (status_at = $4 AND id < $5))
ORDER BY status_at DESC, id DESC LIMIT $6";
const COUNT_OF_CONTEXT: &str = "
SELECT count(*) AS n FROM tasks WHERE agent = $1 AND context_id = $4
  AND ($2 IS NULL OR state = $2) AND ($3 IS NULL OR status_at >= $3)";

/// One agent's tasks.
#[derive(Clone, Debug)]
pub struct TaskTable {
    store: Store,
    agent: &'static str,
    retired: Arc<AtomicBool>,
    forgotten: Arc<Mutex<HashSet<String>>>,
}

impl TaskTable {
    /// The tasks of an agent.
    pub fn new(store: Store, agent: &'static str) -> Self {
        Self { store, agent, retired: Arc::default(), forgotten: Arc::default() }
    }

    /// Writes nothing more: whoever works with it belongs to a process that is gone.
    pub fn retire(&self) {
        self.retired.store(true, Ordering::SeqCst);
    }

    fn check(&self, task_id: &str) -> Result<(), A2AError> {
        let forgotten = self.forgotten.lock().unwrap_or_else(PoisonError::into_inner);
        if self.retired.load(Ordering::SeqCst) || forgotten.contains(task_id) {
            return Err(A2AError::internal("this process is gone"));
        }
        Ok(())
    }

    /// Knows nothing of a task any more, whoever still works on it.
    pub async fn forget(&self, task_id: &str) -> Result<bool, A2AError> {
        self.forgotten.lock().unwrap_or_else(PoisonError::into_inner).insert(task_id.to_owned());
        let done = sqlx::query("DELETE FROM tasks WHERE agent = $1 AND id = $2")
            .bind(self.agent)
            .bind(task_id)
            .execute(self.store.pool())
            .await
            .map_err(broken)?;
        Ok(done.rows_affected() > 0)
    }

    /// Knows nothing of any task any more.
    pub async fn forget_all(&self) -> Result<(), A2AError> {
        sqlx::query("DELETE FROM tasks WHERE agent = $1")
            .bind(self.agent)
            .execute(self.store.pool())
            .await
            .map_err(broken)?;
        Ok(())
    }

    /// Writes over a task, whatever it was before.
    pub async fn force(&self, task: &Task) -> Result<(), A2AError> {
        self.check(&task.id)?;
        sqlx::query(
            "UPDATE tasks SET state = $3, status_at = $4, body = $5, version = version + 1
             WHERE agent = $1 AND id = $2",
        )
        .bind(self.agent)
        .bind(&task.id)
        .bind(state_name(&task.status.state)?)
        .bind(status_micros(task))
        .bind(serde_json::to_string(task).map_err(broken)?)
        .execute(self.store.pool())
        .await
        .map_err(broken)?;
        Ok(())
    }

    /// The tasks that the agent itself may have to go on with, oldest status first.
    pub async fn unfinished(&self) -> Result<Vec<Task>, A2AError> {
        let rows = sqlx::query(
            "SELECT body FROM tasks WHERE agent = $1
               AND state IN ('TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'TASK_STATE_AUTH_REQUIRED') ORDER BY status_at, id",
        )
        .bind(self.agent)
        .fetch_all(self.store.pool())
        .await
        .map_err(broken)?;
        rows.iter().map(task_of).collect()
    }

    /// All tasks, newest status first.
    pub async fn all(&self) -> Result<Vec<Task>, A2AError> {
        let rows = sqlx::query("SELECT body FROM tasks WHERE agent = $1 ORDER BY status_at DESC, id DESC")
            .bind(self.agent)
            .fetch_all(self.store.pool())
            .await
            .map_err(broken)?;
        rows.iter().map(task_of).collect()
    }

    /// Writes over a task unless that would move it out of a terminal state.
    async fn replace(&self, task: &Task) -> Result<Option<TaskVersion>, A2AError> {
        let row = sqlx::query(
            "UPDATE tasks SET context_id = $3, state = $4, status_at = $5, body = $6, version = version + 1
             WHERE agent = $1 AND id = $2 AND (state = $4 OR state NOT IN ('TASK_STATE_COMPLETED',
               'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED'))
             RETURNING version",
        )
        .bind(self.agent)
        .bind(&task.id)
        .bind(&task.context_id)
        .bind(state_name(&task.status.state)?)
        .bind(status_micros(task))
        .bind(serde_json::to_string(task).map_err(broken)?)
        .fetch_optional(self.store.pool())
        .await
        .map_err(broken)?;
        row.map(|row| version_of(&row)).transpose()
    }
}

#[async_trait]
impl TaskStore for TaskTable {
    async fn create(&self, task: Task) -> Result<TaskVersion, A2AError> {
        self.check(&task.id)?;
        sqlx::query(
            "INSERT INTO tasks (agent, id, context_id, state, status_at, version, body)
             VALUES ($1, $2, $3, $4, $5, 1, $6)",
        )
        .bind(self.agent)
        .bind(&task.id)
        .bind(&task.context_id)
        .bind(state_name(&task.status.state)?)
        .bind(status_micros(&task))
        .bind(serde_json::to_string(&task).map_err(broken)?)
        .execute(self.store.pool())
        .await
        .map_err(broken)?;
        Ok(1)
    }

    async fn update(&self, task: Task) -> Result<TaskVersion, A2AError> {
        self.check(&task.id)?;
        if let Some(version) = self.replace(&task).await? {
            return Ok(version);
        }
        match self.get(&task.id).await? {
            None => Err(A2AError::task_not_found(&task.id)),
            Some(stored) => Err(A2AError::invalid_request(format!(
                "task {} has ended as {:?} and cannot become {:?}",
                task.id, stored.status.state, task.status.state
            ))),
        }
    }

    async fn get(&self, task_id: &str) -> Result<Option<Task>, A2AError> {
        let row = sqlx::query("SELECT body FROM tasks WHERE agent = $1 AND id = $2")
            .bind(self.agent)
            .bind(task_id)
            .fetch_optional(self.store.pool())
            .await
            .map_err(broken)?;
        row.as_ref().map(task_of).transpose()
    }

    async fn list(&self, req: &ListTasksRequest) -> Result<ListTasksResponse, A2AError> {
        let size = resolve_page_size(req.page_size);
        let state = req.status.as_ref().map(state_name).transpose()?;
        let after = req.status_timestamp_after.map(|at| at.timestamp_micros());
        let (before, before_id) = match req.page_token.as_deref().filter(|token| !token.is_empty()) {
            Some(token) => read_token(token).map(|(at, id)| (Some(at), Some(id)))?,
            None => (None, None),
        };
        let context = req.context_id.as_deref().filter(|context| !context.is_empty());
        let (list, count) = match context {
            Some(_) => (LIST_OF_CONTEXT, COUNT_OF_CONTEXT),
            None => (LIST, COUNT),
        };
        let mut listing = sqlx::query(list)
            .bind(self.agent)
            .bind(&state)
            .bind(after)
            .bind(before)
            .bind(before_id)
            .bind(i64::try_from(size + 1).map_err(broken)?);
        let mut counting = sqlx::query(count).bind(self.agent).bind(&state).bind(after);
        if let Some(context) = context {
            listing = listing.bind(context);
            counting = counting.bind(context);
        }
        let rows = listing.fetch_all(self.store.pool()).await.map_err(broken)?;
        let total: i64 =
            counting.fetch_one(self.store.pool()).await.and_then(|row| row.try_get("n")).map_err(broken)?;
        let mut tasks: Vec<Task> = rows.iter().map(task_of).collect::<Result<_, _>>()?;
        let more = tasks.len() > size;
        tasks.truncate(size);
        let next = tasks.last().filter(|_| more).map(|last| format!("{}~{}", status_micros(last), last.id));
        for task in &mut tasks {
            if !req.include_artifacts.unwrap_or(false) {
                task.artifacts = None;
            }
            cut_history(task, req.history_length);
        }
        Ok(ListTasksResponse {
            tasks,
            next_page_token: next.unwrap_or_default(),
            page_size: i32::try_from(size).map_err(broken)?,
            total_size: i32::try_from(total).map_err(broken)?,
        })
    }

    async fn begin_cancel(&self, task_id: &str) -> Result<Task, A2AError> {
        self.check(task_id)?;
        if jobs::is_odd(&self.store, self.agent, task_id, Quirk::IgnoresCancel).await.map_err(broken)? {
            return self.get(task_id).await?.ok_or_else(|| A2AError::task_not_found(task_id));
        }
        let now = clock::now();
        let row = sqlx::query(
            "UPDATE tasks SET state = 'TASK_STATE_CANCELED', status_at = $3, version = version + 1,
               body = json_set(body, '$.status.state', 'TASK_STATE_CANCELED', '$.status.timestamp', $4)
             WHERE agent = $1 AND id = $2 AND state NOT IN ('TASK_STATE_COMPLETED',
               'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')
             RETURNING body",
        )
        .bind(self.agent)
        .bind(task_id)
        .bind(now.as_microsecond())
        .bind(now.to_string())
        .fetch_optional(self.store.pool())
        .await
        .map_err(broken)?;
        match (row, self.get(task_id).await?) {
            (Some(row), _) => task_of(&row),
            (None, Some(_)) => Err(A2AError::task_not_cancelable(task_id)),
            (None, None) => Err(A2AError::task_not_found(task_id)),
        }
    }
}

fn broken(error: impl std::fmt::Display) -> A2AError {
    tracing::error!(%error, "the task store failed");
    A2AError::internal("Internal error")
}

fn task_of(row: &SqliteRow) -> Result<Task, A2AError> {
    let body: &str = row.try_get("body").map_err(broken)?;
    serde_json::from_str(body).map_err(broken)
}

fn version_of(row: &SqliteRow) -> Result<TaskVersion, A2AError> {
    let version: i64 = row.try_get("version").map_err(broken)?;
    u64::try_from(version).map_err(broken)
}

/// A state's name on the wire.
pub fn state_name(state: &TaskState) -> Result<String, A2AError> {
    let name = serde_json::to_value(state).map_err(broken)?;
    Ok(name.as_str().unwrap_or_default().to_owned())
}

fn status_micros(task: &Task) -> i64 {
    task.status.timestamp.map_or(0, |at| at.timestamp_micros())
}

fn read_token(token: &str) -> Result<(i64, String), A2AError> {
    let parts = token.split_once('~').and_then(|(at, id)| Some((at.parse().ok()?, id.to_owned())));
    parts.ok_or_else(|| A2AError::invalid_params("invalid page token"))
}

fn cut_history(task: &mut Task, length: Option<i32>) {
    if let (Some(length), Some(history)) = (length, task.history.as_mut()) {
        let keep = usize::try_from(length).unwrap_or(0);
        history.drain(..history.len().saturating_sub(keep));
    }
}
