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
    /// Name and title of each step.
    steps: Vec<(String, String)>,
) -> impl IntoView {
    let whole = events.last().is_none_or(|oldest| oldest.seq <= 1);
    let title = |event: &EventView| {
        let (_, title) = steps.iter().find(|(name, _)| event.step.as_ref() == Some(name))?;
        Some(title.clone())
    };
    let events = events
        .into_iter()
        .map(|event| {
            let about = title(&event);
            view! { <Event event=event about=about /> }
        })
        .collect_view();
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
    /// The title of the step that it is about.
    about: Option<String>,
) -> impl IntoView {
    view! {
        <li class="event">
            <p class="event-head"><Instant at=event.at />" · "<Outside text=event.actor />{about.map(|title| view! { " · "<Outside text=title /> })}</p>
            <p dir="auto">{format::outside(&event.what)}</p>
            {event.why.map(|why| view! { <p class="quiet" dir="auto">{format::outside(&why)}</p> })}
        </li>
    }
    .erased()
}
