//! Sends, cancels and undo calls from their permission to their answer, with what goes wrong on
//! the way.

use crate::agents::failure;
use crate::ledger::Called;
use crate::plan::{CancelFault, SendFault};
use crate::setup::{agent_place, system_place};
use crate::sim::{Event, Sim};
use domain::booking::CancelAnswer;
use domain::decide::Action;
use domain::failure::FailureClass;
use domain::ids::{CompensationId, DelegationId, OutboxId, TaskId};
use domain::outbox::OutKind;
use domain::seen::{Answer, Seen, What};
use domain::time::Millis;

/// One permitted send or call.
#[derive(Clone, Debug)]
pub struct Call {
    pub epoch: u32,
    pub number: i64,
    pub until: i64,
    pub body: String,
    pub target: Target,
    fault: SendFault,
    undo_fault: CancelFault,
    answered: bool,
}

#[derive(Clone, Debug)]
pub enum Target {
    Message { out: OutboxId, kind: OutKind, delegation: DelegationId, agent: usize, task: Option<TaskId> },
    Undo { compensation: CompensationId, system: usize, confirmation: String, key: String },
}

impl Sim {
    /// What the commit has permitted is begun.
    pub fn begin_action(&mut self, action: &Action) {
        let Some(call) = self.call(action) else {
            return self.violated(format!("an action about a row that is not there: {action:?}"));
        };
        if let Some(runner) = &mut self.shell.runner {
            match &call.target {
                Target::Message { out, .. } => runner.in_flight.out.insert(out.clone()),
                Target::Undo { compensation, .. } => runner.in_flight.undo.insert(compensation.clone()),
            };
        }
        self.began();
        let (epoch, place) = (call.epoch, self.calls.len());
        self.calls.push(call);
        let at = self.now + self.rng.between(1, 30);
        self.at(at, Event::Write { epoch, call: place });
    }

    fn call(&self, action: &Action) -> Option<Call> {
        let epoch = self.shell.epoch;
        let (fault, undo_fault, answered) = (SendFault::None, CancelFault::None, false);
        match action {
            Action::Send { out, number } | Action::CancelTask { out, number } => {
                let message = self.out(out)?;
                let delegation = self.journal.delegation(&message.delegation)?;
                let target = Target::Message {
                    out: out.clone(),
                    kind: message.kind,
                    delegation: delegation.id.clone(),
                    agent: agent_place(&delegation.agent),
                    task: message.task.clone(),
                };
                let (until, body) = (message.may_send_until?.0, message.body.clone());
                Some(Call { epoch, number: *number, until, body, target, fault, undo_fault, answered })
            }
            Action::Undo { compensation, number } => {
                let rung = self.rung(compensation)?;
                let target = Target::Undo {
                    compensation: compensation.clone(),
                    system: system_place(&rung.booking_system),
                    confirmation: rung.confirmation.clone(),
                    key: rung.idempotency_key.clone(),
                };
                let (until, body) = (rung.may_send_until?.0, rung.body.clone());
                Some(Call { epoch, number: *number, until, body, target, fault, undo_fault, answered })
            }
        }
    }

    /// The write itself: the last moment at which the process may die with nothing sent.
    pub fn write(&mut self, epoch: u32, place: usize) {
        let until = self.calls[place].until;
        let alive = epoch == self.shell.epoch;
        if !alive || self.boundary("send.before_write") {
            // A paused holder had made its check before the pause, and knows nothing of the rest.
            if let Some((old, by)) = self.shell.paused
                && old == epoch
                && self.now <= until
            {
                self.at(self.now + by, Event::StrayLeaves { call: place });
            }
            return;
        }
        if self.now > until {
            return self.answer(place, 1, |_| Answer::Failed(failure(FailureClass::NotSent, "too late")));
        }
        self.check_permission(place);
        self.leaves(place);
    }

    pub fn leaves(&mut self, place: usize) {
        let call = self.calls[place].clone();
        self.note(|| format!("leaves: {} number {}", crate::tell::target(&call.target), call.number));
        self.check_leaving(place);
        match call.target {
            Target::Undo { system, .. } => self.undo_leaves(place, system),
            Target::Message { agent, kind, .. } => {
                let drawn = self.send_fault();
                // Who answers without a task has nothing that it could refuse after the start.
                let bare = !self.agents[agent].plan.answers_with_tasks;
                let fault = match drawn {
                    SendFault::RefusedAfterStart if bare => SendFault::Broken,
                    other => other,
                };
                self.calls[place].fault = fault;
                self.message_leaves(place, agent, kind, fault);
            }
        }
    }

    fn send_fault(&mut self) -> SendFault {
        let nth = self.checks.left.len();
        self.checks.left.push(self.now);
        if let Some(fault) = self.plan.wire.script.get(nth) {
            return *fault;
        }
        if self.now >= self.plan.wire.until {
            return SendFault::None;
        }
        let roll = self.rng.between(0, 99);
        let mut sum = 0;
        for (fault, percent) in &self.plan.wire.sends {
            sum += percent;
            if roll < sum {
                return *fault;
            }
        }
        SendFault::None
    }

