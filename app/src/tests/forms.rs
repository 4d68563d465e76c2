//! Forms: the fields that the server reads, input kept, each message beside its field.

use super::{element, html};
use crate::components::layout::Layout;
use crate::components::question_card::gone;
use crate::pages::login::LoginView;
use crate::pages::traveller::{
    cancel::CancelView, inbox::InboxView, new_trip::NewTripView, question::QuestionPageView,
};
use crate::request::RequestContext;
use crate::samples;
use domain::view::{FieldError, FormState, QuestionView};
use leptos::prelude::*;

fn new_trip(form: Option<FormState>) -> String {
    let request = RequestContext { form, form_key: "k-1".into(), ..Default::default() };
    html(|| view! { <NewTripView workflows=vec![samples::travel()] wanted=None request=request /> })
}

#[test]
fn a_new_trip_asks_what_the_workflow_asks() {
    let html = new_trip(None);
    assert!(html.contains("method=\"post\" action=\"/trips/new\""));
    for name in [
        "workflow",
        "idempotency_key",
        "origin",
        "destination",
        "start",
        "end",
        "travellers",
        "notes",
        "title",
    ] {
        assert!(html.contains(&format!("name=\"{name}\"")), "{name}");
    }
    assert!(element(&html, "name=\"idempotency_key\"").contains("value=\"k-1\""));
    assert!(element(&html, "name=\"start\"").contains("type=\"date\""));
    assert!(element(&html, "name=\"travellers\"").contains("value=\"2\""));
    assert_eq!(html.matches("name=\"steps\"").count(), 3);
    assert_eq!(html.matches(" checked").count(), 3);
    assert!(!html.contains("error-summary"));
    assert!(html.contains("></textarea>"), "an empty field is empty");
}

#[test]
fn what_is_no_day_is_kept_where_a_date_input_would_drop_it() {
    let came_back = |typed: &str| {
        let mut form = samples::wrong_form();
        form.values.retain(|(name, _)| name != "start");
        form.values.push(("start".into(), typed.into()));
        let html = new_trip(Some(form));
        element(&html, "name=\"start\"").to_owned()
    };
    for typed in ["2027-02-30", "soon"] {
        let field = came_back(typed);
        assert!(field.contains("type=\"text\"") && field.contains(&format!("value=\"{typed}\"")), "{field}");
    }
    assert!(came_back("2027-02-28").contains("type=\"date\""));
    assert!(came_back("").contains("type=\"date\""));
}

#[test]
fn a_form_that_came_back_keeps_what_was_typed_and_says_what_is_wrong_beside_it() {
    let html = new_trip(Some(samples::wrong_form()));
    assert!(element(&html, "name=\"origin\"").contains("value=\"Hamburg\""));
    let travellers = element(&html, "name=\"travellers\"");
    assert!(travellers.contains("value=\"three\"") && travellers.contains("aria-invalid=\"true\""));
    assert!(travellers.contains("aria-describedby=\"field-travellers-hint field-travellers-wrong\""));
    assert!(html.contains("id=\"field-travellers-wrong\""));
    assert!(element(&html, "value=\"hotel\"").contains("checked"));
    assert!(!element(&html, "value=\"flight\"").contains("checked"));
    assert!(element(&html, "id=\"errors\"").contains("autofocus"));
    assert!(html.contains("href=\"#field-destination\""));
    assert!(html.contains(">\n\nA line of its own</textarea>"), "a browser drops the first line break");
}

#[test]
fn signing_in_keeps_the_address_but_never_the_password() {
    let form = FormState {
        values: vec![("email".into(), "a@b.example".into()), ("password".into(), "secret".into())],
        errors: vec![FieldError { field: String::new(), message: "E-mail or password is wrong.".into() }],
    };
    let request = RequestContext { form: Some(form), ..Default::default() };
    let html = html(|| view! { <LoginView request=request next=Some("/trips/1".into()) /> });
    assert!(element(&html, "name=\"email\"").contains("value=\"a@b.example\""));
    assert!(element(&html, "name=\"next\"").contains("value=\"/trips/1\""));
    assert!(!html.contains("secret"));
    assert!(!html.contains("traveller-demo"), "demo accounts are for the demo only");
}

#[test]
fn each_kind_of_question_has_its_own_answer() {
    let questions = vec![samples::hotel_question(), samples::car_decision(), samples::sign_in_question()];
    let html = html(|| view! { <InboxView questions=questions /> });
    assert!(html.contains("action=\"/trips/t-lisbon/questions/q-hotel\""));
    assert!(element(&html, "name=\"answer\"").starts_with("<textarea"));
    assert!(html.contains("name=\"choice\" value=\"go_on\""));
    assert!(html.contains("name=\"choice\" value=\"done\""));
    let link = element(&html, "pay.casa.example/confirm");
    assert!(link.contains("rel=\"noopener noreferrer nofollow\"") && link.contains("target=\"_blank\""));
    assert!(
        html.contains("<bdi class=\"outside\">pay.casa.example</bdi>"),
        "the host that it leads to is named"
    );
}

#[test]
fn a_late_answer_is_told_why_and_not_lost() {
    let question = QuestionView {
        state: "answered".into(),
        answer: Some("go_on".into()),
        answered_by: Some("support@example.org".into()),
        ..samples::car_decision()
    };
    assert_eq!(gone(&question).as_deref(), Some("Answered by support@example.org: “Go on without a car”."));
    let form = FormState {
        values: vec![("answer".into(), "Two rooms".into())],
        errors: vec![FieldError {
            field: String::new(),
            message: "Somebody else has answered already.".into(),
        }],
    };
    let html = html(|| view! { <QuestionPageView question=question form=Some(form) /> });
    assert!(html.contains("Somebody else has answered already."));
    assert!(html.contains("Two rooms"));
    assert!(element(&html, "class=\"answer\"").contains("hidden"));
}

#[test]
fn a_cancel_says_what_comes_back_before_its_one_button() {
    let html = html(|| view! { <CancelView preview=samples::preview() form=None /> });
    assert!(
        html.contains("action=\"/trips/t-lisbon/cancel\"") && html.contains("name=\"confirm\" value=\"yes\"")
    );
    assert!(html.find("Casa Hotels") < html.find("Skyline Airways"), "in undo order");
    assert!(html.contains("Nothing of this comes back."));
    assert!(html.contains("In all, 442.30\u{a0}EUR comes back."));
    assert_eq!(html.matches("<button").count(), 1);
}

#[test]
fn a_cancel_that_is_refused_has_no_button() {
    let mut preview = samples::preview();
    preview.refused = Some("This trip is closed.".into());
    let html = html(|| view! { <CancelView preview=preview form=None /> });
    assert!(html.contains("This trip is closed.") && !html.contains("<button"));
}

#[test]
fn only_staff_see_the_way_to_the_desk() {
    let frame = |role: &str| {
        let viewer = Some(samples::viewer(role));
        html(
            || view! { <Layout viewer=viewer demo=false flash=None path="/trips".to_owned()>"page"</Layout> },
        )
    };
    assert!(frame("support").contains("href=\"/desk\"") && !frame("traveller").contains("href=\"/desk\""));
    assert!(element(&frame("traveller"), "aria-current").contains("href=\"/trips\""));
    assert!(frame("traveller").contains("method=\"post\" action=\"/logout\""));
}
