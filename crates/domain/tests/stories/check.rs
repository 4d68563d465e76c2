//! What must hold at every record and at every write, whatever the story (DESIGN.md §10).

use crate::calls::Target;
use crate::plan::Dedup;
use crate::setup::agent_place;
use crate::sim::Sim;
use crate::{rows, steps_of};
use domain::compensation::CompensationState;
use domain::decide::Decision;
use domain::delegation::Delegation;
use domain::ids::{CompensationId, DelegationId, OutboxId};
use domain::outbox::{OutKind, SendState};
use domain::trip::{Goal, Trip};
use domain::world::Fact;
use std::collections::BTreeMap;

/// What is remembered from one write to the next.
#[derive(Default)]
pub struct Checks {
    bodies: BTreeMap<OutboxId, String>,
    keys: BTreeMap<CompensationId, (String, String)>,
    /// When each request or reply has left, cancels too.
    pub left: Vec<i64>,
}

impl Sim {
    /// The record: one transaction, checked against all that must hold.
    pub fn record(&mut self, before: &Trip, decision: &Decision) {
        self.counts.records += 1;
        self.count_sends(decision);
        for event in &decision.events {
            self.note(|| format!("  {}: {}", event.kind, event.what));
        }
        let mut after = decision.trip.clone();
        let added = i64::try_from(decision.events.len()).unwrap_or(0);
        after.seq = before.seq + added;
        after.wakes = self.journal.wakes;
        if added > 0 {
            self.last_event = self.now;
        }
        let known = before.questions.len();
        let found = rows::broken(&after).or_else(|| rows::broken_move(before, &after));
        self.journal = after;
        if before.closed_at.is_none() && self.journal.closed_at.is_some() {
            self.check_ledger(true);
        }
        self.learn(before, decision);
        self.schedule_answers(known);
        if let Some(what) = found {
            self.violated(what);
        }
    }

    fn learn(&mut self, before: &Trip, decision: &Decision) {
        use domain::delegation::Outcome as O;
        for learned in &decision.learned {
            let agent = self.world.agents.iter_mut().find(|a| a.id == learned.agent);
            if let Some(agent) = agent.filter(|_| learned.fact != Fact::DeduplicatesDurably) {
                agent.facts.insert(learned.fact, learned.holds);
            }
        }
        for d in decision.trip.delegations.iter().filter(|d| !d.is_open()) {
            let was_open = before.delegation(&d.id).is_none_or(Delegation::is_open);
            let agent = self.world.agents.iter_mut().find(|a| a.id == d.agent);
            let (true, Some(agent)) = (was_open, agent) else { continue };
            match d.outcome {
                Some(O::Completed) => agent.failures = 0,
                Some(O::Canceled | O::NeverLanded | O::Rejected) | None => {}
                Some(_) => agent.failures += 1,
            }
        }
    }

    /// Rule 1: nothing is written but what a commit has just permitted.
    pub fn check_permission(&mut self, place: usize) {
        let call = self.calls[place].clone();
        let wrong = match &call.target {
            Target::Message { out, .. } => self.out(out).is_none_or(|m| {
                m.state != SendState::Intent
                    || m.number != call.number
                    || m.may_send_until.map(|t| t.0) != Some(call.until)
            }),
            // Reads may have verified it meanwhile: the call is idempotent by its key.
            Target::Undo { compensation, .. } => self
                .rung(compensation)
                .is_none_or(|c| c.state == CompensationState::Planned || c.number != call.number),
        };
        if wrong {
            let what = crate::tell::target(&call.target);
            self.violated(format!("rule 1: {what} is written without its intent in the journal"));
        }
    }

    /// What leaves, live or stray, is what was journaled, and comes in no wrong order.
    pub fn check_leaving(&mut self, place: usize) {
        let call = self.calls[place].clone();
        match &call.target {
            Target::Message { out, kind, delegation, .. } => {
                self.check_body(out, *kind, &call.body);
                let stray = call.epoch != self.shell.epoch;
                match kind {
                    OutKind::Request if !stray => self.check_request(delegation, call.number),
                    OutKind::Reply if !stray => self.check_reply(out, delegation),
                    _ => {}
                }
            }
            Target::Undo { compensation, key, .. } => {
                let now = (key.clone(), call.body.clone());
                let first = self.checks.keys.entry(compensation.clone()).or_insert_with(|| now.clone());
                if *first != now {
                    self.violated(format!("undo {compensation} goes with another key or body"));
                }
            }
        }
    }

    fn check_body(&mut self, out: &OutboxId, kind: OutKind, body: &str) {
        let without_context = |text: &str| {
            let mut value: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
            if let Some(object) = value.as_object_mut() {
                object.remove("contextId");
            }
            value.to_string()
        };
        let now = if kind == OutKind::Cancel { String::new() } else { without_context(body) };
        let first = self.checks.bodies.entry(out.clone()).or_insert_with(|| now.clone());
        if *first != now {
            self.violated(format!("rule 3: message {out} is sent again with another body"));
        }
    }

    /// Rule 2 against the truth: no request leaves while another one for its step can still book,
    /// or has booked.
    fn check_request(&mut self, id: &DelegationId, number: i64) {
        let Some(d) = self.journal.delegation(id).cloned() else { return };
        if !self.journal.has_effect(&d) {
            return;
        }
        let others: Vec<Delegation> =
            self.journal.attempts(&d.step).filter(|o| o.ordinal < d.ordinal).cloned().collect();
        for other in &others {
            if let Some(why) = self.could_book(other) {
                self.violated(format!("rule 2: attempt {} leaves while {why}", d.ordinal));
            }
        }
        let agent = &self.agents[agent_place(&d.agent)];
        let booked =
            |id: &str| self.ledger.bookings.iter().any(|b| b.message_id == id && b.gone_at.is_none());
        let landed = agent.tasks.iter().any(|t| t.message_id == d.message_id.0 && t.is_live())
            || booked(&d.message_id.0);
        if number > 1 && landed && agent.plan.dedup == Dedup::No {
            self.violated(format!(
                "rule 2: send {number} of {id} leaves while the first one works or has booked"
            ));
        }
    }

