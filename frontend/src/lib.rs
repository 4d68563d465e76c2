//! The browser's half: wakes the islands that the server rendered.
#![cfg(target_arch = "wasm32")]

// Names the islands, so that their exports are linked in.
use app as _;
use wasm_bindgen::prelude::wasm_bindgen;

/// Called by the page's script once the module has loaded.
#[wasm_bindgen]
pub fn hydrate() {
    console_error_panic_hook::set_once();
    leptos::mount::hydrate_islands();
}
