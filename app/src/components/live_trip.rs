//! The island that is a trip's page: rendered by the server, then kept in step with the trip.
#![expect(missing_docs, reason = "the island macro makes a struct that it does not document")]

use crate::components::erased::Erased;
use crate::components::history::History;
use crate::components::itinerary::Itinerary;
use crate::components::live_stream::{Link, LinkState};
use crate::components::money_table::MoneyTable;
use crate::components::outside::Outside;
use crate::components::question_card::{QuestionCard, gone};
use crate::components::technical::Technical;
use crate::components::undo_ladder::{UndoLadder, rungs};
use crate::components::words::TripBadge;
use crate::format;
use domain::view::{CompensationView, EffectView, QuestionView, TripView};
use leptos::prelude::*;
use serde::{Deserialize, Serialize, Serializer};

/// The view that the server rendered, on its way to the island. Islands write their props in the
/// browser too, where nobody reads them: leaving that out makes the module a tenth smaller.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct FirstView(pub TripView);

impl Serialize for FirstView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if cfg!(feature = "ssr") { self.0.serialize(serializer) } else { serializer.serialize_unit() }
    }
}

/// One trip, alive.
#[island]
pub fn LiveTrip(
    /// The trip as the server saw it.
    view: FirstView,
) -> impl IntoView {
    let FirstView(view) = view;
    let title = view.title.clone();
    let inputs = view.inputs.clone();
    let trip = RwSignal::new(view);
    let link = RwSignal::new(Link::Snapshot);
    #[cfg(feature = "hydrate")]
    crate::components::live_stream::follow(trip, link);

    let cancel = format!("/trips/{}/cancel", trip.with_untracked(|trip| trip.id.clone()));

    view! {
        <div class="page trip">
            <header class="trip-head">
                <h1 dir="auto">{format::outside(&title)}</h1>
                <p class="trip-standing">{move || view! { <TripBadge state=trip.with(|trip| trip.state) /> }}</p>
                <p class="sentence" role="status" aria-live="polite" dir="auto">{move || trip.with(|trip| format::outside(&trip.sentence))}</p>
                <LinkState link=link />
            </header>
            <div class="columns">
                <div class="column-main">
                    <Needs trip=trip />
                    {move || undo_section(trip.with(|trip| rungs(&trip.effects)))}
                    <section aria-labelledby="itinerary">
                        <h2 id="itinerary">"Itinerary"</h2>
                        {move || trip.with(|trip| view! { <Itinerary steps=trip.steps.clone() effects=trip.effects.clone() /> })}
                    </section>
                </div>
                <aside class="column-side">
                    <section class="panel" aria-labelledby="money">
                        <h2 id="money">"Money"</h2>
                        {move || trip.with(|trip| view! { <MoneyTable lines=trip.money.clone() /> })}
                    </section>
                    <section class="panel" aria-labelledby="wish">
                        <h2 id="wish">"What you asked for"</h2>
                        <Wish inputs=inputs />
                    </section>
                    {move || trip.with(|trip| trip.can_cancel).then(|| view! {
                        <p class="cancel-link"><a class="button button-danger-quiet" href=cancel.clone()>"Cancel this trip…"</a></p>
                    })}
                </aside>
                <section class="column-last" aria-labelledby="history">
                    <h2 id="history">"What happened"</h2>
                    <History trip=trip />
                </section>
            </div>
            <details class="panel details">
                <summary>"Technical details"</summary>
                {move || trip.with(|trip| view! { <Technical trip=trip.id.clone() steps=trip.steps.clone() seq=trip.seq /> })}
            </details>
        </div>
    }
    .erased()
}

fn undo_section(rungs: Vec<(EffectView, CompensationView)>) -> Option<impl IntoView> {
    if rungs.is_empty() {
        return None;
    }
    let view = view! {
        <section aria-labelledby="undo">
            <h2 id="undo">"What is being undone"</h2>
            <p class="quiet">"One after the other, in this order. A booking counts as gone once the seller’s own records say so."</p>
            <UndoLadder rungs=rungs />
        </section>
    };
    Some(view.erased())
}

/// What needs the traveller: open questions, and those that closed while this page was open.
#[component]
fn Needs(
    /// The trip.
    trip: RwSignal<TripView>,
) -> impl IntoView {
    let shown = StoredValue::new(Vec::<QuestionView>::new());
    let cards = move || trip.with(|trip| with_cards(trip, shown));
    let settled = move || {
        let cards = cards();
        trip.with(|trip| trip.questions.clone()).into_iter().filter(move |one| cards.iter().all(|card| card.id != one.id))
    };
    let card = move |question: QuestionView| {
        let first = question.clone();
        let now = move || trip.with(|trip| as_it_is_now(trip, &first));
        view! { <QuestionCard question=question now=now /> }
    };
    view! {
        <section class="needs" aria-labelledby="needs" hidden=move || cards().is_empty()>
            <h2 id="needs">"What needs you"</h2>
            <For each=cards key=|question| question.id.clone() children=card />
        </section>
        {move || (settled().count() > 0).then(|| view! {
            <details class="settled">
                <summary>{format::count(settled().count(), "earlier question")}</summary>
                <ul>{settled().map(|one| view! { <Settled question=one /> }).collect_view()}</ul>
            </details>
        })}
    }
    .erased()
}

/// The questions that have a card. They only become more: a card stays when its question closes,
/// with what was typed in it.
fn with_cards(trip: &TripView, shown: StoredValue<Vec<QuestionView>>) -> Vec<QuestionView> {
    let mut cards = shown.get_value();
    for question in &trip.questions {
        if question.state == "open" && cards.iter().all(|card| card.id != question.id) {
            cards.push(question.clone());
        }
    }
    shown.set_value(cards.clone());
    cards
}

/// The question as it is now; one that is not told of any more has been withdrawn.
fn as_it_is_now(trip: &TripView, first: &QuestionView) -> QuestionView {
    let now = trip.questions.iter().find(|one| one.id == first.id).cloned();
    now.unwrap_or_else(|| QuestionView { state: "withdrawn".to_owned(), ..first.clone() })
}

#[component]
fn Settled(
    /// A question that has ended.
    question: QuestionView,
) -> impl IntoView {
    view! {
        <li>
            <p><Outside text=question.asked_by.clone() />": "<q class="said" dir="auto">{format::outside(&question.text)}</q></p>
            <p class="quiet" dir="auto">{gone(&question)}</p>
        </li>
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
    view! { <dl class="wish">{lines}</dl> }
}
