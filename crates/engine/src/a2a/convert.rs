//! Wire → domain, read leniently by hand: the official crate's decoders fail on an unknown
//! enum or a missing field (a2a-facts.md §13.1), and an agent must not be lost for that.
//!
//! Unknown fields and states are tolerated, `null` where a list is due is empty, a number where
//! a text is due is that number's text, and answers in the shape of v0.3 are read where their
//! meaning is certain (faults.md F-05). What has no meaning without it — a task without an id —
//! is an error, never a guess. All texts are cut ([`Limits`]).

use super::limits::{Limits, cut};
use domain::ids::{ContextId, MessageId, TaskId};
use domain::task::{AgentMessage, Artifact, Snapshot, TaskState};
use domain::time::Millis;
use serde_json::Value;

/// What was wrong with a part of an answer, for people.
pub(crate) type Unreadable = String;

/// The longest id that we store; a longer one cannot be sent back, so it is no id.
const LONGEST_ID: usize = 1024;

/// A whole task.
pub(crate) fn snapshot(task: &Value, limits: &Limits) -> Result<Snapshot, Unreadable> {
    let task_id = id(task.get("id")).ok_or("a task without an id")?;
    let status = task.get("status").unwrap_or(&Value::Null);
    let mut artifacts: Vec<Artifact> = Vec::new();
    for (index, value) in list(task.get("artifacts")).iter().enumerate() {
        let read = artifact(value, limits).unwrap_or_else(|_| unnamed(value, index, limits));
        match artifacts.iter().position(|known| known.artifact_id == read.artifact_id) {
            Some(place) => artifacts[place] = read,
            None if artifacts.len() < limits.artifacts => artifacts.push(read),
            None => {}
        }
    }
    Ok(Snapshot {
        task_id: TaskId(task_id),
        context_id: id(task.get("contextId")).map(ContextId),
        state: state(status),
        timestamp: timestamp(status.get("timestamp")),
        message: status.get("message").and_then(|value| message(value, limits)),
        artifacts,
        history_ids: history_ids(list(task.get("history")), limits.history),
    })
}

/// The state of a status object; a missing one is `Unknown("UNSPECIFIED")`.
pub(crate) fn state(status: &Value) -> TaskState {
    match status.get("state") {
        Some(Value::String(word)) if !word.is_empty() => TaskState::from_word(&cut(word, 64)),
        // ProtoJSON lets an enum be written as its number (a2a.proto).
        Some(Value::Number(number)) => match number.as_i64() {
            Some(1) => TaskState::Submitted,
            Some(2) => TaskState::Working,
            Some(3) => TaskState::Completed,
            Some(4) => TaskState::Failed,
            Some(5) => TaskState::Canceled,
            Some(6) => TaskState::InputRequired,
            Some(7) => TaskState::Rejected,
            Some(8) => TaskState::AuthRequired,
            _ => TaskState::Unknown(cut(&number.to_string(), 64)),
        },
        _ => TaskState::Unknown("UNSPECIFIED".to_owned()),
    }
}

/// A message of the agent; `None` where there is none.
pub(crate) fn message(value: &Value, limits: &Limits) -> Option<AgentMessage> {
    let object = value.as_object()?;
    let (text, data) = parts(object.get("parts"), limits);
    Some(AgentMessage { message_id: id(object.get("messageId")).map(MessageId), text, data })
}

/// An artifact with its id.
pub(crate) fn artifact(value: &Value, limits: &Limits) -> Result<Artifact, Unreadable> {
    let artifact_id = id(value.get("artifactId")).ok_or("an artifact without an id")?;
    Ok(Artifact { artifact_id, ..unnamed(value, 0, limits) })
}

/// An artifact by its place: its own id is missing.
fn unnamed(value: &Value, index: usize, limits: &Limits) -> Artifact {
    let (text, data) = parts(value.get("parts"), limits);
    let name = value.get("name").and_then(Value::as_str).filter(|name| !name.is_empty());
    Artifact { artifact_id: format!("#{index}"), name: name.map(|name| cut(name, 256)), text, data }
}

