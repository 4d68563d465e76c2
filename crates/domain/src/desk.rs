//! Builds the read models of the support desk from a trip's rows: what is stuck, both words about
//! it, and which actions apply. Pure, like [`crate::show`].

use crate::compensation::{Compensation, CompensationState};
use crate::delegation::{Delegation, EndedAs, Outcome, SignedOutcome, StuckReason};
use crate::effect::{Effect, Verdict};
use crate::show;
use crate::time::Millis;
use crate::trip::Trip;
use crate::view::{CaseActionView, CaseDetail, CaseOutcomeView, CaseView, ReadsView, SignedView, WordView};
use crate::world::World;

/// A row that is stuck or was: an attempt, with the undo where the case is about one.
struct Row<'a> {
    delegation: &'a Delegation,
    undo: Option<(&'a Compensation, &'a Effect)>,
}

/// A trip's stuck rows.
pub fn cases(trip: &Trip, world: &World, now: Millis) -> Vec<CaseView> {
    let attempts = trip.delegations.iter().map(|delegation| Row { delegation, undo: None });
    let undos = trip.compensations.iter().filter_map(|c| undo_row(trip, c));
    let stuck = attempts.chain(undos).filter(Row::is_stuck);
    stuck.map(|row| row.view(trip, world, now)).collect()
}

/// A row of this trip as a case, stuck or not.
pub fn case_view(trip: &Trip, world: &World, id: &str, now: Millis) -> Option<CaseView> {
    Some(find(trip, id)?.view(trip, world, now))
}

/// The same with all that is known of it. The history is the caller's to add.
pub fn case_detail(trip: &Trip, world: &World, id: &str, now: Millis) -> Option<CaseDetail> {
    let row = find(trip, id)?;
    let d = row.delegation;
    let step = trip.steps.iter().find(|step| step.name == d.step)?;
    let effects =
        trip.effects.iter().filter(|e| trip.delegation(&e.delegation).is_some_and(|o| o.step == d.step));
    Some(CaseDetail {
        case: row.view(trip, world, now),
        words: words(trip, world, d),
        step: show::step_view(trip, world, step),
        effects: effects.map(|e| show::effect_view(trip, world, e)).collect(),
        actions: actions(&row, world),
        booking_systems: world.booking_systems.iter().map(|system| system.name.clone()).collect(),
        history: Vec::new(),
        seq: trip.seq,
    })
}

fn find<'a>(trip: &'a Trip, id: &str) -> Option<Row<'a>> {
    let attempt = trip.delegations.iter().find(|d| d.id.as_str() == id);
    let undo = || trip.compensations.iter().find(|c| c.id.as_str() == id).and_then(|c| undo_row(trip, c));
    attempt.map(|delegation| Row { delegation, undo: None }).or_else(undo)
}

fn undo_row<'a>(trip: &'a Trip, undo: &'a Compensation) -> Option<Row<'a>> {
    let effect = trip.effect(&undo.effect)?;
    Some(Row { delegation: trip.delegation(&effect.delegation)?, undo: Some((undo, effect)) })
}