    /// Why an earlier attempt may still come to a booking, in truth.
    fn could_book(&self, d: &Delegation) -> Option<String> {
        let place = agent_place(&d.agent);
        let agent = &self.agents[place];
        if self.is_trusted_liar(d) {
            return None;
        }
        let live = agent.tasks.iter().find(|t| t.message_id == d.message_id.0 && t.is_live());
        if let Some(task) = live {
            return Some(format!("task {} of attempt {} can still book", task.id, d.ordinal));
        }
        let stands =
            self.ledger.bookings.iter().find(|b| b.message_id == d.message_id.0 && b.gone_at.is_none());
        stands.map(|b| format!("booking {} of attempt {} stands", b.confirmation, d.ordinal))
    }

    /// An agent that lied when it rejected, and was trusted: the price of §6's default.
    pub fn is_trusted_liar(&self, d: &Delegation) -> bool {
        let trusted = self.world.agent(&d.agent).is_none_or(|a| !a.is_not(Fact::RejectsTruthfully));
        d.outcome == Some(domain::delegation::Outcome::Rejected) && trusted
    }

    fn check_reply(&mut self, out: &OutboxId, id: &DelegationId) {
        let (Some(message), Some(d)) = (self.out(out), self.journal.delegation(id)) else { return };
        let body: serde_json::Value = serde_json::from_str(&message.body).unwrap_or_default();
        let wrong = if body["taskId"].as_str() != d.task_id.as_ref().map(|t| t.as_str()) {
            Some("does not carry its task's id")
        } else if !self
            .journal
            .questions
            .iter()
            .any(|q| Some(&q.id) == message.question.as_ref() && q.answer.is_some())
        {
            Some("answers no answered question")
        } else if self.has_taken(d, message.message_id.as_ref()) {
            Some("is sent again though the agent has taken it")
        } else {
            None
        };
        if let Some(why) = wrong {
            self.violated(format!("rule 7: reply {out} {why}"));
        }
    }

    /// Whether a reply has landed in truth, at an agent that does not deduplicate.
    fn has_taken(&self, d: &Delegation, id: Option<&domain::ids::MessageId>) -> bool {
        let agent = &self.agents[agent_place(&d.agent)];
        let knows = agent.tasks.iter().any(|t| id.is_some_and(|id| t.has_taken(id)));
        knows && agent.plan.dedup == Dedup::No
    }

    /// At the end of a story: an end or a reason, and the ledgers as the trip says.
    pub fn check_end(&mut self) {
        if self.journal.closed_at.is_some() {
            self.counts.closed += 1;
            return self.check_ledger(false);
        }
        let stuck = self.journal.delegations.iter().any(|d| d.stuck.is_some())
            || self.journal.compensations.iter().any(|c| c.state == CompensationState::Stuck);
        if stuck {
            self.counts.stuck += 1;
        } else if self.journal.questions.iter().any(|q| q.state == domain::question::QuestionState::Open) {
            self.counts.asking += 1;
        } else {
            self.violated(format!(
                "rule 10: hangs: not closed, not stuck, nobody is asked; {}",
                rows::what_is_open(&self.journal)
            ));
        }
    }

    /// Nothing may be booked for a trip that is closed, but by those whom only the watch finds.
    pub fn check_late_booking(&mut self, confirmation: &str) {
        let booking = self.ledger.bookings.iter().find(|b| b.confirmation == confirmation);
        let Some(message) = booking.map(|b| b.message_id.clone()) else { return };
        let own = self.journal.delegations.iter().find(|d| d.message_id.0 == message);
        if self.journal.closed_at.is_some() && !own.is_some_and(|d| self.is_left_to_the_watch(d)) {
            self.violated(format!("rule 6: booking {confirmation} is made for a closed trip"));
        }
    }

    /// The ledgers as a closed trip says; at the close itself, some is left to the watch.
    fn check_ledger(&mut self, watch: bool) {
        let wanted = steps_of::wanted_bookings(&self.journal);
        for booking in self.ledger.bookings.clone() {
            let stands = booking.gone_at.is_none();
            let is_wanted = wanted.contains(&(booking.system, booking.confirmation.clone()));
            if is_wanted && !stands {
                self.violated(format!(
                    "the trip is done with booking {}, which is gone",
                    booking.confirmation
                ));
            }
            if stands && !is_wanted {
                let own = self.journal.delegations.iter().find(|d| d.message_id.0 == booking.message_id);
                let forgiven = watch && own.is_some_and(|d| self.is_left_to_the_watch(d)) && !booking.shown;
                if forgiven {
                    self.counts.left_to_the_watch += 1;
                    continue;
                }
                let goal = self.journal.goal;
                let end = if goal == Goal::Run { "done" } else { "ended" };
                self.violated(format!("the trip is {end} and booking {} is left over", booking.confirmation));
            }
        }
    }

    /// Bookings that only the watch after the end can find: a trusted liar's, or the second one of
    /// an agent that books twice for one message.
    fn is_left_to_the_watch(&self, d: &Delegation) -> bool {
        let place = agent_place(&d.agent);
        let twice =
            self.ledger.bookings.iter().filter(|b| b.agent == place && b.message_id == d.message_id.0);
        self.is_trusted_liar(d) || twice.count() > 1
    }
}
