//! The first message of a delegation: its text from the workflow's template, the inputs as data,
//! and in the metadata what lets an agent book under our reference and go on from an attempt
//! before it.

use crate::delegation::Delegation;
use crate::trip::Trip;
use serde_json::{Value, json};

/// The reference of a delegation, from a fresh id: short enough to be typed, long enough to be
/// unique. UUIDv7 ends in random digits, so the last twelve are taken.
pub fn reference(fresh_id: &str) -> String {
    let digits: String = fresh_id.chars().filter(char::is_ascii_alphanumeric).collect();
    let start = digits.len().saturating_sub(12);
    format!("HF-{}", digits[start..].to_ascii_uppercase())
}

/// The A2A Message as JSON, as it is journaled and sent.
pub fn body(trip: &Trip, delegation: &Delegation, previous: Option<&Delegation>) -> String {
    let mut metadata = json!({ "delegation": delegation.id.as_str() });
    let mut message = json!({
        "messageId": delegation.message_id.as_str(),
        "role": "ROLE_USER",
        "parts": [
            { "text": text(trip, delegation, previous) },
            { "data": { "inputs": trip.inputs } },
        ],
    });
    if let Some(map) = metadata.as_object_mut() {
        if let Some(reference) = &delegation.reference {
            map.insert("reference".to_owned(), json!(reference.as_str()));
        }
        if let Some(before) = previous {
            map.insert("previous_delegation".to_owned(), json!(before.id.as_str()));
            map.insert("previous_failure".to_owned(), json!(before.failure_summary));
            if let Some(task) = &before.task_id {
                map.insert("previous_task_id".to_owned(), json!(task.as_str()));
            }
        }
    }
    if let Some(map) = message.as_object_mut() {
        map.insert("metadata".to_owned(), metadata);
        if let Some(context) = &delegation.context_id {
            map.insert("contextId".to_owned(), json!(context.as_str()));
        }
    }
    message.to_string()
}

fn text(trip: &Trip, delegation: &Delegation, previous: Option<&Delegation>) -> String {
    let template = trip.definition(&delegation.step).map(|s| s.message.as_str()).unwrap_or_default();
    let reference = delegation.reference.as_ref().map(|r| r.as_str());
    let context = json!({ "inputs": trip.inputs, "title": trip.title, "reference": reference });
    // A template is checked when its workflow is loaded; inputs left out may still trip it up.
    let mut text = render(template, &context).unwrap_or_else(|_| trip.step_title(&delegation.step));
    if let Some(reference) = reference.filter(|r| !text.contains(r)) {
        text.push_str(&format!("\nBook under the reference {reference}."));
    }
    if let Some(before) = previous {
        let task = before.task_id.as_ref().map(|t| format!(" (task {t})")).unwrap_or_default();
        let reason = before.failure_summary.as_deref().unwrap_or("no reason given");
        text.push_str(&format!("\nAn attempt before this one{task} came to nothing: {reason}"));
    }
    text
}

/// Renders a template over `context`; a missing input renders as nothing.
///
/// # Errors
/// What is wrong with the template, with its line.
pub fn render(template: &str, context: &Value) -> Result<String, String> {
    let mut environment = minijinja::Environment::empty();
    environment.set_undefined_behavior(minijinja::UndefinedBehavior::Lenient);
    let rendered = environment.render_str(template, context).map_err(|error| error.to_string())?;
    Ok(rendered.trim().to_owned())
}
