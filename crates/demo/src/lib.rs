//! The demo world: four agents on the official A2A server crate, and the booking systems of the
//! four companies that they book at.
//!
//! A foreign party: it uses no crate of Holdfast and knows it only as a client of its agents.
//! Everything that it must remember (tasks, ledgers, request logs, chosen behaviours, ports) is in
//! one SQLite file, so that killing either side leaves the other's state alone.

pub mod agents;
pub mod bookings;
pub mod clock;
pub mod control;
pub mod faults;
mod playable;
pub mod register;
pub mod requests;
pub mod seed;
pub mod site;
pub mod store;
pub mod world;

/// Chooses the TLS provider of this process, where none is chosen yet.
pub fn choose_tls() {
    // An error says that another crate of this process chose one before, which serves as well.
    if rustls::crypto::ring::default_provider().install_default().is_err() {
        tracing::debug!("TLS is set up already");
    }
}
