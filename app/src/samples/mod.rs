//! One trip at the moments of its life, for tests and for the gallery: what a page shows can be
//! seen and proved without a server, an agent or a database.

mod desk;
mod moments;

pub use desk::{case, cases, checked, closed_case, hostile_case, undo_case, wrong_record};
pub use moments::{HOSTILE, asking, cancelled, deciding, hostile, stuck, undoing};

use domain::money::Money;
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
pub fn step(
    name: &str,
    title: &str,
    state: StepState,
    sentence: &str,
    delegations: Vec<DelegationView>,
) -> StepView {
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
        undo: vec![
            line("Hotel", "Casa Hotels", 61_200, 61_200),
            line("Flight", "Skyline Airways", 48_230, 4_000),
        ],
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
            InputView {
                min: Some(1),
                max: Some(9),
                default: Some("2".into()),
                ..input("travellers", "Travellers", "integer", true)
            },
            InputView { max_chars: Some(2000), ..input("notes", "Notes for the agents", "long_text", false) },
        ],
        steps: vec![
            ("flight".into(), "Flight".into()),
            ("hotel".into(), "Hotel".into()),
            ("car".into(), "Car".into()),
        ],
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
