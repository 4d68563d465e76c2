//! What a booking system's answer says, by its definition (DESIGN.md §8). Pure.

use super::amount::{money, quote_numbers};
use super::client::LookupBy;
use super::definition::LookupDefinition;
use crate::a2a::{cut, shallow};
use domain::booking::{BookingRead, Record, RecordState};
use domain::money::Money;
use serde_json::Value;

/// The most records that one answer may hold.
const MOST_RECORDS: usize = 200;

/// A read and what people should know beside it.
pub(crate) type Judged = (BookingRead, Option<String>);

fn unknown(reason: impl Into<String>) -> Judged {
    (BookingRead::Unknown(cut(&reason.into(), 500)), None)
}

/// Judges an answer by its status and body.
pub(crate) fn judge(
    lookup: &LookupDefinition,
    by: LookupBy<'_>,
    status: u16,
    body: &[u8],
    depth: usize,
) -> Judged {
    let json = read_json(body, depth);
    if lookup.absent_on.contains(&status) {
        // A gateway's own page is no word of the booking system; 204 has no body to judge by.
        return match json {
            Ok(_) => (BookingRead::Absent, None),
            Err(_) if status == 204 => (BookingRead::Absent, None),
            Err(why) => unknown(format!("HTTP {status}, but not in the system's own words: {why}")),
        };
    }
    if status != 200 {
        return unknown(format!("HTTP {status}"));
    }
    let json = match json {
        Ok(json) => json,
        Err(why) => return unknown(why),
    };
    match by {
        LookupBy::Reference(reference) => by_reference(lookup, reference, &json),
        LookupBy::Confirmation(confirmation) => by_confirmation(lookup, confirmation, &json),
    }
}

/// The body with its numbers as texts.
fn read_json(body: &[u8], depth: usize) -> Result<Value, String> {
    let text = std::str::from_utf8(body).map_err(|_| "the answer is no text".to_owned())?;
    let text = text.trim_start_matches('\u{feff}');
    if !shallow(text.as_bytes(), depth) {
        return Err("the answer is nested too deeply".to_owned());
    }
    let checked: Result<serde::de::IgnoredAny, _> = serde_json::from_str(text);
    checked.map_err(|error| format!("the answer is no JSON: {error}"))?;
    serde_json::from_str(&quote_numbers(text)).map_err(|error| format!("the answer is no JSON: {error}"))
}

/// All bookings of a reference: one that cannot be read makes the whole read unknown.
fn by_reference(lookup: &LookupDefinition, reference: &str, json: &Value) -> Judged {
    let Some(items) = json.pointer(&lookup.items).and_then(Value::as_array) else {
        return unknown(format!("no list at {:?}", lookup.items));
    };
    if items.is_empty() {
        return if lookup.absent_on_empty {
            (BookingRead::Absent, None)
        } else {
            unknown("an empty list, which the definition does not believe")
        };
    }
    if items.len() > MOST_RECORDS {
        return unknown(format!("more than {MOST_RECORDS} bookings"));
    }
    let (mut ours, mut others) = (Vec::new(), 0);
    for item in items {
        match record(lookup, item) {
            Ok(Some(record))
                if lookup.reference.is_some() && record.reference.as_deref() != Some(reference) =>
            {
                others += 1;
            }
            Ok(Some(record)) => ours.push(record),
            Ok(None) => return unknown("an item that is no object"),
            Err(why) => return unknown(why),
        }
    }
    // A system that shows other references does not filter, and may show only its first page.
    match (ours.is_empty(), others) {
        (true, _) => unknown(format!("{others} bookings, all of other references")),
        (false, 0) => (BookingRead::Found(ours), None),
        (false, _) => {
            (BookingRead::Found(ours), Some(format!("{others} bookings of other references were ignored")))
        }
    }
}

/// One booking by its confirmation.
fn by_confirmation(lookup: &LookupDefinition, confirmation: &str, json: &Value) -> Judged {
    let Some(item) = json.pointer(&lookup.item) else {
        return unknown(format!("nothing at {:?}", lookup.item));
    };
    match record(lookup, item) {
        Ok(Some(record)) if record.confirmation == confirmation => (BookingRead::Found(vec![record]), None),
        Ok(Some(record)) => {
            unknown(format!("the answer is about booking {}", cut(&record.confirmation, 100)))
        }
        Ok(None) => unknown(format!("no object at {:?}", lookup.item)),
        Err(why) => unknown(why),
    }
}

/// One record; `None` where there is no object.
fn record(lookup: &LookupDefinition, item: &Value) -> Result<Option<Record>, String> {
    if !item.is_object() {
        return Ok(None);
    }
    let confirmation = required(item, "confirmation", &lookup.confirmation)?;
    if confirmation.is_empty() || confirmation.len() > 500 || confirmation.contains('\0') {
        return Err("a confirmation that cannot be one".to_owned());
    }
    let word = required(item, "state", &lookup.state)?;
    let state = if lookup.present.contains(&word) {
        RecordState::Present
    } else if lookup.absent.contains(&word) {
        RecordState::Absent
    } else {
        return Err(format!("{:?} is no state that the definition knows", cut(&word, 100)));
    };
    let reference = match &lookup.reference {
        Some(pointer) => optional(item, "reference", pointer)?,
        None => None,
    };
    let (price, fee) = amounts(lookup, item)?;
    Ok(Some(Record { confirmation, reference, state, price, fee }))
}

/// Price and fee, both in the record's currency. A price that is defined must be there; a fee
/// may be `null`, which says that none is known.
fn amounts(lookup: &LookupDefinition, item: &Value) -> Result<(Option<Money>, Option<Money>), String> {
    let price = match &lookup.price {
        Some(pointer) => Some(required(item, "price", pointer)?),
        None => None,
    };
    let fee = match &lookup.fee {
        Some(pointer) => optional(item, "fee", pointer)?,
        None => None,
    };
    if price.is_none() && fee.is_none() {
        return Ok((None, None));
    }
    let pointer = lookup.currency.as_deref().ok_or("the definition names no currency")?;
    let currency = required(item, "currency", pointer)?;
    let read = |amount: Option<String>| amount.map(|amount| money(&amount, &currency)).transpose();
    Ok((read(price)?, read(fee)?))
}

/// A text that must be there.
fn required(item: &Value, what: &str, pointer: &str) -> Result<String, String> {
    optional(item, what, pointer)?.ok_or_else(|| format!("no {what} at {pointer:?}: it is null"))
}

/// A text, or none where the pointer runs into `null`. A pointer that finds nothing is an error.
fn optional(item: &Value, what: &str, pointer: &str) -> Result<Option<String>, String> {
    match item.pointer(pointer) {
        Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(Value::Bool(flag)) => Ok(Some(flag.to_string())),
        Some(_) => Err(format!("the {what} at {pointer:?} is no text")),
        None if null_above(item, pointer) => Ok(None),
        None => Err(format!("no {what} at {pointer:?}")),
    }
}

/// Whether something on the pointer's way is `null`, for example `/fee` of `/fee/amount`.
fn null_above(item: &Value, pointer: &str) -> bool {
    let ends = pointer.match_indices('/').map(|(end, _)| end);
    ends.skip(1).any(|end| item.pointer(&pointer[..end]).is_some_and(Value::is_null))
}
