//! One HTTP call, told apart by what it can prove (DESIGN.md §7): nothing left us, something
//! may have arrived, or an answer. Agents and booking systems are both called through here.
//!
//! - No redirects, no retries of reqwest, no proxies from the environment, HTTP/1.1 only.
//! - A call that changes something uses a connection of its own ([`Connection::Fresh`]): on a
//!   kept one that the server has just closed, "was it read?" has no answer, and hyper would
//!   try again by itself.
//! - reqwest's `is_connect()` covers DNS, TCP and TLS, but not a time limit that strikes while
//!   connecting. So the body passes a [`Gate`]: it is handed out once at most, and not at all
//!   after the call was given up. A closed gate proves that no agent can have read the request.
//! - Bodies are read up to a limit; no compression is offered, so the limit is also the size
//!   unpacked (faults.md F-40).
//!
//! Cancel safety: dropping a call's future closes its connection; what had been written stays
//! written, so a dropped send is in doubt.

use super::credential::Credential;
use super::limits::Limits;
use crate::net::{AddressPolicy, GuardedResolver};
use bytes::Bytes;
use domain::failure::{Evidence, Phase};
use domain::time::{Millis, Span};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, DATE, RETRY_AFTER};
use http::{HeaderMap, Method};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;
use tokio::time::Instant;
use url::Url;

/// The shared HTTP clients, with the policy and limits that hold for all of them.
pub struct Http {
    fresh: reqwest::Client,
    kept: reqwest::Client,
    /// Which addresses may be connected to.
    pub policy: AddressPolicy,
    /// How much of an answer is read.
    pub limits: Limits,
}

/// Whether a call may use a connection that an earlier one left open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Connection {
    /// Its own: for everything that changes something.
    Fresh,
    /// Any: for reads.
    Kept,
}

/// One call, before it is made.
pub(crate) struct Call<'a> {
    pub method: Method,
    pub url: Url,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub credential: &'a Credential,
    pub connection: Connection,
}

/// An answer, read to its end.
pub(crate) struct HttpAnswer {
    pub status: u16,
    pub retry_after: Option<Span>,
    pub date: Option<Millis>,
    pub content_type: String,
    pub body: Bytes,
}

/// A call without a whole answer.
pub(crate) struct Fault {
    pub evidence: Evidence,
    /// The answer was cut because it was larger than the limit.
    pub too_large: bool,
    pub text: String,
}

impl Fault {
    pub(crate) fn not_written(text: String) -> Self {
        Self { evidence: Evidence::not_written(), too_large: false, text }
    }
}

impl Http {
    /// Builds the clients. Fails only where TLS cannot be set up.
    pub fn new(policy: AddressPolicy, limits: Limits) -> Result<Self, String> {
        // An error says that a provider is installed already, which is all that is needed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = |idle: usize| {
            reqwest::Client::builder()
                .redirect(reqwest::redirect::Policy::none())
                .retry(reqwest::retry::never())
                .no_proxy()
                .http1_only()
                .referer(false)
                .connect_timeout(limits.connect)
                .pool_max_idle_per_host(idle)
                .pool_idle_timeout(Duration::from_secs(20))
                .tcp_nodelay(true)
                .dns_resolver(GuardedResolver::new(policy.clone()))
                .user_agent(concat!("holdfast/", env!("CARGO_PKG_VERSION")))
                .build()
                .map_err(|error| chain(&error))
        };
        Ok(Self { fresh: builder(0)?, kept: builder(8)?, policy, limits })
    }

    /// Makes a call and reads its answer, all within `limit`.
    pub(crate) async fn call(&self, call: Call<'_>, limit: Duration) -> Result<HttpAnswer, Fault> {
        let deadline = Instant::now() + limit;
        let response = self.open(call, deadline).await?;
        read(response, deadline, self.limits.body_bytes).await
    }

    /// Makes a call and returns when the head of the answer has come.
    pub(crate) async fn open(&self, call: Call<'_>, deadline: Instant) -> Result<reqwest::Response, Fault> {
        self.policy.check_url(&call.url).map_err(Fault::not_written)?;
        let Call { method, mut url, mut headers, body, credential, connection } = call;
        credential.apply(&mut url, &mut headers).map_err(Fault::not_written)?;
        let host = url.host_str().unwrap_or_default().to_owned();
        let client = match connection {
            Connection::Fresh => &self.fresh,
            Connection::Kept => &self.kept,
        };
        let gate = Arc::new(Gate::default());
        let gated = !body.is_empty();
        let mut request = client.request(method, url);
        if gated {
            headers.insert(CONTENT_LENGTH, body.len().into());
            request = request.body(Gate::guard(Arc::clone(&gate), body));
        }
        let sent = tokio::time::timeout_at(deadline, request.headers(headers).send()).await;
        let (text, connecting) = match sent {
            Ok(Ok(response)) => return Ok(response),
            Ok(Err(error)) => (chain(&error), error.is_connect() || error.is_builder()),
            Err(_) => ("no answer within the time limit".to_owned(), false),
        };
        let phase = if connecting || (gated && gate.close()) { Phase::NotWritten } else { Phase::AfterWrite };
        let evidence = Evidence { phase, ..Evidence::lost() };
        Err(Fault { evidence, too_large: false, text: format!("{host}: {text}") })
    }
}

