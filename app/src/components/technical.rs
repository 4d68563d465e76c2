//! The ids and states that support and agents' makers ask for.

use crate::components::erased::Erased;
use crate::components::instant::Instant;
use crate::components::outside::Outside;
use domain::view::{DelegationView, StepView};
use leptos::prelude::*;

/// Every attempt with its ids.
#[component]
pub fn Technical(
    /// The trip's id.
    trip: String,
    /// The trip's steps.
    steps: Vec<StepView>,
    /// The number of the newest event.
    seq: i64,
) -> impl IntoView {
    let attempts = steps
        .into_iter()
        .flat_map(|step| {
            let title = step.title;
            step.delegations.into_iter().map(move |one| view! { <Attempt title=title.clone() attempt=one /> })
        })
        .collect_view();
    view! {
        <p class="quiet">"Trip "<Outside text=trip />{format!(" · event {seq}")}</p>
        {attempts}
    }
    .erased()
}

#[component]
fn Attempt(
    /// The step's name for people.
    title: String,
    /// The attempt.
    attempt: DelegationView,
) -> impl IntoView {
    let sent = format!("{}, sent {}", attempt.send_state.replace('_', " "), times(attempt.send_number));
    view! {
        <section class="technical">
            <h3><Outside text=title />{format!(", attempt {}: ", attempt.ordinal)}<Outside text=attempt.agent /></h3>
            <dl class="ids">
                {id("Message id", Some(attempt.message_id))}
                {id("Context id", attempt.context_id)}
                {id("Task id", attempt.task_id)}
                {id("Reference", attempt.reference)}
                {id("Request", Some(sent))}
                {id("Agent’s last word", attempt.remote_state)}
                {attempt.observed_at.map(|at| view! { <div><dt>"Last good read"</dt><dd><Instant at=at /></dd></div> })}
                {id("Outcome", attempt.outcome)}
                {id("Delegation id", Some(attempt.id))}
                {id("Attempt before", attempt.previous)}
            </dl>
        </section>
    }
    .erased()
}

fn times(number: i64) -> String {
    match number {
        0 => "never".to_owned(),
        1 => "once".to_owned(),
        more => format!("{more} times"),
    }
}

fn id(label: &'static str, value: Option<String>) -> Option<impl IntoView> {
    value.map(|value| view! { <div><dt>{label}</dt><dd><code><Outside text=value /></code></dd></div> })
}
