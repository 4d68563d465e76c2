//! One question by its own link, and the place where an answer that was not taken comes back.

use crate::api;
use crate::components::field::ErrorSummary;
use crate::components::loaded::loaded;
use crate::components::outside::Outside;
use crate::components::page_title::PageTitle;
use crate::components::question_card::QuestionCard;
use crate::request::{self, FormRead};
use domain::view::{FormState, QuestionView};
use leptos::prelude::*;
use leptos_router::hooks::use_params_map;

/// The page `/trips/:id/questions/:q`.
#[component]
pub fn QuestionPage() -> impl IntoView {
    let params = use_params_map();
    let name = |name: &str| params.read_untracked().get(name).unwrap_or_default();
    let form = request::current().form;
    loaded(api::questions::question(name("id"), name("q")), move |question| {
        view! {
            <PageTitle text=format!("Question about {}", question.trip_title) />
            <QuestionPageView question=question form=form />
        }
    })
}

/// The question with its form.
#[component]
pub fn QuestionPageView(
    /// The question.
    question: QuestionView,
    /// The form that came back.
    form: Option<FormState>,
) -> impl IntoView {
    let open = question.state == "open";
    let wrong = form.wrong("answer").or_else(|| form.wrong("choice")).filter(|_| open);
    // The summary leads to the one field of this page, whatever the question's id.
    let target = question.id.clone();
    let summary = form.clone().map(|mut form| {
        for error in &mut form.errors {
            error.field.clear();
        }
        form
    });
    view! {
        <div class="page page-narrow">
            <ErrorSummary form=summary />
            <p class="crumb"><a href=format!("/trips/{}", question.trip)>"Back to "<Outside text=question.trip_title.clone() /></a></p>
            <h1>{if open { "A question for you" } else { "A question that has ended" }}</h1>
            <h2 class="hidden-words">"What is asked"</h2>
            <QuestionCard question=question typed=form.typed("answer") wrong=wrong />
            {(!open).then(|| form.typed("answer")).flatten().filter(|text| !text.trim().is_empty()).map(|text| view! {
                <section class="panel" aria-labelledby=format!("typed-{target}")>
                    <h2 id=format!("typed-{target}")>"What you had written"</h2>
                    <blockquote class="asked" dir="auto">{crate::format::outside(&text)}</blockquote>
                </section>
            })}
        </div>
    }
}
