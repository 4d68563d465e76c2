//! What faults do to what an answer or an event says.

use super::{Fault, FaultChoice, list};
use crate::requests::Call;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

/// Stands for a text that is too long to be kept in memory.
pub const HUGE: &str = "@@huge@@";
/// Stands for lists in lists, as a JSON text.
pub const DEEP: &str = "\"@@deep@@\"";
/// In a status message's metadata: the state that the wire shows instead.
pub const SHOWN_STATE: &str = "demoShownState";

/// What of a body is the answer itself; none where it is an error.
pub fn payload<'a>(body: &'a mut Value, call: &Call) -> Option<&'a mut Value> {
    if body.get("error").is_some() {
        return None;
    }
    if call.rest { Some(body) } else { body.get_mut("result") }
}

/// An id as an agent may well make it; what follows the last slash is the true one.
fn odd_id(id: &str, more: usize) -> String {
    format!("the task/of {}🚗/{id}", "x".repeat(more))
}

/// Plays all chosen faults on an answer or an event.
pub fn edit(payload: &mut Value, call: &Call, faults: &[FaultChoice]) {
    show_states(payload);
    for choice in faults {
        one(payload, choice, call);
    }
}

fn one(payload: &mut Value, choice: &FaultChoice, call: &Call) {
    if call.method == "ListTasks" {
        list::answer(choice, payload, &call.page_token(), call.filters_by_time());
    }
    match choice.fault {
        Fault::WrongState => {
            let state = choice.state.as_deref().unwrap_or("TASK_STATE_PAUSED");
            each_status(payload, |status| status["state"] = json!(state));
        }
        Fault::ForeignContext => each_object(payload, &mut |object| {
            if object.contains_key("contextId") {
                object.insert("contextId".to_owned(), json!("the-context-of-somebody-else"));
            }
        }),
        Fault::OddIds => each_object(payload, &mut |object| {
            let is_task = object.get("status").is_some_and(Value::is_object);
            let name = if is_task && object.contains_key("id") { "id" } else { "taskId" };
            if let Some(id) = object.get_mut(name) {
                *id = json!(odd_id(id.as_str().unwrap_or_default(), choice.size_or(0)));
            }
        }),
        Fault::UnknownFields => each_object(payload, &mut |object| {
            object.insert("xUnknown".to_owned(), json!({ "deep": [1, null, "two"] }));
        }),
        Fault::NullLists => each_object(payload, &mut null_lists),
        Fault::LeavesOutEmpty => each_object(payload, &mut |object| object.retain(|_, value| !empty(value))),
        Fault::NumbersAsStrings => numbers_as_strings(payload),
        Fault::HugeBody => add_huge(payload),
        Fault::DeepJson => {
            if let Value::Object(object) = payload {
                object.insert("xDeep".to_owned(), json!(DEEP.trim_matches('"')));
            }
        }
        Fault::ManyArtifacts => {
            let count = choice.size_or(100_000);
            each_task(payload, &mut |task| {
                let more = (0..count).map(|n| json!({ "artifactId": format!("more-{n}"), "parts": [] }));
                artifacts_of(task).extend(more);
            });
        }
        Fault::ClockSkew => {
            let by = SignedDuration::from_secs(choice.seconds.unwrap_or(120));
            each_timestamp(payload, |at| {
                Some(at.parse::<Timestamp>().ok()?.checked_add(by).ok()?.to_string())
            });
        }
        Fault::NoTimestamps => each_object(payload, &mut |object| {
            object.remove("timestamp");
        }),
        Fault::NoZone => each_timestamp(payload, |at| Some(at.trim_end_matches('Z').replace("+00:00", ""))),
        Fault::CutHistory => {
            let keep = choice.size_or(1);
            each_history(payload, |history| drop(history.drain(..history.len().saturating_sub(keep))));
        }
        Fault::NoHistory => each_object(payload, &mut |object| {
            object.remove("history");
        }),
        Fault::NoUserHistory => {
            each_history(payload, |history| history.retain(|message| message["role"] != "ROLE_USER"));
        }
        _ => {}
    }
}

/// A task that is said to be in a state that the real server cannot say.
fn show_states(payload: &mut Value) {
    each_status(payload, |status| {
        let metadata = status.pointer_mut("/message/metadata").and_then(Value::as_object_mut);
        if let Some(state) = metadata.and_then(|metadata| metadata.remove(SHOWN_STATE)) {
            status["state"] = state;
        }
    });
}

fn each_object(value: &mut Value, edit: &mut dyn FnMut(&mut Map<String, Value>)) {
    match value {
        Value::Object(object) => {
            for inner in object.values_mut() {
                each_object(inner, edit);
            }
            edit(object);
        }
        Value::Array(list) => list.iter_mut().for_each(|inner| each_object(inner, edit)),
        _ => {}
    }
}

/// Every task, by its looks: an object with a status and an id.
pub fn each_task(value: &mut Value, edit: &mut dyn FnMut(&mut Map<String, Value>)) {
    each_object(value, &mut |object| {
        if object.contains_key("id") && object.get("status").is_some_and(Value::is_object) {
            edit(object);
        }
    });
}

fn each_status(value: &mut Value, edit: impl Fn(&mut Value)) {
    each_object(value, &mut |object| {
        if let Some(status) = object.get_mut("status").filter(|status| status.get("state").is_some()) {
            edit(status);
        }
    });
}

fn each_timestamp(value: &mut Value, edit: impl Fn(&str) -> Option<String>) {
    each_object(value, &mut |object| {
        let changed = object.get("timestamp").and_then(Value::as_str).and_then(&edit);
        if let Some(changed) = changed {
            object.insert("timestamp".to_owned(), changed.into());
        }
    });
}

fn each_history(value: &mut Value, edit: impl Fn(&mut Vec<Value>)) {
    each_object(value, &mut |object| {
        if let Some(Value::Array(history)) = object.get_mut("history") {
            edit(history);
        }
    });
}

fn null_lists(object: &mut Map<String, Value>) {
    for (name, value) in object.iter_mut() {
        let list = value.as_array().is_some_and(|list| name != "tasks" || list.is_empty());
        if list && matches!(name.as_str(), "history" | "artifacts" | "parts" | "extensions" | "tasks") {
            *value = Value::Null;
        }
    }
}

fn empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(object) => object.is_empty(),
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::Bool(_) => false,
    }
}

fn numbers_as_strings(value: &mut Value) {
    match value {
        Value::Number(number) => *value = number.to_string().into(),
        Value::Object(object) => object.values_mut().for_each(numbers_as_strings),
        Value::Array(list) => list.iter_mut().for_each(numbers_as_strings),
        _ => {}
    }
}

fn artifacts_of(task: &mut Map<String, Value>) -> &mut Vec<Value> {
    let artifacts = task.entry("artifacts").or_insert_with(|| json!([]));
    if !artifacts.is_array() {
        *artifacts = json!([]);
    }
    match artifacts {
        Value::Array(list) => list,
        _ => unreachable!("made a list above"),
    }
}

fn add_huge(payload: &mut Value) {
    let mut added = false;
    each_task(payload, &mut |task| {
        if !added {
            artifacts_of(task).push(json!({ "artifactId": "huge", "parts": [{ "text": HUGE }] }));
            added = true;
        }
    });
    if let (false, Value::Object(object)) = (added, payload) {
        object.insert("padding".to_owned(), HUGE.into());
    }
}
