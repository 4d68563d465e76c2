//! How an agent treats its next new tasks: chosen through the control API, kept on disk.

use super::Profile;
use crate::store::Store;
use anyhow::Result;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What an agent does with a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Works, books, completes.
    Works,
    /// Asks one question, then works.
    Asks,
    /// Asks two questions, one after the other, then works.
    AsksTwice,
    /// Wants an authorisation, then works.
    Auth,
    /// Says no, with a reason.
    Rejects,
    /// Fails without a booking.
    Fails,
    /// Books, then fails.
    FailsAfterBooking,
    /// Completes with a confirmation that it made up.
    ClaimsWithoutBooking,
    /// Works, after a long time.
    Slow,
    /// Books and answers with a bare message instead of a task.
    RepliesWithMessage,
    /// Says that it works, for ever.
    GoesQuiet,
}

impl Kind {
    /// All of them, in the order of the control page.
    pub const ALL: [Self; 11] = [
        Self::Works,
        Self::Asks,
        Self::AsksTwice,
        Self::Auth,
        Self::Rejects,
        Self::Fails,
        Self::FailsAfterBooking,
        Self::ClaimsWithoutBooking,
        Self::Slow,
        Self::RepliesWithMessage,
        Self::GoesQuiet,
    ];

    /// How many questions it asks.
    pub fn questions(self) -> usize {
        match self {
            Self::Asks => 1,
            Self::AsksTwice => 2,
            _ => 0,
        }
    }

    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::Asks => "asks",
            Self::AsksTwice => "asks_twice",
            Self::Auth => "auth",
            Self::Rejects => "rejects",
            Self::Fails => "fails",
            Self::FailsAfterBooking => "fails_after_booking",
            Self::ClaimsWithoutBooking => "claims_without_booking",
            Self::Slow => "slow",
            Self::RepliesWithMessage => "replies_with_message",
            Self::GoesQuiet => "goes_quiet",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A chosen behaviour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Behaviour {
    /// What it does.
    pub behaviour: Kind,
    /// How long it works before each thing that it says last; half a second where missing, half a
    /// minute for `slow`.
    #[serde(default)]
    pub delay_ms: Option<u64>,
    /// Whether the HTTP answer to the message that made the task is withheld.
    #[serde(default)]
    pub hold_answer: bool,
    /// The reason that it gives for a rejection or a failure.
    #[serde(default)]
    pub reason: Option<String>,
    /// For how many new tasks; for all where missing.
    #[serde(default)]
    pub times: Option<u32>,
}

impl Behaviour {
    /// A behaviour of so many milliseconds, and nothing else about it.
    pub fn new(behaviour: Kind, delay_ms: u64) -> Self {
        Self { behaviour, delay_ms: Some(delay_ms), hold_answer: false, reason: None, times: None }
    }

    /// How long it works.
    pub fn delay_ms(&self) -> u64 {
        self.delay_ms.unwrap_or(if self.behaviour == Kind::Slow { 30_000 } else { 500 })
    }
}

fn key(profile: &Profile, which: &str) -> String {
    format!("agent/{}/{which}", profile.name)
}

/// Chooses. A behaviour with `times` goes before the standing one until it is used up.
pub async fn choose(store: &Store, profile: &Profile, behaviour: &Behaviour) -> Result<()> {
    match behaviour.times {
        Some(0) => store.unset(&key(profile, "next")).await,
        Some(_) => store.set(&key(profile, "next"), behaviour).await,
        None => {
            store.unset(&key(profile, "next")).await?;
            store.set(&key(profile, "standing"), behaviour).await
        }
    }
}

/// What the next new task will meet.
pub async fn current(store: &Store, profile: &Profile) -> Result<Behaviour> {
    if let Some(next) = store.setting(&key(profile, "next")).await? {
        return Ok(next);
    }
    let standing = store.setting(&key(profile, "standing")).await?;
    Ok(standing.unwrap_or_else(|| profile.untouched()))
}

/// Takes the behaviour for a new task, and uses up one of its times.
pub async fn draw(store: &Store, profile: &Profile) -> Result<Behaviour> {
    match store.draw(&key(profile, "next")).await? {
        Some(next) => Ok(next),
        None => current(store, profile).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_json() {
        for kind in Kind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
    }
}
