//! Reads: GetTask, ListTasks and the lookup of a reference, served at a moment between their
//! beginning and their end.

use crate::agents::failure;
use crate::setup::{agent_place, system_place};
use crate::sim::{Event, Sim};
use domain::agenda::Look;
use domain::failure::FailureClass;
use domain::ids::{ContextId, DelegationId, TaskId};
use domain::seen::{ListScope, Listed, Seen, Source, What};
use domain::time::Millis;

impl Sim {
    pub fn serves(&mut self, epoch: u32, begun: i64, look: Look, mut so_far: Vec<Seen>) {
        if epoch != self.shell.epoch {
            return;
        }
        let at = self.now + self.latency();
        let what = match &look {
            Look::Task { delegation, task } => self.serve_task(delegation, task),
            Look::Booking { delegation } => self.serve_booking(delegation),
            Look::List { delegation, scope, context, .. } if so_far.is_empty() => {
                self.serve_list(delegation, *scope, context.as_ref())
            }
            Look::List { delegation, .. } => self.serve_booking(delegation),
        };
        let stamp = if matches!(look, Look::Task { .. }) { at } else { begun };
        so_far.push(Seen { at: Millis(stamp), what });
        let more = matches!(&look, Look::List { then_booking: true, .. }) && so_far.len() == 1;
        if more {
            let next = at + self.latency();
            return self.at(next, Event::Serves { epoch, begun: at, look, so_far });
        }
        self.at(at, Event::Back { epoch, call: None, look: Some(look), seen: so_far });
    }

    fn read_fails(&mut self) -> bool {
        self.now < self.plan.wire.until && self.rng.chance(self.plan.wire.read_fails)
    }

    fn agent_of(&self, delegation: &DelegationId) -> usize {
        self.journal.delegation(delegation).map(|d| agent_place(&d.agent)).unwrap_or_default()
    }

    fn serve_task(&mut self, delegation: &DelegationId, task: &TaskId) -> What {
        let agent = self.agent_of(delegation);
        let answer = if self.read_fails() {
            Err(failure(FailureClass::Unknown, "reset"))
        } else {
            self.agents[agent].get(task)
        };
        What::Task { delegation: delegation.clone(), task: task.clone(), source: Source::Read, answer }
    }

    fn serve_list(
        &mut self,
        delegation: &DelegationId,
        scope: ListScope,
        context: Option<&ContextId>,
    ) -> What {
        let agent = self.agent_of(delegation);
        let context = if scope == ListScope::Context { context } else { None };
        let answer = if !self.agents[agent].plan.lists {
            Err(failure(FailureClass::Capability, "no such method"))
        } else if self.read_fails() {
            Err(failure(FailureClass::Unknown, "reset"))
        } else {
            let tasks = self.agents[agent].list(self.now, context);
            let known = |id: &TaskId| self.journal.tasks.iter().any(|t| &t.snapshot.task_id == id);
            let ours = tasks.iter().filter(|t| !known(&t.task_id)).count();
            let foreign = i64::from(self.agents[agent].plan.foreign_task && context.is_none());
            let strangers = i64::try_from(ours).unwrap_or(0) + foreign;
            Ok(Listed { tasks, incomplete: None, strangers })
        };
        What::List { delegation: delegation.clone(), scope, answer }
    }

    fn serve_booking(&mut self, delegation: &DelegationId) -> What {
        let mut reads = Vec::new();
        if let Some(d) = self.journal.delegation(delegation) {
            let effect = self.journal.definition(&d.step).and_then(|s| s.effect.clone());
            let reference = d.reference.clone();
            for name in effect.map(|e| e.booking_systems).unwrap_or_default() {
                let reference = reference.as_ref().map(|r| r.as_str()).unwrap_or_default();
                let read = self.ledger.lookup(self.now, system_place(&name), reference, &mut self.rng);
                reads.push((name, read));
            }
        }
        What::Booking { delegation: delegation.clone(), reads }
    }
}
