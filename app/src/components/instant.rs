//! A moment in time: rendered in UTC, turned into the reader's own zone once the page is awake.

use crate::format;
use leptos::prelude::*;

/// A moment. What a browser shows is turned local by [`localise`], after the islands are awake and
/// after every change, so that both halves render the same text.
#[component]
pub fn Instant(
    /// UTC milliseconds.
    at: i64,
) -> impl IntoView {
    let utc = format::utc(at);
    let title = utc.clone();
    view! { <time datetime=format::iso(at) title=title>{utc}</time> }
}

/// Turns every moment on the page local: reader's zone and language, the time alone if it is
/// today. UTC stays at hand as each one's title.
#[cfg(feature = "hydrate")]
pub fn localise() {
    use wasm_bindgen::JsCast;
    let Ok(moments) = document().query_selector_all("time[datetime]") else { return };
    for place in 0..moments.length() {
        let Some(moment) = moments.item(place).and_then(|node| node.dyn_into::<web_sys::Element>().ok())
        else {
            continue;
        };
        // The text node stays the one that the island knows; only its content changes.
        if let (Some(iso), Some(text)) = (moment.get_attribute("datetime"), moment.first_child())
            && let Some(local) = in_own_zone(&iso.into())
        {
            text.set_node_value(Some(&local));
        }
    }
}

/// A moment, as ISO text or as milliseconds, in the reader's zone and language.
#[cfg(feature = "hydrate")]
pub(crate) fn in_own_zone(at: &wasm_bindgen::JsValue) -> Option<String> {
    use js_sys::{Array, Date, Intl::DateTimeFormat, Object, Reflect};
    let moment = Date::new(at);
    let options = Object::new();
    let set = |name: &str, value: &str| Reflect::set(&options, &name.into(), &value.into()).ok();
    set("timeStyle", "short")?;
    if moment.to_date_string() != Date::new_0().to_date_string() {
        set("dateStyle", "medium")?;
    }
    let format = DateTimeFormat::new(&Array::new(), &options);
    format.format().call1(&wasm_bindgen::JsValue::NULL, &moment).ok()?.as_string()
}
