//! The calls to booking systems, and their HTTP implementation.

use super::answer;
use super::definition::BookingSystem;
use crate::a2a::{Call, Connection, Http, cut};
use async_trait::async_trait;
use bytes::Bytes;
use domain::booking::{BookingRead, CancelAnswer};
use domain::failure::Phase;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method};
use std::sync::Arc;
use std::time::Duration;

/// How much of an answer is kept as evidence.
const RAW_BYTES: usize = 16 << 10;

/// What a booking is looked up by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookupBy<'a> {
    /// A delegation's reference: all bookings under it.
    Reference(&'a str),
    /// A confirmation, for example the one that an agent claims.
    Confirmation(&'a str),
}

/// One lookup: what it found, and what came over the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookupRead {
    /// What it found.
    pub result: BookingRead,
    /// What people should know beside it, for example that other bookings were ignored.
    pub note: Option<String>,
    /// The HTTP status, where there was an answer.
    pub status: Option<u16>,
    /// The answer's body as received, cut at 16 kB.
    pub raw: String,
}

/// One undo, as journaled: the same call carries the same key and body (DESIGN.md §8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CancelCall<'a> {
    /// The booking. Without one, everything under the reference, where the system can do that.
    pub confirmation: Option<&'a str>,
    /// The reference that the booking was made under.
    pub reference: Option<&'a str>,
    /// The journaled Idempotency-Key.
    pub idempotency_key: &'a str,
    /// The journaled body, sent byte for byte.
    pub body: &'a str,
}

/// The calls to booking systems. Nothing is retried in here.
///
/// Cancel safety: dropping `lookup` loses a read; a dropped `cancel` may have arrived.
#[async_trait]
pub trait BookingClient: Send + Sync {
    /// Asks for bookings. Never fails: what cannot be told is `Unknown` with the reason.
    async fn lookup(&self, system: &BookingSystem, by: LookupBy<'_>) -> LookupRead;

    /// Undoes a booking. Only following reads say whether it is gone.
    async fn cancel(&self, system: &BookingSystem, call: &CancelCall<'_>, limit: Duration) -> CancelAnswer;
}

/// The client over HTTP.
pub struct HttpBookings {
    http: Arc<Http>,
}

impl HttpBookings {
    /// A client over the shared HTTP clients.
    pub fn new(http: Arc<Http>) -> Self {
        Self { http }
    }
}

fn headers() -> HeaderMap {
    HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))])
}

fn raw(body: &[u8]) -> String {
    // What is no UTF-8 grows when it is replaced, so the text is cut again.
    cut(&String::from_utf8_lossy(&body[..body.len().min(RAW_BYTES)]), RAW_BYTES)
}

#[async_trait]
impl BookingClient for HttpBookings {
    async fn lookup(&self, system: &BookingSystem, by: LookupBy<'_>) -> LookupRead {
        let unknown = |status, reason: String| LookupRead {
            result: BookingRead::Unknown(cut(&reason, 500)),
            note: None,
            status,
            raw: String::new(),
        };
        let lookup = &system.lookup;
        let url = match (by, &lookup.by_confirmation) {
            (LookupBy::Reference(reference), _) => system.url(&lookup.url, Some(reference), None),
            (LookupBy::Confirmation(confirmation), Some(template)) => {
                system.url(template, None, Some(confirmation))
            }
            (LookupBy::Confirmation(_), None) => Err("the system has no lookup by confirmation".to_owned()),
        };
        let url = match url {
            Ok(url) => url,
            Err(why) => return unknown(None, why),
        };
        let call = Call {
            method: Method::GET,
            url,
            headers: headers(),
            body: Bytes::new(),
            credential: &system.credential,
            connection: Connection::Kept,
        };
        let answer = match self.http.call(call, self.http.limits.read).await {
            Ok(answer) => answer,
            Err(fault) => return unknown(fault.evidence.http_status, fault.text),
        };
        let (result, note) =
            answer::judge(lookup, by, answer.status, &answer.body, self.http.limits.json_depth);
        LookupRead { result, note, status: Some(answer.status), raw: raw(&answer.body) }
    }

    async fn cancel(&self, system: &BookingSystem, call: &CancelCall<'_>, limit: Duration) -> CancelAnswer {
        let request = match request(system, call) {
            Ok(request) => request,
            Err(why) => return CancelAnswer::NotSent(why),
        };
        let answer = match self.http.call(request, limit).await {
            Ok(answer) => answer,
            Err(fault) if fault.evidence.phase == Phase::NotWritten => {
                return CancelAnswer::NotSent(fault.text);
            }
            Err(fault) => return CancelAnswer::Unknown(fault.text),
        };
        let text = raw(&answer.body);
        match answer.status {
            200..300 => CancelAnswer::Accepted(text),
            408 => CancelAnswer::Unknown("HTTP 408".to_owned()),
            status @ 400..500 => CancelAnswer::Refused { status, text },
            status => CancelAnswer::Unknown(format!("HTTP {status}: {}", cut(&text, 300))),
        }
    }
}

/// The request of an undo, or why there is none.
fn request<'a>(system: &'a BookingSystem, call: &CancelCall<'_>) -> Result<Call<'a>, String> {
    let cancel = system.cancel.as_ref().ok_or("the system has no cancel call")?;
    let template = match (call.confirmation, &cancel.by_reference) {
        (Some(_), _) => &cancel.url,
        (None, Some(template)) if call.reference.is_some() => template,
        (None, _) => return Err("the system has no cancel by reference".to_owned()),
    };
    let url = system.url(template, call.reference, call.confirmation)?;
    let key = HeaderValue::try_from(call.idempotency_key).map_err(|error| error.to_string())?;
    let mut headers = headers();
    headers.insert("idempotency-key", key);
    if !call.body.is_empty() {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    Ok(Call {
        method: BookingSystem::cancel_method(cancel)?,
        url,
        headers,
        body: Bytes::copy_from_slice(call.body.as_bytes()),
        credential: &system.credential,
        connection: Connection::Fresh,
    })
}
