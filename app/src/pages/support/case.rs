//! One case: why it is stuck, what is known and by whom, what support may do, what happened.

use crate::api;
use crate::components::case_words;
use crate::components::field::ErrorSummary;
use crate::components::history::History;
use crate::components::instant::Instant;
use crate::components::loaded::loaded;
use crate::components::outside::Outside;
use crate::components::page_title::PageTitle;
use crate::components::technical::Technical;
use crate::components::undo_ladder::{UndoLadder, rungs};
use crate::format;
use crate::pages::support::case_actions::Actions;
use crate::request::{self, FormRead};
use domain::view::{CaseDetail, CaseView, EffectView, FormState, WordView};
use leptos::prelude::*;
use leptos_router::hooks::use_params_map;

/// The page `/desk/cases/:id`.
#[component]
pub fn CasePage() -> impl IntoView {
    let id = use_params_map().read_untracked().get("id").unwrap_or_default();
    let form = request::current().form;
    loaded(api::cases::case(id), move |detail| {
        view! {
            <PageTitle text=format!("Case: {}, {}", detail.case.step_title, detail.case.trip_title) />
            <CasePageView detail=detail form=form />
        }
    })
}

/// The case with its forms.
#[component]
pub fn CasePageView(
    /// The case.
    detail: CaseDetail,
    /// The form that came back.
    form: Option<FormState>,
) -> impl IntoView {
    let CaseDetail { case, words, step, effects, actions, booking_systems, history, seq } = detail;
    let names = vec![(step.name.clone(), step.title.clone())];
    let words = words.into_iter().map(|word| view! { <Word word=word /> }).collect_view();
    let lost = (!case.open).then(|| form.typed("reason").or_else(|| form.typed("check_reason"))).flatten();
    let (id, trip) = (case.id.clone(), case.trip.clone());
    view! {
        <div class="page desk">
            <ErrorSummary form=form.clone() />
            <p class="crumb"><a href="/desk">"Back to the desk"</a></p>
            <h1><Outside text=case.step_title.clone() />{case_words::between(&case.kind)}<Outside text=case.trip_title.clone() /></h1>
            <Standing case=case.clone() />
            <div class="columns">
                <div class="column-main">
                    <section aria-labelledby="known">
                        <h2 id="known">"What is known, and by whom"</h2>
                        <ul class="words">{words}</ul>
                        {view! { <Undo effects=effects /> }.into_any()}
                    </section>
                    {lost.filter(|text| !text.trim().is_empty()).map(|text| view! {
                        <section class="panel" aria-labelledby="typed">
                            <h2 id="typed">"What you had written"</h2>
                            <blockquote class="asked" dir="auto">{format::outside(&text)}</blockquote>
                        </section>
                    })}
                    <section aria-labelledby="actions">
                        <h2 id="actions">"What you can do"</h2>
                        <Actions id=id actions=actions booking_systems=booking_systems form=form />
                    </section>
                </div>
                <aside class="column-side" aria-label="Ids">
                    <section class="panel" aria-labelledby="ids">
                        <h2 id="ids">"Ids"</h2>
                        <Ids case=case />
                    </section>
                </aside>
                <section class="column-last" aria-labelledby="history">
                    <h2 id="history">"What happened"</h2>
                    {view! { <History events=history steps=names /> }.into_any()}
                </section>
            </div>
            <details class="panel details">
                <summary>{format!("{} at this step, with every id", format::count(step.delegations.len(), "attempt"))}</summary>
                {view! { <Technical trip=trip steps=vec![step] seq=seq /> }.into_any()}
            </details>
        </div>
    }
    .into_any()
}

