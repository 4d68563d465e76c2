//! What support may do with a case: two forms, each with its reason. What does not apply is shown
//! with why not.

use crate::components::case_words;
use crate::components::field::{Field, FieldError, Kind, field_id};
use crate::format;
use crate::request::FormRead;
use domain::view::{CaseActionView, CaseOutcomeView, FormState};
use leptos::prelude::*;

/// The forms.
#[component]
pub fn Actions(
    /// The case's id.
    id: String,
    /// What applies and what does not.
    actions: Vec<CaseActionView>,
    /// Names of the registered booking systems.
    booking_systems: Vec<String>,
    /// The form that came back.
    form: Option<FormState>,
) -> impl IntoView {
    let address = format!("/desk/cases/{id}");
    let forms = actions
        .into_iter()
        .map(|action| {
            let (title, words) = about(&action.action);
            let inner = match (action.refused, action.action.as_str()) {
                (Some(why), _) => {
                    view! { <p class="note" dir="auto">{format!("Not now: {}", format::outside(&why))}</p> }.into_any()
                }
                (None, "check_now") => view! { <Check address=address.clone() form=form.clone() /> }.into_any(),
                (None, "record_outcome") => view! {
                    <Record address=address.clone() outcomes=action.outcomes booking_systems=booking_systems.clone() form=form.clone() />
                }
                .into_any(),
                (None, _) => ().into_any(),
            };
            let (name, labelled) = (action.action.clone(), action.action);
            view! {
                <section class="panel stack" aria-labelledby=labelled>
                    <div><h3 id=name>{title}</h3><p class="quiet">{words}</p></div>
                    {inner}
                </section>
            }
        })
        .collect_view();
    view! { <div class="case-actions">{forms}</div> }.into_any()
}

fn about(action: &str) -> (&'static str, &'static str) {
    match action {
        "check_now" => (
            "Check now",
            "Everything about this case is read again. Nothing is sent, booked or undone by it alone.",
        ),
        "record_outcome" => (
            "Record outcome",
            "You sign for what really happened, with your name. The trip goes on from it as if the records had said so.",
        ),
        _ => ("Another action", ""),
    }
}

#[component]
fn Check(
    /// Where the form goes.
    address: String,
    /// The form that came back.
    form: Option<FormState>,
) -> impl IntoView {
    view! {
        <form method="post" action=address novalidate class="stack">
            <input type="hidden" name="action" value="check_now" />
            <Field
                name="check_reason"
                label="Reason"
                kind=Kind::Text
                required=true
                hint=Some("For example: the agent’s maker says that it is back.".to_owned())
                value=form.typed("check_reason")
                wrong=form.wrong("check_reason")
            />
            <div class="actions"><button class="button" type="submit">"Check now"</button></div>
        </form>
    }
    .into_any()
}

#[component]
fn Record(
    /// Where the form goes.
    address: String,
    /// What can be signed for, and what not and why.
    outcomes: Vec<CaseOutcomeView>,
    /// Names of the registered booking systems.
    booking_systems: Vec<String>,
    /// The form that came back.
    form: Option<FormState>,
) -> impl IntoView {
    let books = outcomes.iter().any(|one| one.outcome == "booked" && one.refused.is_none());
    let (id, wrong) = (field_id("outcome"), form.wrong("outcome"));
    let wrong_id = format!("{id}-wrong");
    let described = wrong.as_ref().map(|_| wrong_id.clone());
    let class = if wrong.is_some() { "field field-wrong" } else { "field" };
    let choices = outcomes
        .into_iter()
        .map(|one| {
            let chosen = form.chosen("outcome", &one.outcome);
            view! { <Outcome one=one chosen=chosen /> }
        })
        .collect_view();
    let booked = books.then(|| view! { <Booked booking_systems=booking_systems form=form.clone() /> });
    view! {
        <form method="post" action=address novalidate class="stack record">
            <input type="hidden" name="action" value="record_outcome" />
            <fieldset class=class id=id tabindex="-1" aria-describedby=described>
                <legend>"What did you find?"</legend>
                <FieldError id=wrong_id wrong=wrong />
                <div class="outcomes">{choices}</div>
            </fieldset>
            {booked}
            <Field
                name="reason"
                label="Reason and evidence"
                kind=Kind::LongText
                required=true
                hint=Some("Who said so, when, and where it can be seen.".to_owned())
                value=form.typed("reason")
                wrong=form.wrong("reason")
            />
            <div class="actions"><button class="button" type="submit">"Sign for this outcome"</button></div>
        </form>
    }
    .into_any()
}

#[component]
fn Outcome(
    /// What can be signed for, or not.
    one: CaseOutcomeView,
    /// Whether it was chosen in the form that came back.
    chosen: bool,
) -> impl IntoView {
    let refused = one.refused.is_some();
    let label = case_words::outcome(&one.outcome);
    view! {
        <label class=if refused { "check check-refused" } else { "check" }>
            <input type="radio" name="outcome" value=one.outcome checked=chosen && !refused disabled=refused />
            <span>{label}{one.refused.map(|why| view! { <span class="quiet" dir="auto">". Not now: "{format::outside(&why)}</span> })}</span>
        </label>
    }
    .into_any()
}

/// What a booking is told by.
#[component]
fn Booked(
    /// Names of the registered booking systems.
    booking_systems: Vec<String>,
    /// The form that came back.
    form: Option<FormState>,
) -> impl IntoView {
    let (id, wrong) = (field_id("booking_system"), form.wrong("booking_system"));
    let wrong_id = format!("{id}-wrong");
    let described = wrong.as_ref().map(|_| wrong_id.clone());
    let invalid = wrong.as_ref().map(|_| "true");
    let class = if wrong.is_some() { "field field-wrong" } else { "field" };
    let options = booking_systems
        .into_iter()
        .map(|name| {
            let chosen = form.chosen("booking_system", &name);
            view! { <option value=name.clone() selected=chosen>{format::outside(&name)}</option> }
        })
        .collect_view();
    view! {
        <div class="fields with-booked">
            <Field
                name="confirmation"
                label="Booking number, if booked"
                kind=Kind::Text
                required=true
                value=form.typed("confirmation")
                wrong=form.wrong("confirmation")
            />
            <div class=class>
                <label for=id.clone()>"Booking system, if booked"</label>
                <FieldError id=wrong_id wrong=wrong />
                <select id=id name="booking_system" aria-describedby=described aria-invalid=invalid>
                    <option value="">"Choose one"</option>
                    {options}
                </select>
            </div>
        </div>
    }
    .into_any()
}
