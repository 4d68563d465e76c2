//! What a page shows once it knows, and what it shows when it cannot know.

use crate::api::ApiError;
use crate::components::page_title::PageTitle;
use leptos::prelude::*;
use std::future::Future;

/// Waits for what a page needs, then shows it, or says why it cannot.
pub fn loaded<T, V>(
    load: impl Future<Output = Result<T, ApiError>> + Send + 'static,
    show: impl FnOnce(T) -> V + Send + 'static,
) -> impl IntoView
where
    T: Send + 'static,
    V: IntoView + Send + 'static,
{
    Suspend::new(async move {
        match load.await {
            Ok(known) => show(known).into_any(),
            Err(error) => view! {
                <PageTitle text=headline(&error) />
                <Unreadable error=error />
            }
            .into_any(),
        }
    })
}

fn headline(error: &ApiError) -> &'static str {
    match error {
        ApiError::Unauthorized => "Please sign in",
        ApiError::NotFound => "There is nothing here",
        ApiError::Unavailable | ApiError::Call(_) => "This page cannot be shown right now",
    }
}

/// The page in place of one that cannot be shown.
#[component]
pub fn Unreadable(
    /// Why not.
    error: ApiError,
) -> impl IntoView {
    let title = headline(&error);
    let (text, href, link) = match error {
        ApiError::Unauthorized => ("This page is shown to the people it belongs to.", "/login", "Sign in"),
        ApiError::NotFound => (
            "The address may be mistyped, or it leads to something that is not yours.",
            "/trips",
            "Go to your trips",
        ),
        ApiError::Unavailable | ApiError::Call(_) => (
            "Our records could not be read just now. Nothing was changed or lost, and trips go on. Please try again in a moment.",
            "/trips",
            "Go to your trips",
        ),
    };
    view! {
        <div class="page page-narrow empty">
            <h1>{title}</h1>
            <p>{text}</p>
            <p><a class="button" href=href>{link}</a></p>
        </div>
    }
}
