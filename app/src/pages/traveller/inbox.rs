//! Every open question, answered where it is seen.

use crate::api;
use crate::components::loaded::loaded;
use crate::components::page_title::PageTitle;
use crate::components::question_card::QuestionCard;
use domain::view::QuestionView;
use leptos::prelude::*;

/// The page `/inbox`.
#[component]
pub fn InboxPage() -> impl IntoView {
    loaded(api::questions::open_questions(), |questions| {
        view! {
            <PageTitle text="Questions" />
            <InboxView questions=questions />
        }
    })
}

/// The questions.
#[component]
pub fn InboxView(
    /// The open ones, oldest first.
    questions: Vec<QuestionView>,
) -> impl IntoView {
    let body = if questions.is_empty() {
        view! {
            <div class="empty">
                <h2>"Nothing needs you"</h2>
                <p>"When an agent has a question about one of your trips, it waits for you here until you answer."</p>
                <p><a class="button" href="/trips">"Go to your trips"</a></p>
            </div>
        }
        .into_any()
    } else {
        let cards = questions
            .into_iter()
            .map(|question| {
                view! { <QuestionCard question=question with_trip=true /> }
            })
            .collect_view();
        view! {
            <h2 class="hidden-words">"Open questions"</h2>
            <div class="needs">{cards}</div>
        }
        .into_any()
    };
    view! {
        <div class="page page-narrow">
            <h1>"Questions"</h1>
            {body}
        </div>
    }
}
