//! Steps: the first attempt once what a step depends on is done, a new attempt after one that came
//! to nothing, and what happens when a step has failed for good (DESIGN.md §6).

use super::{Pass, brief};
use crate::delegation::{Delegation, Doubt, Outcome, Purpose, ReadHealth};
use crate::effect::Effect;
use crate::ids::{AgentId, ContextId, DelegationId, EffectId, MessageId, OutboxId, Reference, StepName};
use crate::outbox::{OutKind, OutMessage};
use crate::request;
use crate::trip::{Goal, Standing, Step};
use crate::workflow::OnFailure;
use crate::world::{AgentState, Fact};

impl Pass<'_> {
    pub(super) fn steps(&mut self) {
        if self.trip.is_ending() {
            return;
        }
        // What has failed for good comes first: it may end the trip, and then nothing is begun.
        for begin in [false, true] {
            for place in 0..self.trip.steps.len() {
                let step = self.trip.steps[place].clone();
                if step.standing == Standing::Open && !self.trip.is_ending() {
                    self.step(&step, begin);
                }
            }
        }
        if self.trip.is_ending() {
            self.withdraw_for_ending();
        }
    }

    fn step(&mut self, step: &Step, begin: bool) {
        let attempts: Vec<Delegation> = self.trip.attempts(&step.name).cloned().collect();
        // An attempt whose fate is unknown blocks the next one.
        if attempts.iter().any(Delegation::is_open) || step.not_before.is_some_and(|at| at > self.now) {
            return;
        }
        match self.needed_steps(&step.name) {
            Needed::Done => {}
            Needed::Open => return,
            Needed::Never => {
                self.set_standing(&step.name, Standing::Skipped);
                self.tell_step(
                    Some(&step.name),
                    "step_skipped",
                    "Left out: a step that it needs was not done",
                    None,
                );
                return;
            }
        }
        let used = i64::try_from(attempts.len()).unwrap_or(i64::MAX);
        if used >= step.attempt_budget {
            self.fail_for_good(&step.name, &format!("All {used} attempts are used up"));
            return;
        }
        match self.next_agent(&step.name, &attempts) {
            Next::Agent(agent) if begin => self.begin_attempt(step, &agent, attempts.last()),
            Next::Agent(_) => {}
            Next::After(wait) => {
                if let Some(row) = self.trip.steps.iter_mut().find(|s| s.name == step.name) {
                    row.not_before = Some(self.now + wait);
                }
            }
            Next::Nobody => self.fail_for_good(&step.name, "No agent is left to ask"),
        }
    }

    fn needed_steps(&self, name: &StepName) -> Needed {
        let needed = self.trip.definition(name).map(|s| s.depends_on.clone()).unwrap_or_default();
        let standings =
            needed.iter().filter_map(|n| self.trip.steps.iter().find(|s| &s.name == n)).map(|s| s.standing);
        standings.fold(Needed::Done, |worst, standing| match (worst, standing) {
            (Needed::Never, _) | (_, Standing::Skipped) => Needed::Never,
            (_, Standing::Open | Standing::Failed) => Needed::Open,
            (worst, Standing::Done) => worst,
        })
    }

    pub(super) fn set_standing(&mut self, name: &StepName, standing: Standing) {
        if let Some(step) = self.trip.steps.iter_mut().find(|s| &s.name == name) {
            step.standing = standing;
        }
    }

    /// The next enabled agent that has the skill: untried first, then by health, preference, cost.
    /// One that rejected, refused or lied is not asked again; another that failed may be, last
    /// and after a backoff.
    fn next_agent(&self, step: &StepName, attempts: &[Delegation]) -> Next {
        let Some(skill) = self.trip.definition(step).map(|s| s.skill.clone()) else { return Next::Nobody };
        let mut able: Vec<_> = self
            .world
            .agents
            .iter()
            .filter(|a| a.state == AgentState::Enabled && a.skills.contains(&skill))
            .filter(|a| !attempts.iter().any(|d| d.agent == a.id && is_never_again(d.outcome)))
            .collect();
        able.sort_by_key(|a| {
            let tried = attempts.iter().filter(|d| d.agent == a.id).count();
            (tried, a.failures, -a.preference, a.cost, a.name.clone())
        });
        let Some(agent) = able.first() else { return Next::Nobody };
        let tries = attempts.iter().filter(|d| d.agent == agent.id).count();
        let newest = attempts.iter().filter(|d| d.agent == agent.id).filter_map(|d| d.closed_at).max();
        let (waits, tries) = (self.world.waits, i64::try_from(tries).unwrap_or(i64::MAX));
        match newest {
            Some(closed) => {
                let due = closed + crate::backoff::backoff(tries, waits.retry, waits.retry_longest);
                if due > self.now { Next::After(due - self.now) } else { Next::Agent(agent.id.clone()) }
            }
            None => Next::Agent(agent.id.clone()),
        }
    }

    /// Journals a new attempt: the delegation, its request as an intent, and the booking expected.
    fn begin_attempt(&mut self, step: &Step, agent: &AgentId, previous: Option<&Delegation>) {
        let Some(profile) = self.world.agent(agent) else { return };
        let (name, principal) = (profile.name.clone(), profile.principal.clone());
        let keeps_ours = !profile.is_not(Fact::KeepsContextId);
        let has_effect = self.trip.definition(&step.name).is_some_and(|s| s.effect.is_some());
        let reference = has_effect.then(|| Reference(request::reference(&self.ids.next_id())));
        let delegation = Delegation {
            id: DelegationId(self.ids.next_id()),
            step: step.name.clone(),
            purpose: Purpose::Step,
            agent: agent.clone(),
            principal,
            ordinal: previous.map_or(1, |d| d.ordinal + 1),
            message_id: MessageId(self.ids.next_id()),
            context_id: keeps_ours.then(|| ContextId(self.ids.next_id())),
            reference,
            previous: previous.map(|d| d.id.clone()),
            created_at: self.now,
            task_id: None,
            remote_state: None,
            status_timestamp: None,
            observed_at: None,
            changed_at: None,
            ended: None,
            ended_at: None,
            claim: None,
            claimed_confirmation: None,
            outcome: None,
            closed_at: None,
            failure_summary: None,
            stuck: None,
            stuck_since: None,
            signed: None,
            called_off: false,
            doubt: Doubt::default(),
            reads: ReadHealth::default(),
        };
        self.journal_attempt(step, &name, delegation, previous);
    }

    fn journal_attempt(
        &mut self,
        step: &Step,
        agent: &str,
        delegation: Delegation,
        previous: Option<&Delegation>,
    ) {
        let body = request::body(&self.trip, &delegation, previous);
        let out = OutboxId(self.ids.next_id());
        if let Some(reference) = &delegation.reference {
            let effect =
                Effect::expected(EffectId(self.ids.next_id()), delegation.id.clone(), reference.clone());
            self.trip.effects.push(effect);
        }
        let (id, ordinal) = (delegation.id.clone(), delegation.ordinal);
        self.trip.outbox.push(OutMessage {
            message_id: Some(delegation.message_id.clone()),
            ..OutMessage::unsent(out.clone(), id.clone(), OutKind::Request, body, self.now)
        });
        self.trip.delegations.push(delegation);
        self.permit(&out);
        let what = format!("Attempt {ordinal} of {} is handed to {agent}", step.attempt_budget);
        let why = previous.map(|d| {
            let outcome = d.outcome.map_or("over", super::requests::outcome_words);
            format!("The attempt before it: {outcome}")
        });
        self.tell(&id, "attempt_begun", &what, why.as_deref());
    }

    fn fail_for_good(&mut self, step: &StepName, why: &str) {
        self.set_standing(step, Standing::Failed);
        let title = self.trip.step_title(step);
        self.tell_step(Some(step), "step_failed", &format!("{title}: could not be arranged"), Some(why));
        match self.trip.definition(step).map(|s| s.on_failure).unwrap_or_default() {
            OnFailure::Ask => self.ask_decision(step),
            OnFailure::GoOn => {
                self.set_standing(step, Standing::Skipped);
                self.tell_step(
                    Some(step),
                    "step_skipped",
                    "The trip goes on without this step",
                    Some("The workflow says so"),
                );
            }
            OnFailure::Compensate => {
                self.trip.goal = Goal::Compensate;
                let why = brief(&format!("{title} failed for good, and the trip is nothing without it"), 200);
                self.tell_step(None, "goal_compensate", "Everything booked so far is undone", Some(&why));
            }
        }
    }
}

enum Needed {
    Done,
    Open,
    Never,
}

enum Next {
    Agent(AgentId),
    After(crate::time::Span),
    Nobody,
}

fn is_never_again(outcome: Option<Outcome>) -> bool {
    matches!(outcome, Some(Outcome::Rejected | Outcome::Refused | Outcome::FalseClaim))
}
