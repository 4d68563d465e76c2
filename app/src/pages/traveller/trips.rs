//! The list of trips.

use crate::api;
use crate::components::instant::Instant;
use crate::components::loaded::loaded;
use crate::components::outside::Outside;
use crate::components::page_title::PageTitle;
use crate::components::words::TripBadge;
use crate::format;
use domain::view::TripSummary;
use leptos::prelude::*;

/// The page `/trips`.
#[component]
pub fn TripsPage() -> impl IntoView {
    loaded(api::trips::list_trips(), |trips| {
        view! {
            <PageTitle text="Trips" />
            <TripsView trips=trips />
        }
    })
}

/// The list.
#[component]
pub fn TripsView(
    /// The trips, newest first.
    trips: Vec<TripSummary>,
) -> impl IntoView {
    let empty = trips.is_empty();
    let body = if empty {
        view! {
            <div class="empty">
                <h2>"No trips yet"</h2>
                <p>"Say where you want to go and what to book. You see every booking here as soon as the seller’s own records confirm it."</p>
                <p><a class="button" href="/trips/new">"Plan a trip"</a></p>
            </div>
        }
        .into_any()
    } else {
        let items = trips.into_iter().map(|trip| view! { <TripCard trip=trip /> }).collect_view();
        view! { <ul class="cards">{items}</ul> }.into_any()
    };
    view! {
        <div class="page">
            <div class="page-head">
                <h1>"Trips"</h1>
                {(!empty).then(|| view! { <a class="button" href="/trips/new">"Plan a trip"</a> })}
            </div>
            {body}
        </div>
    }
}

#[component]
fn TripCard(
    /// The trip.
    trip: TripSummary,
) -> impl IntoView {
    let open = usize::try_from(trip.open_questions).unwrap_or(usize::MAX);
    let departs = trip.start.as_deref().map(format::date);
    view! {
        <li class="card trip-card">
            <div class="card-head">
                <h2><a class="card-link" href=format!("/trips/{}", trip.id)><Outside text=trip.title /></a></h2>
                <TripBadge state=trip.state />
            </div>
            <p dir="auto">{format::outside(&trip.sentence)}</p>
            <p class="card-foot quiet">
                {(open > 0).then(|| view! {
                    <span class="count">
                        <span class="icon icon-ask" aria-hidden="true"></span>
                        {format!("{} open", format::count(open, "question"))}
                    </span>
                })}
                {departs.map(|date| view! { <span>{format!("Departs {date}")}</span> })}
                <span>"Asked for "<Instant at=trip.created_at /></span>
            </p>
        </li>
    }
}
