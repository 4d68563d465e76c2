//! Cases of the desk.

use super::{HOSTILE, asking, at, stuck, undo};
use domain::view::*;

fn one(id: &str, trip: &str, step: &str, cause: &str, reason: &str, minute: i64) -> CaseView {
    CaseView {
        id: id.into(),
        trip: "t-lisbon".into(),
        trip_title: trip.into(),
        step: step.to_lowercase(),
        step_title: step.into(),
        kind: "attempt".into(),
        open: true,
        reason: reason.into(),
        cause: cause.into(),
        since: at(minute),
        age_seconds: (21 - minute) * 60,
        agent: "Casa Agent".into(),
        delegation: format!("0195a1c0-77aa-7c3e-9d5a-{id}"),
        ordinal: 1,
        message_id: format!("0195a1c0-77ab-7c3e-9d5a-{id}"),
        context_id: Some(format!("0195a1c0-77ac-7d10-8b1f-{id}")),
        task_id: Some(format!("task-{id}")),
        reference: Some(format!("HF-{}-1", step.to_uppercase())),
        booking_system: Some("Casa Hotels".into()),
        confirmation: None,
        reads: ReadsView { good_at: Some(at(5)), tried_at: Some(at(20)), ..ReadsView::default() },
        check_asked: None,
        signed: None,
    }
}

fn asked(minute: i64) -> CheckAsked {
    CheckAsked {
        at: at(minute),
        by: "support@example.org".into(),
        reason: Some("The agent’s maker says that it is back.".into()),
    }
}

/// The queue.
pub fn cases() -> Vec<CaseView> {
    let credential = "The agent refuses our credential: 401, token expired on 1 March";
    let mut cases = vec![
        one(
            "c1",
            "Lisbon in March",
            "Hotel",
            "unknown_verdict",
            "The booking records cannot tell whether there is a booking: 502, three times",
            -600,
        ),
        one("c2", "רומא בסתיו 🍂", "Flight", "credential", credential, -120),
        one(
            "c3",
            "Team offsite Reykjavík",
            "Car",
            "in_doubt",
            "It is not known whether the request arrived: nothing found after the landing grace, and a resend is not earned",
            1,
        ),
        one("c4", "Vienna, opera week", "Flight", "credential", credential, 10),
        one(
            "c5",
            "A long weekend",
            "Car",
            "undo",
            "The booking cannot be undone: the booking system answered 409 for the fifth time",
            12,
        ),
    ];
    cases[0].reads.failed = 20;
    cases[0].reads.reason = Some("503 Service Unavailable".into());
    cases[1].check_asked = Some(asked(19));
    cases[4].kind = "undo".into();
    cases
}

/// Cases after a check of several: one cleared, one refused, the others still stuck.
pub fn checked() -> Vec<CaseView> {
    let mut cases = cases();
    for case in &mut cases[..4] {
        case.check_asked = Some(asked(20));
        case.reads.tried_at = Some(at(19));
    }
    cases[2].open = false;
    (cases[2].reason, cases[2].cause) = ("The attempt goes on by itself.".into(), "cleared".into());
    cases[4].open = false;
    (cases[4].reason, cases[4].cause) =
        ("The records show that the booking is gone.".into(), "cleared".into());
    cases
}

fn action(action: &str, refused: Option<&str>, outcomes: &[(&str, Option<&str>)]) -> CaseActionView {
    let outcomes = outcomes.iter().map(|(outcome, refused)| CaseOutcomeView {
        outcome: (*outcome).into(),
        refused: refused.map(Into::into),
    });
    CaseActionView { action: action.into(), refused: refused.map(Into::into), outcomes: outcomes.collect() }
}

const NO_UNDO: &str = "This case is about an attempt; nothing is being undone by it.";

