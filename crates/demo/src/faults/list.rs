//! The faults of lists: what is asked of the real list, and what becomes of its answer.

use super::{Fault, FaultChoice};
use crate::clock;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

const AFTER: &str = "statusTimestampAfter";

/// Changes what is asked.
pub fn ask(choice: &FaultChoice, params: &mut Map<String, Value>) {
    match choice.fault {
        Fault::SmallPages | Fault::FullPageNoToken => {
            params.insert("pageSize".to_owned(), choice.size_or(1).into());
        }
        // The real list gets no token: it would refuse those that it did not give.
        Fault::CircularTokens | Fault::RepeatedToken | Fault::EndlessTokens => {
            params.remove("pageToken");
        }
        Fault::Unfiltered => {
            for filter in ["contextId", "status", AFTER] {
                params.remove(filter);
            }
        }
        Fault::ExclusiveAfter => shift(params, SignedDuration::from_micros(1)),
        Fault::ClockSkew => shift(params, SignedDuration::from_secs(-choice.seconds.unwrap_or(120))),
        _ => {}
    }
}

fn shift(params: &mut Map<String, Value>, by: SignedDuration) {
    let Some(at) = params.get(AFTER).and_then(Value::as_str).and_then(|at| at.parse::<Timestamp>().ok())
    else {
        return;
    };
    if let Ok(at) = at.checked_add(by) {
        params.insert(AFTER.to_owned(), at.to_string().into());
    }
}

/// Changes what is answered; `asked` is the page token that came with the request, and `by_time`
/// whether it filtered by time.
pub fn answer(choice: &FaultChoice, page: &mut Value, asked: &str, by_time: bool) {
    match choice.fault {
        Fault::CircularTokens => {
            page["nextPageToken"] = json!(if asked == "a" { "b" } else { "a" });
        }
        Fault::RepeatedToken => {
            page["nextPageToken"] = json!("again");
            if asked == "again" {
                page["tasks"] = json!([]);
            }
        }
        Fault::EndlessTokens => {
            let number: u64 = asked.strip_prefix("page-").and_then(|n| n.parse().ok()).unwrap_or(0);
            page["nextPageToken"] = json!(format!("page-{}", number + 1));
            if number > 0 {
                page["tasks"] = json!([]);
            }
        }
        Fault::DuplicateTasks => {
            let Some(tasks) = page["tasks"].as_array_mut() else { return };
            let twins: Vec<Value> = tasks.iter().cloned().map(at_work).collect();
            let pairs = std::mem::take(tasks).into_iter().zip(twins);
            tasks.extend(pairs.flat_map(|(task, twin)| [task, twin]));
        }
        Fault::NullLists if page["tasks"].as_array().is_none_or(Vec::is_empty) => page["tasks"] = Value::Null,
        Fault::FullPageNoToken => page["nextPageToken"] = json!(""),
        Fault::NoTimestamps if by_time => {
            page["tasks"] = json!([]);
            page["totalSize"] = json!(0);
        }
        Fault::ListLag => lag(page, choice.ms_or(1_000)),
        _ => {}
    }
}

fn at_work(mut task: Value) -> Value {
    task["status"]["state"] = json!("TASK_STATE_WORKING");
    task
}

/// Leaves out the tasks that were made a moment ago.
fn lag(page: &mut Value, by: std::time::Duration) {
    let until = clock::now_millis() - i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
    let Some(tasks) = page["tasks"].as_array_mut() else { return };
    let before = tasks.len();
    tasks.retain(|task| made_at(task).is_none_or(|at| at <= until));
    let hidden = before - tasks.len();
    if let Some(total) = page["totalSize"].as_u64() {
        page["totalSize"] = json!(total.saturating_sub(hidden as u64));
    }
}

/// When a task was made, by its id.
fn made_at(task: &Value) -> Option<i64> {
    let id = uuid::Uuid::parse_str(task["id"].as_str()?).ok()?;
    let (seconds, nanos) = id.get_timestamp()?.to_unix();
    i64::try_from(seconds * 1_000 + u64::from(nanos / 1_000_000)).ok()
}
