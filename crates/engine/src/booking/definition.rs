//! A booking system as data: the body of `POST /booking-systems` (DESIGN.md §11).

use crate::a2a::Credential;
use crate::net::AddressPolicy;
use domain::view::FieldError;
use http::Method;
use iri_string::spec::UriSpec;
use iri_string::template::UriTemplateStr;
use iri_string::template::simple_context::SimpleContext;
use serde::{Deserialize, Deserializer, Serialize};
use url::Url;

/// A registered booking system. Serialising leaves the credential out: it is stored apart.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct BookingSystem {
    /// Its name for people.
    pub name: String,
    /// What all its URLs begin with.
    pub base_url: String,
    /// What it is shown with every call.
    #[serde(default, skip_serializing, deserialize_with = "or_none")]
    pub credential: Credential,
    /// How it is asked.
    pub lookup: LookupDefinition,
    /// How a booking is undone, where it can be.
    #[serde(default)]
    pub cancel: Option<CancelDefinition>,
    /// How long after an outcome a booking may still appear (replicas lag, agents are late).
    #[serde(default = "default_settle_seconds")]
    pub settle_seconds: i64,
}

/// How a booking system is asked, and what its answers mean. Templates are RFC 6570, pointers
/// RFC 6901.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LookupDefinition {
    /// The URL of all bookings of a `reference`.
    pub url: String,
    /// Where the list is in that answer.
    pub items: String,
    /// The URL of one booking by its `confirmation`.
    #[serde(default)]
    pub by_confirmation: Option<String>,
    /// Where the booking is in that answer.
    #[serde(default)]
    pub item: String,
    /// Where a booking has its confirmation.
    pub confirmation: String,
    /// Where a booking has its reference, if it shows it.
    #[serde(default)]
    pub reference: Option<String>,
    /// Where a booking has its state.
    pub state: String,
    /// The words of a booking that stands.
    pub present: Vec<String>,
    /// The words of a booking that is gone.
    #[serde(default)]
    pub absent: Vec<String>,
    /// The HTTP statuses that mean "no such booking".
    #[serde(default)]
    pub absent_on: Vec<u16>,
    /// Whether an empty list means "no such booking".
    #[serde(default)]
    pub absent_on_empty: bool,
    /// Where a booking has its price.
    #[serde(default)]
    pub price: Option<String>,
    /// Where it has the currency of price and fee.
    #[serde(default)]
    pub currency: Option<String>,
    /// Where it has what is kept when it is undone; `null` there means that nothing is known.
    #[serde(default)]
    pub fee: Option<String>,
}

/// How a booking is undone.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CancelDefinition {
    /// The HTTP method.
    #[serde(default = "default_method")]
    pub method: String,
    /// The URL of the undo of a `confirmation`.
    pub url: String,
    /// The URL of the undo of everything under a `reference`, where there is one.
    #[serde(default)]
    pub by_reference: Option<String>,
    /// Whether the same Idempotency-Key twice is one undo.
    #[serde(default)]
    pub idempotent: bool,
}

/// `null` is no credential.
fn or_none<'de, D: Deserializer<'de>>(input: D) -> Result<Credential, D::Error> {
    Ok(Option::deserialize(input)?.unwrap_or_default())
}

fn default_settle_seconds() -> i64 {
    120
}

fn default_method() -> String {
    "POST".to_owned()
}

/// The variables that a template may name.
const VARIABLES: [&str; 2] = ["reference", "confirmation"];

impl BookingSystem {
    /// What is wrong with the definition, by field, with what would be right.
    pub fn validate(&self, policy: &AddressPolicy) -> Vec<FieldError> {
        let mut errors = Errors::default();
        errors.when(self.name.trim().is_empty(), "name", "give it a name");
        errors.result("base_url", base(&self.base_url).and_then(|url| policy.check_url(&url)));
        errors.result("credential", self.credential.check());
        let in_range = (0..=7 * 86_400).contains(&self.settle_seconds);
        errors.when(!in_range, "settle_seconds", "between 0 and 604800 (a week)");
        self.lookup.validate(&mut errors);
        if let Some(cancel) = &self.cancel {
            let method = matches!(cancel.method.as_str(), "POST" | "PUT" | "PATCH" | "DELETE");
            errors.when(!method, "cancel.method", "POST, PUT, PATCH or DELETE");
            errors.template("cancel.url", &cancel.url, "confirmation");
            if let Some(template) = &cancel.by_reference {
                errors.template("cancel.by_reference", template, "reference");
            }
        }
        errors.found
    }

