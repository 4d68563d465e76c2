//! How a booking system answers: chosen through the control API, kept on disk.

use super::SystemProfile;
use crate::playable::playable;
use crate::seed::Seed;
use crate::store::Store;
use anyhow::Result;
use serde::{Deserialize, Serialize};

playable! {
/// How lookups are answered.
pub enum Lookup {
    /// As the ledger says.
    Ok = "ok",
    /// 503, or another `status`.
    Error = "error",
    /// As if there were no booking.
    Absent = "absent",
    /// Never, or a 504 after `hang_ms`.
    Hang = "hang",
    /// 200 with an error inside.
    ErrorInside = "error_inside",
    /// A list where an object is due, and an object where a list is due.
    WrongShape = "wrong_shape",
    /// Half of the JSON.
    Truncated = "truncated",
    /// A gateway's HTML page with 404.
    Html404 = "html_404",
    /// A gateway's HTML page with 200.
    Html200 = "html_200",
    /// A price below zero.
    PriceNegative = "price_negative",
    /// A price larger than any number of cents.
    PriceHuge = "price_huge",
    /// A price without a currency.
    PriceNoCurrency = "price_without_currency",
    /// A price with an exponent.
    PriceExponent = "price_exponent",
    /// A price in words.
    PriceWords = "price_words",
    /// A status that nobody knows.
    UnknownStatus = "unknown_status",
    /// Somebody else's record where ours is asked for.
    ForeignRecord = "foreign_record",
    /// Two records with one reference, where there is one or none.
    TwoRecords = "two_records",
}
}

playable! {
/// How cancels are answered.
pub enum Cancel {
    /// Done and said so.
    Ok = "ok",
    /// 409, nothing done.
    Conflict = "conflict",
    /// 404, nothing done.
    NotFound = "not_found",
    /// 503, or another `status`, nothing done.
    Error = "error",
    /// Done, and never answered (or a 504 after `hang_ms`).
    Hang = "hang",
    /// Done, and answered with 503, or another `status`.
    DoneButError = "done_but_error",
    /// 200, nothing done. The key is not used up: the same call works when this is over.
    AcceptsAndDoesNothing = "accepts_and_does_nothing",
    /// 202, nothing done. The key is not used up.
    Accepted202 = "accepted_202_does_nothing",
    /// 500, nothing done, and the same answer for this key for ever.
    ErrorForKey = "error_kept_for_key",
    /// Done, but half of the price is kept as a fee.
    PartialRefund = "partial_refund",
}
}

#[expect(clippy::derivable_impls, reason = "the macro marks no default")]
impl Default for Lookup {
    fn default() -> Self {
        Self::Ok
    }
}

#[expect(clippy::derivable_impls, reason = "the macro marks no default")]
impl Default for Cancel {
    fn default() -> Self {
        Self::Ok
    }
}

impl Lookup {
    /// Whether a soak draws it unless told otherwise: not those that say of a booking what no
    /// client could see through, and those that stay true until somebody looks into it.
    pub fn is_seeded(self) -> bool {
        !matches!(self, Self::Ok | Self::Absent | Self::ForeignRecord | Self::TwoRecords)
    }
}

impl Cancel {
    /// Whether a soak draws it unless told otherwise.
    pub fn is_seeded(self) -> bool {
        !matches!(self, Self::Ok | Self::ErrorForKey)
    }
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
    /// After how long a hanging call is answered by a gateway; never where missing.
    pub hang_ms: Option<u64>,
    /// The HTTP status of errors.
    pub status: Option<u16>,
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
/// Chance comes in where nothing is chosen.
pub async fn draw(
    store: &Store,
    system: &SystemProfile,
    faulted: impl Fn(&SystemBehaviour) -> bool,
) -> Result<SystemBehaviour> {
    let behaviour = current(store, system).await?;
    if faulted(&behaviour) {
        return Ok(store.draw(&key(system)).await?.unwrap_or_default());
    }
    match Seed::current(store).await? {
        Some(seed) => Ok(seed.system(store, system.name).await?.unwrap_or(behaviour)),
        None => Ok(behaviour),
    }
}
