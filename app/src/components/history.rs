//! What happened, who did it, and why, in plain words.

use crate::components::erased::Erased;
use crate::components::instant::Instant;
use crate::components::outside::Outside;
use crate::format;
use domain::view::{EventView, TripView};
use leptos::prelude::*;

/// A trip's newest events, newest first.
#[component]
pub fn History(
    /// The trip.
    trip: RwSignal<TripView>,
) -> impl IntoView {
    view! {
        <ol class="history">
            <For each=move || trip.with(|trip| trip.history.clone()) key=|event| event.seq children=|event| view! { <Event event=event /> } />
        </ol>
        {move || trip.with(|trip| trip.history.last().is_some_and(|oldest| oldest.seq > 1)).then(|| view! {
            <p class="quiet">"Older events are kept, and not shown here."</p>
        })}
    }
    .erased()
}

#[component]
fn Event(
    /// One event.
    event: EventView,
) -> impl IntoView {
    view! {
        <li class="event">
            <p class="event-head"><Instant at=event.at />" · "<Outside text=event.actor /></p>
            <p dir="auto">{format::outside(&event.what)}</p>
            {event.why.map(|why| view! { <p class="quiet" dir="auto">{format::outside(&why)}</p> })}
        </li>
    }
    .erased()
}
