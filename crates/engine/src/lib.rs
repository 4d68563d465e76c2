//! The shell around [`domain`]: the store, the loop that drives trips, the clients of agents and
//! booking systems, and the doors that the server and the pages use.
//!
//! A newcomer begins with [`driver`], which follows the one path: lease, load, observe, decide,
//! record, act. People's writes are in [`commands`], read models in [`query`]. No `a2a` and no
//! `sqlx` type appears in a public signature.

pub mod a2a;
pub mod accounts;
pub mod booking;
pub mod clock;
pub mod commands;
pub mod query;
pub mod registry;

use std::sync::Arc;

/// The engine's handle: cheap to clone, shared by the loop, the pages and the API.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

#[allow(dead_code)]
struct Inner {}

/// A failure of the journal. Nothing of the failed transaction was recorded.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database refused or was not reachable.
    #[error("database: {0}")]
    Database(String),
    /// A row does not say what this version expects.
    #[error("row not understood: {0}")]
    Row(String),
}