impl Row<'_> {
    fn is_stuck(&self) -> bool {
        match self.undo {
            Some((undo, _)) => undo.state == CompensationState::Stuck,
            None => self.delegation.stuck.is_some(),
        }
    }

    fn view(&self, trip: &Trip, world: &World, now: Millis) -> CaseView {
        let d = self.delegation;
        let id = self.undo.map_or(d.id.as_str(), |(undo, _)| undo.id.as_str());
        let since = self.undo.map_or(d.stuck_since, |(undo, _)| undo.stuck_since).unwrap_or(trip.created_at);
        let effect = self.undo.map(|(_, effect)| effect).or_else(|| trip.wanted_effect(&d.id));
        let system = self.undo.map(|(undo, _)| undo.booking_system.clone());
        let number = self.undo.map(|(undo, _)| undo.confirmation.clone());
        CaseView {
            id: id.to_owned(),
            trip: trip.id.0.clone(),
            trip_title: trip.title.clone(),
            step: d.step.0.clone(),
            step_title: trip.step_title(&d.step),
            kind: if self.undo.is_some() { "undo" } else { "attempt" }.to_owned(),
            open: self.is_stuck(),
            reason: self.reason(),
            cause: self.cause().to_owned(),
            since: since.0,
            age_seconds: (now.0 - since.0).max(0) / 1000,
            agent: world.agent_name(&d.agent),
            delegation: d.id.0.clone(),
            ordinal: d.ordinal,
            message_id: d.message_id.0.clone(),
            context_id: d.context_id.as_ref().map(|id| id.0.clone()),
            task_id: d.task_id.as_ref().map(|id| id.0.clone()),
            reference: d.reference.as_ref().map(|reference| reference.0.clone()),
            booking_system: system.or_else(|| effect?.booking_system.clone()),
            confirmation: number.or_else(|| effect?.confirmation.clone()),
            reads: ReadsView {
                good_at: d.observed_at.map(|at| at.0),
                tried_at: d.reads.tried_at.map(|at| at.0),
                failed: d.reads.failed,
                reason: d.reads.reason.clone().filter(|_| d.reads.failed > 0),
            },
            check_asked: None,
            signed: self.signed(),
        }
    }

    fn reason(&self) -> String {
        match (self.undo, &self.delegation.stuck) {
            (Some((undo, _)), _) if undo.state == CompensationState::Stuck => {
                let why = undo.reason.as_deref().unwrap_or("no reason given");
                format!("The booking cannot be undone: {why}")
            }
            (Some((undo, _)), _) => match undo.state {
                CompensationState::Verified => "The records show that the booking is gone.",
                CompensationState::Signed => "Somebody has signed that the booking is gone.",
                CompensationState::Accepted => {
                    "The booking system has said yes to the undo; the records are being asked."
                }
                _ => "The undo goes on by itself.",
            }
            .to_owned(),
            (None, Some(stuck)) => stuck.sentence(),
            (None, None) => match self.delegation.outcome {
                Some(outcome) => format!("The attempt is closed: {}.", closed_as(outcome)),
                None => "The attempt goes on by itself.".to_owned(),
            },
        }
    }

    fn cause(&self) -> &'static str {
        match (self.undo, &self.delegation.stuck) {
            (Some((undo, _)), _) if undo.state == CompensationState::Stuck => "undo",
            (Some(_), _) | (None, None) => "cleared",
            (None, Some(stuck)) => match stuck {
                StuckReason::InDoubt(_) => "in_doubt",
                StuckReason::UnknownVerdict(_) => "unknown_verdict",
                StuckReason::MessageOnly => "message_only",
                StuckReason::CancelIgnored => "cancel_ignored",
                StuckReason::UnknownState(_) => "unknown_state",
                StuckReason::Credential(_) => "credential",
                StuckReason::ReplyInDoubt => "reply_in_doubt",
                StuckReason::LateBooking => "late_booking",
                StuckReason::BookingGone => "booking_gone",
            },
        }
    }

    fn signed(&self) -> Option<SignedView> {
        let signed = self.delegation.signed.as_ref().filter(|_| self.undo.is_none())?;
        let outcome = match &signed.outcome {
            SignedOutcome::NotBooked => "There is no booking, and none will come.".to_owned(),
            SignedOutcome::Booked { booking_system, confirmation } => {
                format!("There is a booking: {confirmation} at {booking_system}.")
            }
        };
        Some(SignedView { outcome, by: signed.by.clone(), evidence: signed.evidence.clone() })
    }
}

fn closed_as(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "it is done",
        Outcome::Failed => "the agent failed",
        Outcome::Rejected => "the agent declined",
        Outcome::Canceled => "it was called off",
        Outcome::Deadline => "its time was over",
        Outcome::FalseClaim => "the agent claimed a booking that the records do not show",
        Outcome::Refused => "the agent refused the request",
        Outcome::Unreachable => "the agent could not be reached",
        Outcome::NeverLanded => "the request never arrived",
        Outcome::Lost => "the agent lost the task",
    }
}

/// Both words: what the agent said, and what the records show, for each booking of the attempt.
fn words(trip: &Trip, world: &World, d: &Delegation) -> Vec<WordView> {
    let effects = trip.effects.iter().filter(|e| e.delegation == d.id);
    std::iter::once(agents_word(trip, world, d)).chain(effects.map(records_word)).collect()
}

