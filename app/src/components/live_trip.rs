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

/// One trip, alive.
#[island]
pub fn LiveTrip(
    /// The trip as the server saw it.
    view: TripView,
) -> impl IntoView {
    let title = view.title.clone();
    let inputs = view.inputs.clone();
    let id = view.id.clone();
    let trip = RwSignal::new(view);
    let link = RwSignal::new(Link::Snapshot);
    #[cfg(feature = "hydrate")]
    crate::components::live_stream::follow(trip, link);

    let state = part(trip, |trip| trip.state);
    let sentence = part(trip, |trip| format::outside(&trip.sentence));
    let plan = part(trip, |trip| (trip.steps.clone(), trip.effects.clone()));
    let ladder = part(trip, |trip| rungs(&trip.effects));
    let money = part(trip, |trip| trip.money.clone());
    let history = part(trip, |trip| trip.history.clone());
    let can_cancel = part(trip, |trip| trip.can_cancel);
    let technical = part(trip, |trip| (trip.steps.clone(), trip.seq));
    let cancel = format!("/trips/{id}/cancel");

    view! {
        <div class="page trip">
            <header class="trip-head">
                <h1 dir="auto">{format::outside(&title)}</h1>
                <p class="trip-standing">{move || view! { <TripBadge state=state.get() /> }}</p>
                <p class="sentence" role="status" aria-live="polite" dir="auto">{sentence}</p>
                <LinkState link=link />
            </header>
            <div class="columns">
                <div class="column-main">
                    <Needs trip=trip />
                    {move || undo_section(ladder.get())}
                    <section aria-labelledby="itinerary">
                        <h2 id="itinerary">"Itinerary"</h2>
                        {move || { let (steps, effects) = plan.get(); view! { <Itinerary steps=steps effects=effects /> } }}
                    </section>
                </div>
                <aside class="column-side">
                    <section class="panel" aria-labelledby="money">
                        <h2 id="money">"Money"</h2>
                        {move || view! { <MoneyTable lines=money.get() /> }}
                    </section>
                    <section class="panel" aria-labelledby="wish">
                        <h2 id="wish">"What you asked for"</h2>
                        <Wish inputs=inputs />
                    </section>
                    {move || can_cancel.get().then(|| view! {
                        <p class="cancel-link"><a class="button button-danger-quiet" href=cancel.clone()>"Cancel this trip…"</a></p>
                    })}
                </aside>
                <section class="column-last" aria-labelledby="history">
                    <h2 id="history">"What happened"</h2>
                    <History events=history />
                </section>
            </div>
            <details class="panel details">
                <summary>"Technical details"</summary>
                {move || { let (steps, seq) = technical.get(); view! { <Technical trip=id.clone() steps=steps seq=seq /> } }}
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

/// A part of the trip that changes on its own, so that nothing else is drawn again with it.
fn part<T: Clone + PartialEq + Send + Sync + 'static>(
    trip: RwSignal<TripView>,
    pick: impl Fn(&TripView) -> T + Send + Sync + 'static,
) -> Memo<T> {
    Memo::new(move |_| trip.with(&pick))
}

/// What needs the traveller: open questions, and those that closed while this page was open.
#[component]
fn Needs(
    /// The trip.
    trip: RwSignal<TripView>,
) -> impl IntoView {
    // Grows only: a card stays when its question closes, with what was typed in it.
    let shown = Memo::new(move |before: Option<&Vec<QuestionView>>| {
        let mut shown = before.cloned().unwrap_or_default();
        trip.with(|trip| {
            for question in &trip.questions {
                if question.state == "open" && !shown.iter().any(|one| one.id == question.id) {
                    shown.push(question.clone());
                }
            }
        });
        shown
    });
    let settled = part(trip, move |trip| {
        let others = trip.questions.iter().filter(|one| one.state != "open");
        others.filter(|one| !shown.with(|shown| shown.iter().any(|two| two.id == one.id))).cloned().collect::<Vec<_>>()
    });
    let card = move |question: QuestionView| {
        let first = question.clone();
        let now = part(trip, move |trip| {
            trip.questions.iter().find(|one| one.id == first.id).cloned().unwrap_or_else(|| QuestionView {
                state: "withdrawn".to_owned(),
                ..first.clone()
            })
        });
        view! { <QuestionCard question=question now=now /> }
    };
    view! {
        <section class="needs" aria-labelledby="needs" hidden=move || shown.with(Vec::is_empty)>
            <h2 id="needs">"What needs you"</h2>
            <For each=move || shown.get() key=|question| question.id.clone() children=card />
        </section>
        {move || (!settled.with(Vec::is_empty)).then(|| view! {
            <details class="settled">
                <summary>{format::count(settled.with(Vec::len), "earlier question")}</summary>
                <ul>{settled.get().into_iter().map(|one| view! { <Settled question=one /> }).collect_view()}</ul>
            </details>
        })}
    }
    .erased()
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
