//! The itinerary: each step with what is verified, what is only claimed, and what it costs.

use crate::components::erased::Erased;
use crate::components::instant::Instant;
use crate::components::outside::Outside;
use crate::components::words;
use crate::format;
use domain::view::{DelegationView, EffectView, StepState, StepView};
use leptos::prelude::*;

/// The steps of a trip, in the workflow's order.
#[component]
pub fn Itinerary(
    /// Its steps.
    steps: Vec<StepView>,
    /// Its bookings.
    effects: Vec<EffectView>,
) -> impl IntoView {
    let items = steps
        .into_iter()
        .map(|step| {
            let own: Vec<EffectView> =
                effects.iter().filter(|effect| effect.step == step.name).cloned().collect();
            view! { <StepItem step=step effects=own /> }
        })
        .collect_view();
    view! { <ol class="itinerary">{items}</ol> }.erased()
}

#[component]
fn StepItem(
    /// The step.
    step: StepView,
    /// The bookings under its attempts.
    effects: Vec<EffectView>,
) -> impl IntoView {
    let (label, icon) = words::step(step.state, step.delegations.last());
    let newest = step.delegations.last().map(|one| one.id.clone());
    let sentence = step.sentence.clone();
    let bookings = effects
        .into_iter()
        .filter(|effect| worth_showing(effect, newest.as_deref()))
        .map(|effect| {
            let attempt = step.delegations.iter().find(|one| one.id == effect.delegation).cloned();
            let told = effect.sentence == sentence;
            view! { <Booking effect=effect attempt=attempt told=told /> }
        })
        .collect_view();
    view! {
        <li class=format!("step step-{}", icon)>
            <div class="step-head">
                <span class=format!("step-sign icon icon-{icon}") aria-hidden="true"></span>
                <h3><Outside text=step.title.clone() /></h3>
                <span class="step-state">{label}</span>
            </div>
            <p class="step-sentence" dir="auto">{format::outside(&sentence)}</p>
            {bookings}
            <Attempts step=step />
        </li>
    }
    .erased()
}

/// Old attempts that booked nothing are told in the list of attempts; their empty bookings are not.
fn worth_showing(effect: &EffectView, newest: Option<&str>) -> bool {
    match effect.verdict.as_str() {
        "present" | "undone" | "unknown" => true,
        "expected" => effect.confirmation.is_some(),
        _ => effect.ghost || newest == Some(effect.delegation.as_str()),
    }
}

#[component]
fn Booking(
    /// The booking.
    effect: EffectView,
    /// The attempt that it belongs to.
    attempt: Option<DelegationView>,
    /// Whether its sentence has been said already.
    told: bool,
) -> impl IntoView {
    let (label, tone, icon) = words::verdict(&effect, attempt.as_ref());
    let gone = effect.verdict == "undone";
    let fee_label = if gone { "Fee kept" } else { "Fee if cancelled" };
    view! {
        <div class=format!("booking booking-{tone}")>
            <p class="verdict">
                <span class=format!("icon icon-{icon}") aria-hidden="true"></span>
                <span>
                    <strong>{label}</strong>
                    {effect.checked_at.map(|at| view! { <span class="quiet">" checked "<Instant at=at /></span> })}
                </span>
            </p>
            {(!told && !effect.sentence.is_empty()).then(|| view! { <p dir="auto">{format::outside(&effect.sentence)}</p> })}
            <dl class="facts">
                {fact("Confirmation", effect.confirmation.as_deref())}
                {fact("Booked with", effect.booking_system.as_deref())}
                {fact("Price", effect.price.as_ref().map(format::money).as_deref())}
                {fact(fee_label, effect.fee.as_ref().map(format::money).as_deref())}
            </dl>
        </div>
    }
    .erased()
}

fn fact(label: &'static str, value: Option<&str>) -> Option<impl IntoView + use<>> {
    let value = value?.to_owned();
    Some(view! { <div><dt>{label}</dt><dd><Outside text=value /></dd></div> })
}

#[component]
fn Attempts(
    /// The step with its attempts.
    step: StepView,
) -> impl IntoView {
    let budget = step.attempt_budget;
    let lines = step
        .delegations
        .iter()
        .filter(|one| one.failure.is_some() || one.stuck_reason.is_some() || step.delegations.len() > 1)
        .map(|one| {
            let what = match (&one.outcome, &one.stuck_reason) {
                (_, Some(_)) => "needs a person to decide",
                (Some(outcome), None) => words::outcome(outcome),
                (None, None) => "is at work",
            };
            let said = one.stuck_reason.clone().or_else(|| one.failure.clone());
            view! {
                <li>
                    <span class="quiet">{format!("Attempt {} of {budget}: ", one.ordinal)}</span>
                    <Outside text=one.agent.clone() />
                    {format!(" {what}.")}
                    {said.map(|text| view! { " "<q class="said" dir="auto">{format::outside(&text)}</q> })}
                </li>
            }
        })
        .collect::<Vec<_>>();
    let shown = !lines.is_empty() && step.state != StepState::Waiting;
    shown.then(|| view! { <ul class="attempts">{lines}</ul> })
}
