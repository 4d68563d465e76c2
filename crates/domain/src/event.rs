//! Lines of a trip's history, written in the same transaction as the state they tell of.

use crate::ids::{DelegationId, StepName};
use serde::{Deserialize, Serialize};

/// One line, before it has its number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Who: a person's e-mail, an agent's name, or [`HOLDFAST`].
    pub actor: String,
    /// A stable word for programs, for example `request_intended`.
    pub kind: String,
    /// The step that it is about.
    pub step: Option<StepName>,
    /// The delegation that it is about.
    pub delegation: Option<DelegationId>,
    /// What happened, in words. May hold outside text.
    pub what: String,
    /// Why: the rule, or the reason that a person gave.
    pub why: Option<String>,
}

/// The actor of everything that no person and no agent did.
pub const HOLDFAST: &str = "Holdfast";
