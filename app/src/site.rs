//! The site map, and the document around every page.

use crate::components::layout::Layout;
use crate::pages::login::LoginPage;
use crate::pages::not_found::NotFoundPage;
use crate::pages::support::case::CasePage;
use crate::pages::support::checked::CheckedPage;
use crate::pages::support::desk::DeskPage;
use crate::pages::traveller::cancel::CancelPage;
use crate::pages::traveller::inbox::InboxPage;
use crate::pages::traveller::new_trip::NewTripPage;
use crate::pages::traveller::question::QuestionPage;
use crate::pages::traveller::trip::TripPage;
use crate::pages::traveller::trips::TripsPage;
use crate::{request, response};
use leptos::prelude::*;
use leptos_meta::{HashedStylesheet, MetaTags, provide_meta_context};
use leptos_router::SsrMode;
use leptos_router::components::{Route, Router, Routes};
use leptos_router::hooks::use_location;
use leptos_router::path;

/// The site's icon: a knot of two ropes, as data, so that no request is made for it.
pub const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E\
    %3Crect width='32' height='32' rx='8' fill='%230f5a63'/%3E\
    %3Cpath d='M10 6v20M22 6v20M10 17c4-5 8-5 12 0' fill='none' stroke='%23fff' stroke-width='3.4' stroke-linecap='round'/%3E\
    %3C/svg%3E";

/// The document around every page.
pub fn shell(options: LeptosOptions) -> impl IntoView {
    view! {
        <!DOCTYPE html>
        <html lang="en">
            <head>
                <meta charset="utf-8" />
                <meta name="viewport" content="width=device-width, initial-scale=1" />
                <meta name="color-scheme" content="light dark" />
                <link rel="icon" href=ICON />
                <HashedStylesheet id="style" options=options.clone() />
                <HydrationScripts options=options islands=true />
                <MetaTags />
            </head>
            <body>
                <App />
            </body>
        </html>
    }
}

/// The site map. `/` is a redirect that the server answers.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    response::protect();
    view! {
        <Router>
            <Framed />
        </Router>
    }
}

/// The frame of every page, with the page that the address names inside it.
#[component]
fn Framed() -> impl IntoView {
    let request = request::current();
    let path = use_location().pathname.get_untracked();
    view! {
        <Layout viewer=request::viewer() demo=request.demo flash=request.flash path=path>
            <Routes fallback=NotFoundPage>
                <Route path=path!("/login") view=LoginPage ssr=SsrMode::Async />
                <Route path=path!("/trips") view=TripsPage ssr=SsrMode::Async />
                <Route path=path!("/trips/new") view=NewTripPage ssr=SsrMode::Async />
                <Route path=path!("/trips/:id") view=TripPage ssr=SsrMode::Async />
                <Route path=path!("/trips/:id/questions/:q") view=QuestionPage ssr=SsrMode::Async />
                <Route path=path!("/trips/:id/cancel") view=CancelPage ssr=SsrMode::Async />
                <Route path=path!("/inbox") view=InboxPage ssr=SsrMode::Async />
                <Route path=path!("/desk") view=DeskPage ssr=SsrMode::Async />
                <Route path=path!("/desk/checked") view=CheckedPage ssr=SsrMode::Async />
                <Route path=path!("/desk/cases/:id") view=CasePage ssr=SsrMode::Async />
            </Routes>
        </Layout>
    }
}