    /// A template, filled in and put behind the base URL.
    pub(crate) fn url(
        &self,
        template: &str,
        reference: Option<&str>,
        confirmation: Option<&str>,
    ) -> Result<Url, String> {
        let mut context = SimpleContext::new();
        for (name, value) in [("reference", reference), ("confirmation", confirmation)] {
            let Some(value) = value else { continue };
            // Dots survive percent-encoding and would climb in the path (§13).
            if value.is_empty() || value == "." || value == ".." {
                return Err(format!("{value:?} cannot be a {name}"));
            }
            context.insert(name, value);
        }
        let template = UriTemplateStr::new(template).map_err(|error| error.to_string())?;
        let expanded = template.expand::<UriSpec, _>(&context).map_err(|error| error.to_string())?;
        let mut text = base(&self.base_url)?.to_string();
        text.truncate(text.trim_end_matches('/').len());
        let expanded = expanded.to_string();
        if !expanded.starts_with(['/', '?']) && !expanded.is_empty() {
            text.push('/');
        }
        text.push_str(&expanded);
        Url::parse(&text).map_err(|error| error.to_string())
    }

    /// The method of the cancel call.
    pub(crate) fn cancel_method(cancel: &CancelDefinition) -> Result<Method, String> {
        Method::from_bytes(cancel.method.as_bytes()).map_err(|error| error.to_string())
    }
}

impl LookupDefinition {
    fn validate(&self, errors: &mut Errors) {
        errors.template("lookup.url", &self.url, "reference");
        if let Some(template) = &self.by_confirmation {
            errors.template("lookup.by_confirmation", template, "confirmation");
        }
        let required = [
            ("lookup.items", &self.items),
            ("lookup.item", &self.item),
            ("lookup.confirmation", &self.confirmation),
            ("lookup.state", &self.state),
        ];
        for (field, pointer) in required {
            errors.pointer(field, pointer);
        }
        let optional = [
            ("lookup.reference", &self.reference),
            ("lookup.price", &self.price),
            ("lookup.currency", &self.currency),
            ("lookup.fee", &self.fee),
        ];
        for (field, pointer) in optional {
            if let Some(pointer) = pointer {
                errors.pointer(field, pointer);
            }
        }
        let priced = self.price.is_some() || self.fee.is_some();
        let unit = "say where the currency is: a price means nothing without it";
        errors.when(priced && self.currency.is_none(), "lookup.currency", unit);
        errors.when(
            self.present.is_empty(),
            "lookup.present",
            "give at least one word of a booking that stands",
        );
        let both = self.present.iter().find(|word| self.absent.contains(word));
        errors.when(both.is_some(), "lookup.absent", "a word cannot mean both present and absent");
        let statuses = self.absent_on.iter().all(|status| [204, 404, 410].contains(status));
        errors.when(!statuses, "lookup.absent_on", "only 204, 404 and 410 can mean that there is no booking");
    }
}

/// The base URL, without what a prefix cannot have.
fn base(text: &str) -> Result<Url, String> {
    let url = Url::parse(text.trim()).map_err(|error| format!("not a URL ({error}): begin with https://"))?;
    if url.query().is_some() || url.fragment().is_some() {
        return Err("leave out what comes after ? or #: other URLs are put behind this one".to_owned());
    }
    Ok(url)
}

/// Errors as they are found.
#[derive(Default)]
struct Errors {
    found: Vec<FieldError>,
}

impl Errors {
    fn when(&mut self, wrong: bool, field: &str, message: &str) {
        if wrong {
            self.found.push(FieldError { field: field.to_owned(), message: message.to_owned() });
        }
    }

    fn result(&mut self, field: &str, result: Result<(), String>) {
        if let Err(message) = result {
            self.when(true, field, &message);
        }
    }

    fn pointer(&mut self, field: &str, pointer: &str) {
        let good = pointer.is_empty() || pointer.starts_with('/');
        self.when(!good, field, "a JSON pointer: empty, or beginning with /, for example /status");
    }

