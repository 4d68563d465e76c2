//! The sample trip at the moments of its life.

use super::{at, attempt, booking, car_decision, hotel_question, step, undo};
use domain::money::{Money, MoneyLine};
use domain::view::*;

fn event(seq: i64, minute: i64, actor: &str, what: &str, why: Option<&str>) -> EventView {
    EventView {
        seq,
        at: at(minute),
        actor: actor.into(),
        what: what.into(),
        why: why.map(Into::into),
        step: None,
    }
}

/// The trip with its flight verified, a question of the hotel open, and the car at work.
pub fn asking() -> TripView {
    let mut hotel = attempt("hotel", 1, "Casa Agent");
    hotel.remote_state = Some("INPUT_REQUIRED".into());
    let mut flight = attempt("flight", 1, "Skyline Agent");
    flight.remote_state = Some("COMPLETED".into());
    flight.outcome = Some("completed".into());
    TripView {
        id: "t-lisbon".into(),
        title: "Lisbon in March".into(),
        state: TripState::NeedsAnswer,
        sentence: "The hotel’s agent has a question for you. The flight is booked and verified; the car is being booked.".into(),
        workflow: "travel".into(),
        created_at: at(0),
        closed_at: None,
        inputs: vec![
            ("From".into(), "Hamburg".into()),
            ("To".into(), "Lisbon".into()),
            ("First day".into(), "2027-03-12".into()),
            ("Last day".into(), "2027-03-19".into()),
            ("Travellers".into(), "3".into()),
            ("Notes".into(), "Window seats if there are any.\nWe arrive late.".into()),
        ],
        steps: vec![
            step("flight", "Flight", StepState::Done, "Booked. Skyline’s own records show it (checked 14:04 UTC).", vec![flight]),
            step("hotel", "Hotel", StepState::Running, "Casa Agent waits for your answer since 14:05 UTC.", vec![hotel]),
            step("car", "Car", StepState::Running, "Roadrunner Agent works on it; last heard of at 14:03 UTC.", vec![attempt("car", 1, "Roadrunner Agent")]),
        ],
        effects: vec![booking("flight", "Flight", "Skyline Airways", "present", 48_230, 4_000)],
        questions: vec![hotel_question()],
        money: vec![MoneyLine { held: 48_230, ..MoneyLine::empty("EUR", 2) }],
        history: vec![
            event(6, 5, "Casa Agent", "Asked: two rooms, or one room with three beds?", None),
            event(5, 4, "Holdfast", "Found the flight in Skyline Airways’ records.", Some("Looked up by reference HF-FLIGHT-1")),
            event(4, 2, "Skyline Agent", "Said that the flight is booked.", None),
            event(3, 1, "Holdfast", "Found the hotel’s request at its agent and went on from there.", Some("The server had stopped before the answer came; nothing was sent twice")),
            event(2, 0, "Holdfast", "Sent three requests.", None),
            event(1, 0, "traveller@example.org", "Asked for this trip.", None),
        ],
        can_cancel: true,
        seq: 6,
    }
}

/// The trip after both car agents failed: a decision is open, the hotel's question is answered.
pub fn deciding() -> TripView {
    let mut trip = asking();
    let mut first = attempt("car", 1, "Roadrunner Agent");
    first.outcome = Some("rejected".into());
    first.failure = Some("No cars left at LIS on 12 March.".into());
    let mut second = attempt("car", 2, "Wheels4U Agent");
    second.outcome = Some("failed".into());
    second.failure = Some("Payment provider timed out.".into());
    second.previous = Some(first.id.clone());
    trip.steps[1].state = StepState::Done;
    trip.steps[1].sentence = "Booked. Casa Hotels’ own records show it (checked 14:12 UTC).".into();
    trip.steps[2] = step(
        "car",
        "Car",
        StepState::Failed,
        "Two agents tried. The records of both show no booking (checked 14:19 UTC).",
        vec![first, second],
    );
    trip.effects.push(booking("hotel", "Hotel", "Casa Hotels", "present", 61_200, 0));
    trip.questions = vec![
        car_decision(),
        QuestionView {
            state: "answered".into(),
            answer: Some("Two rooms, please.".into()),
            answered_by: Some("traveller@example.org".into()),
            answered_at: Some(at(8)),
            note: Some("The agent has it.".into()),
            ..hotel_question()
        },
    ];
    trip.sentence = "No car could be booked. Please decide how the trip goes on.".into();
    trip.money[0].held += 61_200;
    trip.seq = 14;
    trip
}

