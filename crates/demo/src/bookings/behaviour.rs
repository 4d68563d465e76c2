//! How a booking system answers: chosen through the control API, kept on disk.

use super::SystemProfile;
use crate::store::Store;
use anyhow::Result;
use serde::{Deserialize, Serialize};

/// How lookups are answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lookup {
    /// As the ledger says.
    #[default]
    Ok,
    /// 503.
    Error,
    /// As if there were no booking.
    Absent,
    /// Never.
    Hang,
}

/// How cancels are answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cancel {
    /// Done and said so.
    #[default]
    Ok,
    /// 409, nothing done.
    Conflict,
    /// 503, nothing done.
    Error,
    /// Done, and never answered.
    Hang,
    /// 200, nothing done. The key is not used up: the same call works when this is over.
    AcceptsAndDoesNothing,
}

/// A chosen behaviour.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SystemBehaviour {
    /// Lookups.
    pub lookup: Lookup,
    /// Cancels.
    pub cancel: Cancel,
    /// How long lookups show the state before a booking or a cancel.
    pub lag_ms: i64,
    /// How many faulted calls, then all is well again; for ever where missing.
    pub times: Option<u32>,
}

fn key(system: &SystemProfile) -> String {
    format!("system/{}", system.name)
}

/// Chooses.
pub async fn choose(store: &Store, system: &SystemProfile, behaviour: &SystemBehaviour) -> Result<()> {
    store.set(&key(system), behaviour).await
}

/// What is chosen at present.
pub async fn current(store: &Store, system: &SystemProfile) -> Result<SystemBehaviour> {
    Ok(store.setting(&key(system)).await?.unwrap_or_default())
}

/// What the next call meets; uses one of the times up where `faulted` says that it meets a fault.
pub async fn draw(
    store: &Store,
    system: &SystemProfile,
    faulted: impl FnOnce(&SystemBehaviour) -> bool,
) -> Result<SystemBehaviour> {
    let behaviour = current(store, system).await?;
    if faulted(&behaviour) {
        return Ok(store.draw(&key(system)).await?.unwrap_or_default());
    }
    Ok(behaviour)
}
