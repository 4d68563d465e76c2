//! Pages rendered as the server renders them, from samples.

mod desk;
mod escaping;
mod forms;
mod site;
mod trip;

use leptos::prelude::*;

/// Renders a page's view.
fn html<V: IntoView + 'static>(view: impl FnOnce() -> V) -> String {
    Owner::new().with(|| view().into_view().to_html())
}

/// The text between tags, entities and all, with blanks in a row as one.
fn words(html: &str) -> String {
    let mut text = String::new();
    let mut inside = false;
    for c in html.chars() {
        match c {
            '<' => inside = true,
            '>' => {
                inside = false;
                text.push(' ');
            }
            _ if !inside => text.push(c),
            _ => {}
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The element that has this attribute.
fn element<'a>(html: &'a str, attribute: &str) -> &'a str {
    let at = html.find(attribute).unwrap_or_else(|| panic!("no {attribute} in {html}"));
    let start = html[..at].rfind('<').expect("an element begins");
    &html[start..at + html[at..].find('>').expect("and ends")]
}
