//! One trip at the moments of its life, for tests and for the gallery: what a page shows can be
//! seen and proved without a server, an agent or a database.

use domain::money::{Money, MoneyLine};
use domain::view::*;

/// A moment of the sample trip: 1 March 2027, some minutes after 14:00 UTC.
pub const NOON: i64 = 1_803_909_600_000;

fn at(minute: i64) -> i64 {
    NOON + minute * 60_000
}

/// Euros from cents.
pub fn euro(minor: i64) -> Money {
    Money { minor, currency: "EUR".into(), digits: 2 }
}

/// A person.
pub fn viewer(role: &str) -> ViewerView {
    ViewerView { id: format!("u-{role}"), email: format!("{role}@example.org"), role: role.into() }
}

/// An attempt that is at work.
pub fn attempt(step: &str, ordinal: i64, agent: &str) -> DelegationView {
    DelegationView {
        id: format!("d-{step}-{ordinal}"),
        ordinal,
        agent: agent.into(),
        message_id: format!("0195a1c0-77aa-7c3e-9d5a-{step}-{ordinal}"),
        context_id: Some(format!("0195a1c0-77ab-7d10-8b1f-{step}-{ordinal}")),
        task_id: Some(format!("task-{step}-{ordinal}")),
        reference: Some(format!("HF-{}-{ordinal}", step.to_uppercase())),
        remote_state: Some("WORKING".into()),
        observed_at: Some(at(3)),
        send_state: "landed".into(),
        send_number: 1,
        outcome: None,
        failure: None,
        stuck_reason: None,
        previous: None,
    }
}

/// A step with its attempts.
pub fn step(name: &str, title: &str, state: StepState, sentence: &str, delegations: Vec<DelegationView>) -> StepView {
    StepView {
        name: name.into(),
        title: title.into(),
        skill: format!("book-{name}"),
        state,
        sentence: sentence.into(),
        attempt_budget: 2,
        delegations,
    }
}

/// A booking of the first attempt at a step.
pub fn booking(step: &str, title: &str, system: &str, verdict: &str, price: i64, fee: i64) -> EffectView {
    EffectView {
        id: format!("e-{step}"),
        step: step.into(),
        step_title: title.into(),
        delegation: format!("d-{step}-1"),
        reference: format!("HF-{}-1", step.to_uppercase()),
        confirmation: Some(format!("{}7K2Q", step.to_uppercase())),
        booking_system: Some(system.into()),
        verdict: verdict.into(),
        ghost: false,
        checked_at: Some(at(4)),
        price: Some(euro(price)),
        fee: Some(euro(fee)),
        sentence: format!("The agent said COMPLETED at 14:02 UTC. {system}’s own records show the booking."),
        compensation: None,
    }
}

/// An undo.
pub fn undo(state: &str, rung: i64, reached: usize) -> CompensationView {
    let when = |place: usize| (reached >= place).then(|| at(20 + rung + place as i64));
    CompensationView {
        state: state.into(),
        rung,
        requested_at: when(1),
        accepted_at: when(2),
        verified_at: when(3),
        reason: None,
    }
}

/// The hotel's question, open.
pub fn hotel_question() -> QuestionView {
    QuestionView {
        id: "q-hotel".into(),
        trip: "t-lisbon".into(),
        trip_title: "Lisbon in March".into(),
        step: "hotel".into(),
        step_title: "Hotel".into(),
        asked_by: "Casa Agent".into(),
        kind: "input".into(),
        text: "You travel with three people. Do you want two rooms or one room with three beds?".into(),
        link: None,
        choices: vec![],
        state: "open".into(),
        asked_at: at(5),
        deadline: Some(at(125)),
        answer: None,
        answered_by: None,
        answered_at: None,
        note: None,
    }
}

/// Our own question after the car's budget is used up, with its choices.
pub fn car_decision() -> QuestionView {
    QuestionView {
        id: "q-car".into(),
        step: "car".into(),
        step_title: "Car".into(),
        asked_by: "Holdfast".into(),
        kind: "decision".into(),
        text: "No car could be booked: both attempts ended without one. How shall the trip go on?".into(),
        choices: vec![
            ChoiceView { value: "go_on".into(), label: "Go on without a car".into() },
            ChoiceView { value: "cancel".into(), label: "Cancel the whole trip".into() },
        ],
        deadline: None,
        ..hotel_question()
    }
}

/// An agent that wants its own sign-in.
pub fn sign_in_question() -> QuestionView {
    QuestionView {
        id: "q-auth".into(),
        kind: "auth".into(),
        text: "Please confirm the payment with your bank.".into(),
        link: Some("https://bank.example@pay.casa.example/confirm?c=81".into()),
        ..hotel_question()
    }
}

