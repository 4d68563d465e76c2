//! A question and the form that answers it. The form is a plain POST; in a live trip the card
//! outlives every update, so that what was typed stays.

use crate::components::erased::Erased;
use crate::components::instant::Instant;
use crate::components::outside::Outside;
use crate::components::text_area::TextArea;
use crate::format;
use domain::view::QuestionView;
use leptos::either::EitherOf3;
use leptos::prelude::*;

/// One question.
#[component]
pub fn QuestionCard(
    /// The question as it is now.
    question: QuestionView,
    /// What was typed before.
    #[prop(optional_no_strip)]
    typed: Option<String>,
    /// What was wrong with it.
    #[prop(optional_no_strip)]
    wrong: Option<String>,
    /// Whether to name the trip.
    #[prop(optional)]
    with_trip: bool,
) -> impl IntoView {
    let decision = question.kind == "decision";
    let asks = if decision { "Holdfast asks you to decide" } else { "asks" };
    let class = if question.state == "open" { "question" } else { "question question-gone" };
    let form = view! { <AnswerForm question=question.clone() typed=typed wrong=wrong /> };
    view! {
        <article class=class aria-labelledby=format!("asked-{}", question.id)>
            {with_trip.then(|| view! {
                <p class="quiet">
                    <a href=format!("/trips/{}", question.trip)><Outside text=question.trip_title.clone() /></a>
                </p>
            })}
            <h3 id=format!("asked-{}", question.id)>
                <span class="icon icon-ask" aria-hidden="true"></span>
                <span><Outside text=question.step_title.clone() />": "
                {(!decision).then(|| view! { <Outside text=question.asked_by.clone() />" " })}
                {asks}</span>
            </h3>
            <blockquote class="asked" dir="auto">{format::outside(&question.text)}</blockquote>
            <p class="quiet">
                "Asked "<Instant at=question.asked_at />
                {question.deadline.map(|at| view! { " · please answer by "<strong><Instant at=at /></strong> })}
            </p>
            {gone(&question).map(|text| view! { <p class="note" role="note" dir="auto">{text}</p> })}
            <div class="answer" hidden=question.state != "open">{form}</div>
        </article>
    }
    .erased()
}

/// Why a question is no longer open, and what came of it.
pub fn gone(question: &QuestionView) -> Option<String> {
    let by = question.answered_by.as_deref().map(|who| format!(" by {who}")).unwrap_or_default();
    let mut text = match question.state.as_str() {
        "open" => return None,
        "answered" => {
            let answer = question.answer.as_deref().unwrap_or_default();
            let label = question
                .choices
                .iter()
                .find(|choice| choice.value == answer)
                .map(|choice| choice.label.as_str());
            format!("Answered{by}: “{}”.", label.unwrap_or(answer))
        }
        "withdrawn" => "This question is no longer asked.".to_owned(),
        "expired" => "The time to answer has run out.".to_owned(),
        _ => "This question is closed.".to_owned(),
    };
    if let Some(note) = &question.note {
        text.push(' ');
        text.push_str(note);
    }
    Some(format::outside(&text))
}

#[component]
fn AnswerForm(
    /// The question.
    question: QuestionView,
    /// What was typed before.
    typed: Option<String>,
    /// What was wrong with it.
    wrong: Option<String>,
) -> impl IntoView {
    let action = format!("/trips/{}/questions/{}", question.trip, question.id);
    let error_id = format!("wrong-{}", question.id);
    let described = wrong.is_some().then(|| error_id.clone());
    let invalid = wrong.is_some();
    let link = question.link.as_deref().and_then(format::web_link);
    let controls = if question.kind == "auth" {
        let button = view! {
            <div class="choices">
                <button class="button" type="submit" name="choice" value="done" aria-describedby=described>
                    "I have done it"
                </button>
            </div>
        };
        EitherOf3::A(button)
    } else if question.choices.is_empty() {
        let field = format!("answer-{}", question.id);
        let text = view! {
            <label for=field.clone()>"Your answer"</label>
            <TextArea id=field name="answer" typed=typed rows=3 required=true described=described invalid=invalid />
            <button class="button" type="submit">"Send answer"</button>
        };
        EitherOf3::B(text)
    } else {
        let buttons = question
            .choices
            .into_iter()
            .map(|choice| {
                view! {
                    <button class="button button-choice" type="submit" name="choice" value=choice.value>
                        <Outside text=choice.label />
                    </button>
                }
            })
            .collect_view();
        EitherOf3::C(view! {
            <div class="choices" role="group" aria-label="Your answer" aria-describedby=described>{buttons}</div>
        })
    };
    view! {
        {link.map(|(href, host)| view! {
            <p>
                <a class="out-link" href=href target="_blank" rel="noopener noreferrer nofollow">
                    "Open "<Outside text=host />" in a new tab"
                </a>
            </p>
        })}
        <form method="post" action=action novalidate>
            {wrong.map(|text| view! {
                <p class="field-error" id=error_id>
                    <span class="icon icon-failed" aria-hidden="true"></span><span dir="auto">{format::outside(&text)}</span>
                </p>
            })}
            {controls}
        </form>
    }
    .erased()
}