/// The trip while its bookings are being undone, the first of them stuck for a moment.
pub fn undoing() -> TripView {
    let mut trip = deciding();
    trip.state = TripState::Undoing;
    trip.sentence = "You cancelled this trip. The hotel is gone; the flight is being cancelled.".into();
    trip.steps[1].state = StepState::Undone;
    trip.steps[1].sentence =
        "Cancelled. Casa Hotels’ own records show that it is gone (checked 14:24 UTC).".into();
    trip.effects[1].verdict = "undone".into();
    trip.effects[1].compensation = Some(undo("verified", 1, 3));
    trip.effects[0].compensation = Some(CompensationView {
        reason: Some("Skyline Airways answered 503 at 14:23 UTC; tried again every 10 seconds.".into()),
        ..undo("requested", 2, 1)
    });
    trip.questions[0].state = "withdrawn".into();
    trip.questions[0].note = Some("The trip was cancelled.".into());
    trip.money = vec![MoneyLine { held: 48_230, refunded: 61_200, ..MoneyLine::empty("EUR", 2) }];
    trip.can_cancel = false;
    trip.seq = 19;
    trip
}

/// The trip at its end.
pub fn cancelled() -> TripView {
    let mut trip = undoing();
    trip.state = TripState::Cancelled;
    trip.sentence = "Cancelled. Both bookings are verified gone; 40.00 EUR was kept as a fee.".into();
    trip.closed_at = Some(at(30));
    trip.steps[0].state = StepState::Undone;
    trip.steps[0].sentence =
        "Cancelled. Skyline’s own records show that it is gone (checked 14:29 UTC).".into();
    trip.effects[0].verdict = "undone".into();
    trip.effects[0].compensation = Some(undo("verified", 2, 3));
    trip.money = vec![MoneyLine { refunded: 105_430, fees: 4_000, ..MoneyLine::empty("EUR", 2) }];
    trip.seq = 24;
    trip
}

/// The trip with a case on the desk: one booking nobody wanted, one that nobody knows of.
pub fn stuck() -> TripView {
    let mut trip = asking();
    trip.state = TripState::NeedsSupport;
    trip.sentence = "Our support looks at the hotel: nobody can say yet whether it is booked.".into();
    trip.questions.clear();
    trip.steps[1].sentence = "Casa Agent said nothing since 14:05 UTC; Casa Hotels’ records could not be read (last try 14:21 UTC).".into();
    trip.steps[1].state = StepState::Verifying;
    trip.steps[1].delegations[0].stuck_reason =
        Some("The records gave no clear answer for 15 minutes.".into());
    let mut unknown = booking("hotel", "Hotel", "Casa Hotels", "unknown", 0, 0);
    unknown.confirmation = None;
    (unknown.price, unknown.fee) = (None, None);
    unknown.sentence =
        "The hotel’s agent said nothing. Casa Hotels’ records answered 502 three times (last at 14:21 UTC)."
            .into();
    let mut ghost = booking("flight", "Flight", "Skyline Airways", "present", 48_230, 0);
    ghost.id = "e-ghost".into();
    ghost.ghost = true;
    ghost.sentence = "A second flight under the same reference; it will be cancelled.".into();
    trip.effects.extend([unknown, ghost]);
    trip.money[0].in_doubt = 48_230;
    trip
}

/// Text that wants out of its box.
pub const HOSTILE: &str = "</script><script>document.title='x'</script>\"><img src=x onerror=alert(1)>\
    \u{2028}\u{202e}desrever\u{0}</textarea></title> <!--";

/// A trip of which every text comes from somebody who means harm, or types a lot.
pub fn hostile() -> TripView {
    let mut trip = deciding();
    let bad = || HOSTILE.to_owned();
    trip.title = format!("{HOSTILE} {}", "Donaudampfschifffahrt".repeat(12));
    trip.sentence = bad();
    trip.inputs = vec![(bad(), bad()), ("Notes".into(), "x".repeat(3000))];
    for step in &mut trip.steps {
        (step.title, step.sentence) = (bad(), bad());
        for one in &mut step.delegations {
            (one.agent, one.message_id, one.send_state) = (bad(), bad(), bad());
            one.failure = Some(bad());
            one.task_id = Some(bad());
            one.remote_state = Some(bad());
            one.outcome = Some(bad());
        }
    }
    for effect in &mut trip.effects {
        (effect.step_title, effect.sentence, effect.verdict) = (bad(), bad(), "unknown".into());
        effect.confirmation = Some(bad());
        effect.booking_system = Some(bad());
        effect.price = Some(Money { minor: 1, currency: bad(), digits: 2 });
        effect.compensation = Some(CompensationView { reason: Some(bad()), ..undo("stuck", 1, 1) });
    }
    for question in &mut trip.questions {
        (question.text, question.asked_by, question.step_title) = (bad(), bad(), bad());
        question.choices = vec![ChoiceView { value: bad(), label: bad() }];
        question.note = Some(bad());
        question.link = Some("javascript:alert(1)".into());
    }
    for event in &mut trip.history {
        (event.actor, event.what, event.why) = (bad(), bad(), Some(bad()));
    }
    trip.money[0].currency = bad();
    trip
}
