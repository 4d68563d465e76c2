//! How an agent treats its next new tasks: chosen through the control API, kept on disk.

use super::Profile;
use crate::playable::playable;
use crate::seed::Seed;
use crate::store::Store;
use anyhow::Result;
use serde::{Deserialize, Serialize};
use std::time::Duration;

playable! {
/// What an agent does with a task.
pub enum Kind {
    /// Works, books, completes.
    Works = "works",
    /// Asks one question, then works.
    Asks = "asks",
    /// Asks two questions, one after the other, then works.
    AsksTwice = "asks_twice",
    /// Asks the same question twice, in the same words, then works.
    AsksSameTwice = "asks_same_twice",
    /// Wants an authorisation, then works.
    Auth = "auth",
    /// Wants an authorisation, and goes on by itself `late_ms` later.
    AuthClears = "auth_clears",
    /// Says no, with a reason.
    Rejects = "rejects",
    /// Books, then says no.
    RejectsButBooks = "rejects_but_books",
    /// Fails without a booking.
    Fails = "fails",
    /// Books, then fails.
    FailsAfterBooking = "fails_after_booking",
    /// Books, fails, and cancels its own booking `late_ms` later.
    FailsThenUndoes = "fails_then_undoes",
    /// Fails, and books `late_ms` later all the same.
    FailsBooksLate = "fails_books_late",
    /// Fails, and `late_ms` later has booked and completed all the same.
    CompletesAfterFailing = "completes_after_failing",
    /// Completes with a confirmation that it made up.
    ClaimsWithoutBooking = "claims_without_booking",
    /// Completes, and books `late_ms` later.
    BooksLate = "books_late",
    /// Books twice for one task, then completes.
    BooksTwice = "books_twice",
    /// Books at once, works on for `delay_ms`, then completes.
    BooksThenDawdles = "books_then_dawdles",
    /// Books, then knows nothing of the task any more.
    BooksThenForgets = "books_then_forgets",
    /// Books, then completes without a word or an artifact.
    CompletesBare = "completes_bare",
    /// Is in a state that nobody knows for `delay_ms`, then works.
    UnknownState = "unknown_state",
    /// Works, after a long time.
    Slow = "slow",
    /// Books and answers with a bare message instead of a task.
    RepliesWithMessage = "replies_with_message",
    /// Answers with a bare message that it got the order, and books `late_ms` later.
    Acknowledges = "acknowledges",
    /// Says that it works, for ever.
    GoesQuiet = "goes_quiet",
}
}

playable! {
/// What else may be odd about a task, whatever the agent does with it.
pub enum Quirk {
    /// A cancel is answered with the task, which goes on as if nothing had been said.
    IgnoresCancel = "ignores_cancel",
    /// A cancelled task is CANCELED, and is booked `late_ms` later all the same.
    BooksThoughCancelled = "books_though_cancelled",
    /// A message to the task while it works makes a second booking.
    BusyBooksTwice = "busy_books_twice",
    /// A reply is answered by another task; the first waits on for ever.
    Forks = "forks",
}
}

impl Kind {
    /// How many questions it asks.
    pub fn questions(self) -> usize {
        match self {
            Self::Asks => 1,
            Self::AsksTwice | Self::AsksSameTwice => 2,
            _ => 0,
        }
    }

    /// Whether it answers with a bare message and leaves a task of which nothing comes.
    pub fn is_message(self) -> bool {
        matches!(self, Self::RepliesWithMessage | Self::Acknowledges)
    }

    /// Whether a soak draws it unless told otherwise.
    pub fn is_seeded(self) -> bool {
        !self.is_message() && !matches!(self, Self::Auth | Self::BooksTwice | Self::Slow | Self::GoesQuiet)
    }
}

impl Quirk {
    /// Whether a soak draws it unless told otherwise.
    pub fn is_seeded(self) -> bool {
        true
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
    /// How long after its last word the late things happen; one second where missing.
    #[serde(default)]
    pub late_ms: Option<u64>,
    /// What else is odd about its tasks.
    #[serde(default)]
    pub also: Vec<Quirk>,
}

impl Behaviour {
    /// A behaviour of so many milliseconds, and nothing else about it.
    pub fn new(behaviour: Kind, delay_ms: u64) -> Self {
        Self {
            behaviour,
            delay_ms: Some(delay_ms),
            hold_answer: false,
            reason: None,
            times: None,
            late_ms: None,
            also: Vec::new(),
        }
    }

    /// How long it works.
    pub fn delay_ms(&self) -> u64 {
        self.delay_ms.unwrap_or(if self.behaviour == Kind::Slow { 30_000 } else { 500 })
    }

    /// How long after its last word the late things happen.
    pub fn late(&self) -> Duration {
        Duration::from_millis(self.late_ms.unwrap_or(1_000))
    }

    /// Whether this is odd about it.
    pub fn is_odd(&self, quirk: Quirk) -> bool {
        self.also.contains(&quirk)
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

/// Takes the behaviour for a new task, and uses up one of its times. Chance goes before the
/// standing behaviour, not before one that was chosen for so many times.
pub async fn draw(store: &Store, profile: &Profile) -> Result<Behaviour> {
    if let Some(next) = store.draw(&key(profile, "next")).await? {
        return Ok(next);
    }
    let standing = current(store, profile).await?;
    match Seed::current(store).await? {
        Some(seed) => Ok(seed.behaviour(store, profile.name, &standing).await?.unwrap_or(standing)),
        None => Ok(standing),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_json() {
        for kind in Kind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
            assert!(kind.description().ends_with('.'));
        }
    }
}
