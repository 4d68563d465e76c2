//! The agents: what they do with a request, a reply, a cancel and a read, at the time at which it
//! arrives.

use crate::ledger;
use crate::plan::{AgentPlan, Dedup, OnCancel, OnRestart, Stage};
use crate::sim::{Event, Sim};
use domain::failure::{Failure, FailureClass};
use domain::ids::{ContextId, MessageId, TaskId};
use domain::seen::Answer;
use domain::task::{AgentMessage, Artifact, Snapshot, TaskState};
use domain::time::Millis;
use serde_json::{Value, json};

pub struct Agent {
    pub plan: AgentPlan,
    pub tasks: Vec<AgentTask>,
    /// Message ids that it deduplicates by, with the task made for each.
    known: Vec<(String, usize)>,
}

pub struct AgentTask {
    pub id: TaskId,
    pub context: Option<ContextId>,
    pub state: TaskState,
    timestamp: i64,
    message: Option<AgentMessage>,
    history: Vec<MessageId>,
    confirmation: Option<String>,
    script: Vec<Stage>,
    at: usize,
    /// Raised by whatever makes a planned move void.
    pub turn: u32,
    made_at: i64,
    pub message_id: String,
    reference: Option<String>,
    system: Option<usize>,
    pub forgotten: bool,
    /// Its newest GetTask came to the worker that knows nothing.
    flapped: bool,
    /// Stopped by a restart, a cancel or its end.
    pub stopped: bool,
    /// A bare message's work: no read shows it.
    hidden: bool,
    questions: usize,
}

impl AgentTask {
    /// Whether a message of ours has reached it.
    pub fn has_taken(&self, id: &MessageId) -> bool {
        self.history.contains(id)
    }

    /// Whether it may still book by itself.
    pub fn is_live(&self) -> bool {
        !self.stopped && self.script[self.at.min(self.script.len())..].iter().any(is_booking)
    }
}

fn is_booking(stage: &Stage) -> bool {
    matches!(stage, Stage::Book(_) | Stage::BookLater(_))
}

pub fn failure(class: FailureClass, text: &str) -> Failure {
    Failure { class, code: None, reason: None, text: text.to_owned() }
}

/// What a request carries.
struct Request {
    message_id: String,
    context: Option<ContextId>,
    reference: Option<String>,
}

fn request_in(body: &str) -> Request {
    let body: Value = serde_json::from_str(body).unwrap_or_default();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    Request {
        message_id: text(&body["messageId"]).unwrap_or_default(),
        context: text(&body["contextId"]).map(ContextId),
        reference: text(&body["metadata"]["reference"]),
    }
}

impl Agent {
    pub fn new(plan: &AgentPlan) -> Self {
        Self { plan: plan.clone(), tasks: Vec::new(), known: Vec::new() }
    }

    fn snapshot(&self, place: usize) -> Snapshot {
        let task = &self.tasks[place];
        let artifacts = task.confirmation.iter().filter(|_| task.state == TaskState::Completed);
        Snapshot {
            task_id: task.id.clone(),
            context_id: task.context.clone(),
            state: task.state.clone(),
            timestamp: self.plan.timestamps.then_some(Millis(task.timestamp)),
            message: task.message.clone(),
            artifacts: artifacts
                .map(|confirmation| Artifact {
                    artifact_id: "a1".to_owned(),
                    name: None,
                    text: "booked".to_owned(),
                    data: vec![json!({ "confirmation": confirmation })],
                })
                .collect(),
            history_ids: if self.plan.keeps_history { task.history.clone() } else { Vec::new() },
        }
    }

    fn first_answer(&self, place: usize) -> Answer {
        if self.plan.answers_with_tasks {
            return Answer::Task(self.snapshot(place));
        }
        Answer::Message(AgentMessage { message_id: None, text: "working on it".to_owned(), data: Vec::new() })
    }

    pub fn find(&self, id: &TaskId) -> Option<usize> {
        self.tasks.iter().position(|t| &t.id == id && !t.forgotten && !t.hidden)
    }

    pub fn get(&mut self, id: &TaskId) -> Result<Snapshot, Failure> {
        if let Some(place) = self.find(id).filter(|_| self.plan.flaps) {
            let task = &mut self.tasks[place];
            task.flapped = !task.flapped;
            if task.flapped {
                return Err(failure(FailureClass::TaskNotFound, "no such task here"));
            }
        }
        self.find(id)
            .map(|place| self.snapshot(place))
            .ok_or_else(|| failure(FailureClass::TaskNotFound, "no such task"))
    }

