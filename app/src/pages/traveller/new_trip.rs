//! The form of a new trip, made from the workflow's inputs.

use crate::api;
use crate::components::field::{ErrorSummary, Field, FieldError, Kind, field_id};
use crate::components::loaded::loaded;
use crate::components::page_title::PageTitle;
use crate::request::{self, FormRead, RequestContext};
use domain::view::{FormState, InputView, WorkflowView};
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

/// The page `/trips/new`.
#[component]
pub fn NewTripPage() -> impl IntoView {
    let request = request::current();
    let asked = use_query_map().read_untracked().get("workflow");
    let wanted = request.form.typed("workflow").or(asked);
    loaded(api::trips::workflows(), move |workflows| {
        view! {
            <PageTitle text="Plan a trip" />
            <NewTripView workflows=workflows wanted=wanted request=request />
        }
    })
}

/// The form.
#[component]
pub fn NewTripView(
    /// Every workflow.
    workflows: Vec<WorkflowView>,
    /// The name of the one asked for; the first one otherwise.
    wanted: Option<String>,
    /// The request.
    request: RequestContext,
) -> impl IntoView {
    let others = workflows.iter().map(|one| (one.name.clone(), one.title.clone())).collect::<Vec<_>>();
    let chosen =
        workflows.iter().find(|one| Some(&one.name) == wanted.as_ref()).or(workflows.first()).cloned();
    let body = match chosen {
        None => view! { <p>"Nothing can be booked yet: no workflow is set up. Please come back later."</p> }
            .into_any(),
        Some(workflow) => view! {
            <Choose workflows=others current=workflow.name.clone() />
            <TripForm workflow=workflow request=request.clone() />
        }
        .into_any(),
    };
    view! {
        <div class="page page-narrow">
            <ErrorSummary form=request.form />
            <h1>"Plan a trip"</h1>
            <p class="lead">"We hand each part to an agent, keep an eye on it, and tell you when the seller’s own records confirm it."</p>
            {body}
        </div>
    }
}

#[component]
fn Choose(
    /// Name and title of every workflow.
    workflows: Vec<(String, String)>,
    /// The one shown.
    current: String,
) -> impl IntoView {
    (workflows.len() > 1).then(|| {
        let links = workflows
            .into_iter()
            .map(|(name, title)| view! {
                <li><a href=format!("/trips/new?workflow={name}") aria-current=(name == current).then_some("page")>{title}</a></li>
            })
            .collect_view();
        view! { <nav class="tabs" aria-label="Kind of trip"><ul>{links}</ul></nav> }
    })
}

#[component]
fn TripForm(
    /// What is asked for.
    workflow: WorkflowView,
    /// The request.
    request: RequestContext,
) -> impl IntoView {
    let form = request.form;
    let inputs = workflow.inputs.into_iter().map(|input| input_field(input, &form)).collect_view();
    view! {
        <form method="post" action="/trips/new" novalidate class="stack">
            <input type="hidden" name="workflow" value=workflow.name />
            <input type="hidden" name="idempotency_key" value=request.form_key />
            <Steps steps=workflow.steps form=form.clone() />
            <div class="fields">{inputs}</div>
            <Field
                name="title"
                label="Name of the trip"
                kind=Kind::Text
                hint=Some("Left empty, we name it after where you go.".to_owned())
                value=form.typed("title")
                wrong=form.wrong("title")
            />
            <div class="actions">
                <button class="button" type="submit">"Start booking"</button>
                <a class="button button-quiet" href="/trips">"Not now"</a>
            </div>
        </form>
    }
}

fn input_field(input: InputView, form: &Option<FormState>) -> impl IntoView + use<> {
    let bounds = match (input.min, input.max) {
        (Some(min), Some(max)) => Some(format!("From {min} to {max}.")),
        (Some(min), None) => Some(format!("{min} or more.")),
        (None, Some(max)) => Some(format!("{max} at most.")),
        (None, None) => {
            let room = input.max_chars.filter(|_| input.kind == "long_text");
            room.map(|most| format!("Up to {most} characters."))
        }
    };
    let told = input.hint.map(|hint| format!("{}.", hint.trim_end_matches('.')));
    let hint = [told, bounds].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let value = if form.is_some() { form.typed(&input.name) } else { input.default };
    view! {
        <Field
            wrong=form.wrong(&input.name)
            name=input.name
            label=input.label
            kind=Kind::from_word(&input.kind)
            required=input.required
            hint=(!hint.is_empty()).then_some(hint)
            value=value
        />
    }
}

#[component]
fn Steps(
    /// Name and title of each step.
    steps: Vec<(String, String)>,
    /// The form that came back.
    form: Option<FormState>,
) -> impl IntoView {
    let wrong = form.wrong("steps");
    let wrong_id = format!("{}-wrong", field_id("steps"));
    let described = wrong.is_some().then(|| wrong_id.clone());
    let class = if wrong.is_some() { "field field-wrong" } else { "field" };
    let boxes = steps
        .into_iter()
        .enumerate()
        .map(|(place, (name, title))| {
            // The error summary leads to the first box.
            let id = if place == 0 { field_id("steps") } else { field_id(&format!("steps-{name}")) };
            let checked = form.is_none() || form.chosen("steps", &name);
            view! {
                <label class="check">
                    <input type="checkbox" id=id name="steps" value=name checked=checked />
                    <span>{title}</span>
                </label>
            }
        })
        .collect_view();
    view! {
        <fieldset class=class aria-describedby=described>
            <legend>"What shall we book?"</legend>
            <FieldError id=wrong_id wrong=wrong />
            <div class="checks">{boxes}</div>
        </fieldset>
    }
}
