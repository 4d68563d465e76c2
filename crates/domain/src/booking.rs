//! What a booking system's own records say (DESIGN.md §8): the only proof of an effect.
//!
//! These are reads, not verdicts: one clean *absent* decides nothing alone (§6, faults.md F-24),
//! and *unknown* is never *absent*. The client that fills them is `engine::booking`.

use crate::money::Money;
use serde::{Deserialize, Serialize};

/// Whether a record stands, by the words that the system's definition lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordState {
    /// The booking stands.
    Present,
    /// The record is there and says that the booking is gone (cancelled).
    Absent,
}

/// One booking as the system's records show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The system's own name for the booking; an undo names it, never the reference.
    pub confirmation: String,
    /// The reference that it was made under, where the system keeps one.
    pub reference: Option<String>,
    /// Whether it stands.
    pub state: RecordState,
    /// What it costs, where the definition says where to read it.
    pub price: Option<Money>,
    /// What is kept of the price when it is undone, where the records say so.
    pub fee: Option<Money>,
}

/// What one lookup found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BookingRead {
    /// Every record that the answer held for what was asked, all of them readable.
    /// Never empty; records in state [`RecordState::Absent`] are among them.
    Found(Vec<Record>),
    /// No record, said in a way that the definition believes.
    Absent,
    /// Anything else, with the reason for people.
    Unknown(String),
}

impl BookingRead {
    /// The records that stand.
    pub fn present(&self) -> impl Iterator<Item = &Record> {
        let records: &[Record] = match self {
            Self::Found(records) => records,
            Self::Absent | Self::Unknown(_) => &[],
        };
        records.iter().filter(|record| record.state == RecordState::Present)
    }

    /// Whether this was one clean read that shows no standing booking.
    pub fn is_clean_absence(&self) -> bool {
        !matches!(self, Self::Unknown(_)) && self.present().next().is_none()
    }
}

/// What a booking system answered to a cancel. None of them says that the booking is gone:
/// only following reads do (§8).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelAnswer {
    /// 2xx, with the body as received, capped.
    Accepted(String),
    /// The system said no, also "already gone" (404, 409, 410): a read decides which it was.
    Refused {
        /// The HTTP status.
        status: u16,
        /// The body as received, capped.
        text: String,
    },
    /// Nothing left us: the same call may be made again.
    NotSent(String),
    /// It may have arrived: read, then the same call with the same key.
    Unknown(String),
}
