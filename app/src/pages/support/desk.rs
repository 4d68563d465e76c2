//! The support desk: what is stuck, longest first, and a way to have several read again.

use crate::api;
use crate::components::case_words;
use crate::components::field::{ErrorSummary, Field, FieldError, Kind, field_id};
use crate::components::instant::Instant;
use crate::components::loaded::loaded;
use crate::components::outside::Outside;
use crate::components::page_title::PageTitle;
use crate::format;
use crate::request::{self, FormRead};
use domain::view::{CaseView, FormState};
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

/// How many cases can be checked at once.
pub const MOST_AT_ONCE: usize = 100;

/// The page `/desk`, and `/desk?cause=` with the cases of one cause.
#[component]
pub fn DeskPage() -> impl IntoView {
    let cause = use_query_map().read_untracked().get("cause").filter(|cause| !cause.is_empty());
    let form = request::current().form;
    loaded(api::cases::cases(), |cases| {
        view! {
            <PageTitle text="Desk" />
            <DeskView cases=cases cause=cause form=form />
        }
    })
}

/// The queue.
#[component]
pub fn DeskView(
    /// The stuck cases, longest first.
    cases: Vec<CaseView>,
    /// The cause that is looked at; all where there is none.
    cause: Option<String>,
    /// The form that came back.
    form: Option<FormState>,
) -> impl IntoView {
    let causes = by_cause(&cases);
    let all = cases.len();
    let shown: Vec<CaseView> =
        cases.into_iter().filter(|case| cause.as_ref().is_none_or(|cause| *cause == case.cause)).collect();
    let body = if shown.is_empty() {
        let text = if all == 0 {
            "Nothing is stuck. A case comes up here when no rule may decide alone."
        } else {
            "Nothing is stuck for this reason any more."
        };
        view! { <p class="empty">{text}</p> }.into_any()
    } else {
        let action = cause.as_ref().map_or_else(
            || "/desk".to_owned(),
            |cause| {
                // Only a cause that a case has is kept, so it is a word of ours.
                format!("/desk?cause={cause}")
            },
        );
        let number = shown.len();
        let lead = format!("{}, longest stuck first", format::count(number, "case"));
        let rows = shown
            .into_iter()
            .enumerate()
            .map(|(place, case)| {
                let chosen = form.chosen("case", &case.id);
                view! { <Row case=case chosen=chosen shown=place < MOST_AT_ONCE /> }
            })
            .collect_view();
        view! {
            <p class="quiet">{lead}</p>
            <form method="post" action=action novalidate class="desk-form">
                <ul class="cases">{rows}</ul>
                <Several number=number form=form.clone() />
            </form>
        }
        .into_any()
    };
    view! {
        <div class="page page-wide desk">
            <ErrorSummary form=form />
            <h1>"Desk"</h1>
            <Causes causes=causes all=all now=cause />
            {body}
        </div>
    }
}

/// How many cases each cause has, in the order of the longest stuck.
fn by_cause(cases: &[CaseView]) -> Vec<(String, usize)> {
    let mut causes: Vec<(String, usize)> = Vec::new();
    for case in cases {
        match causes.iter_mut().find(|(cause, _)| *cause == case.cause) {
            Some((_, number)) => *number += 1,
            None => causes.push((case.cause.clone(), 1)),
        }
    }
    causes
}

/// Ways to the cases of one cause: cases of one cause are often repaired together.
#[component]
fn Causes(
    /// How many cases each cause has.
    causes: Vec<(String, usize)>,
    /// How many there are in all.
    all: usize,
    /// The cause that is looked at.
    now: Option<String>,
) -> impl IntoView {
    let none = causes.len() < 2 && now.is_none();
    let current = |this: bool| this.then_some("page");
    let links = causes
        .into_iter()
        .map(|(cause, number)| {
            let here = current(now.as_ref() == Some(&cause));
            let words = format!("{} {number}", case_words::cause(&cause));
            view! { <li><a href=format!("/desk?cause={cause}") aria-current=here>{words}</a></li> }
        })
        .collect_view();
    view! {
        <nav class="tabs" aria-label="Cases by reason" hidden=none>
            <ul>
                <li><a href="/desk" aria-current=current(now.is_none())>{format!("All {all}")}</a></li>
                {links}
            </ul>
        </nav>
    }
}

