//! The booking systems: the companies' own records, read and changed over HTTP, independent of
//! the agents that book there.

pub mod behaviour;
pub mod ledger;
pub mod lies;
pub mod routes;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The key that agents book with. Anyone on this machine may know it: it guards nothing.
pub const AGENT_KEY: &str = "demo-agent-key";

/// Who a booking system is.
#[derive(Clone, Copy, Debug)]
pub struct SystemProfile {
    /// The name that it is registered under.
    pub name: &'static str,
    /// The company.
    pub title: &'static str,
    /// What its confirmations begin with.
    pub prefix: &'static str,
}

/// The booking systems of the world.
pub static SYSTEMS: [SystemProfile; 4] = [
    SystemProfile { name: "northwind-air", title: "Northwind Air", prefix: "NW" },
    SystemProfile { name: "harbour-hotels", title: "Harbour Hotels", prefix: "HH" },
    SystemProfile { name: "citycar-records", title: "CityCar", prefix: "CC" },
    SystemProfile { name: "metrocar-records", title: "MetroCar", prefix: "MC" },
];

impl SystemProfile {
    /// The exact body for Holdfast's `POST /api/v1/booking-systems`.
    pub fn registration(&self, url: &str) -> Value {
        json!({
            "name": self.name,
            "base_url": url,
            "lookup": {
                "url": "/bookings{?reference}",
                "items": "/bookings",
                "by_confirmation": "/bookings/{confirmation}",
                "item": "",
                "confirmation": "/id",
                "reference": "/reference",
                "state": "/status",
                "present": ["CONFIRMED"],
                "absent": ["CANCELLED"],
                "absent_on": [404],
                "absent_on_empty": true,
                "price": "/total/amount",
                "currency": "/total/currency",
                "fee": "/fee/amount",
            },
            "cancel": {
                "method": "POST",
                "url": "/bookings/{confirmation}/cancel",
                "by_reference": null,
                "idempotent": true,
            },
            "settle_seconds": 3,
        })
    }
}

/// What an agent sends to make a booking.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NewBooking {
    /// The client's reference.
    pub reference: String,
    /// Who books.
    pub agent: String,
    /// Its task.
    pub task: String,
    /// The booking in one line.
    pub title: String,
    /// Its details.
    pub details: Value,
    /// Its price in cents.
    pub total_cents: i64,
    /// What is kept when it is cancelled, in cents.
    pub fee_cents: i64,
    /// When it may be cancelled, in words.
    pub rule: String,
}
