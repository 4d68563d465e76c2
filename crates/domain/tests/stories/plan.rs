//! What a story is about: the trip, the agents and booking systems with their faults, the people,
//! and when the process dies. Plain data; `draw` makes it from a seed, the traces by hand.

use domain::task::TaskState;
use domain::workflow::OnFailure;
use domain::world::Fact;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
pub struct Plan {
    pub seed: u64,
    pub steps: Vec<StepPlan>,
    pub agents: Vec<AgentPlan>,
    pub systems: Vec<SystemPlan>,
    pub people: PeoplePlan,
    pub crashes: Vec<CrashPlan>,
    pub wire: WirePlan,
    /// The longest pause of an old holder between its check and its write.
    pub pause: i64,
    /// Added to every landing grace and settle time: negative breaks §16's relations on purpose.
    pub slack: i64,
}

#[derive(Clone, Debug)]
pub struct StepPlan {
    /// The booking system that holds its booking, if it makes one.
    pub system: Option<usize>,
    pub budget: i64,
    pub depends_on: Vec<usize>,
    pub on_failure: OnFailure,
}

/// What a list of the agent is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dedup {
    No,
    /// Forgotten at its restart.
    InMemory,
    Durable,
}

/// What the agent does with a CancelTask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnCancel {
    Obeys,
    /// TaskNotCancelable, and it works on.
    Refuses,
    /// Says that it is working, and works on.
    Ignores,
}

/// What the agent's restart does to its tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnRestart {
    Forgets,
    /// They stay as they are for ever.
    Stalls,
}

#[derive(Clone, Debug)]
pub struct AgentPlan {
    /// Which of the steps it can do.
    pub steps: Vec<usize>,
    /// The longest a request lies in its queue.
    pub landing: i64,
    pub list_lag: i64,
    pub lists: bool,
    pub keeps_context: bool,
    /// It answers a request that carries our context with an error, and does nothing.
    pub refuses_context: bool,
    pub keeps_history: bool,
    pub answers_with_tasks: bool,
    pub carries_reference: bool,
    pub timestamps: bool,
    pub streams: bool,
    pub dedup: Dedup,
    pub on_cancel: OnCancel,
    /// Books once more for a message that comes while the task is working.
    pub books_per_message: bool,
    /// A foreign task is in its list.
    pub foreign_task: bool,
    /// Two workers with separate memories: every other GetTask may not know a task.
    pub flaps: bool,
    pub restarts: Vec<i64>,
    pub on_restart: OnRestart,
    /// What it does with its first, second, … task; the last one again after that.
    pub scripts: Vec<Vec<Stage>>,
    /// What is known or vouched at the start, in accord with the above.
    pub facts: BTreeMap<Fact, bool>,
}

/// One stage of an agent's work on a task.
#[derive(Clone, Debug, PartialEq)]
pub enum Stage {
    Work(i64),
    /// Waits for a reply; with a number it clears by itself after so long.
    Ask {
        auth: bool,
        clears: Option<i64>,
    },
    /// A booking call that takes so long, and goes on through a restart or a cancel.
    Book(i64),
    /// A booking call that is made after the task's last word.
    BookLater(i64),
    /// Its own undo of what it booked, so long after.
    UnbookLater(i64),
    End(TaskState),
}

#[derive(Clone, Debug)]
pub struct SystemPlan {
    /// Replicas lag by this at the least and the most.
    pub lag: (i64, i64),
    /// The longest time from an agent's last word to its booking or its own undo.
    pub late: i64,
    /// What it does with the first, second, … cancel call; accepts after that.
    pub cancels: Vec<CancelFault>,
    /// Of a hundred lookups, so many cannot tell.
    pub unknown: i64,
    /// Lookups that cannot tell stop at this time.
    pub unknown_until: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelFault {
    None,
    /// 409, nothing done.
    Conflict,
    /// Done, and the answer is lost.
    LostAnswer,
    /// Never arrives.
    LostCall,
    /// Says yes and does nothing.
    AcceptsAndIgnores,
    NotSent,
}

#[derive(Clone, Debug)]
pub struct PeoplePlan {
    pub cancel_at: Option<i64>,
    /// Shortest and longest time to an answer; none: nobody answers.
    pub answers: Option<(i64, i64)>,
    /// A second person answers as well.
    pub twice: bool,
    /// Of a hundred writes, so many come between the loop's load and its record.
    pub in_gap: i64,
    /// What is answered when a step has failed for good.
    pub go_on: bool,
}

#[derive(Clone, Debug)]
pub struct CrashPlan {
    pub when: When,
    /// How long the process is down.
    pub down: i64,
    /// The old process was only paused: what it was about to write leaves so much later.
    pub paused: Option<i64>,
}

#[derive(Clone, Debug)]
pub enum When {
    /// At the n-th boundary of any name.
    Boundary(u64),
    /// At the n-th boundary of this name.
    Named(&'static str, u64),
    At(i64),
}

/// What goes wrong between us and the agents, of a hundred calls.
#[derive(Clone, Debug, Default)]
pub struct WirePlan {
    pub sends: BTreeMap<SendFault, i64>,
    /// What happens to the first, second, … send of the whole story.
    pub script: Vec<SendFault>,
    pub read_fails: i64,
    /// The longest time that a read or an answer is under way.
    pub latency: i64,
    /// The faults above end at this time.
    pub until: i64,
}

/// What goes wrong with one send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SendFault {
    None,
    /// Connection refused.
    NotSent,
    /// Leaves us and never arrives.
    Lost,
    /// Arrives; the answer does not.
    LostAnswer,
    /// Arrives; −32603 comes back.
    Broken,
    /// 429: nothing is done.
    Busy,
    /// 401: nothing is done.
    Credential,
    /// −32005: nothing is done.
    RefusedForGood,
    /// Arrives and starts a task; −32602 comes back.
    RefusedAfterStart,
    /// −32602, and nothing is done.
    RefusedVaguely,
}

impl Plan {
    /// The landing grace that §16's relations ask for.
    pub fn grace(&self, agent: &AgentPlan) -> i64 {
        agent.landing + agent.list_lag + self.pause + 1 + self.slack
    }

    /// The settle time that §16's relations ask for.
    pub fn settle(&self, system: &SystemPlan) -> i64 {
        (system.lag.1 + system.late + 1 + self.slack).max(500)
    }
}
