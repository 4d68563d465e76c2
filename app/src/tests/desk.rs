//! The desk: what is stuck and why, both words about it, and what may be done and what not.

use super::{element, html, words};
use crate::pages::support::{case::CasePageView, checked::CheckedView, desk::DeskView};
use crate::samples;
use domain::view::{CaseDetail, CaseView, FieldError, FormState};
use leptos::prelude::*;

fn queue(cases: Vec<CaseView>, cause: Option<&str>, form: Option<FormState>) -> String {
    let cause = cause.map(str::to_owned);
    html(|| view! { <DeskView cases=cases cause=cause form=form /> })
}

fn case(detail: CaseDetail, form: Option<FormState>) -> String {
    html(|| view! { <CasePageView detail=detail form=form /> })
}

#[test]
fn the_queue_says_what_why_since_when_and_leads_on() {
    let html = queue(samples::cases(), None, None);
    assert!(html.find("Lisbon in March") < html.find("Vienna"), "longest first");
    assert!(html.contains("href=\"/desk/cases/c1\"") && html.contains("href=\"/trips/t-lisbon\""));
    let said = words(&html);
    for text in
        ["5 cases, longest stuck first", "10 h since 1 Mar 2027, 04:00 UTC", "Agent Casa Agent , attempt 1"]
    {
        assert!(said.contains(text), "{text}: {said}");
    }
    assert!(said.contains("Reading failed 20 times in a row: 503 Service Unavailable"), "{said}");
    assert!(said.contains("Credential refused 2"), "{said}");
}

#[test]
fn cases_of_one_cause_are_shown_and_chosen_by_themselves() {
    let html = queue(samples::cases(), Some("credential"), None);
    assert_eq!(html.matches("name=\"case\"").count(), 2);
    assert_eq!(html.matches("name=\"shown\"").count(), 2, "all means those that are shown");
    assert!(html.contains("action=\"/desk?cause=credential\""));
    assert!(queue(samples::cases(), Some("nonsense"), None).contains("Nothing is stuck for this reason"));
    assert!(queue(vec![], None, None).contains("Nothing is stuck."));
}

#[test]
fn no_more_are_offered_at_once_than_are_taken() {
    let many: Vec<CaseView> =
        (0..130).map(|n| CaseView { id: format!("c{n}"), ..samples::cases().remove(0) }).collect();
    let html = queue(many, None, None);
    assert_eq!((html.matches("name=\"case\"").count(), html.matches("name=\"shown\"").count()), (130, 100));
    assert!(html.contains("The first 100 shown above"));
}

#[test]
fn what_was_chosen_stays_chosen() {
    let form = FormState {
        values: vec![("case".into(), "c2".into()), ("reason".into(), "".into())],
        errors: vec![FieldError { field: "reason".into(), message: "Give a reason.".into() }],
    };
    let html = queue(samples::cases(), None, Some(form));
    assert!(element(&html, "name=\"case\" value=\"c2\"").contains("checked"));
    assert!(!element(&html, "name=\"case\" value=\"c1\"").contains("checked"));
    assert!(html.contains("id=\"field-reason-wrong\"") && html.contains("href=\"#field-reason\""));
}

#[test]
fn results_are_told_one_by_one_and_none_as_solved_that_is_not() {
    let ids = ["c1", "c2", "c3", "c4", "c5", "gone"].map(str::to_owned).to_vec();
    let since = samples::NOON + 60_000;
    let said = words(&html(|| view! { <CheckedView ids=ids cases=samples::checked() since=since /> }));
    assert!(said.contains("4 requested, 4 accepted, 1 verified yet."), "{said}");
    assert!(said.contains("3 still stuck: records unclear 1, credential refused 2."), "{said}");
    assert_eq!(said.matches("Verified : not yet").count(), 3, "{said}");
    assert!(said.contains("Not requested: the case had moved on."), "{said}");
    assert!(said.contains("there is no case gone"), "{said}");
}

#[test]
fn a_check_that_was_read_and_changed_nothing_says_so() {
    let mut detail = samples::case();
    detail.case.reads.tried_at = detail.case.check_asked.as_ref().map(|asked| asked.at + 1);
    let said = words(&case(detail, None));
    assert!(said.contains("the agent was asked again, still stuck"), "{said}");
}

#[test]
fn both_words_are_told_with_their_age() {
    let said = words(&case(samples::case(), None));
    for text in [
        "The agent’s word Casa Agent Said COMPLETED. Your room at Casa do Bairro is reserved.",
        "As of 1 Mar 2027, 14:05 UTC",
        "The records’ word Casa Hotels Cannot tell whether there is a booking.",
        "The newest read said: 502 Bad Gateway",
        "HF-HOTEL-1",
        "task-c1",
        "requested and accepted, not verified yet.",
    ] {
        assert!(said.contains(text), "{text}: {said}");
    }
}

#[test]
fn two_forms_are_plain_posts_and_what_does_not_apply_says_why() {
    let html = case(samples::case(), None);
    assert_eq!(html.matches("method=\"post\" action=\"/desk/cases/c1\"").count(), 2);
    assert!(element(&html, "value=\"undone\"").contains("disabled"));
    assert!(!element(&html, "value=\"booked\"").contains("disabled"));
    assert!(words(&html).contains("Not now: This case is about an attempt"));
    let undo = case(samples::undo_case(), None);
    assert!(element(&undo, "value=\"booked\"").contains("disabled"));
    assert!(!element(&undo, "value=\"undone\"").contains("disabled"));
    assert!(!undo.contains("name=\"confirmation\""), "there is no booking to be told of");
}

#[test]
fn a_wrong_outcome_keeps_what_was_typed_beside_what_is_wrong() {
    let html = case(samples::case(), Some(samples::wrong_record()));
    assert!(element(&html, "value=\"booked\"").contains("checked"));
    assert!(element(&html, "value=\"Casa Hotels\"").contains("selected"));
    assert!(element(&html, "name=\"confirmation\"").contains("aria-invalid=\"true\""));
    assert!(html.contains(">\n\nMs Sousa says that it is there</textarea>"));
    assert!(html.contains("href=\"#field-confirmation\""));
}

#[test]
fn a_case_whose_reason_has_gone_says_so_and_keeps_its_history() {
    let html = case(samples::closed_case(), Some(samples::wrong_record()));
    let said = words(&html);
    assert!(said.contains("Not stuck any more") && said.contains("the request never arrived"), "{said}");
    assert!(said.contains("Nothing is stuck here any more."), "{said}");
    assert!(said.contains("What you had written Ms Sousa says that it is there"), "{said}");
    assert!(said.contains("What happened") && !html.contains("<form"));
}
