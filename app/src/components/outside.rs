//! Text from outside.

use crate::format;
use leptos::prelude::*;

/// Text that an agent, a booking system or a person wrote: shown as text, in its own direction,
/// kept apart from the sentence around it.
#[component]
pub fn Outside(
    /// The text as it was received.
    #[prop(into)]
    text: String,
) -> impl IntoView {
    view! { <bdi class="outside">{format::outside(&text)}</bdi> }
}
