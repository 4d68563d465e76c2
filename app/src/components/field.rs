//! Fields of a form: label, hint, what was typed, and what was wrong with it beside it.

use crate::components::text_area::TextArea;
use crate::format::{is_day, outside};
use domain::view::FormState;
use leptos::prelude::*;

/// What a field takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One line.
    Text,
    /// Several lines.
    LongText,
    /// A calendar date.
    Date,
    /// A whole number. Not a number input: that would drop what was mistyped.
    Integer,
    /// An e-mail address.
    Email,
    /// A password that exists already.
    Password,
}

impl Kind {
    /// Reads a workflow's word; an unknown one is one line of text.
    pub fn from_word(word: &str) -> Self {
        match word {
            "long_text" => Self::LongText,
            "date" => Self::Date,
            "integer" => Self::Integer,
            _ => Self::Text,
        }
    }

    /// The input's type, its keyboard and what a browser may fill in. Never `autocomplete="off"`:
    /// with it, a browser that goes back to a form does not keep what was typed.
    fn attributes(self, typed: Option<&str>) -> (&'static str, Option<&'static str>, Option<&'static str>) {
        match self {
            // A date input would drop what is no date, and it is to be seen beside its message.
            Self::Date if typed.is_none_or(|text| text.is_empty() || is_day(text)) => ("date", None, None),
            Self::Text | Self::LongText | Self::Date => ("text", None, None),
            Self::Integer => ("text", Some("numeric"), None),
            Self::Email => ("email", None, Some("username")),
            Self::Password => ("password", None, Some("current-password")),
        }
    }
}

/// One field.
#[component]
pub fn Field(
    /// Its name.
    #[prop(into)]
    name: String,
    /// Its label.
    #[prop(into)]
    label: String,
    /// What it takes.
    kind: Kind,
    /// Whether it must be filled in.
    #[prop(optional)]
    required: bool,
    /// What may help to fill it in.
    #[prop(optional_no_strip)]
    hint: Option<String>,
    /// What it holds.
    #[prop(optional_no_strip)]
    value: Option<String>,
    /// What is wrong with that.
    #[prop(optional_no_strip)]
    wrong: Option<String>,
) -> impl IntoView {
    let id = field_id(&name);
    let hint_id = format!("{id}-hint");
    let wrong_id = format!("{id}-wrong");
    let described = [hint.as_ref().map(|_| hint_id.clone()), wrong.as_ref().map(|_| wrong_id.clone())];
    let described = described.into_iter().flatten().collect::<Vec<_>>().join(" ");
    let described = (!described.is_empty()).then_some(described);
    let invalid = wrong.is_some();
    let (input_type, keyboard, autocomplete) = kind.attributes(value.as_deref());
    let control = if kind == Kind::LongText {
        view! {
            <TextArea id=id.clone() name=name typed=value rows=4 required=required described=described invalid=invalid />
        }
        .into_any()
    } else {
        view! {
            <input
                id=id.clone()
                name=name
                type=input_type
                inputmode=keyboard
                autocomplete=autocomplete
                value=value
                required=required
                dir="auto"
                aria-describedby=described
                aria-invalid=invalid.then_some("true")
            />
        }
        .into_any()
    };
    view! {
        <div class=if invalid { "field field-wrong" } else { "field" } data-kind=input_type>
            <label for=id>{label}{(!required).then(|| view! { <span class="quiet">" (optional)"</span> })}</label>
            {hint.map(|text| view! { <p class="hint" id=hint_id>{text}</p> })}
            <FieldError id=wrong_id wrong=wrong />
            {control}
        </div>
    }
}

/// What is wrong with a field.
#[component]
pub fn FieldError(
    /// The element's id.
    id: String,
    /// What is wrong.
    wrong: Option<String>,
) -> impl IntoView {
    wrong.map(|text| {
        view! {
            <p class="field-error" id=id>
                <span class="icon icon-failed" aria-hidden="true"></span>
                <span dir="auto">{outside(&text)}</span>
            </p>
        }
    })
}

/// The id of a field's element.
pub fn field_id(name: &str) -> String {
    format!("field-{name}")
}

/// What was wrong with a form, at its top, where the focus goes; each line leads to its field.
#[component]
pub fn ErrorSummary(
    /// The form that came back.
    form: Option<FormState>,
) -> impl IntoView {
    let errors = form.map(|form| form.errors).filter(|errors| !errors.is_empty())?;
    let lines = errors
        .into_iter()
        .map(|error| {
            let message = outside(&error.message);
            if error.field.is_empty() {
                view! { <li dir="auto">{message}</li> }.into_any()
            } else {
                let href = format!("#{}", field_id(&error.field));
                view! { <li><a href=href dir="auto">{message}</a></li> }.into_any()
            }
        })
        .collect_view();
    Some(view! {
        <div class="error-summary" id="errors" role="alert" tabindex="-1" autofocus>
            <h2>"Something needs another look"</h2>
            <ul>{lines}</ul>
        </div>
    })
}
