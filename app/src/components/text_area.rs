//! A field for longer text.

use crate::format;
use leptos::either::Either;
use leptos::prelude::*;

/// A field for longer text, in the writer's own direction.
#[component]
pub fn TextArea(
    /// The element's id.
    id: String,
    /// The field's name.
    #[prop(into)]
    name: String,
    /// What was typed before.
    typed: Option<String>,
    /// Lines shown.
    rows: u8,
    /// Whether it must be filled in.
    required: bool,
    /// Ids of what describes it.
    described: Option<String>,
    /// Whether what was typed is wrong.
    invalid: bool,
) -> impl IntoView {
    let invalid = invalid.then_some("true");
    // An empty text would become a blank inside the field, so without text there is no child at
    // all; and a browser drops the first line break of the content, so one is put there for it.
    match typed.filter(|text| !text.is_empty()) {
        None => Either::Left(view! {
            <textarea id=id name=name rows=rows required=required dir="auto" aria-describedby=described aria-invalid=invalid></textarea>
        }),
        Some(text) => Either::Right(view! {
            <textarea id=id name=name rows=rows required=required dir="auto" aria-describedby=described aria-invalid=invalid>
                {content(&text)}
            </textarea>
        }),
    }
}

/// The element's content. Leptos escapes the children of every element but a few, of which this is
/// one: on the server they must be escaped here, or `</textarea>` in a text ends the field.
fn content(text: &str) -> String {
    let text = if cfg!(feature = "ssr") { format::escaped(text) } else { text.to_owned() };
    format!("\n{text}")
}