/// Where the case stands: the one sentence, since when, and what support has done about it.
#[component]
fn Standing(
    /// The case.
    case: CaseView,
) -> impl IntoView {
    let (tone, icon, word) = if case.open {
        ("ask", "support", case_words::cause(&case.cause))
    } else {
        ("plain", "skipped", "Not stuck any more")
    };
    let since = case.open.then(|| {
        view! { <span class="quiet">{format!("For {}, since ", format::age(case.age_seconds))}<Instant at=case.since /></span> }
    });
    let what = if case.kind == "undo" { "The undo of what was booked by " } else { "Asked for at " };
    // What waits for an answer is marked; what is over is told quietly.
    let mark = if case.open { "note" } else { "quiet" };
    let (open, after) = (case.open, case_words::after_check(&case));
    view! {
        <div class="case-head">
            <p class="case-state">
                <span class=format!("badge badge-{tone}")><span class=format!("icon icon-{icon}") aria-hidden="true"></span>{word}</span>
                {since}
            </p>
            <p class="sentence" dir="auto">{format::outside(&case.reason)}</p>
            <p class="quiet">{what}<Outside text=case.agent />{format!(", attempt {}. ", case.ordinal)}<a href=format!("/trips/{}", case.trip)>"The trip’s page"</a></p>
            {case.check_asked.map(|asked| view! {
                <p class=mark>
                    "Check requested "<Instant at=asked.at />" by "<Outside text=asked.by />
                    {asked.reason.map(|why| view! { ": “"<Outside text=why />"”" })}
                    {format!(" — requested and accepted, {after}.")}
                </p>
            })}
            {case.signed.map(|signed| view! {
                <p class=mark>
                    <Outside text=signed.by />" signed: "<Outside text=signed.outcome />" Evidence: “"<Outside text=signed.evidence />"”"
                    {open.then_some(" — requested and accepted, not verified yet.")}
                </p>
            })}
        </div>
    }
    .into_any()
}

/// What somebody says.
#[component]
fn Word(
    /// Their word.
    word: WordView,
) -> impl IntoView {
    let label = if word.from == "agent" { "The agent’s word" } else { "The records’ word" };
    view! {
        <li class="word">
            <p class="quiet">{label}</p>
            <h3><Outside text=word.who /></h3>
            <p dir="auto">{format::outside(&word.said)}</p>
            {word.quote.map(|text| view! { <blockquote class="asked said" dir="auto">{format::outside(&text)}</blockquote> })}
            {word.note.map(|text| view! { <p class="quiet" dir="auto">{format::outside(&text)}</p> })}
            <p class="quiet">{match word.at {
                Some(at) => view! { "As of "<Instant at=at /> }.into_any(),
                None => "Never read so far".into_any(),
            }}</p>
        </li>
    }
    .into_any()
}

/// The undo of this step's bookings, where there is one.
#[component]
fn Undo(
    /// The step's bookings.
    effects: Vec<EffectView>,
) -> impl IntoView {
    let rungs = rungs(&effects);
    (!rungs.is_empty()).then(|| {
        view! {
            <h3>"Undo"</h3>
            <UndoLadder rungs=rungs />
        }
    })
}

/// What agents' makers and booking systems ask for.
#[component]
fn Ids(
    /// The case.
    case: CaseView,
) -> impl IntoView {
    let rows = [
        ("Reference", case.reference),
        ("Booking number", case.confirmation),
        ("Booking system", case.booking_system),
        ("Task id", case.task_id),
        ("Context id", case.context_id),
        ("Message id", Some(case.message_id)),
        ("Attempt", Some(case.delegation)),
        ("Case", Some(case.id)),
        ("Trip", Some(case.trip)),
    ];
    let rows = rows
        .into_iter()
        .filter_map(|(label, value)| Some((label, value?)))
        .map(|(label, value)| view! { <div><dt>{label}</dt><dd><code><Outside text=value /></code></dd></div> })
        .collect_view();
    let reads = case_words::failing(&case.reads);
    view! {
        <dl class="ids ids-side">
            {rows}
            {case.reads.good_at.map(|at| view! { <div><dt>"Last good read of the agent"</dt><dd><Instant at=at /></dd></div> })}
            {case.reads.tried_at.map(|at| view! { <div><dt>"Last tried"</dt><dd><Instant at=at /></dd></div> })}
        </dl>
        {reads.map(|text| view! { <p class="note" dir="auto">{text}</p> })}
    }
    .into_any()
}
