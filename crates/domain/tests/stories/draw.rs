//! A story by seed. What is known or vouched of an agent is true of it: safety rests on that.

use crate::plan::{
    AgentPlan, CancelFault, CrashPlan, Dedup, OnCancel, OnRestart, PeoplePlan, Plan, SendFault, Stage,
    StepPlan, SystemPlan, When, WirePlan,
};
use crate::rng::Rng;
use domain::task::TaskState;
use domain::workflow::OnFailure;
use domain::world::Fact;
use std::collections::BTreeMap;

pub fn plan(seed: u64) -> Plan {
    let rng = &mut Rng::of(seed, "plan");
    let systems: Vec<SystemPlan> = (0..rng.between(1, 2)).map(|_| system(rng)).collect();
    let steps = steps(rng, systems.len());
    let late = systems.iter().map(|s| s.late).min().unwrap_or(0);
    let agents = (0..rng.between(1, 4)).map(|_| agent(rng, steps.len(), late)).collect();
    let pause = if rng.chance(25) { rng.between(1, 3000) } else { 0 };
    let wire = wire(rng);
    let people = PeoplePlan {
        cancel_at: rng.chance(40).then(|| rng.between(0, 60_000)),
        answers: rng.chance(85).then(|| (rng.between(10, 500), rng.between(500, 20_000))),
        twice: rng.chance(30),
        in_gap: *rng.pick(&[0, 30, 100]),
        go_on: rng.chance(50),
    };
    let crashes = (0..rng.between(0, 3)).map(|_| crash(rng, pause)).collect();
    Plan { seed, steps, agents, systems, people, crashes, wire, pause, slack: 0 }
}

fn steps(rng: &mut Rng, systems: usize) -> Vec<StepPlan> {
    let count = usize::try_from(rng.between(1, 3)).unwrap_or(1);
    let all: Vec<usize> = (0..systems).collect();
    let one = |place: usize, rng: &mut Rng| StepPlan {
        system: rng.chance(85).then(|| *rng.pick(&all)),
        budget: rng.between(1, 3),
        depends_on: (0..place).filter(|_| rng.chance(35)).collect(),
        on_failure: *rng.pick(&[OnFailure::Ask, OnFailure::GoOn, OnFailure::Compensate]),
    };
    (0..count).map(|place| one(place, rng)).collect()
}

fn system(rng: &mut Rng) -> SystemPlan {
    use CancelFault as C;
    let faults = [C::None, C::Conflict, C::LostAnswer, C::LostCall, C::AcceptsAndIgnores, C::NotSent];
    let most = *rng.pick(&[0, 500, 2000]);
    let lag = if rng.chance(50) { (most, most) } else { (0, most) };
    let faulty = if rng.chance(50) { rng.between(1, 4) } else { 0 };
    SystemPlan {
        lag,
        late: *rng.pick(&[10, 500, 2000]),
        cancels: (0..faulty).map(|_| *rng.pick(&faults)).collect(),
        unknown: *rng.pick(&[0, 0, 15, 40]),
        unknown_until: rng.between(0, 90_000),
    }
}

fn agent(rng: &mut Rng, steps: usize, late: i64) -> AgentPlan {
    let keeps_context = rng.chance(60);
    let answers_with_tasks = rng.chance(85);
    let lists = rng.chance(80);
    let keeps_history = rng.chance(60);
    let told = Told { lists, found: lists && (keeps_context || keeps_history), tasks: answers_with_tasks };
    let mut able: Vec<usize> = (0..steps).filter(|_| rng.chance(80)).collect();
    if able.is_empty() {
        able.push(0);
    }
    let mut agent = AgentPlan {
        steps: able,
        landing: *rng.pick(&[5, 500, 3000]),
        list_lag: *rng.pick(&[0, 0, 300, 1500]),
        lists,
        keeps_context,
        refuses_context: !keeps_context && rng.chance(25),
        keeps_history,
        answers_with_tasks,
        carries_reference: rng.chance(95),
        timestamps: rng.chance(80),
        streams: rng.chance(50),
        dedup: *rng.pick(&[Dedup::No, Dedup::No, Dedup::InMemory, Dedup::Durable]),
        on_cancel: *rng.pick(&[OnCancel::Obeys, OnCancel::Obeys, OnCancel::Refuses, OnCancel::Ignores]),
        books_per_message: rng.chance(50),
        foreign_task: rng.chance(10),
        flaps: rng.chance(15),
        restarts: (0..rng.between(0, 2)).map(|_| rng.between(0, 60_000)).collect(),
        on_restart: *rng.pick(&[OnRestart::Forgets, OnRestart::Stalls]),
        scripts: (0..3).map(|_| script(rng, late, told)).collect(),
        facts: BTreeMap::new(),
    };
    agent.facts = facts(rng, &agent);
    agent
}

/// True facts, some of them known.
fn facts(rng: &mut Rng, agent: &AgentPlan) -> BTreeMap<Fact, bool> {
    let lies = agent.scripts.iter().any(|s| s.contains(&Stage::End(TaskState::Rejected)) && s.len() > 2);
    let truth = [
        (Fact::Lists, agent.lists),
        (Fact::KeepsContextId, agent.keeps_context),
        (Fact::AnswersWithTasks, agent.answers_with_tasks),
        (Fact::CarriesReference, agent.carries_reference),
        (Fact::DeduplicatesDurably, agent.dedup == Dedup::Durable),
        (Fact::RejectsTruthfully, !lies),
    ];
    truth.into_iter().filter(|_| rng.chance(80)).collect()
}

