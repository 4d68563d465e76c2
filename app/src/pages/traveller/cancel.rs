//! What a cancel would do, then the one button that does it.

use crate::api;
use crate::components::field::ErrorSummary;
use crate::components::loaded::loaded;
use crate::components::outside::Outside;
use crate::components::page_title::PageTitle;
use crate::format;
use crate::request;
use domain::view::{CancelPreview, FormState, UndoPreview};
use leptos::prelude::*;
use leptos_router::hooks::use_params_map;

/// The page `/trips/:id/cancel`.
#[component]
pub fn CancelPage() -> impl IntoView {
    let id = use_params_map().read_untracked().get("id").unwrap_or_default();
    let form = request::current().form;
    loaded(api::trips::preview_cancel(id), move |preview| {
        view! {
            <PageTitle text=format!("Cancel {}", preview.title) />
            <CancelView preview=preview form=form />
        }
    })
}

/// The preview and the button.
#[component]
pub fn CancelView(
    /// What a cancel would do.
    preview: CancelPreview,
    /// The form that came back.
    form: Option<FormState>,
) -> impl IntoView {
    let back = format!("/trips/{}", preview.trip);
    let after = !preview.open_steps.is_empty();
    let body = match preview.refused {
        Some(why) => view! {
            <p class="note" dir="auto">{format::outside(&why)}</p>
            <p><a class="button" href=back.clone()>"Back to the trip"</a></p>
        }
        .into_any(),
        None => view! {
            <CalledOff steps=preview.open_steps />
            <Undone bookings=preview.undo after=after />
            <form method="post" action=format!("/trips/{}/cancel", preview.trip)>
                <input type="hidden" name="confirm" value="yes" />
                <div class="actions">
                    <button class="button button-danger" type="submit">"Cancel this trip"</button>
                    <a class="button button-quiet" href=back.clone()>"Keep the trip"</a>
                </div>
            </form>
        }
        .into_any(),
    };
    view! {
        <div class="page page-narrow">
            <ErrorSummary form=form />
            <p class="crumb"><a href=back>"Back to the trip"</a></p>
            <h1>"Cancel "<Outside text=preview.title />"?"</h1>
            {body}
        </div>
    }
}

#[component]
fn CalledOff(
    /// Steps whose requests are still open.
    steps: Vec<String>,
) -> impl IntoView {
    (!steps.is_empty()).then(|| {
        let items = steps.into_iter().map(|title| view! { <li><Outside text=title /></li> }).collect_view();
        view! {
            <section aria-labelledby="called-off">
                <h2 id="called-off">"First, we call off what is still being booked"</h2>
                <p>"If one of them turns out to be booked all the same, we undo it too, and you see it on the trip’s page."</p>
                <ul class="plain-list">{items}</ul>
            </section>
        }
    })
}

#[component]
fn Undone(
    /// Bookings to be undone, in that order.
    bookings: Vec<UndoPreview>,
    /// Whether something else is told first.
    after: bool,
) -> impl IntoView {
    if bookings.is_empty() {
        return view! { <p>"Nothing is booked so far, so there is no booking to undo and nothing to pay."</p> }.into_any();
    }
    let total = match format::refunds(&bookings) {
        Some(sums) => {
            let sums = sums.iter().map(format::money).collect::<Vec<_>>().join(" and ");
            format!("In all, {sums} comes back.")
        }
        None => "For some of this we cannot say yet what comes back.".to_owned(),
    };
    let heading = if after {
        "Then, we undo what is booked, in this order"
    } else {
        "We undo what is booked, in this order"
    };
    let items = bookings.into_iter().map(|booking| view! { <Booking booking=booking /> }).collect_view();
    view! {
        <section aria-labelledby="undone">
            <h2 id="undone">{heading}</h2>
            <ol class="ladder">{items}</ol>
            <p class="total"><strong>{total}</strong></p>
            <p class="quiet">"Each booking counts as gone only once the seller’s own records say so. This cannot be taken back."</p>
        </section>
    }
    .into_any()
}

#[component]
fn Booking(
    /// The booking.
    booking: UndoPreview,
) -> impl IntoView {
    let known = |amount: &Option<domain::money::Money>| {
        amount.as_ref().map_or_else(|| "not known".to_owned(), format::money)
    };
    let nothing_back = booking.refund.as_ref().is_some_and(|refund| refund.minor <= 0);
    view! {
        <li class="rung">
            <div class="rung-head"><h3><Outside text=booking.step_title /></h3></div>
            <p class="quiet">
                {booking.confirmation.map(|number| view! { <Outside text=number />" " })}
                {booking.booking_system.map(|name| view! { "at "<Outside text=name /> })}
            </p>
            <dl class="facts">
                <div><dt>"Paid"</dt><dd>{known(&booking.price)}</dd></div>
                <div><dt>"Kept as a fee"</dt><dd>{known(&booking.fee)}</dd></div>
                <div><dt>"Comes back"</dt><dd><strong>{known(&booking.refund)}</strong></dd></div>
            </dl>
            {nothing_back.then(|| view! { <p class="note">"Nothing of this comes back."</p> })}
        </li>
    }
}
