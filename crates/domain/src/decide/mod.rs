//! The decision: a pure function of what is recorded and what was observed.
//!
//! [`decide`] works on a copy of the trip. First every observation is applied to the rows
//! (`apply`), then the rules go over each row in a fixed order, and what is left at the end is
//! the trip as it should be recorded, the events that tell of the change, and the actions that
//! may be taken once the record is committed. The rules live one file each beside this one.

mod apply;
mod booking;
mod cancels;
mod close;
pub(crate) use close::awaits_final_look;
mod compensations;
mod outcomes;
mod questions;
mod replies;
mod requests;
mod signed;
mod steps;
mod tasks;

use crate::agenda::{self, Agenda};
use crate::event::{Event, HOLDFAST};
use crate::ids::{AgentId, CompensationId, DelegationId, IdSource, OutboxId, StepName};
use crate::outbox::SendState;
use crate::seen::Seen;
use crate::time::Millis;
use crate::trip::Trip;
use crate::world::{Fact, World};
use std::collections::BTreeSet;

/// What may be done once the decision is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send a request or a reply: this send of it, and no other.
    Send {
        /// The message.
        out: OutboxId,
        /// Which of its sends the commit permitted.
        number: i64,
    },
    /// Send a CancelTask.
    CancelTask {
        /// The message.
        out: OutboxId,
        /// Which of its sends the commit permitted.
        number: i64,
    },
    /// Ask a booking system to undo.
    Undo {
        /// The compensation.
        compensation: CompensationId,
        /// Which of its calls the commit permitted.
        number: i64,
    },
}

/// Something learned of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Learned {
    /// Of whom.
    pub agent: AgentId,
    /// What.
    pub fact: Fact,
    /// Whether it holds.
    pub holds: bool,
}

/// The sends and calls of this process that are under way now. An intent in the journal that is
/// not among them was left by a dead process, and is in doubt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InFlight {
    /// Messages.
    pub out: BTreeSet<OutboxId>,
    /// Undo calls.
    pub undo: BTreeSet<CompensationId>,
}

/// What is to be recorded, and what may follow.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The trip as it should be recorded.
    pub trip: Trip,
    /// The events that tell of the change, in order.
    pub events: Vec<Event>,
    /// What was learned of agents.
    pub learned: Vec<Learned>,
    /// What may be done once all of this is committed.
    pub actions: Vec<Action>,
    /// What to look at next, and when the trip is due again.
    pub agenda: Agenda,
}

/// Decides one pass. Pure: the same arguments give the same decision.
pub fn decide(
    trip: &Trip,
    world: &World,
    seen: &[Seen],
    in_flight: &InFlight,
    now: Millis,
    ids: &mut dyn IdSource,
) -> Decision {
    let mut pass = Pass {
        trip: trip.clone(),
        world,
        in_flight,
        now,
        ids,
        events: Vec::new(),
        learned: Vec::new(),
        actions: Vec::new(),
    };
    for one in seen {
        pass.apply(one);
    }
    pass.find_doubts();
    pass.settle_messages_to_ended_tasks();
    pass.reopen();
    if pass.trip.closed_at.is_none() {
        pass.signed();
        pass.requests();
        pass.task_states();
        pass.questions();
        pass.replies();
        pass.cancels();
        pass.outcomes();
        pass.steps();
        pass.compensations();
        pass.close();
    }
    let agenda = agenda::agenda(&pass.trip, world, in_flight, now);
    Decision { trip: pass.trip, events: pass.events, learned: pass.learned, actions: pass.actions, agenda }
}

/// One pass under way.
struct Pass<'a> {
    trip: Trip,
    world: &'a World,
    in_flight: &'a InFlight,
    now: Millis,
    ids: &'a mut dyn IdSource,
    events: Vec<Event>,
    learned: Vec<Learned>,
    actions: Vec<Action>,
}