/// What can be seen of an agent's end, whatever is lost on the way.
#[derive(Clone, Copy)]
struct Told {
    lists: bool,
    found: bool,
    tasks: bool,
}

fn script(rng: &mut Rng, late: i64, told: Told) -> Vec<Stage> {
    use Stage::{Ask, Book, BookLater, End, UnbookLater, Work};
    use TaskState::{Completed, Failed, Rejected};
    let work = Work(*rng.pick(&[1, 200, 3000, 20_000]));
    let call = rng.between(0, late);
    let after = rng.between(1, late.max(1));
    // An agent whose task may never be found ends soon after its booking: nothing else tells of it.
    let seen = told.lists && told.found && told.tasks;
    let more = Work(if seen { *rng.pick(&[1, 1000, 8000]) } else { 1 });
    let ask = |auth: bool, clears: Option<i64>| Ask { auth, clears };
    match rng.between(0, 99) {
        0..30 => vec![work, Book(call), more, End(Completed)],
        30..42 => vec![work, ask(false, None), Work(500), Book(call), End(Completed)],
        42..47 => vec![ask(false, None), Work(10), ask(false, None), Book(call), End(Completed)],
        47..51 => vec![work, ask(true, Some(4000)), Book(call), End(Completed)],
        51..54 => vec![work, ask(true, None), Book(call), End(Completed)],
        54..59 => vec![Work(50), End(Rejected)],
        59..62 => vec![Work(50), Book(call), End(Rejected)],
        62..68 => vec![work, End(Failed)],
        68..74 => vec![work, Book(call), more, End(Failed)],
        // A bare message says nothing of an end: what was booked for it stands (§6).
        74..80 if told.tasks => vec![work, Book(call), more, End(Failed), UnbookLater(after)],
        74..80 => vec![work, End(Failed)],
        80..85 => vec![work, End(Completed)],
        85..89 => vec![work, End(Failed), BookLater(after)],
        89..92 => vec![work, End(Completed), BookLater(after)],
        92..95 => vec![Work(100)],
        95..97 => vec![Work(100_000), Book(call), End(Completed)],
        _ => vec![work, Book(call), Book(call), End(Completed)],
    }
}

fn wire(rng: &mut Rng) -> WirePlan {
    use SendFault as S;
    let faults = [
        S::NotSent,
        S::Lost,
        S::LostAnswer,
        S::Broken,
        S::Busy,
        S::Credential,
        S::RefusedForGood,
        S::RefusedAfterStart,
        S::RefusedVaguely,
    ];
    let most = *rng.pick(&[0, 6, 25]);
    let kept: Vec<SendFault> = faults.into_iter().filter(|_| rng.chance(60)).collect();
    let sends = kept.into_iter().map(|f| (f, rng.between(0, most))).collect();
    WirePlan {
        sends,
        script: Vec::new(),
        read_fails: *rng.pick(&[0, 0, 20, 50]),
        latency: *rng.pick(&[2, 50, 300]),
        until: rng.between(10_000, 90_000),
    }
}

fn crash(rng: &mut Rng, pause: i64) -> CrashPlan {
    let when =
        if rng.chance(75) { When::Boundary(rng.next() % 60 + 1) } else { When::At(rng.between(0, 60_000)) };
    let paused = (pause > 0 && rng.chance(60)).then(|| rng.between(1, pause));
    CrashPlan { when, down: rng.between(1, 5000), paused }
}

/// Smaller stories, each with one thing left out.
pub fn smaller(plan: &Plan) -> Vec<Plan> {
    let mut all = Vec::new();
    let mut with = |change: &dyn Fn(&mut Plan)| {
        let mut one = plan.clone();
        change(&mut one);
        all.push(one);
    };
    for place in 0..plan.crashes.len() {
        with(&|p| {
            p.crashes.remove(place);
        });
    }
    if plan.agents.len() > 1 {
        with(&|p| {
            p.agents.pop();
        });
    }
    if plan.steps.len() > 1 {
        with(&|p| {
            p.steps.pop();
            let left = p.steps.len();
            p.agents.iter_mut().for_each(|a| a.steps.retain(|s| *s < left));
        });
    }
    with(&|p| p.people.cancel_at = None);
    with(&|p| p.people.twice = false);
    with(&|p| p.people.in_gap = 0);
    with(&|p| p.wire.read_fails = 0);
    with(&|p| p.wire.latency = 2);
    with(&|p| p.systems.iter_mut().for_each(|s| s.unknown = 0));
    with(&|p| p.systems.iter_mut().for_each(|s| s.lag = (0, 0)));
    with(&|p| p.systems.iter_mut().for_each(|s| s.cancels.clear()));
    with(&|p| p.steps.iter_mut().for_each(|s| s.depends_on.clear()));
    for fault in plan.wire.sends.keys() {
        with(&|p| {
            p.wire.sends.remove(fault);
        });
    }
    for place in 0..plan.agents.len() {
        with(&|p| p.agents[place].restarts.clear());
        with(&|p| p.agents[place].streams = false);
        with(&|p| p.agents[place].list_lag = 0);
    }
    all
}
