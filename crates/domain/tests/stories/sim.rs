//! The simulator: one queue of events in virtual time, the true world, and the journal of the one
//! trip of a story. Nothing here decides anything; `shell` drives `decide` as the engine does.

use crate::agents::Agent;
use crate::calls::Call;
use crate::check::Checks;
use crate::ledger::Ledger;
use crate::plan::Plan;
use crate::rng::Rng;
use crate::setup;
use crate::shell::Shell;
use domain::agenda::Look;
use domain::ids::{CompensationId, IdSource, OutboxId, QuestionId, TaskId};
use domain::seen::Seen;
use domain::task::Snapshot;
use domain::trip::Trip;
use domain::world::World;
use std::collections::BTreeMap;

/// Everything that can happen, each at its time.
#[derive(Clone, Debug)]
pub enum Event {
    /// The scheduler takes the trip.
    Lease,
    /// The runner's timer.
    Timer {
        epoch: u32,
        version: u64,
    },
    /// A permitted send or call is about to be written.
    Write {
        epoch: u32,
        call: usize,
    },
    /// What a paused old holder was about to write leaves.
    StrayLeaves {
        call: usize,
    },
    /// A send or call arrives.
    Arrives {
        call: usize,
    },
    /// Our patience with a call is over.
    TimesOut {
        call: usize,
    },
    /// Something comes back to the runner.
    Back {
        epoch: u32,
        call: Option<usize>,
        look: Option<Look>,
        seen: Vec<Seen>,
    },
    /// A read is answered; `so_far` is what its first part showed.
    Serves {
        epoch: u32,
        /// When this part of the read was begun: what it shows counts from there.
        begun: i64,
        look: Look,
        so_far: Vec<Seen>,
    },
    /// A hint for the runner.
    Wakes,
    AgentMoves {
        agent: usize,
        task: usize,
        turn: u32,
    },
    Books {
        agent: usize,
        task: usize,
    },
    Unbooks {
        agent: usize,
        task: usize,
    },
    AgentRestarts(usize),
    Person(Act),
    Crash {
        down: i64,
        paused: Option<i64>,
    },
    Starts,
}

/// What a person does.
#[derive(Clone, Debug)]
pub enum Act {
    Cancel,
    Answer(QuestionId),
}

/// What is counted over stories.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    pub passes: u64,
    pub records: u64,
    pub refused_records: u64,
    pub sends: u64,
    pub resends: u64,
    pub crashes: u64,
    pub replies_landed: u64,
    pub undos: u64,
    pub questions: u64,
    pub closed: u64,
    pub stuck: u64,
    pub asking: u64,
    pub left_to_the_watch: u64,
}

pub struct CountingIds(u64);

impl IdSource for CountingIds {
    fn next_id(&mut self) -> String {
        self.0 += 1;
        format!("{:012}", self.0)
    }
}

pub struct Sim {
    pub plan: Plan,
    pub now: i64,
    queue: BTreeMap<(i64, u64), Event>,
    order: u64,
    pub agents: Vec<Agent>,
    pub ledger: Ledger,
    pub world: World,
    pub journal: Trip,
    pub ids: CountingIds,
    pub shell: Shell,
    pub calls: Vec<Call>,
    pub checks: Checks,
    pub counts: Counts,
    /// The boundaries reached, in all and by name.
    pub boundaries: u64,
    pub by_name: BTreeMap<&'static str, u64>,
    pub rng: Rng,
    /// Writes of people that wait for the gap between a load and a record.
    pub in_gap: Vec<Act>,
    /// When the journal last got an event.
    pub last_event: i64,
    telling: bool,
    pub trace: Vec<String>,
    pub trouble: Option<String>,
}

/// No story goes on for longer than this; whoever is not done by then hangs.
pub const HORIZON: i64 = 3_600_000;
/// So many passes are more than any story needs.
const PASSES: u64 = 6000;
/// Nothing new for so long: everything that is under way has had its time.
const QUIET: i64 = 400_000;

impl Sim {
    pub fn new(plan: &Plan, telling: bool) -> Self {
        let mut sim = Self {
            plan: plan.clone(),
            now: 0,
            queue: BTreeMap::new(),
            order: 0,
            agents: plan.agents.iter().map(Agent::new).collect(),
            ledger: Ledger::new(&plan.systems),
            world: setup::world(plan),
            journal: setup::trip(plan),
            ids: CountingIds(0),
            shell: Shell::default(),
            calls: Vec::new(),
            checks: Checks::default(),
            counts: Counts::default(),
            boundaries: 0,
            by_name: BTreeMap::new(),
            rng: Rng::of(plan.seed, "story"),
            in_gap: Vec::new(),
            last_event: 0,
            telling,
            trace: Vec::new(),
            trouble: None,
        };
        sim.schedule();
        sim
    }

