//! Writes every page, in its main states, from sample data into a folder of plain HTML files:
//! `cargo run -p app --features ssr --example gallery -- FOLDER`. Run it in the workspace's root.

use app::RequestContext;
use app::components::layout::Layout;
use app::components::live_trip::TripPageView;
use app::components::loaded::Unreadable;
use app::pages::login::LoginView;
use app::pages::support::{case::CasePageView, checked::CheckedView, desk::DeskView};
use app::pages::traveller::{
    cancel::CancelView, inbox::InboxView, new_trip::NewTripView, question::QuestionPageView, trips::TripsView,
};
use app::{api::ApiError, samples};
use domain::view::{CaseDetail, FieldError, FormState, TripView};
use leptos::prelude::*;
use std::path::Path;

const SHEETS: [&str; 8] = ["tokens", "base", "components", "pages", "desk", "forms", "signs", "trip"];

fn main() -> std::io::Result<()> {
    let Some(folder) = std::env::args().nth(1) else {
        return Err(std::io::Error::other("say which folder to write to"));
    };
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    for sheet in SHEETS {
        std::fs::copy(format!("style/{sheet}.css"), folder.join(format!("{sheet}.css")))?;
    }
    let mut names = Vec::new();
    for (name, html) in travellers().into_iter().chain(staff()).chain(desk()) {
        std::fs::write(folder.join(format!("{name}.html")), html)?;
        names.push(format!("<li><a href=\"{name}.html\">{name}</a></li>"));
    }
    std::fs::write(
        folder.join("index.html"),
        format!("<!DOCTYPE html><title>Gallery</title><ul>{}</ul>", names.concat()),
    )
}

fn travellers() -> Vec<(&'static str, String)> {
    let trip = |trip: TripView| {
        page("traveller", "/trips/t", move || view! { <TripPageView view=trip /> }.into_any())
    };
    let form = |form: Option<FormState>| {
        page("traveller", "/trips/new", move || {
            let request = RequestContext { form, ..Default::default() };
            view! { <NewTripView workflows=vec![samples::travel()] wanted=None request=request /> }.into_any()
        })
    };
    let empty_answer = FormState {
        values: vec![("answer".into(), " ".into())],
        errors: vec![FieldError { field: "answer".into(), message: "Write an answer; it is empty.".into() }],
    };
    vec![
        (
            "trips",
            page("traveller", "/trips", || view! { <TripsView trips=samples::summaries() /> }.into_any()),
        ),
        ("trips-empty", page("traveller", "/trips", || view! { <TripsView trips=vec![] /> }.into_any())),
        ("new", form(None)),
        ("new-wrong", form(Some(samples::wrong_form()))),
        ("trip-asking", trip(samples::asking())),
        ("trip-deciding", trip(samples::deciding())),
        ("trip-undoing", trip(samples::undoing())),
        ("trip-cancelled", trip(samples::cancelled())),
        ("trip-stuck", trip(samples::stuck())),
        ("trip-hostile", trip(samples::hostile())),
        (
            "question",
            page("traveller", "/q", || {
                view! { <QuestionPageView question=samples::hotel_question() form=Some(empty_answer) /> }
                    .into_any()
            }),
        ),
        (
            "inbox",
            page("traveller", "/inbox", || {
                let questions =
                    vec![samples::hotel_question(), samples::car_decision(), samples::sign_in_question()];
                view! { <InboxView questions=questions /> }.into_any()
            }),
        ),
        ("inbox-empty", page("traveller", "/inbox", || view! { <InboxView questions=vec![] /> }.into_any())),
        (
            "cancel",
            page("traveller", "/c", || {
                view! { <CancelView preview=samples::preview() form=None /> }.into_any()
            }),
        ),
    ]
}

fn staff() -> Vec<(&'static str, String)> {
    vec![
        (
            "login",
            page("", "/login", || {
                let request = RequestContext { demo: true, ..Default::default() };
                view! { <LoginView request=request next=None /> }.into_any()
            }),
        ),
        (
            "not-found",
            page("traveller", "/x", || view! { <Unreadable error=ApiError::NotFound /> }.into_any()),
        ),
    ]
}

fn desk() -> Vec<(&'static str, String)> {
    let queue = |cases: Vec<domain::view::CaseView>, form: Option<FormState>| {
        page("support", "/desk", move || view! { <DeskView cases=cases cause=None form=form /> }.into_any())
    };
    let case = |path: &str, detail: CaseDetail, form: Option<FormState>| {
        page("support", path, move || view! { <CasePageView detail=detail form=form /> }.into_any())
    };
    let nothing_chosen = FormState {
        values: vec![("reason".into(), "The agent is back".into())],
        errors: vec![FieldError { field: "case".into(), message: "Choose at least one case.".into() }],
    };
    vec![
        ("desk", queue(samples::cases(), None)),
        ("desk-wrong", queue(samples::cases(), Some(nothing_chosen))),
        ("desk-empty", queue(vec![], None)),
        (
            "desk-checked",
            page("support", "/desk/checked", || {
                let ids = ["c1", "c2", "c3", "c4", "c5", "gone"].map(str::to_owned).to_vec();
                view! { <CheckedView ids=ids cases=samples::checked() since=samples::NOON + 60_000 /> }
                    .into_any()
            }),
        ),
        ("case", case("/desk/cases/asked", samples::case(), None)),
        ("case-wrong", case("/desk/cases/x", samples::case(), Some(samples::wrong_record()))),
        ("case-closed", case("/desk/cases/x", samples::closed_case(), None)),
        ("case-undo", case("/desk/cases/x", samples::undo_case(), None)),
        ("case-hostile", case("/desk/cases/x", samples::hostile_case(), None)),
    ]
}

fn page(role: &str, path: &str, content: impl FnOnce() -> AnyView + Send + 'static) -> String {
    let viewer = (!role.is_empty()).then(|| samples::viewer(role));
    let flash = match path {
        "/inbox" => Some("Your answer is on its way to the agent.".to_owned()),
        "/desk/cases/asked" => Some("Requested and taken in; not verified yet.".to_owned()),
        _ => None,
    };
    let path = path.to_owned();
    let body = Owner::new().with(|| {
        view! { <Layout viewer=viewer demo=true flash=flash path=path>{content()}</Layout> }.to_html()
    });
    let sheets = SHEETS.map(|sheet| format!("<link rel=\"stylesheet\" href=\"{sheet}.css\">")).concat();
    format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>Gallery</title>{sheets}</head><body>{body}</body></html>"
    )
}
