//! What the server tells the pages about the request that they answer, and how pages read a
//! form that came back.

use domain::view::{FormState, ViewerView};
use leptos::prelude::use_context;

/// Provided by the server as context before a page is rendered, beside the `engine::Engine` and
/// an `Option<ViewerView>`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestContext {
    /// Demo mode: a banner, and the demo accounts on the sign-in page.
    pub demo: bool,
    /// The form that this page answers, when it was filled in wrongly.
    pub form: Option<FormState>,
    /// One sentence about what the previous request did, shown once.
    pub flash: Option<String>,
    /// A fresh random value: the idempotency key of a form rendered now.
    pub form_key: String,
}

/// The request's context; the default one where the server gave none.
pub fn current() -> RequestContext {
    use_context().unwrap_or_default()
}

/// Who is signed in, if anybody is.
pub fn viewer() -> Option<ViewerView> {
    use_context::<Option<ViewerView>>().flatten()
}

/// Reading a form that came back. A form that was not sent yet has no values and no errors.
pub trait FormRead {
    /// The first value typed under this name.
    fn typed(&self, name: &str) -> Option<String>;
    /// Whether this value was among those sent under this name.
    fn chosen(&self, name: &str, value: &str) -> bool;
    /// What was wrong with the field of this name; the empty name is the form as a whole.
    fn wrong(&self, name: &str) -> Option<String>;
}

impl FormRead for Option<FormState> {
    fn typed(&self, name: &str) -> Option<String> {
        self.as_ref()?.values.iter().find(|(field, _)| field == name).map(|(_, value)| value.clone())
    }
    fn chosen(&self, name: &str, value: &str) -> bool {
        self.as_ref()
            .is_some_and(|form| form.values.iter().any(|(field, sent)| field == name && sent == value))
    }
    fn wrong(&self, name: &str) -> Option<String> {
        self.as_ref()?.errors.iter().find(|error| error.field == name).map(|error| error.message.clone())
    }
}