    fn message_leaves(&mut self, place: usize, agent: usize, kind: OutKind, fault: SendFault) {
        let refused = |class: FailureClass, text: &str| failure(class, text);
        let first = kind == OutKind::Request;
        let class = match fault {
            SendFault::NotSent => FailureClass::NotSent,
            SendFault::Busy => FailureClass::RefusedForNow { retry_after: None },
            SendFault::Credential => FailureClass::Credential,
            SendFault::RefusedForGood if first => FailureClass::RefusedForGood,
            SendFault::RefusedVaguely if first => FailureClass::LookFirst,
            SendFault::RefusedForGood | SendFault::RefusedVaguely => FailureClass::State,
            SendFault::Lost => {
                self.note(|| "it is lost on the way".to_owned());
                let until = self.calls[place].until;
                return self.at(until, Event::TimesOut { call: place });
            }
            SendFault::None | SendFault::LostAnswer | SendFault::Broken | SendFault::RefusedAfterStart => {
                let most = self.agents[agent].plan.landing.max(1);
                let arrives = self.now + self.rng.between(1, most);
                self.at(arrives, Event::Arrives { call: place });
                let until = self.calls[place].until;
                return self.at(until, Event::TimesOut { call: place });
            }
        };
        let why = refused(class, "refused on the way");
        self.answer(place, 1, |_| Answer::Failed(why));
    }

    fn undo_leaves(&mut self, place: usize, system: usize) {
        let fault = self.ledger.next_fault(system);
        self.calls[place].undo_fault = fault;
        self.counts.undos += 1;
        match fault {
            CancelFault::NotSent => {
                self.answer_undo(place, 1, CancelAnswer::NotSent("refused".to_owned()));
            }
            fault => {
                let arrives = self.now + self.rng.between(1, 300);
                if fault != CancelFault::LostCall {
                    self.at(arrives, Event::Arrives { call: place });
                }
                let until = self.calls[place].until;
                self.at(until, Event::TimesOut { call: place });
            }
        }
    }

    pub fn arrives(&mut self, place: usize) {
        let call = self.calls[place].clone();
        self.note(|| format!("arrives: {}", crate::tell::target(&call.target)));
        match &call.target {
            Target::Undo { system, confirmation, key, .. } => {
                let called = self.ledger.cancel(self.now, *system, confirmation, key, call.undo_fault);
                if let Called::Answer(answer) = called {
                    self.answer_undo(place, 0, answer);
                }
            }
            Target::Message { kind, agent, delegation, task, .. } => {
                let answer = match kind {
                    OutKind::Request => {
                        let system = self.system_of(delegation);
                        self.request_arrives(*agent, &call.body, system)
                    }
                    OutKind::Reply => self.reply_arrives(*agent, &call.body),
                    OutKind::Cancel => match task {
                        Some(task) => match self.cancel_arrives(*agent, task) {
                            Ok(snapshot) => Answer::Task(snapshot),
                            Err(why) => Answer::Failed(why),
                        },
                        None => return self.violated("a cancel of no task".to_owned()),
                    },
                };
                self.answer_message(place, *kind, answer);
            }
        }
    }

    fn answer_message(&mut self, place: usize, kind: OutKind, answer: Answer) {
        let vague = if kind == OutKind::Request { FailureClass::LookFirst } else { FailureClass::State };
        let answer = match self.calls[place].fault {
            SendFault::LostAnswer => return,
            SendFault::Broken => Answer::Failed(failure(FailureClass::Unknown, "internal error")),
            SendFault::RefusedAfterStart => Answer::Failed(failure(vague, "refused after the start")),
            _ => answer,
        };
        let wait = self.latency();
        self.answer(place, wait, |_| answer);
    }

    fn system_of(&self, delegation: &DelegationId) -> Option<usize> {
        let delegation = self.journal.delegation(delegation)?;
        let effect = self.journal.definition(&delegation.step)?.effect.as_ref()?;
        effect.booking_systems.first().map(|name| system_place(name))
    }

    pub fn times_out(&mut self, place: usize) {
        match self.calls[place].target {
            Target::Undo { .. } => {
                self.answer_undo(place, 0, CancelAnswer::Unknown("no answer in time".to_owned()));
            }
            Target::Message { .. } => {
                self.answer(place, 0, |_| {
                    Answer::Failed(failure(FailureClass::Unknown, "no answer in time"))
                });
            }
        }
    }

    /// An answer to a message goes back, if our patience lasts and none went before.
    fn answer(&mut self, place: usize, wait: i64, with: impl FnOnce(&Call) -> Answer) {
        let call = self.calls[place].clone();
        let at = self.now + wait;
        let in_time = at <= call.until || wait <= 1;
        if call.answered || !in_time {
            return;
        }
        self.calls[place].answered = true;
        let answer = with(&call);
        let Target::Message { out, kind, .. } = call.target else { return };
        let number = call.number;
        let what = match (kind, answer) {
            (OutKind::Cancel, Answer::Task(snapshot)) => {
                What::CancelSent { out, number, answer: Ok(snapshot) }
            }
            (OutKind::Cancel, Answer::Failed(why)) => What::CancelSent { out, number, answer: Err(why) },
            (_, answer) => What::Sent { out, number, answer },
        };
        self.send_back(place, at, what);
    }

    fn answer_undo(&mut self, place: usize, wait: i64, answer: CancelAnswer) {
        let Target::Undo { compensation, .. } = self.calls[place].target.clone() else { return };
        if std::mem::replace(&mut self.calls[place].answered, true) {
            return;
        }
        let number = self.calls[place].number;
        self.send_back(place, self.now + wait, What::Undo { compensation, number, answer });
    }

    fn send_back(&mut self, place: usize, at: i64, what: What) {
        let epoch = self.calls[place].epoch;
        let seen = vec![Seen { at: Millis(at), what }];
        self.at(at, Event::Back { epoch, call: Some(place), look: None, seen });
    }
}