    fn template(&mut self, field: &str, template: &str, needed: &str) {
        let parsed = match UriTemplateStr::new(template) {
            Ok(parsed) => parsed,
            Err(error) => return self.when(true, field, &format!("not an RFC 6570 template: {error}")),
        };
        let names: Vec<&str> = parsed.variables().map(|name| name.as_str()).collect();
        let foreign = names.iter().any(|name| !VARIABLES.contains(name));
        self.when(foreign, field, "only {reference} and {confirmation} can be filled in");
        let missing = !names.contains(&needed);
        self.when(missing, field, &format!("must hold {{{needed}}}"));
        let absolute = template.contains("://") || template.starts_with("//");
        self.when(absolute, field, "a path behind base_url, for example /bookings{?reference}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn sample() -> Value {
        json!({"name": "Hotels", "base_url": "https://hotels.example/api/", "credential": {"kind": "none"},
            "lookup": {"url": "/bookings{?reference}", "items": "/bookings",
                "by_confirmation": "/bookings/{confirmation}", "item": "", "confirmation": "/id",
                "reference": "/reference", "state": "/status", "present": ["CONFIRMED"],
                "absent": ["CANCELLED"], "absent_on": [404], "absent_on_empty": true,
                "price": "/total/amount", "currency": "/total/currency", "fee": "/fee/amount"},
            "cancel": {"method": "POST", "url": "/bookings/{confirmation}/cancel", "by_reference": null,
                "idempotent": true},
            "settle_seconds": 120})
    }

    fn system(change: impl FnOnce(&mut Value)) -> BookingSystem {
        let mut definition = sample();
        change(&mut definition);
        serde_json::from_value(definition).expect("reads")
    }

    #[test]
    fn the_sample_is_valid_and_its_urls_lie_under_the_base() {
        let system = system(|_| {});
        assert_eq!(system.validate(&AddressPolicy::public_only()), []);
        let url = |template: &str| system.url(template, Some("R/1 ä"), Some("C&2")).expect("url").to_string();
        assert_eq!(
            url("/bookings{?reference}"),
            "https://hotels.example/api/bookings?reference=R%2F1%20%C3%A4"
        );
        assert_eq!(
            url("/bookings/{confirmation}/cancel"),
            "https://hotels.example/api/bookings/C%262/cancel"
        );
        assert_eq!(url("{?reference}"), "https://hotels.example/api?reference=R%2F1%20%C3%A4");
        system.url("/bookings/{confirmation}", None, Some("..")).expect_err("climbs");
    }

    #[test]
    fn each_wrong_field_is_named() {
        let field = |pointer: &'static str, value: Value| {
            let system = system(|definition| *definition.pointer_mut(pointer).expect("field") = value);
            let errors = system.validate(&AddressPolicy::public_only());
            errors.into_iter().map(|error| error.field).collect::<Vec<_>>()
        };
        assert_eq!(field("/name", json!(" ")), ["name"]);
        assert_eq!(field("/base_url", json!("hotels.example")), ["base_url"]);
        assert_eq!(field("/base_url", json!("http://127.0.0.1/")), ["base_url"]);
        assert_eq!(field("/lookup/url", json!("/bookings")), ["lookup.url"]);
        assert_eq!(field("/lookup/url", json!("/b{?reference,secret}")), ["lookup.url"]);
        assert_eq!(field("/lookup/state", json!("status")), ["lookup.state"]);
        assert_eq!(field("/lookup/present", json!([])), ["lookup.present"]);
        assert_eq!(field("/lookup/absent", json!(["CONFIRMED"])), ["lookup.absent"]);
        assert_eq!(field("/lookup/absent_on", json!([500])), ["lookup.absent_on"]);
        assert_eq!(field("/lookup/currency", json!(null)), ["lookup.currency"]);
        assert_eq!(field("/cancel/method", json!("GET")), ["cancel.method"]);
        assert_eq!(field("/cancel/url", json!("https://x/{confirmation}")), ["cancel.url"]);
        assert_eq!(field("/settle_seconds", json!(-1)), ["settle_seconds"]);
    }

    #[test]
    fn serialising_leaves_the_secret_out() {
        let system =
            system(|definition| definition["credential"] = json!({"kind": "bearer", "token": "s3cret"}));
        assert!(!serde_json::to_string(&system).expect("json").contains("s3cret"));
        assert!(!format!("{system:?}").contains("s3cret"));
        assert!(matches!(system.credential, Credential::Bearer { .. }));
        let none = super::tests::system(|definition| definition["credential"] = json!(null));
        assert!(matches!(none.credential, Credential::None));
    }
}
