//! An address that leads nowhere.

use crate::api::ApiError;
use crate::components::loaded::Unreadable;
use crate::components::page_title::PageTitle;
use leptos::prelude::*;

/// The page of an unknown address.
#[component]
pub fn NotFoundPage() -> impl IntoView {
    crate::response::set_status(404);
    view! {
        <PageTitle text="There is nothing here" />
        <Unreadable error=ApiError::NotFound />
    }
}
