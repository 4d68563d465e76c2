//! One trip.

use crate::api;
use crate::components::live_trip::TripPageView;
use crate::components::loaded::loaded;
use crate::components::page_title::PageTitle;
use leptos::prelude::*;
use leptos_router::hooks::use_params_map;

/// The page `/trips/:id`.
#[component]
pub fn TripPage() -> impl IntoView {
    let id = use_params_map().read_untracked().get("id").unwrap_or_default();
    loaded(api::trips::trip(id), |trip| {
        view! {
            <PageTitle text=trip.title.clone() />
            <TripPageView view=trip />
        }
    })
}
