//! Reads the read models in the browser, from what the browser's own `JSON.parse` made of them.
//! A JSON parser of ours would be a third of the module; this is a hundredth. The names are the
//! fields' own, so a field that is added to a view does not compile until it is read here too.

use domain::money::{Money, MoneyLine};
use domain::view::{
    ChoiceView, CompensationView, DelegationView, EffectView, EventView, QuestionView, StepState, StepView,
    TripState, TripView,
};

/// How a state is written, in one place for both halves.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident: $state:ident { $($variant:ident = $word:literal),* $(,)? }) => {
        $(#[$doc])*
        pub fn $name(word: &str) -> Option<$state> {
            match word {
                $($word => Some($state::$variant),)*
                _ => None,
            }
        }
    };
}

words! {
    /// Reads a trip's state.
    trip_state: TripState {
        Running = "running", NeedsAnswer = "needs_answer", NeedsSupport = "needs_support",
        Cancelling = "cancelling", Undoing = "undoing", Done = "done", Cancelled = "cancelled", Failed = "failed",
    }
}

words! {
    /// Reads a step's state.
    step_state: StepState {
        Waiting = "waiting", Running = "running", Verifying = "verifying", Done = "done", Skipped = "skipped",
        Failed = "failed", Undone = "undone",
    }
}

/// A whole trip from JSON text; `None` if it is not one, as this page knows it.
#[cfg(feature = "hydrate")]
pub fn trip(text: &str) -> Option<TripView> {
    Decode::decode(&js_sys::JSON::parse(text).ok()?)
}

#[cfg(feature = "hydrate")]
use wasm_bindgen::JsValue;

/// What can be read.
#[cfg(feature = "hydrate")]
trait Decode: Sized {
    fn decode(value: &JsValue) -> Option<Self>;
}

/// A field of an object. A missing one is `undefined`, which only an option takes.
#[cfg(feature = "hydrate")]
fn field<T: Decode>(object: &JsValue, name: &str) -> Option<T> {
    T::decode(&js_sys::Reflect::get(object, &name.into()).ok()?)
}

/// Structs by their fields, and everything else by an expression.
macro_rules! decode {
    ($($name:ident { $($field:ident),* $(,)? })*) => {$(
        #[cfg(feature = "hydrate")]
        impl Decode for $name {
            fn decode(value: &JsValue) -> Option<Self> {
                Some(Self { $($field: field(value, stringify!($field))?),* })
            }
        }
        #[cfg(not(feature = "hydrate"))]
        const _: fn(&$name) = |view| { let $name { $($field: _),* } = view; };
    )*};
    ($($name:ty = $read:expr;)*) => {$(
        #[cfg(feature = "hydrate")]
        impl Decode for $name {
            fn decode(value: &JsValue) -> Option<Self> {
                let read: fn(&JsValue) -> Option<Self> = $read;
                read(value)
            }
        }
    )*};
}

decode! {
    String = JsValue::as_string;
    bool = JsValue::as_bool;
    // Times, amounts in minor units and event numbers stay far below the 2^53 that a number holds.
    i64 = |value| value.as_f64().map(|number| number as i64);
    u8 = |value| value.as_f64().map(|number| number as u8);
    TripState = |value| trip_state(&value.as_string()?);
    StepState = |value| step_state(&value.as_string()?);
}

#[cfg(feature = "hydrate")]
impl<T: Decode> Decode for Option<T> {
    fn decode(value: &JsValue) -> Option<Self> {
        if value.is_null() || value.is_undefined() { Some(None) } else { T::decode(value).map(Some) }
    }
}

#[cfg(feature = "hydrate")]
impl<T: Decode> Decode for Vec<T> {
    fn decode(value: &JsValue) -> Option<Self> {
        let items: &js_sys::Array = wasm_bindgen::JsCast::dyn_ref(value)?;
        items.iter().map(|item| T::decode(&item)).collect()
    }
}

#[cfg(feature = "hydrate")]
impl Decode for (String, String) {
    fn decode(value: &JsValue) -> Option<Self> {
        Some((field(value, "0")?, field(value, "1")?))
    }
}

decode! {
    TripView {
        id, title, state, sentence, workflow, created_at, closed_at, inputs, steps, effects, questions, money, history,
        can_cancel, seq,
    }
    StepView { name, title, skill, state, sentence, attempt_budget, delegations }
    DelegationView {
        id, ordinal, agent, message_id, context_id, task_id, reference, remote_state, observed_at, send_state,
        send_number, outcome, failure, stuck_reason, previous,
    }
    EffectView {
        id, step, step_title, delegation, reference, confirmation, booking_system, verdict, ghost, checked_at, price,
        fee, sentence, compensation,
    }
    CompensationView { state, rung, requested_at, accepted_at, verified_at, reason }
    QuestionView {
        id, trip, trip_title, step, step_title, asked_by, kind, text, link, choices, state, asked_at, deadline, answer,
        answered_by, answered_at, note,
    }
    ChoiceView { value, label }
    EventView { seq, at, actor, what, why, step }
    Money { minor, currency, digits }
    MoneyLine { currency, digits, held, refunded, fees, in_doubt }
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;

    #[test]
    fn states_are_written_as_the_server_writes_them() {
        use StepState as S;
        use TripState as T;
        let word = |json: serde_json::Value| json.as_str().map(str::to_owned).expect("a word");
        for state in [
            T::Running,
            T::NeedsAnswer,
            T::NeedsSupport,
            T::Cancelling,
            T::Undoing,
            T::Done,
            T::Cancelled,
            T::Failed,
        ] {
            assert_eq!(trip_state(&word(serde_json::json!(state))), Some(state));
        }
        for state in [S::Waiting, S::Running, S::Verifying, S::Done, S::Skipped, S::Failed, S::Undone] {
            assert_eq!(step_state(&word(serde_json::json!(state))), Some(state));
        }
    }
}
