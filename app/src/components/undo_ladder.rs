//! The ladder of compensations: each booking on its way from requested over accepted to
//! verified gone, in the order in which they are undone.

use crate::components::erased::Erased;
use crate::components::instant::Instant;
use crate::components::outside::Outside;
use crate::components::words;
use crate::format;
use domain::view::{CompensationView, EffectView};
use leptos::prelude::*;

/// The bookings of a trip that are being undone, in undo order.
pub fn rungs(effects: &[EffectView]) -> Vec<(EffectView, CompensationView)> {
    let mut rungs: Vec<_> =
        effects.iter().filter_map(|effect| Some((effect.clone(), effect.compensation.clone()?))).collect();
    rungs.sort_by_key(|(_, compensation)| compensation.rung);
    rungs
}

/// The ladder.
#[component]
pub fn UndoLadder(
    /// Bookings with their undo, in undo order.
    rungs: Vec<(EffectView, CompensationView)>,
) -> impl IntoView {
    let items = rungs
        .into_iter()
        .map(|(effect, compensation)| view! { <Rung effect=effect compensation=compensation /> })
        .collect_view();
    view! { <ol class="ladder">{items}</ol> }.erased()
}

#[component]
fn Rung(
    /// The booking.
    effect: EffectView,
    /// Its undo.
    compensation: CompensationView,
) -> impl IntoView {
    let reached = words::rung(
        &compensation.state,
        compensation.requested_at.is_some(),
        compensation.accepted_at.is_some(),
    );
    let (word, tone) = match compensation.state.as_str() {
        "verified" => ("Verified gone", "good"),
        "stuck" => ("Stuck: our support is on it", "ask"),
        "signed" => ("Settled by our support", "plain"),
        "accepted" => ("Accepted, checking that it is gone", "calm"),
        "requested" => ("Cancellation requested", "calm"),
        _ => ("Waits for its turn", "plain"),
    };
    let step = move |number: u8, label: &'static str, at: Option<i64>| {
        let done = reached >= number;
        view! {
            <li class=if done { "phase phase-done" } else { "phase" }>
                <span class=if done { "icon icon-done" } else { "icon icon-waiting" } aria-hidden="true"></span>
                <span>{label}<span class="hidden-words">{if done { ": yes" } else { ": not yet" }}</span></span>
                {at.map(|at| view! { <span class="quiet"><Instant at=at /></span> })}
            </li>
        }
    };
    view! {
        <li class="rung">
            <div class="rung-head">
                <h3><Outside text=effect.step_title /></h3>
                <span class=format!("badge badge-{tone}")>{word}</span>
            </div>
            <p class="quiet">
                {effect.confirmation.map(|number| view! { <Outside text=number />" " })}
                {effect.booking_system.map(|name| view! { "at "<Outside text=name /> })}
                {effect.fee.map(|fee| format!(" · fee {}", format::money(&fee)))}
            </p>
            <ol class="phases">
                {step(1, "Requested", compensation.requested_at)}
                {step(2, "Accepted", compensation.accepted_at)}
                {step(3, "Verified gone", compensation.verified_at)}
            </ol>
            {compensation.reason.map(|text| view! { <p class="note" dir="auto">{format::outside(&text)}</p> })}
        </li>
    }
    .erased()
}