#[component]
fn Row(
    /// The case.
    case: CaseView,
    /// Whether it was chosen in the form that came back.
    chosen: bool,
    /// Whether it is among those that "all" means.
    shown: bool,
) -> impl IntoView {
    let address = format!("/desk/cases/{}", case.id);
    let title = format!("title-{}", case.id);
    let reading = case_words::failing(&case.reads);
    let after = case_words::after_check(&case);
    let asked = case.check_asked.clone().map(|asked| {
        view! { <span>"Check requested "<Instant at=asked.at />" by "<Outside text=asked.by />{format!(", {after}")}</span> }
    });
    let signed = case.signed.clone().map(|signed| {
        view! { <span>"Signed for by "<Outside text=signed.by />", not taken up yet"</span> }
    });
    view! {
        <li class="case" id=format!("case-{}", case.id)>
            <label class="case-choose">
                <input type="checkbox" name="case" value=case.id.clone() checked=chosen aria-labelledby=title.clone() />
            </label>
            {shown.then(|| view! { <input type="hidden" name="shown" value=case.id.clone() /> })}
            <div class="case-what">
                <h2 id=title><a href=address><Outside text=case.step_title />{case_words::between(&case.kind)}<Outside text=case.trip_title.clone() /></a></h2>
                <p dir="auto">{format::outside(&case.reason)}</p>
                <p class="case-foot quiet">
                    <span>"Agent "<Outside text=case.agent />{(case.kind == "attempt").then(|| format!(", attempt {}", case.ordinal))}</span>
                    <span><a href=format!("/trips/{}", case.trip)>"The trip’s page"<span class="hidden-words">": "<Outside text=case.trip_title /></span></a></span>
                    {reading.map(|text| view! { <span class="case-failing" dir="auto">{text}</span> })}
                    {asked}
                    {signed}
                </p>
            </div>
            <p class="case-since"><strong>{format::age(case.age_seconds)}</strong><span class="quiet">"since "<Instant at=case.since /></span></p>
        </li>
    }
    .into_any()
}

/// One reason for several cases.
#[component]
fn Several(
    /// How many cases are shown.
    number: usize,
    /// The form that came back.
    form: Option<FormState>,
) -> impl IntoView {
    let all = if number > MOST_AT_ONCE {
        format!("The first {MOST_AT_ONCE} shown above")
    } else {
        format!("All {number} shown above")
    };
    let (id, wrong) = (field_id("case"), form.wrong("case"));
    let wrong_id = format!("{id}-wrong");
    let class = if wrong.is_some() { "field field-wrong" } else { "field" };
    view! {
        <section class="panel stack bulk" aria-labelledby="bulk">
            <div>
                <h2 id="bulk">"Check several now"</h2>
                <p class="quiet">"Everything about the chosen cases is read again. Nothing is sent, booked or undone by it alone, and each case gets its own result."</p>
            </div>
            <div class=class>
                <FieldError id=wrong_id wrong=wrong />
                <label class="check"><input type="checkbox" name="all" value="yes" id=id checked=form.chosen("all", "yes") />{all}</label>
            </div>
            <Field
                name="reason"
                label="Reason"
                kind=Kind::Text
                required=true
                hint=Some("Kept in the history of each trip, with your name.".to_owned())
                value=form.typed("reason")
                wrong=form.wrong("reason")
            />
            <div class="actions"><button class="button" type="submit">"Check the chosen ones now"</button></div>
        </section>
    }
    .into_any()
}
