//! A moment in time: rendered in UTC, turned into the reader's own zone once the page is awake.
#![expect(missing_docs, reason = "the island macro makes a struct that it does not document")]

use crate::format;
use leptos::prelude::*;

/// A moment inside an island.
#[component]
pub fn Instant(
    /// UTC milliseconds.
    at: i64,
) -> impl IntoView {
    let utc = format::utc(at);
    let local = RwSignal::new(utc.clone());
    // Not while the view is built: the first text must be the server's.
    #[cfg(feature = "hydrate")]
    Effect::new(move |_| {
        if let Some(text) = in_own_zone(at) {
            local.set(text);
        }
    });
    view! { <time datetime=format::iso(at) title=utc>{local}</time> }
}

/// A moment on a page that is otherwise not alive.
#[island]
pub fn LocalTime(
    /// UTC milliseconds.
    at: i64,
) -> impl IntoView {
    view! { <Instant at=at /> }
}

/// The moment in the reader's zone and language; the time alone if it is today.
#[cfg(feature = "hydrate")]
pub(crate) fn in_own_zone(at: i64) -> Option<String> {
    use js_sys::{Array, Date, Intl::DateTimeFormat, Object, Reflect};
    let moment = Date::new(&(at as f64).into());
    let options = Object::new();
    let set = |name: &str, value: &str| Reflect::set(&options, &name.into(), &value.into()).ok();
    set("timeStyle", "short")?;
    if moment.to_date_string() != Date::new_0().to_date_string() {
        set("dateStyle", "medium")?;
    }
    let format = DateTimeFormat::new(&Array::new(), &options);
    format.format().call1(&wasm_bindgen::JsValue::NULL, &moment).ok()?.as_string()
}