fn agents_word(trip: &Trip, world: &World, d: &Delegation) -> WordView {
    let (said, at) = match (d.ended, &d.remote_state) {
        (Some(EndedAs::Deadline), _) => ("Said nothing before the deadline.".to_owned(), d.ended_at),
        (Some(ended), _) => (format!("Said {}.", ended.word()), d.ended_at),
        (None, Some(state)) => (format!("Last said {}.", state.word()), d.observed_at),
        (None, None) if d.task_id.is_some() => {
            ("Has a task, and said nothing of it yet.".to_owned(), d.observed_at)
        }
        (None, None) => ("Has said nothing about this request.".to_owned(), None),
    };
    let failed = (d.reads.failed > 0).then(|| {
        let why = d.reads.reason.as_deref().unwrap_or("no reason given");
        format!("Reading it has failed {} times in a row; the newest: {why}", d.reads.failed)
    });
    let claimed = d.claimed_confirmation.as_ref().map(|number| format!("It claims the booking {number}."));
    let in_doubt = trip.request(&d.id).filter(|m| m.state == crate::outbox::SendState::InDoubt);
    let doubt = in_doubt.map(|_| "It is not known whether it got the request.".to_owned());
    let notes: Vec<String> =
        [claimed, doubt, d.doubt.not_counted.clone(), failed].into_iter().flatten().collect();
    WordView {
        from: "agent".to_owned(),
        who: world.agent_name(&d.agent),
        said,
        quote: d.claim.clone().or_else(|| d.failure_summary.clone()).filter(|text| !text.trim().is_empty()),
        note: (!notes.is_empty()).then(|| notes.join(" ")),
        at: at.map(|at| at.0),
    }
}

fn records_word(e: &Effect) -> WordView {
    let said = match e.verdict {
        Verdict::Expected => "Not asked yet.",
        Verdict::Present if e.ghost => "Show this second booking, which nobody wanted.",
        Verdict::Present => "Show the booking.",
        Verdict::Absent => "Show no booking at the moment.",
        Verdict::SettledAbsent => "Show no booking, and have done so for long enough to count.",
        Verdict::Unknown => "Cannot tell whether there is a booking.",
        Verdict::Undone => "Show that the booking is gone.",
    };
    let number = e.confirmation.as_ref().map(|number| format!(" Number {number}.")).unwrap_or_default();
    WordView {
        from: "records".to_owned(),
        who: e.booking_system.clone().unwrap_or_else(|| "The booking records".to_owned()),
        said: format!("{said}{number}"),
        quote: None,
        note: e.note.as_ref().map(|note| format!("The newest read said: {note}")),
        at: e.checked_at.map(|at| at.0),
    }
}

/// What applies, by the same conditions that the engine checks when an action is taken.
fn actions(row: &Row<'_>, world: &World) -> Vec<CaseActionView> {
    let moved_on = (!row.is_stuck()).then(|| "Nothing is stuck here any more.".to_owned());
    let refused = moved_on.clone().or_else(|| {
        let d = row.delegation;
        match (row.undo, &d.signed, d.outcome) {
            (Some(_), ..) | (None, None, None) => None,
            (None, Some(signed), _) => {
                Some(format!("{} has signed for it already; the next pass acts on that.", signed.by))
            }
            (None, None, Some(_)) if !matches!(d.stuck, Some(StuckReason::LateBooking)) => None,
            (None, None, Some(_)) => Some(
                "The attempt itself is closed, so there is nothing left to sign for. Its booking is being \
                 undone; should that stick, it is a case of its own."
                    .to_owned(),
            ),
        }
    });
    let outcomes = ["booked", "not_booked", "undone"].map(|outcome| CaseOutcomeView {
        outcome: outcome.to_owned(),
        refused: not_to_sign(row, world, outcome).map(str::to_owned),
    });
    vec![
        CaseActionView { action: "check_now".to_owned(), refused: moved_on, outcomes: Vec::new() },
        CaseActionView { action: "record_outcome".to_owned(), refused, outcomes: outcomes.into() },
    ]
}

fn not_to_sign(row: &Row<'_>, world: &World, outcome: &str) -> Option<&'static str> {
    match (row.undo.is_some(), outcome) {
        (true, "undone") => None,
        (true, _) => Some("This case is about an undo, not about whether there is a booking."),
        (false, "undone") => Some("This case is about an attempt; nothing is being undone by it."),
        (false, "booked") if world.booking_systems.is_empty() => {
            Some("No booking system is registered whose records could show it.")
        }
        (false, _) => None,
    }
}