/// Reads the rest of an answer, up to `most` bytes.
pub(crate) async fn read(
    mut response: reqwest::Response,
    deadline: Instant,
    most: usize,
) -> Result<HttpAnswer, Fault> {
    let mut answer = head(&response);
    let fault = |answer: &HttpAnswer, too_large: bool, text: String| Fault {
        evidence: Evidence {
            http_status: Some(answer.status),
            retry_after: answer.retry_after,
            unparsable: true,
            ..Evidence::lost()
        },
        too_large,
        text,
    };
    let mut body = Vec::new();
    loop {
        match tokio::time::timeout_at(deadline, response.chunk()).await {
            Ok(Ok(Some(chunk))) if body.len() + chunk.len() > most => {
                return Err(fault(&answer, true, format!("the answer is larger than {most} bytes")));
            }
            Ok(Ok(Some(chunk))) => body.extend_from_slice(&chunk),
            Ok(Ok(None)) => break,
            Ok(Err(error)) => {
                return Err(fault(&answer, false, format!("the answer broke off: {}", chain(&error))));
            }
            Err(_) => {
                return Err(fault(&answer, false, "the answer did not end within the time limit".to_owned()));
            }
        }
    }
    answer.body = body.into();
    Ok(answer)
}

/// The head of an answer, with an empty body.
pub(crate) fn head(response: &reqwest::Response) -> HttpAnswer {
    let headers = response.headers();
    let date = headers.get(DATE).and_then(http_date);
    let retry_after = headers.get(RETRY_AFTER).and_then(|value| {
        let seconds = value.to_str().ok().and_then(|text| text.trim().parse::<i64>().ok());
        seconds.map(Span::seconds).or_else(|| Some(http_date(value)? - date?))
    });
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    HttpAnswer {
        status: response.status().as_u16(),
        retry_after,
        date,
        content_type: content_type.to_ascii_lowercase(),
        body: Bytes::new(),
    }
}

fn http_date(value: &http::HeaderValue) -> Option<Millis> {
    let zoned = jiff::fmt::rfc2822::parse(value.to_str().ok()?).ok()?;
    Some(Millis(zoned.timestamp().as_millisecond()))
}

/// An error with its sources in one line. The URL stays out: it may hold a key.
fn chain(error: &reqwest::Error) -> String {
    let mut text = String::new();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        let part = error.to_string();
        if !text.contains(&part) {
            if !text.is_empty() {
                text.push_str(": ");
            }
            text.push_str(&part);
        }
        source = error.source();
    }
    if text.is_empty() {
        text = "the request could not be made".to_owned();
    }
    super::limits::cut(&text, 300)
}

/// Hands out a request's body once at most, and never after the call was given up.
#[derive(Default)]
struct Gate {
    state: AtomicU8,
}

impl Gate {
    const WAITING: u8 = 0;
    const PASSED: u8 = 1;
    const CLOSED: u8 = 2;

    fn guard(gate: Arc<Self>, body: Bytes) -> reqwest::Body {
        reqwest::Body::wrap_stream(futures::stream::once(async move {
            if gate.step(Self::PASSED) { Ok(body) } else { Err(std::io::Error::other("given up")) }
        }))
    }

    /// Whether the body was never handed out; from here on it never will be.
    fn close(&self) -> bool {
        self.step(Self::CLOSED)
    }

    fn step(&self, to: u8) -> bool {
        self.state.compare_exchange(Self::WAITING, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}
