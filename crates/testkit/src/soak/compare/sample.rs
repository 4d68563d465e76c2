//! A small sound world, for tests to plant violations in: one trip that is done, whose agent asked
//! one question.

use super::Violation;
use crate::soak::facts::{Call, Facts, Journal};
use serde_json::{Value, json};

/// The checks that found something, sorted.
pub fn checks(found: &[Violation]) -> Vec<&'static str> {
    let mut checks: Vec<_> = found.iter().map(|violation| violation.check).collect();
    checks.sort_unstable();
    checks
}

/// The check of the one violation that there must be.
pub fn only(found: &[Violation]) -> &'static str {
    assert_eq!(found.len(), 1, "{found:#?}");
    found[0].check
}

/// A call of the flight's agent in the trip's context; its time is its number.
pub fn call(number: i64, method: &str, message: Option<&str>) -> Call {
    Call {
        number,
        at: number,
        agent: "skylark-flights".to_owned(),
        method: method.to_owned(),
        message_id: message.map(str::to_owned),
        context_id: Some("c-1".to_owned()),
        answered: true,
        ..Call::default()
    }
}

/// The world.
pub fn facts() -> Facts {
    let read = |value: Value| serde_json::from_value(value).expect("a row");
    let request = json!({ "trip": "trip-1", "delegation": "d-1", "kind": "request", "message_id": "m-1",
        "task_id": null, "send_number": 1 });
    let reply = json!({ "trip": "trip-1", "delegation": "d-1", "kind": "reply", "message_id": "m-2",
        "task_id": null, "send_number": 1 });
    let diary = crate::soak::diary::Diary {
        number: 1,
        steps: vec!["flight".to_owned()],
        ids: vec!["trip-1".to_owned()],
        questions: [("q-1".to_owned(), vec![said("one", 200), said("two", 409)])].into(),
        cancels: Vec::new(),
        seq: 7,
        went_back: None,
    };
    Facts {
        trips: vec![serde_json::from_value(trip()).expect("a trip")],
        diaries: vec![diary],
        bookings: vec![
            serde_json::from_value(json!({ "system": "northwind-air", "confirmation": "NW-1",
                "reference": "HF-1", "stands": true, "booked_at": "2027-01-01T00:00:00Z" }))
            .expect("a booking"),
        ],
        undos: Vec::new(),
        calls: vec![
            call(1, "SendMessage", Some("m-1")),
            Call { task_id: Some("t-1".to_owned()), ..call(2, "SendMessage", Some("m-2")) },
        ],
        tasks: vec![
            serde_json::from_value(json!({ "agent": "skylark-flights", "task": "t-1", "message": "m-1" }))
                .expect("a task"),
        ],
        journal: Journal {
            trips: vec!["trip-1".to_owned()],
            attempts: vec![
                serde_json::from_value(json!({ "id": "d-1", "trip": "trip-1", "step": "flight",
                    "ordinal": 1, "reference": "HF-1", "closed_at": 50 }))
                .expect("an attempt"),
            ],
            messages: vec![read(request), read(reply)],
            tasks: vec![serde_json::from_value(json!({ "task_id": "t-1", "role": "kept" })).expect("a task")],
            undos: Vec::new(),
            questions: vec![
                serde_json::from_value(json!({ "id": "q-1", "trip": "trip-1", "delegation": "d-1",
                    "key": "t-1|a-1|1|One or two?", "asked_at": 1, "answered_at": 2 }))
                .expect("a question"),
            ],
        },
        check: Vec::new(),
        breakdowns: Vec::new(),
    }
}

fn said(answer: &str, status: u16) -> crate::soak::diary::Said {
    crate::soak::diary::Said { answer: answer.to_owned(), status }
}

fn trip() -> Value {
    let delegation = json!({ "id": "d-1", "ordinal": 1, "agent": "Skylark Flights", "message_id": "m-1",
        "context_id": "c-1", "task_id": "t-1", "reference": "HF-1", "remote_state": "COMPLETED",
        "observed_at": 1, "send_state": "landed", "send_number": 1, "outcome": "completed",
        "failure": null, "stuck_reason": null, "previous": null });
    let effect = json!({ "id": "e-1", "step": "flight", "step_title": "Flight", "delegation": "d-1",
        "reference": "HF-1", "confirmation": "NW-1", "booking_system": "northwind-air",
        "verdict": "present", "ghost": false, "checked_at": 1, "price": null, "fee": null,
        "sentence": "", "compensation": null });
    let question = json!({ "id": "q-1", "trip": "trip-1", "trip_title": "A trip", "step": "flight",
        "step_title": "Flight", "asked_by": "Skylark Flights", "kind": "input", "text": "One or two?",
        "link": null, "choices": [], "state": "answered", "asked_at": 1, "deadline": null,
        "answer": "one", "answered_by": "traveller@example.org", "answered_at": 2, "note": null });
    json!({ "id": "trip-1", "title": "A trip", "state": "done", "sentence": "", "workflow": "travel",
        "created_at": 0, "closed_at": 60, "inputs": [],
        "steps": [{ "name": "flight", "title": "Flight", "skill": "flight", "state": "done",
            "sentence": "", "attempt_budget": 2, "delegations": [delegation] }],
        "effects": [effect], "questions": [question], "money": [], "history": [],
        "can_cancel": false, "seq": 7 })
}
