//! What came of a check of several cases, read from the journal: a reload shows what is true then.

use crate::api;
use crate::components::case_words;
use crate::components::instant::Instant;
use crate::components::loaded::loaded;
use crate::components::outside::Outside;
use crate::components::page_title::PageTitle;
use crate::format;
use crate::pages::support::desk::MOST_AT_ONCE;
use domain::view::CaseView;
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

/// The page `/desk/checked?since=&cases=`: who was asked about, and from when on.
#[component]
pub fn CheckedPage() -> impl IntoView {
    let query = use_query_map().read_untracked();
    let since = query.get("since").and_then(|since| since.parse().ok()).unwrap_or(0);
    let among = query.get("cases").unwrap_or_default();
    let ids: Vec<String> =
        among.split(',').filter(|id| !id.is_empty()).take(MOST_AT_ONCE).map(str::to_owned).collect();
    drop(query);
    loaded(api::cases::cases_named(ids.clone()), move |cases| {
        view! {
            <PageTitle text="Checked" />
            <CheckedView ids=ids cases=cases since=since />
        }
    })
}

/// The three facts about each case.
#[derive(Clone, Copy)]
struct Facts {
    requested: bool,
    verified: bool,
    open: bool,
}

fn facts(case: &CaseView, since: i64) -> Facts {
    let requested = case.check_asked.as_ref().is_some_and(|asked| asked.at >= since);
    Facts { requested, verified: requested && !case.open, open: case.open }
}

/// The result of each case, and the sum of them.
#[component]
pub fn CheckedView(
    /// The cases that were chosen, in that order.
    ids: Vec<String>,
    /// Those of them that exist, as they are now.
    cases: Vec<CaseView>,
    /// UTC milliseconds: a check asked for before is another one.
    since: i64,
) -> impl IntoView {
    let sum = sum(&cases, since);
    let rows = ids
        .into_iter()
        .map(|id| match cases.iter().find(|case| case.id == id) {
            Some(case) => view! { <Checked case=case.clone() since=since /> }.into_any(),
            None => view! {
                <li class="case"><div class="case-what">
                    <h2>"Not a case"</h2>
                    <p>"Not requested: there is no case "<code><Outside text=id /></code>"."</p>
                </div></li>
            }
            .into_any(),
        })
        .collect_view();
    view! {
        <div class="page page-wide desk">
            <p class="crumb"><a href="/desk">"Back to the desk"</a></p>
            <h1>"Check of several cases"</h1>
            <p class="sum" role="status"><strong>{sum.0}</strong></p>
            <p class="quiet">{sum.1}" This page tells what is true when it is opened: reload it to see what has come of the check."</p>
            <ul class="cases">{rows}</ul>
        </div>
    }
}

/// The sum, and for what reasons cases are still stuck.
fn sum(cases: &[CaseView], since: i64) -> (String, String) {
    let all: Vec<Facts> = cases.iter().map(|case| facts(case, since)).collect();
    let number = |is: fn(&Facts) -> bool| all.iter().filter(|facts| is(facts)).count();
    let requested = number(|facts| facts.requested);
    let verified = number(|facts| facts.verified);
    // The journal takes both in one transaction.
    let sum = format!("{requested} requested, {requested} accepted, {verified} verified yet.");
    let mut causes: Vec<(&str, usize)> = Vec::new();
    for case in cases.iter().filter(|case| case.open) {
        let words = case_words::cause(&case.cause);
        match causes.iter_mut().find(|(known, _)| *known == words) {
            Some((_, number)) => *number += 1,
            None => causes.push((words, 1)),
        }
    }
    let stuck = number(|facts| facts.open);
    if stuck == 0 {
        return (sum, "None of them is still stuck.".to_owned());
    }
    let causes: Vec<String> =
        causes.into_iter().map(|(words, number)| format!("{} {number}", words.to_lowercase())).collect();
    (sum, format!("{stuck} still stuck: {}.", causes.join(", ")))
}

#[component]
fn Checked(
    /// The case.
    case: CaseView,
    /// UTC milliseconds: a check asked for before is another one.
    since: i64,
) -> impl IntoView {
    let facts = facts(&case, since);
    let asked = case.check_asked.clone().filter(|_| facts.requested);
    let fact = |done: bool, label: &'static str, word: &'static str| {
        view! {
            <li class=if done { "phase phase-done" } else { "phase" }>
                <span class=if done { "icon icon-done" } else { "icon icon-waiting" } aria-hidden="true"></span>
                <span>{label}": "{word}</span>
            </li>
        }
    };
    let word = |done: bool| if done { "yes" } else { "no" };
    let verified = match (facts.requested, facts.verified) {
        (_, true) => "yes, not stuck any more",
        (true, false) if case_words::read_since(&case) => "no, the agent was asked again, still stuck",
        (true, false) => "not yet",
        (false, _) => "no",
    };
    let refused = match (facts.requested, facts.open) {
        (true, _) => None,
        (false, false) => Some("Not requested: the case had moved on."),
        (false, true) => Some("Not requested: it could not be recorded. Try it again."),
    };
    view! {
        <li class="case">
            <div class="case-what">
                <h2><a href=format!("/desk/cases/{}", case.id)><Outside text=case.step_title />{case_words::between(&case.kind)}<Outside text=case.trip_title /></a></h2>
                <ol class="phases">
                    {fact(facts.requested, "Requested", word(facts.requested))}
                    {fact(facts.requested, "Accepted", word(facts.requested))}
                    {fact(facts.verified, "Verified", verified)}
                </ol>
                {refused.map(|text| view! { <p class="note">{text}</p> })}
                <p dir="auto">{format::outside(&case.reason)}</p>
                {asked.map(|asked| view! {
                    <p class="quiet">"Requested "<Instant at=asked.at />" by "<Outside text=asked.by />{asked.reason.map(|why| view! { ": “"<Outside text=why />"”" })}</p>
                })}
            </div>
        </li>
    }
    .into_any()
}
