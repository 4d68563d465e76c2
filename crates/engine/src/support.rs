//! Support's actions on cases. Each needs a reason, is an event, and says three things: that it was
//! requested, whether it was accepted, and whether its effect was verified. What the loop must
//! decide is written to the row and decided there; nothing here decides.

use crate::accounts::Viewer;
use crate::store::{CHECK_ASKED, CaseRow};
use crate::{Engine, StoreError};
use domain::delegation::{Signed, SignedOutcome};
use domain::event::Event;
use serde::{Deserialize, Serialize};

/// The longest reason accepted, in characters.
const LONGEST_REASON: usize = 4000;

/// What support may do with a case.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", tag = "action", deny_unknown_fields)]
pub enum CaseAction {
    /// Read everything again now.
    CheckNow {
        /// Why.
        reason: String,
    },
    /// Sign for what really happened.
    RecordOutcome {
        /// Why, and where it can be seen.
        reason: String,
        /// `booked` or `not_booked` for a delegation; `undone` for a compensation.
        outcome: RecordedOutcome,
        /// The booking's number, with `booked`.
        #[serde(default)]
        confirmation: Option<String>,
        /// The booking system's name, with `booked`.
        #[serde(default)]
        booking_system: Option<String>,
    },
}

/// What support found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedOutcome {
    /// There is a booking.
    Booked,
    /// There is none, and none will come.
    NotBooked,
    /// The booking is gone.
    Undone,
}

/// The three facts of an action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ActionResult {
    /// It was recorded as asked for.
    pub requested: bool,
    /// The loop has taken it in.
    pub accepted: bool,
    /// The case is closed by it; none while that is not known yet.
    pub verified: Option<bool>,
}

/// Why an action was not taken.
#[derive(Debug, thiserror::Error)]
pub enum ActionError {
    /// No such case, or not for this person.
    #[error("there is no such case")]
    NotFound,
    /// The case has moved on: it is not stuck any more, or is signed for already.
    #[error("this case has moved on: its reason has gone, or it has been signed for already")]
    MovedOn,
    /// A field is wrong: its name, and what would be right.
    #[error("{message}")]
    Invalid {
        /// The field.
        field: &'static str,
        /// What would be right.
        message: String,
    },
    /// The database failed; nothing was recorded.
    #[error("the database failed")]
    Store(#[from] StoreError),
}

impl Engine {
    /// Takes an action on a case, by support or an admin.
    ///
    /// # Errors
    /// [`ActionError`]; nothing was recorded.
    pub async fn act_on_case(
        &self,
        who: &Viewer,
        case: &str,
        action: &CaseAction,
    ) -> Result<ActionResult, ActionError> {
        if !who.role.sees_all() {
            return Err(ActionError::NotFound);
        }
        let row = self.inner.store.case(case).await?.ok_or(ActionError::NotFound)?;
        let (reason, what) = match action {
            CaseAction::CheckNow { reason } => (reason, "Asked for everything to be read again now"),
            CaseAction::RecordOutcome { reason, outcome, .. } => (reason, sentence(*outcome)),
        };
        let reason = sound_reason(reason)?;
        let kind = if matches!(action, CaseAction::CheckNow { .. }) { CHECK_ASKED } else { "outcome_signed" };
        let event = Event {
            actor: who.email.clone(),
            kind: kind.to_owned(),
            step: Some(row.step.clone()),
            delegation: Some(row.delegation.clone()),
            what: what.to_owned(),
            why: Some(reason.clone()),
        };
        let taken = match action {
            CaseAction::CheckNow { .. } => self.inner.store.wake_case(&row, &event).await?,
            CaseAction::RecordOutcome { outcome, confirmation, booking_system, .. } => {
                let found =
                    self.found(&row, *outcome, confirmation.as_deref(), booking_system.as_deref()).await?;
                let signed = found.map(|outcome| Signed { outcome, by: who.email.clone(), evidence: reason });
                self.inner.store.sign_case(&row, signed.as_ref(), &event).await?
            }
        };
        if !taken {
            return Err(ActionError::MovedOn);
        }
        self.inner.hints.wake(&row.trip);
        self.inner.hints.tell_changed(&row.trip, i64::MAX);
        Ok(ActionResult { requested: true, accepted: true, verified: None })
    }

    /// What is signed for: of a delegation; none for a compensation, whose own row says it.
    async fn found(
        &self,
        row: &CaseRow,
        outcome: RecordedOutcome,
        confirmation: Option<&str>,
        system: Option<&str>,
    ) -> Result<Option<SignedOutcome>, ActionError> {
        let invalid = |field, message: &str| Err(ActionError::Invalid { field, message: message.to_owned() });
        match (row.compensation.is_some(), outcome) {
            (true, RecordedOutcome::Undone) => Ok(None),
            (true, _) => invalid("outcome", "This case is about an undo: only \"undone\" can be signed for."),
            (false, RecordedOutcome::Undone) => {
                invalid("outcome", "This case is about an attempt: sign for \"booked\" or \"not_booked\".")
            }
            (false, RecordedOutcome::NotBooked) => Ok(Some(SignedOutcome::NotBooked)),
            (false, RecordedOutcome::Booked) => {
                let Some(confirmation) = confirmation.map(str::trim).filter(|c| is_number(c)) else {
                    let message = "Give the booking's number as the records show it, one line of at most 200 characters.";
                    return invalid("confirmation", message);
                };
                let known = self.inner.world().await?;
                let named =
                    system.map(str::trim).filter(|s| known.booking_systems.iter().any(|b| b.name == *s));
                let Some(system) = named else {
                    return invalid("booking_system", "Name a registered booking system.");
                };
                let (booking_system, confirmation) = (system.to_owned(), confirmation.to_owned());
                Ok(Some(SignedOutcome::Booked { booking_system, confirmation }))
            }
        }
    }
}

/// Whether a text can be a booking's number: one line, not too long.
fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().count() <= 200 && !text.chars().any(char::is_control)
}

fn sentence(outcome: RecordedOutcome) -> &'static str {
    match outcome {
        RecordedOutcome::Booked => "Signed for: there is a booking",
        RecordedOutcome::NotBooked => "Signed for: there is no booking",
        RecordedOutcome::Undone => "Signed for: the booking is gone",
    }
}

fn sound_reason(reason: &str) -> Result<String, ActionError> {
    // PostgreSQL takes no zero byte in a text.
    let reason = reason.replace('\0', "\u{fffd}");
    let reason = reason.trim();
    let invalid = |message: String| Err(ActionError::Invalid { field: "reason", message });
    if reason.is_empty() {
        return invalid("Give a reason: it is kept in the history.".to_owned());
    }
    if reason.chars().count() > LONGEST_REASON {
        return invalid(format!("The reason is too long: at most {LONGEST_REASON} characters fit."));
    }
    Ok(reason.to_owned())
}
