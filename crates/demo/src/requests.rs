//! The log of what agents were asked, written before anything is answered.

use crate::clock;
use crate::store::Store;
use anyhow::Result;
use axum::http::{Method, Uri};
use serde_json::{Value, json};
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

/// One call of an A2A operation, whatever the binding that carried it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The operation, by its JSON-RPC name.
    pub method: String,
    /// The message's id, where a message was sent.
    pub message_id: Option<String>,
    /// The context that it names.
    pub context_id: Option<String>,
    /// The task that it names.
    pub task_id: Option<String>,
    /// The message's metadata.
    pub metadata: Option<Value>,
    /// The body as received.
    pub body: String,
    /// Whether it came over HTTP+JSON rather than JSON-RPC.
    pub rest: bool,
    /// The id of the JSON-RPC request.
    pub rpc_id: Value,
    /// The query, where the parameters are there.
    query: String,
}

impl Call {
    /// Reads a request of either binding; none where it is no operation (a card, a stray path).
    pub fn read(method: &Method, uri: &Uri, body: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(body).into_owned();
        let json: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
        if let Some(path) = uri.path().strip_prefix("/rest") {
            let (operation, task_id) = rest_operation(method, path)?;
            let mut call = Self::new(operation, &json, task_id, text);
            call.rest = true;
            uri.query().unwrap_or_default().clone_into(&mut call.query);
            return Some(call);
        }
        if uri.path() != "/" || method != Method::POST {
            return None;
        }
        let operation = json["method"].as_str().unwrap_or("?");
        let id = match operation {
            "GetTask" | "CancelTask" | "SubscribeToTask" => text_of(&json["params"]["id"]),
            _ => text_of(&json["params"]["taskId"]),
        };
        let call = Self::new(operation, &json["params"], id, text);
        Some(Self { rpc_id: json["id"].clone(), ..call })
    }

    /// The page token that it brings; empty where it brings none.
    pub fn page_token(&self) -> String {
        self.parameter("pageToken").unwrap_or_default()
    }

    /// Whether it wants a list filtered by time.
    pub fn filters_by_time(&self) -> bool {
        self.parameter("statusTimestampAfter").is_some()
    }

    fn parameter(&self, name: &str) -> Option<String> {
        if self.rest {
            let url = reqwest::Url::parse(&format!("http://agent/?{}", self.query)).ok()?;
            return url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
        }
        let json: Value = serde_json::from_str(&self.body).ok()?;
        text_of(&json["params"][name])
    }

    fn new(operation: &str, params: &Value, task_id: Option<String>, body: String) -> Self {
        let message = &params["message"];
        Self {
            method: operation.to_owned(),
            message_id: text_of(&message["messageId"]),
            context_id: text_of(&message["contextId"]).or_else(|| text_of(&params["contextId"])),
            task_id: text_of(&message["taskId"]).or(task_id),
            metadata: message.get("metadata").cloned(),
            body,
            rest: false,
            rpc_id: Value::Null,
            query: String::new(),
        }
    }
}

fn text_of(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

fn rest_operation(method: &Method, path: &str) -> Option<(&'static str, Option<String>)> {
    let write = method == Method::POST;
    match path {
        "/message:send" => return Some(("SendMessage", None)),
        "/message:stream" => return Some(("SendStreamingMessage", None)),
        "/tasks" => return Some(("ListTasks", None)),
        "/extendedAgentCard" => return Some(("GetExtendedAgentCard", None)),
        _ => {}
    }
    let rest = path.strip_prefix("/tasks/")?;
    let (id, action) = rest.split_once([':', '/']).unwrap_or((rest, ""));
    let operation = match action {
        "" => "GetTask",
        "cancel" if write => "CancelTask",
        "subscribe" => "SubscribeToTask",
        "pushNotificationConfigs" if write => "CreateTaskPushNotificationConfig",
        "pushNotificationConfigs" => "ListTaskPushNotificationConfigs",
        _ if method == Method::DELETE => "DeleteTaskPushNotificationConfig",
        _ => "GetTaskPushNotificationConfig",
    };
    Some((operation, Some(id.to_owned())))
}

/// Writes a call down and says under which number.
pub async fn record(store: &Store, agent: &str, call: &Call) -> Result<i64> {
    let row = sqlx::query(
        "INSERT INTO requests (agent, at, method, message_id, context_id, task_id, metadata, body)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id",
    )
    .bind(agent)
    .bind(clock::now_millis())
    .bind(&call.method)
    .bind(&call.message_id)
    .bind(&call.context_id)
    .bind(&call.task_id)
    .bind(call.metadata.as_ref().map(Value::to_string))
    .bind(&call.body)
    .fetch_one(store.pool())
    .await?;
    Ok(row.try_get("id")?)
}

/// Notes that a call's answer was let go.
pub async fn record_answer(store: &Store, id: i64, status: u16) -> Result<()> {
    sqlx::query("UPDATE requests SET answered_at = $2, answer_status = $3 WHERE id = $1")
        .bind(id)
        .bind(clock::now_millis())
        .bind(i64::from(status))
        .execute(store.pool())
        .await?;
    Ok(())
}

/// All calls of one agent, oldest first.
pub async fn of_agent(store: &Store, agent: &str) -> Result<Vec<Value>> {
    let rows = sqlx::query("SELECT * FROM requests WHERE agent = $1 ORDER BY id")
        .bind(agent)
        .fetch_all(store.pool())
        .await?;
    rows.iter().map(row_as_json).collect()
}

/// The newest calls of all agents, newest first.
pub async fn latest(store: &Store, count: i64) -> Result<Vec<Value>> {
    let rows = sqlx::query("SELECT * FROM requests ORDER BY id DESC LIMIT $1")
        .bind(count)
        .fetch_all(store.pool())
        .await?;
    rows.iter().map(row_as_json).collect()
}

fn row_as_json(row: &SqliteRow) -> Result<Value> {
    let metadata: Option<String> = row.try_get("metadata")?;
    let body: String = row.try_get("body")?;
    let answered: Option<i64> = row.try_get("answered_at")?;
    Ok(json!({
        "id": row.try_get::<i64, _>("id")?,
        "agent": row.try_get::<String, _>("agent")?,
        "at": clock::rfc3339(row.try_get("at")?),
        "method": row.try_get::<String, _>("method")?,
        "message_id": row.try_get::<Option<String>, _>("message_id")?,
        "context_id": row.try_get::<Option<String>, _>("context_id")?,
        "task_id": row.try_get::<Option<String>, _>("task_id")?,
        "metadata": metadata.map(|text| serde_json::from_str::<Value>(&text)).transpose()?,
        "body": serde_json::from_str(&body).unwrap_or(Value::String(body)),
        "answered_at": answered.map(clock::rfc3339),
        "answer_status": row.try_get::<Option<i64>, _>("answer_status")?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_bindings_name_the_same_operation() {
        let body = br#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","contextId":"c","taskId":"t","metadata":{"reference":"R"}}}}"#;
        let call = Call::read(&Method::POST, &Uri::from_static("/"), body).unwrap();
        assert_eq!(
            (call.method.as_str(), call.message_id.as_deref(), call.task_id.as_deref()),
            ("SendMessage", Some("m"), Some("t"))
        );
        let rest = Call::read(&Method::POST, &Uri::from_static("/rest/tasks/t:cancel"), b"{}").unwrap();
        assert_eq!((rest.method.as_str(), rest.task_id.as_deref()), ("CancelTask", Some("t")));
        let path = Uri::from_static("/.well-known/agent-card.json");
        assert_eq!(Call::read(&Method::GET, &path, b""), None);
    }
}