impl Pass<'_> {
    /// An intent found that is not in flight here may or may not have left: in doubt (§4).
    fn find_doubts(&mut self) {
        let in_flight = self.in_flight;
        let mut found = Vec::new();
        for out in &mut self.trip.outbox {
            if out.state == SendState::Intent && !in_flight.out.contains(&out.id) {
                out.state = SendState::InDoubt;
                found.push(out.delegation.clone());
            }
        }
        for delegation in found {
            self.tell(
                &delegation,
                "found_in_doubt",
                "A send was permitted and its end is not recorded: it is in doubt",
                Some("A permitted send that is found at load may or may not have left"),
            );
        }
    }

    fn event(&mut self, event: Event) {
        self.events.push(event);
    }

    /// Tells of something that Holdfast did or found, about a delegation.
    fn tell(&mut self, delegation: &DelegationId, kind: &str, what: &str, why: Option<&str>) {
        self.tell_as(HOLDFAST.to_owned(), delegation, kind, what, why);
    }

    /// Tells of something that the agent of a delegation said.
    fn agent_said(&mut self, delegation: &DelegationId, kind: &str, what: &str) {
        let agent = self.trip.delegation(delegation).map(|d| self.world.agent_name(&d.agent));
        self.tell_as(agent.unwrap_or_default(), delegation, kind, what, None);
    }

    fn tell_as(
        &mut self,
        actor: String,
        delegation: &DelegationId,
        kind: &str,
        what: &str,
        why: Option<&str>,
    ) {
        let step = self.trip.delegation(delegation).map(|d| d.step.clone());
        self.event(Event {
            actor,
            kind: kind.to_owned(),
            step,
            delegation: Some(delegation.clone()),
            what: what.to_owned(),
            why: why.map(str::to_owned),
        });
    }

    /// Tells of something about a step or the whole trip.
    fn tell_step(&mut self, step: Option<&StepName>, kind: &str, what: &str, why: Option<&str>) {
        self.event(Event {
            actor: HOLDFAST.to_owned(),
            kind: kind.to_owned(),
            step: step.cloned(),
            delegation: None,
            what: what.to_owned(),
            why: why.map(str::to_owned),
        });
    }

    fn learn(&mut self, agent: &AgentId, fact: Fact, holds: bool) {
        let known = self.world.agent(agent).and_then(|profile| profile.facts.get(&fact).copied());
        let told = self.learned.iter().any(|l| &l.agent == agent && l.fact == fact && l.holds == holds);
        if known != Some(holds) && !told {
            self.learned.push(Learned { agent: agent.clone(), fact, holds });
        }
    }

    /// Permits a send: raises its number and writes until when it may be under way. Only the act
    /// that follows the commit of this sends (§4).
    fn permit(&mut self, out: &OutboxId) {
        let until = self.now + self.world.waits.send_limit;
        if let Some(message) = self.trip.outbox.iter_mut().find(|m| &m.id == out) {
            message.state = SendState::Intent;
            message.number += 1;
            message.may_send_until = Some(until);
            message.retry_at = None;
            let number = message.number;
            let action = match message.kind {
                crate::outbox::OutKind::Cancel => Action::CancelTask { out: out.clone(), number },
                _ => Action::Send { out: out.clone(), number },
            };
            self.actions.push(action);
        }
    }

    fn delegation_ids(&self) -> Vec<DelegationId> {
        self.trip.delegations.iter().map(|d| d.id.clone()).collect()
    }

    /// The settle time of a delegation's booking systems.
    fn settle(&self, step: &StepName) -> crate::time::Span {
        let names = self.trip.definition(step).and_then(|s| s.effect.as_ref());
        self.world.settle(names.map(|e| e.booking_systems.as_slice()).unwrap_or_default())
    }
}

/// Outside text for a line of history or a summary: one line, at most `most` characters.
pub(crate) fn brief(text: &str, most: usize) -> String {
    let mut line = String::new();
    for (count, c) in text.split_whitespace().collect::<Vec<_>>().join(" ").chars().enumerate() {
        if count == most {
            line.push('…');
            break;
        }
        line.push(c);
    }
    line
}
