//! Compensations: the journaled, idempotent, verified undo of one effect (DESIGN.md §8).

use crate::ids::{CompensationId, EffectId, StepName};
use crate::time::Millis;
use serde::{Deserialize, Serialize};

/// Where an undo stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompensationState {
    /// To be done; its turn has not come.
    Planned,
    /// A commit has permitted the call.
    Requested,
    /// The booking system said yes.
    Accepted,
    /// The records show that it is gone.
    Verified,
    /// No rule may go on.
    Stuck,
    /// A person has signed for it.
    Signed,
}

impl CompensationState {
    /// The word stored and shown.
    pub fn word(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Requested => "requested",
            Self::Accepted => "accepted",
            Self::Verified => "verified",
            Self::Stuck => "stuck",
            Self::Signed => "signed",
        }
    }
    /// Whether nothing is left to do.
    pub fn is_finished(self) -> bool {
        matches!(self, Self::Verified | Self::Signed)
    }
}

/// One undo: a rung of the trip's ladder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compensation {
    /// Its id.
    pub id: CompensationId,
    /// What it undoes.
    pub effect: EffectId,
    /// The effect's step.
    pub step: StepName,
    /// Its place in the undo order, from 1.
    pub rung: i64,
    /// The booking system that is asked.
    pub booking_system: String,
    /// The number that is cancelled: always the booking's own, never the reference.
    pub confirmation: String,
    /// The same key on every try.
    pub idempotency_key: String,
    /// The same body on every try, byte for byte.
    pub body: String,
    /// Where it stands.
    pub state: CompensationState,
    /// How often a commit has permitted the call.
    pub number: i64,
    /// Until when the newest permitted call may still be under way.
    pub may_send_until: Option<Millis>,
    /// When it was planned.
    pub planned_at: Millis,
    /// When the first call was permitted.
    pub requested_at: Option<Millis>,
    /// When the booking system said yes.
    pub accepted_at: Option<Millis>,
    /// When it was verified gone.
    pub verified_at: Option<Millis>,
    /// Not to be tried again before.
    pub retry_at: Option<Millis>,
    /// What the newest failed try said, or why it is stuck.
    pub reason: Option<String>,
    /// Since when it is stuck.
    pub stuck_since: Option<Millis>,
}
