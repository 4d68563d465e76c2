//! The frame of every page: skip link, navigation, who is signed in, demo banner, flash.

use crate::components::outside::Outside;
use crate::format::outside;
use domain::view::ViewerView;
use leptos::prelude::*;

/// The frame around a page.
#[component]
pub fn Layout(
    /// Who is signed in.
    viewer: Option<ViewerView>,
    /// Whether to say that this is the demo.
    demo: bool,
    /// What the previous request did.
    flash: Option<String>,
    /// The page's path, to mark it in the navigation.
    path: String,
    /// The page.
    children: Children,
) -> impl IntoView {
    view! {
        <a class="skip-link" href="#main">"Skip to the content"</a>
        {demo.then(|| view! {
            <aside class="demo-banner" aria-label="Demo">
                <strong>"Demo."</strong>
                " Agents and booking systems here are make-believe; nothing is really booked."
            </aside>
        })}
        <header class="site-head">
            <a class="brand" href="/trips"><span class="brand-mark" aria-hidden="true"></span>"Holdfast"</a>
            {viewer.map(|viewer| view! { <Navigation viewer=viewer path=path /> })}
        </header>
        <main id="main" tabindex="-1">
            {flash.map(|text| view! { <p class="flash"><span class="icon icon-running" aria-hidden="true"></span><span dir="auto">{outside(&text)}</span></p> })}
            {children()}
        </main>
        <footer class="site-foot">
            <p>"Holdfast keeps every step of a trip in its own journal and checks each booking in the booking system’s own records."</p>
        </footer>
    }
}

#[component]
fn Navigation(
    /// Who is signed in.
    viewer: ViewerView,
    /// The page's path.
    path: String,
) -> impl IntoView {
    let desk = viewer.role != "traveller";
    let inside = path.starts_with("/desk/").then_some("true");
    let current = move |href: &str| (path == href).then_some("page");
    view! {
        <nav class="site-nav" aria-label="Main">
            <a href="/trips" aria-current=current("/trips")>{if desk { "Trips" } else { "My trips" }}</a>
            <a href="/inbox" aria-current=current("/inbox")>"Questions"</a>
            {desk.then(|| view! { <a href="/desk" aria-current=current("/desk").or(inside)>"Desk"</a> })}
        </nav>
        <form class="who" method="post" action="/logout">
            <span class="who-name" title=format!("Signed in as {}", viewer.role)><Outside text=viewer.email /></span>
            <button class="button button-quiet" type="submit">"Sign out"</button>
        </form>
    }
}
