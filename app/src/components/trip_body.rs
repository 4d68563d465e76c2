//! What a trip's page says: where it stands, what needs you, what is booked, what it costs, what
//! happened.

use crate::components::erased::Erased;
use crate::components::history::History;
use crate::components::itinerary::Itinerary;
use crate::components::money_table::MoneyTable;
use crate::components::outside::Outside;
use crate::components::question_card::{QuestionCard, gone};
use crate::components::technical::Technical;
use crate::components::undo_ladder::{UndoLadder, rungs};
use crate::components::words::TripBadge;
use crate::format;
use domain::view::{QuestionView, TripView};
use leptos::prelude::*;

/// A trip's page below its title.
#[component]
pub fn TripBody(
    /// The trip.
    trip: TripView,
    /// The questions that have a card.
    cards: Vec<QuestionView>,
) -> impl IntoView {
    let cancel = trip.can_cancel.then(|| format!("/trips/{}/cancel", trip.id));
    let settled = trip.questions.iter().filter(|one| cards.iter().all(|card| card.id != one.id));
    let settled: Vec<QuestionView> = settled.cloned().collect();
    let names = trip.steps.iter().map(|step| (step.name.clone(), step.title.clone())).collect();
    view! {
        <div class="trip-head">
            <p><TripBadge state=trip.state /></p>
            <p class="sentence" role="status" aria-live="polite" dir="auto">{format::outside(&trip.sentence)}</p>
        </div>
        <div class="columns">
            <div class="column-main">
                <Needs cards=cards settled=settled />
                <Undo trip=trip.clone() />
                <section aria-labelledby="itinerary">
                    <h2 id="itinerary">"Itinerary"</h2>
                    <Itinerary steps=trip.steps.clone() effects=trip.effects />
                </section>
            </div>
            <aside class="column-side" aria-label="Money and wishes">
                <section class="panel" aria-labelledby="money">
                    <h2 id="money">"Money"</h2>
                    <MoneyTable lines=trip.money />
                </section>
                <section class="panel" aria-labelledby="wish">
                    <h2 id="wish">"What you asked for"</h2>
                    <Wish inputs=trip.inputs />
                </section>
                {cancel.map(|href| view! {
                    <p class="cancel-link"><a class="button button-danger-quiet" href=href>"Cancel this trip…"</a></p>
                })}
            </aside>
            <section class="column-last" aria-labelledby="history">
                <h2 id="history">"What happened"</h2>
                <History events=trip.history steps=names />
            </section>
        </div>
        <details class="panel details">
            <summary>"Technical details"</summary>
            <Technical trip=trip.id steps=trip.steps seq=trip.seq />
        </details>
    }
    .erased()
}

/// What needs the traveller: open questions, and those that closed while this page was open.
#[component]
fn Needs(
    /// The questions that have a card.
    cards: Vec<QuestionView>,
    /// Those that had ended before this page was opened.
    settled: Vec<QuestionView>,
) -> impl IntoView {
    let none = cards.is_empty();
    let open = cards.iter().any(|card| card.state == "open");
    let cards = cards.into_iter().map(|question| view! { <QuestionCard question=question /> }).collect_view();
    let number = format::count(settled.len(), "earlier question");
    let ended = settled.is_empty();
    let settled = settled.into_iter().map(|question| view! { <Settled question=question /> }).collect_view();
    view! {
        <section class="needs" aria-labelledby="needs" hidden=none>
            <h2 id="needs">{if open { "What needs you" } else { "What needed you" }}</h2>
            {cards}
        </section>
        <details class="settled" hidden=ended>
            <summary>{number}</summary>
            <ul>{settled}</ul>
        </details>
    }
    .erased()
}

#[component]
fn Settled(
    /// A question that has ended.
    question: QuestionView,
) -> impl IntoView {
    let what = gone(&question);
    view! {
        <li>
            <p><Outside text=question.asked_by />": "<q class="said" dir="auto">{format::outside(&question.text)}</q></p>
            <p class="quiet" dir="auto">{what}</p>
        </li>
    }
    .erased()
}

/// The ladder of compensations, as soon as there is one.
#[component]
fn Undo(
    /// The trip.
    trip: TripView,
) -> impl IntoView {
    let rungs = rungs(&trip.effects);
    let none = rungs.is_empty();
    view! {
        <section aria-labelledby="undo" hidden=none>
            <h2 id="undo">{if trip.state.is_closed() { "What was undone" } else { "What is being undone" }}</h2>
            <p class="quiet">"One after the other, in this order. A booking counts as gone once the seller’s own records say so."</p>
            <UndoLadder rungs=rungs />
        </section>
    }
    .erased()
}

#[component]
fn Wish(
    /// Label and value of every input given.
    inputs: Vec<(String, String)>,
) -> impl IntoView {
    let lines = inputs
        .into_iter()
        .filter(|(_, value)| !value.trim().is_empty())
        .map(|(label, value)| view! { <div><dt><Outside text=label /></dt><dd dir="auto">{format::date(&value)}</dd></div> })
        .collect_view();
    view! { <dl class="wish">{lines}</dl> }.erased()
}
