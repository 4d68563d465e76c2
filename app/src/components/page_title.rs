//! The document's title.

use crate::format;
use leptos::prelude::*;
use leptos_meta::Title;

/// Names the page in the browser's tab.
#[component]
pub fn PageTitle(
    /// The page's own part; may come from outside.
    #[prop(into)]
    text: String,
) -> impl IntoView {
    view! { <Title text=format!("{} · Holdfast", format::head_title(&text)) /> }
}
