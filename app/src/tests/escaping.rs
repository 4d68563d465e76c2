//! Outside text stays text: in elements, in attributes, in what an island reads, in the title.

use super::{html, words};
use crate::components::layout::Layout;
use crate::components::live_trip::TripPageView;
use crate::components::page_title::PageTitle;
use crate::pages::login::LoginView;
use crate::pages::support::{case::CasePageView, checked::CheckedView, desk::DeskView};
use crate::pages::traveller::{
    cancel::CancelView, inbox::InboxView, new_trip::NewTripView, question::QuestionPageView, trips::TripsView,
};
use crate::request::RequestContext;
use crate::samples::{self, HOSTILE};
use domain::view::{FieldError, FormState, TripSummary, ViewerView};
use leptos::prelude::*;
use leptos_meta::{MetaTags, ServerMetaContext};

fn contained(page: &str, html: &str) {
    for bad in ["<script", "<img", "</textarea></title>", "href=\"javascript:"] {
        assert!(!html.contains(bad), "{page} holds {bad}: {html}");
    }
    let shown = words(html);
    assert!(!shown.contains(['\u{202e}', '\0']), "{page} shows characters that turn or hide text: {shown}");
    assert!(html.contains("&lt;/script&gt;"), "{page} does not show the text at all");
}

fn hostile_form(fields: &[&str]) -> FormState {
    // What was typed comes back as it was, so it cannot be free of such characters.
    let typed = HOSTILE.replace(['\u{202e}', '\0'], "");
    FormState {
        values: fields.iter().map(|field| ((*field).to_owned(), typed.clone())).collect(),
        errors: fields
            .iter()
            .map(|field| FieldError { field: (*field).into(), message: HOSTILE.into() })
            .collect(),
    }
}

#[test]
fn a_trip_with_hostile_text_everywhere_stays_in_its_box() {
    // The first view is read by the island's code, which shows the same text the same way; as an
    // attribute it holds nothing that ends it.
    let html = html(|| view! { <TripPageView view=samples::hostile() /> });
    let (before, rest) = html.split_once("data-view=\"").expect("the first view waits");
    let (first, after) = rest.split_once('"').expect("it ends");
    assert!(!first.contains('<'));
    contained("trip", &format!("{before}{after}"));
}

#[test]
fn lists_and_forms_with_hostile_text_stay_in_their_box() {
    let bad = || HOSTILE.to_owned();
    let trip =
        TripSummary { title: bad(), sentence: bad(), start: Some(bad()), ..samples::summaries().remove(0) };
    contained("trips", &html(|| view! { <TripsView trips=vec![trip] /> }));

    let questions = samples::hostile().questions;
    let one = questions[0].clone();
    contained("inbox", &html(|| view! { <InboxView questions=questions /> }));
    let form = Some(hostile_form(&["answer"]));
    contained("question", &html(|| view! { <QuestionPageView question=one form=form /> }));

    let mut preview = samples::preview();
    (preview.title, preview.open_steps) = (bad(), vec![bad()]);
    preview.undo[0].confirmation = Some(bad());
    contained("cancel", &html(|| view! { <CancelView preview=preview form=None /> }));

    let fields = ["origin", "notes", "title", "steps", "workflow"];
    let request = RequestContext { form: Some(hostile_form(&fields)), ..Default::default() };
    let workflows = vec![samples::travel()];
    contained("new", &html(|| view! { <NewTripView workflows=workflows wanted=None request=request /> }));

    let request = RequestContext { form: Some(hostile_form(&["email"])), ..Default::default() };
    contained("login", &html(|| view! { <LoginView request=request next=None /> }));

    let viewer = Some(ViewerView { id: bad(), email: bad(), role: bad() });
    contained(
        "layout",
        &html(|| view! { <Layout viewer=viewer demo=true flash=Some(bad()) path=bad()>"page"</Layout> }),
    );
}

#[test]
fn the_desk_with_hostile_text_stays_in_its_box() {
    let bad = || HOSTILE.to_owned();
    let mut case = samples::hostile_case().case;
    case.cause = bad();
    let cases = vec![case.clone()];
    let form = Some(hostile_form(&["case", "reason", "all"]));
    contained("desk", &html(|| view! { <DeskView cases=cases cause=Some(bad()) form=form /> }));

    let cases = vec![case.clone()];
    let ids = vec![case.id, bad()];
    contained("checked", &html(|| view! { <CheckedView ids=ids cases=cases since=0 /> }));

    let fields = ["check_reason", "reason", "confirmation", "booking_system", "outcome"];
    let form = Some(hostile_form(&fields));
    contained("case", &html(|| view! { <CasePageView detail=samples::hostile_case() form=form /> }));

    let mut closed = samples::closed_case();
    closed.case = domain::view::CaseView { open: false, ..samples::hostile_case().case };
    for action in &mut closed.actions {
        action.refused = Some(bad());
    }
    let form = Some(hostile_form(&["reason"]));
    contained("closed case", &html(|| view! { <CasePageView detail=closed form=form /> }));
}

#[tokio::test]
async fn a_hostile_title_stays_in_the_title() {
    use futures::StreamExt;
    // Starts the executor that the next lines wait on.
    leptos_axum::generate_route_list(|| ());
    let owner = Owner::new();
    let (meta, output) = ServerMetaContext::new();
    let body = owner.with(|| {
        provide_context(meta);
        leptos_meta::provide_meta_context();
        view! { <head><MetaTags /></head><body><PageTitle text=HOSTILE /></body> }.into_view().to_html()
    });
    let stream = output.inject_meta_context(Box::pin(futures::stream::once(async move { body }))).await;
    let html = stream.collect::<Vec<_>>().await.concat();
    contained("title", &html);
    assert_eq!(html.matches("</title>").count(), 1);
}
