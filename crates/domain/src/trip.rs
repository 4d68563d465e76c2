//! A trip with all of its rows: what is loaded in one piece and what one decision changes.

use crate::compensation::Compensation;
use crate::delegation::{Delegation, Purpose};
use crate::effect::Effect;
use crate::ids::{DelegationId, EffectId, OutboxId, StepName, TripId, UserId};
use crate::outbox::{OutKind, OutMessage};
use crate::question::{Question, QuestionState};
use crate::task::TaskCopy;
use crate::time::Millis;
use crate::workflow::{StepDefinition, Workflow};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What the trip is after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// Get every step done.
    Run,
    /// The traveller wants it undone.
    Cancel,
    /// A required step failed for good: undo the rest.
    Compensate,
}

/// How a trip was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Closed {
    /// Steps done.
    Done,
    /// Undone by the traveller's wish.
    Cancelled,
    /// A required step failed for good.
    Failed,
}

/// Where a step stands, as far as it is stored; the rest is derived from its delegations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Not decided.
    Open,
    /// Done: verified present, or by the agent's word where it has no effect.
    Done,
    /// Left out: not chosen, or the trip goes on without it.
    Skipped,
    /// Failed for good.
    Failed,
}

/// One step of this trip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Its name in the workflow.
    pub name: StepName,
    /// Where it stands.
    pub standing: Standing,
    /// How many attempts it may use; support may extend it.
    pub attempt_budget: i64,
    /// The next attempt is not to begin before.
    pub not_before: Option<Millis>,
}

/// A trip with all of its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Trip {
    /// Its id.
    pub id: TripId,
    /// The traveller.
    pub owner: UserId,
    /// Its title.
    pub title: String,
    /// The definition that it is pinned to.
    pub workflow: Workflow,
    /// The inputs, as accepted.
    pub inputs: Map<String, Value>,
    /// What it is after.
    pub goal: Goal,
    /// When it was made.
    pub created_at: Millis,
    /// When it was closed.
    pub closed_at: Option<Millis>,
    /// How.
    pub closed: Option<Closed>,
    /// The number of its newest event: version and event number in one.
    pub seq: i64,
    /// The number that shuts out earlier takings.
    pub fence: i64,
    /// Counts wakes: one that comes during a pass is not lost.
    pub wakes: i64,
    /// Its steps, in the workflow's order.
    pub steps: Vec<Step>,
    /// Its delegations, oldest first.
    pub delegations: Vec<Delegation>,
    /// Its messages, oldest first.
    pub outbox: Vec<OutMessage>,
    /// Copies of agents' tasks.
    pub tasks: Vec<TaskCopy>,
    /// Its questions, oldest first.
    pub questions: Vec<Question>,
    /// Bookings, expected and found.
    pub effects: Vec<Effect>,
    /// Its ladder.
    pub compensations: Vec<Compensation>,
}

impl Trip {
    /// Whether its end is decided.
    pub fn is_ending(&self) -> bool {
        self.goal != Goal::Run
    }

    /// A step's definition; every step of a trip has one.
    pub fn definition(&self, name: &StepName) -> Option<&StepDefinition> {
        self.workflow.step(name)
    }

    /// A step's name for people.
    pub fn step_title(&self, name: &StepName) -> String {
        self.definition(name).map_or_else(|| name.0.clone(), |step| step.title.clone())
    }

    /// A delegation by its id.
    pub fn delegation(&self, id: &DelegationId) -> Option<&Delegation> {
        self.delegations.iter().find(|d| &d.id == id)
    }

    /// A delegation by its id, to be changed.
    pub fn delegation_mut(&mut self, id: &DelegationId) -> Option<&mut Delegation> {
        self.delegations.iter_mut().find(|d| &d.id == id)
    }

    /// The attempts at a step, oldest first.
    pub fn attempts<'a>(&'a self, step: &'a StepName) -> impl DoubleEndedIterator<Item = &'a Delegation> {
        self.delegations.iter().filter(move |d| &d.step == step && d.purpose == Purpose::Step)
    }

    /// A message by its row.
    pub fn out(&self, id: &OutboxId) -> Option<&OutMessage> {
        self.outbox.iter().find(|m| &m.id == id)
    }

    /// The request of a delegation.
    pub fn request(&self, delegation: &DelegationId) -> Option<&OutMessage> {
        self.outbox.iter().find(|m| &m.delegation == delegation && m.kind == OutKind::Request)
    }

    /// The messages of a delegation, of one kind, oldest first.
    pub fn sent<'a>(
        &'a self,
        delegation: &'a DelegationId,
        kind: OutKind,
    ) -> impl DoubleEndedIterator<Item = &'a OutMessage> {
        self.outbox.iter().filter(move |m| &m.delegation == delegation && m.kind == kind)
    }

    /// The effect that a delegation is wanted for.
    pub fn wanted_effect(&self, delegation: &DelegationId) -> Option<&Effect> {
        self.effects.iter().find(|e| &e.delegation == delegation && !e.ghost)
    }

    /// An effect by its id.
    pub fn effect(&self, id: &EffectId) -> Option<&Effect> {
        self.effects.iter().find(|e| &e.id == id)
    }

    /// The open question of a delegation.
    pub fn open_question(&self, delegation: &DelegationId) -> Option<&Question> {
        self.questions
            .iter()
            .find(|q| q.delegation.as_ref() == Some(delegation) && q.state == QuestionState::Open)
    }

    /// Whether a delegation's step makes a booking.
    pub fn has_effect(&self, delegation: &Delegation) -> bool {
        self.definition(&delegation.step).is_some_and(|step| step.effect.is_some())
    }
}