    fn schedule(&mut self) {
        self.at(0, Event::Lease);
        if let Some(at) = self.plan.people.cancel_at {
            self.at(at, Event::Person(Act::Cancel));
        }
        for (place, agent) in self.plan.agents.clone().iter().enumerate() {
            for at in &agent.restarts {
                self.at(*at, Event::AgentRestarts(place));
            }
        }
        for crash in self.plan.crashes.clone() {
            if let crate::plan::When::At(at) = crash.when {
                self.at(at, Event::Crash { down: crash.down, paused: crash.paused });
            }
        }
    }

    pub fn at(&mut self, time: i64, event: Event) {
        self.order += 1;
        self.queue.insert((time.max(self.now), self.order), event);
    }

    /// A line of the story, made only where somebody reads it.
    pub fn note(&mut self, line: impl FnOnce() -> String) {
        if self.telling {
            self.trace.push(format!("{:>9} {}", self.now, line()));
        }
    }

    pub fn violated(&mut self, what: String) {
        self.note(|| format!("VIOLATION {what}"));
        self.trouble.get_or_insert(what);
    }

    /// Plays the story to its end and says what was wrong with it.
    pub fn play(&mut self) -> Result<(), String> {
        while self.trouble.is_none() {
            let Some(((time, _), event)) = self.queue.pop_first() else { break };
            if time > HORIZON || self.is_over(time) {
                break;
            }
            self.now = time;
            self.happen(event);
            if self.counts.passes > PASSES {
                let due = self.what_is_due();
                self.violated(format!("rule 10: spins: {PASSES} passes by {}, due: {due}", self.now));
            }
        }
        if self.trouble.is_none() {
            self.check_end();
        }
        self.trouble.clone().map_or(Ok(()), Err)
    }

    /// Nothing of the plan is to come, and nothing has been recorded for long.
    fn is_over(&self, time: i64) -> bool {
        let quiet = self.journal.closed_at.is_none() && time > self.last_event + QUIET;
        quiet && !self.queue.values().any(is_planned)
    }

    /// What the rows say is due now, where a trip spins.
    fn what_is_due(&self) -> String {
        let now = domain::time::Millis(self.now);
        let agenda = domain::agenda::agenda(&self.journal, &self.world, &Default::default(), now);
        let late = agenda.timer.filter(|at| *at <= now).map(|at| format!("timer {}", at.0));
        format!("{:?} {late:?}; {}", agenda.due_looks(now, false), crate::rows::what_is_open(&self.journal))
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Lease => self.lease(),
            Event::Timer { epoch, version } => self.timer(epoch, version),
            Event::Write { epoch, call } => self.write(epoch, call),
            Event::StrayLeaves { call } => self.leaves(call),
            Event::Arrives { call } => self.arrives(call),
            Event::TimesOut { call } => self.times_out(call),
            Event::Back { epoch, call, look, seen } => self.back(epoch, call, look, seen),
            Event::Serves { epoch, begun, look, so_far } => self.serves(epoch, begun, look, so_far),
            Event::Wakes => self.wakes(),
            Event::AgentMoves { agent, task, turn } => self.agent_moves(agent, task, turn),
            Event::Books { agent, task } => self.books(agent, task),
            Event::Unbooks { agent, task } => self.unbooks(agent, task),
            Event::AgentRestarts(agent) => self.agent_restarts(agent),
            Event::Person(act) => self.person(act),
            Event::Crash { down, paused } => self.crash(down, paused),
            Event::Starts => self.starts(),
        }
    }

    /// An agent's task has moved: whoever follows it sees that.
    pub fn streamed(&mut self, agent: usize, snapshot: Snapshot) {
        let task: TaskId = snapshot.task_id.clone();
        if self.agents[agent].plan.streams {
            self.stream_shows(&task, &snapshot);
        }
    }

    /// How long an answer is under way.
    pub fn latency(&mut self) -> i64 {
        let most = self.plan.wire.latency.max(2);
        self.rng.between(1, most / 2)
    }

    pub fn out(&self, id: &OutboxId) -> Option<&domain::outbox::OutMessage> {
        self.journal.out(id)
    }

    pub fn rung(&self, id: &CompensationId) -> Option<&domain::compensation::Compensation> {
        self.journal.compensations.iter().find(|c| &c.id == id)
    }
}

fn is_planned(event: &Event) -> bool {
    matches!(
        event,
        Event::Person(_)
            | Event::Crash { .. }
            | Event::AgentRestarts(_)
            | Event::Starts
            | Event::StrayLeaves { .. }
            | Event::Arrives { .. }
            | Event::AgentMoves { .. }
            | Event::Books { .. }
            | Event::Unbooks { .. }
    )
}
