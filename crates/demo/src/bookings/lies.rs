//! What lookups say of the ledger when they do not say it as it is.

use super::behaviour::Lookup;
use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// The bookings under a reference.
pub fn list(lookup: Lookup, mut bookings: Vec<Value>, reference: &str) -> Response {
    match lookup {
        Lookup::Absent => bookings.clear(),
        Lookup::WrongShape => {
            let first = bookings.into_iter().next().unwrap_or_else(|| json!({}));
            return Json(json!({ "bookings": first })).into_response();
        }
        Lookup::ForeignRecord => bookings = vec![foreign(reference)],
        Lookup::TwoRecords => {
            let first = bookings.first().cloned().unwrap_or_else(|| foreign(reference));
            let twin = json!({ "id": format!("{}-2", first["id"].as_str().unwrap_or("XX")) });
            bookings = vec![first.clone(), merged(first, &twin)];
            bookings.iter_mut().for_each(|booking| booking["reference"] = json!(reference));
        }
        _ => bookings.iter_mut().for_each(|booking| distort(lookup, booking)),
    }
    said(lookup, StatusCode::OK, &json!({ "bookings": bookings }))
}

/// One booking by its confirmation.
pub fn one(lookup: Lookup, booking: Option<Value>, confirmation: &str) -> Response {
    let missing = json!({ "error": format!("There is no booking {confirmation}.") });
    match (lookup, booking) {
        (Lookup::ForeignRecord, _) => {
            let id = json!({ "id": confirmation });
            said(lookup, StatusCode::OK, &merged(foreign("somebody-else"), &id))
        }
        (Lookup::Absent, _) | (_, None) => said(lookup, StatusCode::NOT_FOUND, &missing),
        (Lookup::WrongShape, Some(booking)) => said(lookup, StatusCode::OK, &json!([booking])),
        (_, Some(mut booking)) => {
            distort(lookup, &mut booking);
            said(lookup, StatusCode::OK, &booking)
        }
    }
}

/// The record of somebody whose reference only looks like the one that was asked for.
fn foreign(reference: &str) -> Value {
    json!({
        "id": "ZZ-F0RE1G", "reference": format!("{reference}-of-somebody-else"), "status": "CONFIRMED",
        "total": { "amount": "1.00", "currency": "EUR" }, "fee": { "amount": "0.00", "currency": "EUR" },
        "title": "A booking of somebody else", "details": { "travellers": 1, "destination": "Elsewhere" },
    })
}

fn merged(mut record: Value, over: &Value) -> Value {
    for (name, value) in over.as_object().into_iter().flatten() {
        record[name] = value.clone();
    }
    record
}

fn distort(lookup: Lookup, booking: &mut Value) {
    match lookup {
        Lookup::PriceNegative => booking["total"]["amount"] = json!("-412.00"),
        Lookup::PriceHuge => {
            booking["total"]["amount"] = json!("99999999999999999999999999999999999999999.99")
        }
        Lookup::PriceExponent => booking["total"]["amount"] = json!("4.12e2"),
        Lookup::PriceWords => booking["total"]["amount"] = json!("four hundred"),
        Lookup::PriceNoCurrency => {
            if let Some(total) = booking["total"].as_object_mut() {
                total.remove("currency");
            }
        }
        Lookup::UnknownStatus => booking["status"] = json!("ON_HOLD"),
        _ => {}
    }
}

/// The answer, or what a gateway makes of it.
fn said(lookup: Lookup, status: StatusCode, body: &Value) -> Response {
    let page = |status: StatusCode| {
        let page = "<!doctype html><html><body><h1>No such page</h1></body></html>";
        (status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response()
    };
    match lookup {
        Lookup::Html404 => page(StatusCode::NOT_FOUND),
        Lookup::Html200 => page(StatusCode::OK),
        Lookup::ErrorInside => {
            let error = json!({ "error": { "code": 1403, "message": "The index is being rebuilt." } });
            Json(error).into_response()
        }
        Lookup::Truncated => {
            let text = body.to_string();
            let half = text[..text.floor_char_boundary(text.len() / 2)].to_owned();
            (status, [(header::CONTENT_TYPE, "application/json")], half).into_response()
        }
        _ => (status, Json(body)).into_response(),
    }
}
