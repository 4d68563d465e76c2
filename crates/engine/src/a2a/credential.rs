//! The secret that we show to an agent or a booking system, and where it goes in a request.
//!
//! A credential is never printed (`Debug` hides it) and never serialised by accident: only
//! [`Credential::to_secret_json`] gives it away, for the journal's `credentials` table.

use base64::Engine as _;
use http::header::{AUTHORIZATION, COOKIE};
use http::{HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use url::Url;

/// Where an API key goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyPlace {
    /// In a header.
    Header,
    /// In the query.
    Query,
    /// In a cookie.
    Cookie,
}

/// What proves to the other side who we are. As JSON:
/// `{"kind":"none"}`, `{"kind":"bearer","token":…}`,
/// `{"kind":"api_key","in":"header","name":…,"value":…}`,
/// `{"kind":"basic","user":…,"password":…}`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum Credential {
    /// Nothing.
    #[default]
    None,
    /// `Authorization: Bearer`.
    Bearer {
        /// The token.
        #[serde(deserialize_with = "secret")]
        token: SecretString,
    },
    /// A key of a name that the other side chose.
    ApiKey {
        /// Where it goes.
        #[serde(rename = "in")]
        place: KeyPlace,
        /// Its name there.
        name: String,
        /// The key.
        #[serde(deserialize_with = "secret")]
        value: SecretString,
    },
    /// `Authorization: Basic`.
    Basic {
        /// The user's name.
        user: String,
        /// The password.
        #[serde(deserialize_with = "secret")]
        password: SecretString,
    },
}

fn secret<'de, D: Deserializer<'de>>(input: D) -> Result<SecretString, D::Error> {
    String::deserialize(input).map(SecretString::from)
}

impl Credential {
    /// A bearer token.
    pub fn bearer(token: impl Into<String>) -> Self {
        Self::Bearer { token: SecretString::from(token.into()) }
    }

    /// The JSON form with the secret in it. Only for the journal's table of credentials.
    pub fn to_secret_json(&self) -> Value {
        match self {
            Self::None => json!({"kind": "none"}),
            Self::Bearer { token } => json!({"kind": "bearer", "token": token.expose_secret()}),
            Self::ApiKey { place, name, value } => {
                let place = match place {
                    KeyPlace::Header => "header",
                    KeyPlace::Query => "query",
                    KeyPlace::Cookie => "cookie",
                };
                json!({"kind": "api_key", "in": place, "name": name, "value": value.expose_secret()})
            }
            Self::Basic { user, password } => {
                json!({"kind": "basic", "user": user, "password": password.expose_secret()})
            }
        }
    }

    /// What would be wrong with it in a request, for the one who typed it.
    pub fn check(&self) -> Result<(), String> {
        let mut url = Url::parse("https://check.invalid/").map_err(|error| error.to_string())?;
        self.apply(&mut url, &mut HeaderMap::new())
    }

    /// Puts it into a request. The text of an error names no secret.
    pub(crate) fn apply(&self, url: &mut Url, headers: &mut HeaderMap) -> Result<(), String> {
        match self {
            Self::None => {}
            Self::Bearer { token } => {
                headers.insert(AUTHORIZATION, hidden(&format!("Bearer {}", token.expose_secret()))?);
            }
            Self::Basic { user, password } => {
                if user.contains(':') {
                    return Err("the user name must not hold a colon".to_owned());
                }
                let pair = format!("{user}:{}", password.expose_secret());
                let coded = base64::engine::general_purpose::STANDARD.encode(pair);
                headers.insert(AUTHORIZATION, hidden(&format!("Basic {coded}"))?);
            }
            Self::ApiKey { place: KeyPlace::Header, name, value } => {
                let name = HeaderName::try_from(name.as_str())
                    .map_err(|_| format!("{name:?} is no name of a header"))?;
                headers.insert(name, hidden(value.expose_secret())?);
            }
            Self::ApiKey { place: KeyPlace::Query, name, value } => {
                url.query_pairs_mut().append_pair(name, value.expose_secret());
            }
            Self::ApiKey { place: KeyPlace::Cookie, name, value } => {
                headers.insert(COOKIE, hidden(&format!("{name}={}", value.expose_secret()))?);
            }
        }
        Ok(())
    }
}

/// A header's value that `Debug` does not print.
fn hidden(text: &str) -> Result<HeaderValue, String> {
    let mut value = HeaderValue::try_from(text)
        .map_err(|_| "the credential holds characters that no header can carry".to_owned())?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_survives_its_json_and_none_is_printed() {
        for form in [
            json!({"kind": "none"}),
            json!({"kind": "bearer", "token": "s3cret"}),
            json!({"kind": "api_key", "in": "query", "name": "key", "value": "s3cret"}),
            json!({"kind": "basic", "user": "u", "password": "s3cret"}),
        ] {
            let credential: Credential = serde_json::from_value(form.clone()).expect("reads");
            assert_eq!(credential.to_secret_json(), form);
            assert!(!format!("{credential:?}").contains("s3cret"));
            credential.check().expect("fits a request");
        }
    }

    #[test]
    fn a_credential_that_fits_no_header_is_refused_without_naming_it() {
        let refused = Credential::bearer("s3cret\n").check().expect_err("line end");
        assert!(!refused.contains("s3cret"));
    }
}