/// A hotel of which nobody knows whether it is booked.
pub fn case() -> CaseDetail {
    let trip = stuck();
    let mut case = cases().remove(0);
    case.check_asked = Some(asked(20));
    case.reads.tried_at = Some(at(19));
    CaseDetail {
        case,
        words: vec![
            WordView {
                from: "agent".into(),
                who: "Casa Agent".into(),
                said: "Said COMPLETED.".into(),
                quote: Some("Your room at Casa do Bairro is reserved. Have a nice stay!".into()),
                note: Some("It claims the booking HOTEL7K2Q. Reading it has failed 20 times in a row; the newest: 503 Service Unavailable".into()),
                at: Some(at(5)),
            },
            WordView {
                from: "records".into(),
                who: "Casa Hotels".into(),
                said: "Cannot tell whether there is a booking.".into(),
                quote: None,
                note: Some("The newest read said: 502 Bad Gateway".into()),
                at: Some(at(20)),
            },
        ],
        step: trip.steps[1].clone(),
        effects: trip.effects.into_iter().filter(|effect| effect.step == "hotel").collect(),
        actions: vec![
            action("check_now", None, &[]),
            action("record_outcome", None, &[("booked", None), ("not_booked", None), ("undone", Some(NO_UNDO))]),
        ],
        booking_systems: vec!["Casa Hotels".into(), "Skyline Airways".into()],
        history: asking().history,
        seq: 6,
    }
}

/// The same case after its reason has gone.
pub fn closed_case() -> CaseDetail {
    let mut detail = case();
    detail.case.open = false;
    detail.case.cause = "cleared".into();
    detail.case.reason = "The attempt is closed: the request never arrived.".into();
    detail.case.signed = Some(SignedView {
        outcome: "There is no booking, and none will come.".into(),
        by: "support@example.org".into(),
        evidence: "Asked Casa Hotels by telephone, Ms Sousa, 14:18.".into(),
    });
    let gone = Some("Nothing is stuck here any more.");
    detail.actions = vec![action("check_now", gone, &[]), action("record_outcome", gone, &[])];
    detail
}

/// An undo that no rule may go on with.
pub fn undo_case() -> CaseDetail {
    const NO_ATTEMPT: &str = "This case is about an undo, not about whether there is a booking.";
    let mut detail = case();
    detail.case = cases().remove(4);
    detail.effects[0].verdict = "present".into();
    detail.effects[0].compensation = Some(CompensationView {
        reason: Some("The booking system answered 409 for the fifth time".into()),
        ..undo("stuck", 1, 1)
    });
    detail.actions[1].outcomes = action(
        "record_outcome",
        None,
        &[("booked", Some(NO_ATTEMPT)), ("not_booked", Some(NO_ATTEMPT)), ("undone", None)],
    )
    .outcomes;
    detail
}

/// The form of an outcome, filled in wrongly.
pub fn wrong_record() -> FormState {
    let value = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let error = |field: &str, message: &str| FieldError { field: field.into(), message: message.into() };
    FormState {
        values: vec![
            value("action", "record_outcome"),
            value("outcome", "booked"),
            value("booking_system", "Casa Hotels"),
            value("reason", "\nMs Sousa says that it is there"),
        ],
        errors: vec![error(
            "confirmation",
            "Give the booking's number as the records show it, one line of at most 200 characters.",
        )],
    }
}

/// A case of which every text comes from somebody who means harm, or types a lot.
pub fn hostile_case() -> CaseDetail {
    let mut detail = undo_case();
    let bad = || HOSTILE.to_owned();
    let case = &mut detail.case;
    (case.trip_title, case.step_title, case.reason) = (bad(), bad(), bad());
    (case.agent, case.message_id, case.delegation) = (bad(), bad(), bad());
    (case.task_id, case.reference, case.confirmation) = (Some(bad()), Some(bad()), Some("x".repeat(2000)));
    case.booking_system = Some(bad());
    case.reads = ReadsView { failed: 3, reason: Some(bad()), ..case.reads.clone() };
    case.check_asked = Some(CheckAsked { at: at(1), by: bad(), reason: Some(bad()) });
    case.signed = Some(SignedView { outcome: bad(), by: bad(), evidence: bad() });
    for word in &mut detail.words {
        (word.who, word.said, word.quote, word.note) = (bad(), bad(), Some(bad()), Some(bad()));
    }
    (detail.step.title, detail.step.delegations[0].agent) = (bad(), bad());
    detail.booking_systems = vec![bad()];
    for one in &mut detail.actions[1].outcomes {
        one.refused = one.refused.as_ref().map(|_| bad());
    }
    for event in &mut detail.history {
        (event.actor, event.what, event.why) = (bad(), bad(), Some(bad()));
    }
    detail
}
