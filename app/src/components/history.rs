//! What happened, who did it, and why, in plain words.

use crate::components::erased::Erased;
use crate::components::instant::Instant;
use crate::components::outside::Outside;
use crate::format;
use domain::view::EventView;
use leptos::prelude::*;

/// A trip's newest events, newest first.
#[component]
pub fn History(
    /// The events.
    events: Vec<EventView>,
) -> impl IntoView {
    let whole = events.last().is_none_or(|oldest| oldest.seq <= 1);
    let events = events.into_iter().map(|event| view! { <Event event=event /> }).collect_view();
    view! {
        <ol class="history">{events}</ol>
        <p class="quiet" hidden=whole>"Older events are kept, and not shown here."</p>
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