    /// Every task that a list shows at `now`, and whether a foreign one is among them.
    pub fn list(&self, now: i64, context: Option<&ContextId>) -> Vec<Snapshot> {
        (0..self.tasks.len())
            .filter(|place| {
                let task = &self.tasks[*place];
                let in_context = context.is_none_or(|c| task.context.as_ref() == Some(c));
                !task.forgotten && !task.hidden && task.made_at + self.plan.list_lag <= now && in_context
            })
            .map(|place| self.snapshot(place))
            .collect()
    }
}

impl Sim {
    /// A request arrives and is answered.
    pub fn request_arrives(&mut self, agent: usize, body: &str, system: Option<usize>) -> Answer {
        let request = request_in(body);
        let now = self.now;
        let one = &mut self.agents[agent];
        if one.plan.refuses_context && request.context.is_some() {
            return Answer::Failed(failure(FailureClass::LookFirst, "contextId is not accepted"));
        }
        if let Some((_, place)) = one.known.iter().find(|(id, _)| id == &request.message_id) {
            let place = *place;
            // What it forgot is known to its memory of message ids alone.
            if one.tasks[place].forgotten {
                one.tasks[place].forgotten = false;
                one.tasks[place].state = TaskState::Failed;
            }
            return self.agents[agent].first_answer(place);
        }
        let number = one.tasks.len();
        let script = one.plan.scripts[number.min(one.plan.scripts.len() - 1)].clone();
        let own_context = || ContextId(format!("own-{agent}-{number}"));
        one.tasks.push(AgentTask {
            id: TaskId(format!("T{agent}-{number}")),
            context: if one.plan.keeps_context { request.context.clone() } else { None }
                .or_else(|| Some(own_context())),
            state: TaskState::Submitted,
            timestamp: now,
            message: None,
            history: vec![MessageId(request.message_id.clone())],
            confirmation: None,
            script,
            at: 0,
            turn: 0,
            made_at: now,
            message_id: request.message_id.clone(),
            reference: request.reference,
            system,
            forgotten: false,
            flapped: false,
            stopped: false,
            hidden: !one.plan.answers_with_tasks,
            questions: 0,
        });
        if one.plan.dedup != Dedup::No {
            one.known.push((request.message_id, number));
        }
        let answer = one.first_answer(number);
        let (event, at) = (Event::AgentMoves { agent, task: number, turn: 0 }, now + 1);
        self.note(|| format!("agent {agent} takes the request as task T{agent}-{number}"));
        self.at(at, event);
        answer
    }

    /// Goes on with a task's script until something takes time.
    pub fn agent_moves(&mut self, agent: usize, place: usize, turn: u32) {
        let task = &self.agents[agent].tasks[place];
        if task.turn != turn || task.stopped {
            return;
        }
        loop {
            let task = &mut self.agents[agent].tasks[place];
            let Some(stage) = task.script.get(task.at).cloned() else { return };
            task.at += 1;
            let wait = match stage {
                Stage::Work(time) => {
                    self.set_state(agent, place, TaskState::Working, None);
                    Some(time)
                }
                Stage::Book(time) => {
                    self.at(self.now + time, Event::Books { agent, task: place });
                    Some(time + 1)
                }
                Stage::BookLater(time) => {
                    self.at(self.now + time, Event::Books { agent, task: place });
                    None
                }
                Stage::UnbookLater(time) => {
                    self.at(self.now + time, Event::Unbooks { agent, task: place });
                    None
                }
                Stage::Ask { auth, clears } => {
                    self.ask(agent, place, auth);
                    if clears.is_none() {
                        return;
                    }
                    clears
                }
                Stage::End(state) => {
                    self.set_state(agent, place, state, Some("that is all"));
                    None
                }
            };
            let turn = self.agents[agent].tasks[place].turn;
            if let Some(time) = wait {
                return self.at(self.now + time, Event::AgentMoves { agent, task: place, turn });
            }
        }
    }

    fn ask(&mut self, agent: usize, place: usize, auth: bool) {
        let task = &mut self.agents[agent].tasks[place];
        task.questions += 1;
        let text = format!("question {}", task.questions);
        let state = if auth { TaskState::AuthRequired } else { TaskState::InputRequired };
        self.set_state(agent, place, state, Some(&text));
    }

