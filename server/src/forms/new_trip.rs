//! The form of a new trip.

use super::{Fields, Sender, about_form, trip_path};
use crate::error_page::unavailable;
use crate::state::AppState;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use domain::view::WorkflowView;
use engine::clock::random_secret;
use engine::commands::{CreateTripError, NewTrip};
use serde_json::Value;

/// The hidden field that makes two submits of one form one trip.
const KEY_FIELD: &str = "idempotency_key";
/// The longest key taken from a form; ours are shorter.
const LONGEST_KEY: usize = 100;

/// `POST /trips/new`.
pub async fn create(State(state): State<AppState>, sender: Sender, fields: Fields) -> Response {
    let workflows = match state.engine.workflows().await {
        Ok(workflows) => workflows,
        Err(error) => {
            tracing::error!(%error, "workflows could not be read");
            return unavailable();
        }
    };
    let key = fields.given(KEY_FIELD).filter(|key| key.len() <= LONGEST_KEY).map(str::to_owned);
    let new = new_trip(&fields, &workflows);
    match state.engine.create_trip(&sender.viewer, &new, key.as_deref()).await {
        Ok(trip) => sender.on_to(&trip_path(trip.as_str()), "").await,
        Err(CreateTripError::Invalid(errors)) => {
            let form = fields.came_back(&[KEY_FIELD], errors);
            sender.again(StatusCode::UNPROCESSABLE_ENTITY, form, key).await
        }
        Err(CreateTripError::KeyReused) => {
            let sentence = "This form was sent before, with other content, and that trip was made: it is in your list. \
                            Send the form again only if you want a second trip.";
            let form = fields.came_back(&[KEY_FIELD], about_form(sentence));
            sender.again(StatusCode::CONFLICT, form, Some(random_secret())).await
        }
        Err(CreateTripError::Store(error)) => {
            tracing::error!(%error, "a trip could not be recorded");
            unavailable()
        }
    }
}

/// What the form amounts to. Integers become numbers where they are some; what is not stays text,
/// so that the engine says what would be right.
fn new_trip(fields: &Fields, workflows: &[WorkflowView]) -> NewTrip {
    let named = fields.given("workflow");
    let workflow = workflows.iter().find(|workflow| named.is_none_or(|name| name == workflow.name));
    let inputs = workflow.into_iter().flat_map(|workflow| &workflow.inputs).filter_map(|input| {
        let text = fields.given(&input.name)?;
        let number = if input.kind == "integer" { text.trim().parse::<i64>().ok() } else { None };
        Some((input.name.clone(), number.map_or_else(|| Value::from(text), Value::from)))
    });
    NewTrip {
        workflow: named.or(workflow.map(|workflow| workflow.name.as_str())).unwrap_or_default().to_owned(),
        title: fields.given("title").map(str::to_owned),
        steps: fields.all("steps"),
        inputs: inputs.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::view::InputView;

    fn input(name: &str, kind: &str) -> InputView {
        InputView {
            name: name.into(),
            label: name.into(),
            kind: kind.into(),
            required: false,
            hint: None,
            default: None,
            min: None,
            max: None,
            max_chars: None,
        }
    }

    fn fields(pairs: &[(&str, &str)]) -> Fields {
        Fields(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn the_form_becomes_the_body_of_the_api() {
        let travel = WorkflowView {
            name: "travel".into(),
            title: "Travel".into(),
            inputs: vec![
                input("origin", "text"),
                input("travellers", "integer"),
                input("notes", "long_text"),
            ],
            steps: vec![],
        };
        let sent = fields(&[
            ("workflow", "travel"),
            ("title", " "),
            ("steps", "flight"),
            ("steps", "car"),
            ("origin", "Oslo"),
            ("travellers", "2"),
            ("notes", ""),
            ("unknown", "x"),
        ]);
        let new = new_trip(&sent, std::slice::from_ref(&travel));
        assert_eq!((new.workflow.as_str(), new.title.as_deref()), ("travel", None));
        assert_eq!(new.steps, ["flight", "car"]);
        assert_eq!(Value::Object(new.inputs), serde_json::json!({"origin": "Oslo", "travellers": 2}));
        let odd = new_trip(&fields(&[("travellers", "two")]), &[travel]);
        assert_eq!(odd.inputs["travellers"], "two");
    }
}
