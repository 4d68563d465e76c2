//! The client of booking systems, which are data: lookup and cancel as their definition says.
//!
//! A lookup ends in a [`BookingRead`](domain::booking::BookingRead): found, absent, or unknown
//! with the reason. Unknown is the answer to everything that the definition does not plainly
//! cover — a gateway's page, a timeout, a word or a price that cannot be read — and it is never
//! absent (DESIGN.md §8). Nothing here decides what follows.

mod amount;
mod answer;
mod client;
mod definition;

pub use client::{BookingClient, CancelCall, HttpBookings, LookupBy, LookupRead};
pub use definition::{BookingSystem, CancelDefinition, LookupDefinition};