    fn set_state(&mut self, agent: usize, place: usize, state: TaskState, words: Option<&str>) {
        let now = self.now;
        let task = &mut self.agents[agent].tasks[place];
        task.timestamp = now;
        task.state = state.clone();
        let id = format!("{}-{now}", task.id);
        task.message = words.map(|text| AgentMessage {
            message_id: Some(MessageId(id)),
            text: text.to_owned(),
            data: Vec::new(),
        });
        let snapshot = self.agents[agent].snapshot(place);
        self.note(|| format!("agent {agent}: T{agent}-{place} is {}", state.word()));
        if !self.agents[agent].tasks[place].hidden {
            self.streamed(agent, snapshot);
        }
    }

    pub fn books(&mut self, agent: usize, place: usize) {
        let now = self.now;
        let one = &mut self.agents[agent];
        let task = &mut one.tasks[place];
        let (Some(system), Some(reference)) = (task.system, task.reference.clone()) else { return };
        let reference = if one.plan.carries_reference { reference } else { format!("their-own-{}", task.id) };
        let confirmation = self.ledger.book(now, system, &reference, &task.message_id, agent);
        task.confirmation = Some(confirmation.clone());
        self.note(|| format!("agent {agent} books {confirmation} at {}", ledger::system_name(system)));
        self.check_late_booking(&confirmation);
    }

    pub fn unbooks(&mut self, agent: usize, place: usize) {
        let message = self.agents[agent].tasks[place].message_id.clone();
        self.note(|| format!("agent {agent} undoes its own booking for {message}"));
        self.ledger.unbook(self.now, &message);
    }

    /// A reply arrives on a task.
    pub fn reply_arrives(&mut self, agent: usize, body: &str) -> Answer {
        let value: Value = serde_json::from_str(body).unwrap_or_default();
        let task = TaskId(value["taskId"].as_str().unwrap_or_default().to_owned());
        let id = MessageId(value["messageId"].as_str().unwrap_or_default().to_owned());
        let Some(place) = self.agents[agent].find(&task) else {
            return Answer::Failed(failure(FailureClass::State, "no such task"));
        };
        let one = &mut self.agents[agent];
        if one.tasks[place].state.is_terminal() {
            return Answer::Failed(failure(FailureClass::State, "the task is over"));
        }
        let again = one.tasks[place].history.contains(&id);
        if again && one.plan.dedup != Dedup::No {
            return Answer::Task(one.snapshot(place));
        }
        if one.tasks[place].stopped {
            // Nobody works on it any more, and nobody takes the message in.
            return Answer::Task(one.snapshot(place));
        }
        one.tasks[place].history.push(id);
        self.counts.replies_landed += 1;
        if self.agents[agent].tasks[place].state.is_interrupted() {
            let task = &mut self.agents[agent].tasks[place];
            task.turn += 1;
            let turn = task.turn;
            self.note(|| format!("agent {agent} takes the reply on T{agent}-{place}"));
            self.set_state(agent, place, TaskState::Working, None);
            self.at(self.now + 1, Event::AgentMoves { agent, task: place, turn });
        } else if self.agents[agent].plan.books_per_message {
            self.note(|| format!("agent {agent} takes a message to a task that works: it books once more"));
            self.books(agent, place);
        }
        Answer::Task(self.agents[agent].snapshot(place))
    }

    pub fn cancel_arrives(&mut self, agent: usize, id: &TaskId) -> Result<Snapshot, Failure> {
        let Some(place) = self.agents[agent].find(id) else {
            return Err(failure(FailureClass::State, "no such task"));
        };
        let one = &mut self.agents[agent];
        if one.tasks[place].state.is_terminal() {
            return Err(failure(FailureClass::State, "not cancelable"));
        }
        match one.plan.on_cancel {
            OnCancel::Refuses => return Err(failure(FailureClass::State, "not cancelable")),
            OnCancel::Ignores => {}
            OnCancel::Obeys => {
                one.tasks[place].turn += 1;
                one.tasks[place].stopped = true;
                self.set_state(agent, place, TaskState::Canceled, Some("cancelled"));
            }
        }
        Ok(self.agents[agent].snapshot(place))
    }

    /// The agent's process dies and comes back. Booking calls that are under way go on.
    pub fn agent_restarts(&mut self, agent: usize) {
        self.note(|| format!("agent {agent} restarts"));
        let one = &mut self.agents[agent];
        for task in &mut one.tasks {
            if !task.state.is_terminal() {
                task.turn += 1;
                task.stopped = true;
            }
            task.forgotten |= one.plan.on_restart == OnRestart::Forgets;
        }
        if one.plan.dedup == Dedup::InMemory {
            one.known.clear();
        }
    }
}
