//! The two forms of a case: check now, and record an outcome.

use super::{Fields, Sender, about, about_form, encoded};
use crate::api::cases::sentence;
use crate::error_page::unavailable;
use crate::state::AppState;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use domain::view::FieldError;
use engine::support::{ActionError, ActionResult, CaseAction, RecordedOutcome};

/// `POST /desk/cases/{id}` with `action`, and the fields of that one.
pub async fn act(
    State(state): State<AppState>,
    sender: Sender,
    Path(id): Path<String>,
    fields: Fields,
) -> Response {
    let wrong = StatusCode::UNPROCESSABLE_ENTITY;
    let action = match asked(&fields) {
        Ok(action) => action,
        Err(errors) => return sender.again(wrong, fields.came_back(&[], errors), None).await,
    };
    match state.engine.act_on_case(&sender.viewer, &id, &action).await {
        Ok(result) => sender.on_to(&case_path(&id), told(&result)).await,
        Err(ActionError::NotFound) => sender.not_found().await,
        Err(error @ ActionError::MovedOn) => {
            let form = fields.came_back(&[], about_form(sentence(&error)));
            sender.again(StatusCode::CONFLICT, form, None).await
        }
        Err(ActionError::Invalid { field, message }) => {
            let form = fields.came_back(&[], about(own_field(&action, field), message));
            sender.again(wrong, form, None).await
        }
        Err(ActionError::Store(error)) => {
            tracing::error!(%error, "an action on a case could not be recorded");
            unavailable()
        }
    }
}

/// The path of a case.
pub fn case_path(id: &str) -> String {
    format!("/desk/cases/{}", encoded(id))
}

/// What is known now, and no more than that.
fn told(result: &ActionResult) -> &'static str {
    match (result.requested && result.accepted, result.verified) {
        (true, None) => "Requested and taken in; not verified yet.",
        (true, Some(true)) => "Requested, taken in and verified.",
        (true, Some(false)) => "Requested and taken in; the case is still stuck.",
        (false, _) => "Requested; not taken in yet.",
    }
}

/// The reason is a field of each of the two forms, and both are on one page.
fn own_field(action: &CaseAction, field: &'static str) -> &'static str {
    match action {
        CaseAction::CheckNow { .. } if field == "reason" => "check_reason",
        _ => field,
    }
}

/// What the form asks for; a blank reason is for the engine to refuse.
fn asked(fields: &Fields) -> Result<CaseAction, Vec<FieldError>> {
    let text = |name: &str| fields.first(name).unwrap_or_default().to_owned();
    match fields.first("action") {
        Some("check_now") => Ok(CaseAction::CheckNow { reason: text("check_reason") }),
        Some("record_outcome") => {
            let outcome = match fields.first("outcome") {
                Some("booked") => RecordedOutcome::Booked,
                Some("not_booked") => RecordedOutcome::NotBooked,
                Some("undone") => RecordedOutcome::Undone,
                _ => {
                    let mut errors = about("outcome", "Choose what you found.");
                    if fields.given("reason").is_none() {
                        errors.extend(about("reason", "Give a reason: it is kept in the history."));
                    }
                    return Err(errors);
                }
            };
            let booked = outcome == RecordedOutcome::Booked;
            let with_booked = |name| fields.given(name).filter(|_| booked).map(str::to_owned);
            Ok(CaseAction::RecordOutcome {
                reason: text("reason"),
                outcome,
                confirmation: with_booked("confirmation"),
                booking_system: with_booked("booking_system"),
            })
        }
        _ => Err(about_form("Choose one of the actions shown; nothing was recorded.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(pairs: &[(&str, &str)]) -> Fields {
        Fields(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn the_forms_become_the_bodies_of_the_api() {
        let check = asked(&fields(&[("action", "check_now"), ("check_reason", "back"), ("reason", "other")]));
        assert!(matches!(check, Ok(CaseAction::CheckNow { reason }) if reason == "back"));
        let typed = [
            ("action", "record_outcome"),
            ("reason", "asked"),
            ("outcome", "not_booked"),
            ("confirmation", "typed before the mind was changed"),
        ];
        let record = asked(&fields(&typed));
        assert!(matches!(
            record,
            Ok(CaseAction::RecordOutcome { outcome: RecordedOutcome::NotBooked, confirmation: None, .. })
        ));
    }

    #[test]
    fn what_is_missing_is_named_together() {
        let errors = asked(&fields(&[("action", "record_outcome"), ("outcome", "maybe")])).unwrap_err();
        let named: Vec<&str> = errors.iter().map(|error| error.field.as_str()).collect();
        assert_eq!(named, ["outcome", "reason"]);
        assert_eq!(asked(&fields(&[("action", "delete")])).unwrap_err()[0].field, "");
    }

    #[test]
    fn nothing_reads_as_solved_that_is_not_verified() {
        let result = |verified| ActionResult { requested: true, accepted: true, verified };
        assert!(told(&result(None)).contains("not verified yet"));
        assert!(told(&result(Some(false))).contains("still stuck"));
    }
}