fn event(seq: i64, minute: i64, actor: &str, what: &str, why: Option<&str>) -> EventView {
    EventView { seq, at: at(minute), actor: actor.into(), what: what.into(), why: why.map(Into::into), step: None }
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
    trip.steps[2] = step("car", "Car", StepState::Failed, "Two agents tried. The records of both show no booking (checked 14:19 UTC).", vec![first, second]);
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
    trip.steps[1].sentence = "Cancelled. Casa Hotels’ own records show that it is gone (checked 14:24 UTC).".into();
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
    trip.steps[0].sentence = "Cancelled. Skyline’s own records show that it is gone (checked 14:29 UTC).".into();
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
    trip.steps[1].delegations[0].stuck_reason = Some("The records gave no clear answer for 15 minutes.".into());
    let mut unknown = booking("hotel", "Hotel", "Casa Hotels", "unknown", 0, 0);
    unknown.confirmation = None;
    (unknown.price, unknown.fee) = (None, None);
    unknown.sentence = "The hotel’s agent said nothing. Casa Hotels’ records answered 502 three times (last at 14:21 UTC).".into();
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

/// Lines of the list of trips.
pub fn summaries() -> Vec<TripSummary> {
    [asking(), undoing(), stuck(), cancelled()]
        .into_iter()
        .map(|trip| TripSummary {
            id: trip.id,
            title: trip.title,
            state: trip.state,
            workflow: trip.workflow,
            created_at: trip.created_at,
            sentence: trip.sentence,
            open_questions: u32::from(trip.state == TripState::NeedsAnswer),
            start: Some("2027-03-12".into()),
        })
        .collect()
}

/// What a cancel would do.
pub fn preview() -> CancelPreview {
    let line = |title: &str, system: &str, price, fee| UndoPreview {
        step_title: title.into(),
        confirmation: Some(format!("{}7K2Q", title.to_uppercase())),
        booking_system: Some(system.into()),
        price: Some(euro(price)),
        fee: Some(euro(fee)),
        refund: Some(euro(price - fee)),
    };
    CancelPreview {
        trip: "t-lisbon".into(),
        title: "Lisbon in March".into(),
        undo: vec![line("Hotel", "Casa Hotels", 61_200, 61_200), line("Flight", "Skyline Airways", 48_230, 4_000)],
        open_steps: vec!["Car".into()],
        refused: None,
    }
}

/// The workflow of the shipped demo, roughly.
pub fn travel() -> WorkflowView {
    let input = |name: &str, label: &str, kind: &str, required: bool| InputView {
        name: name.into(),
        label: label.into(),
        kind: kind.into(),
        required,
        hint: None,
        default: None,
        min: None,
        max: None,
        max_chars: None,
    };
    WorkflowView {
        name: "travel".into(),
        title: "Journey".into(),
        inputs: vec![
            input("origin", "From", "text", true),
            input("destination", "To", "text", true),
            input("start", "First day", "date", true),
            input("end", "Last day", "date", true),
            InputView { min: Some(1), max: Some(9), default: Some("2".into()), ..input("travellers", "Travellers", "integer", true) },
            InputView { max_chars: Some(2000), ..input("notes", "Notes for the agents", "long_text", false) },
        ],
        steps: vec![("flight".into(), "Flight".into()), ("hotel".into(), "Hotel".into()), ("car".into(), "Car".into())],
    }
}

/// That form, filled in wrongly.
pub fn wrong_form() -> FormState {
    let value = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let error = |field: &str, message: &str| FieldError { field: field.into(), message: message.into() };
    FormState {
        values: vec![
            value("workflow", "travel"),
            value("origin", "Hamburg"),
            value("start", "2027-03-19"),
            value("end", "2027-03-12"),
            value("travellers", "three"),
            value("notes", "\nA line of its own"),
            value("steps", "hotel"),
        ],
        errors: vec![
            error("destination", "Say where you want to go, for example Lisbon."),
            error("end", "The last day lies before the first. Choose 19 Mar 2027 or later."),
            error("travellers", "Give a whole number from 1 to 9."),
        ],
    }
}

/// Cases of the desk.
pub fn cases() -> Vec<CaseView> {
    let case = |id: &str, trip: &str, step: &str, reason: &str, minute| CaseView {
        id: id.into(),
        trip: "t-lisbon".into(),
        trip_title: trip.into(),
        step_title: step.into(),
        reason: reason.into(),
        since: at(minute),
    };
    vec![
        case("c1", "Lisbon in March", "Hotel", "The records gave no clear answer for 15 minutes.", -600),
        case("c2", "רומא בסתיו 🍂", "Flight", "Nothing found after the landing grace, and a resend is not earned.", -120),
        case("c3", "Team offsite Reykjavík", "Car", "Two bookings turned up under one reference.", 10),
    ]
}