/// The text of all text parts, and all data parts. A link to a file counts as its text, since a
/// person may have to open it; raw bytes are left out.
fn parts(value: Option<&Value>, limits: &Limits) -> (String, Vec<Value>) {
    let mut texts: Vec<&str> = Vec::new();
    let mut data = Vec::new();
    let mut room = limits.text_bytes;
    for part in list(value) {
        let file = part.get("file").unwrap_or(&Value::Null);
        let link = [part.get("url"), file.get("uri"), file.get("fileWithUri")];
        if let Some(text) = part.get("text").and_then(Value::as_str) {
            texts.push(text);
        } else if let Some(found) = part.get("data").filter(|found| !found.is_null()) {
            let size = found.to_string().len();
            if size <= room {
                room -= size;
                data.push(found.clone());
            }
        } else if let Some(link) = link.into_iter().flatten().find_map(Value::as_str) {
            texts.push(link);
        }
    }
    (cut(&texts.join("\n"), limits.text_bytes), data)
}

/// Ids of messages, the oldest and the newest where they are too many: the order is the agent's.
fn history_ids(history: &[Value], most: usize) -> Vec<MessageId> {
    let ids: Vec<MessageId> =
        history.iter().filter_map(|value| id(value.get("messageId"))).map(MessageId).collect();
    if ids.len() <= most {
        return ids;
    }
    let half = most / 2;
    ids[..half].iter().chain(&ids[ids.len() - (most - half)..]).cloned().collect()
}

/// An instant as RFC 3339 with any number of digits; without a zone it is taken as UTC. What
/// cannot be read is none: it only serves to order updates of one agent.
pub(crate) fn timestamp(value: Option<&Value>) -> Option<Millis> {
    let text = value?.as_str()?.trim();
    let instant = text.parse::<jiff::Timestamp>().ok().or_else(|| {
        let civil: jiff::civil::DateTime = text.parse().ok()?;
        jiff::tz::TimeZone::UTC.to_timestamp(civil).ok()
    })?;
    Some(Millis(instant.as_millisecond()))
}

/// An id of the agent: outside text, kept as it is, or none where it cannot serve as one.
pub(crate) fn id(value: Option<&Value>) -> Option<String> {
    let text = match value? {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    (!text.is_empty() && text.len() <= LONGEST_ID && !text.contains('\0')).then_some(text)
}

/// The items of a list; missing, `null` and anything else are empty.
pub(crate) fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A whole number, also written as text (int64 in ProtoJSON) or with a fraction of zero.
pub(crate) fn whole(value: Option<&Value>) -> Option<i64> {
    match value? {
        Value::Number(number) => {
            number.as_i64().or_else(|| number.to_string().strip_suffix(".0")?.parse().ok())
        }
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// The body of an answer or event, by the wrapper of v1.0 or the `kind` of v0.3.
pub(crate) enum Payload<'a> {
    Task(&'a Value),
    Message(&'a Value),
    Status(&'a Value),
    Artifact(&'a Value),
    Other,
}

/// Which of the payloads this is.
pub(crate) fn payload(result: &Value) -> Payload<'_> {
    let wrapped = |name: &str| result.get(name).filter(|value| value.is_object());
    if let Some(task) = wrapped("task") {
        return Payload::Task(task);
    }
    if let Some(update) = wrapped("statusUpdate") {
        return Payload::Status(update);
    }
    if let Some(update) = wrapped("artifactUpdate") {
        return Payload::Artifact(update);
    }
    if let Some(message) = wrapped("message") {
        return Payload::Message(message);
    }
    match result.get("kind").and_then(Value::as_str) {
        Some("task") => Payload::Task(result),
        Some("message") => Payload::Message(result),
        Some("status-update") => Payload::Status(result),
        Some("artifact-update") => Payload::Artifact(result),
        None if result.get("id").is_some() && wrapped("status").is_some() => Payload::Task(result),
        _ => Payload::Other,
    }
}
