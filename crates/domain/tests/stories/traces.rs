//! The shortest stories that double, lose or orphan a booking under rules that are a little too
//! simple, each with its right end.

use crate::plan::{
    AgentPlan, CancelFault, CrashPlan, Dedup, OnCancel, OnRestart, PeoplePlan, Plan, SendFault, Stage,
    StepPlan, SystemPlan, When, WirePlan,
};
use crate::sim::Sim;
use Stage::{Ask, Book, End, UnbookLater, Work};
use TaskState::{Completed, Failed, Rejected};
use domain::compensation::CompensationState;
use domain::task::TaskState;
use domain::trip::Closed;
use domain::workflow::OnFailure;
use domain::world::Fact;

fn agent(script: Vec<Stage>) -> AgentPlan {
    let facts = [Fact::Lists, Fact::KeepsContextId, Fact::AnswersWithTasks, Fact::CarriesReference];
    AgentPlan {
        steps: vec![0],
        landing: 500,
        list_lag: 0,
        lists: true,
        keeps_context: true,
        refuses_context: false,
        keeps_history: true,
        answers_with_tasks: true,
        carries_reference: true,
        timestamps: true,
        streams: false,
        dedup: Dedup::No,
        on_cancel: OnCancel::Obeys,
        books_per_message: true,
        foreign_task: false,
        flaps: false,
        restarts: Vec::new(),
        on_restart: OnRestart::Forgets,
        scripts: vec![script],
        facts: facts.into_iter().map(|fact| (fact, true)).collect(),
    }
}

/// One step with a booking, one agent, and replicas that lag by exactly two seconds.
fn story(script: Vec<Stage>) -> Plan {
    let step = StepPlan { system: Some(0), budget: 2, depends_on: Vec::new(), on_failure: OnFailure::Ask };
    let system =
        SystemPlan { lag: (2000, 2000), late: 1500, cancels: Vec::new(), unknown: 0, unknown_until: 0 };
    Plan {
        seed: 1,
        steps: vec![step],
        agents: vec![agent(script)],
        systems: vec![system],
        people: PeoplePlan { cancel_at: None, answers: Some((10, 20)), twice: false, in_gap: 0, go_on: true },
        crashes: Vec::new(),
        wire: WirePlan { latency: 10, ..WirePlan::default() },
        pause: 0,
        slack: 0,
    }
}

fn books() -> Vec<Stage> {
    vec![Work(100), Book(10), End(Completed)]
}

fn crash(when: When, down: i64) -> CrashPlan {
    CrashPlan { when, down, paused: None }
}

/// Plays a story, which must break no rule on its way.
fn end_of(plan: &Plan) -> Sim {
    let mut sim = Sim::new(plan, true);
    if let Err(what) = sim.play() {
        panic!("{what}\n{}", sim.trace.join("\n"));
    }
    sim
}

impl Sim {
    /// Bookings made, and those that stand at the end.
    fn bookings(&self) -> (usize, usize) {
        let all = &self.ledger.bookings;
        (all.len(), all.iter().filter(|b| b.gone_at.is_none()).count())
    }

    fn ended(&self, closed: Option<Closed>, made: usize, standing: usize) {
        let trace = self.trace.join("\n");
        assert_eq!(self.journal.closed, closed, "{trace}");
        assert_eq!(self.bookings(), (made, standing), "bookings made and standing\n{trace}");
    }

    fn is_stuck(&self) -> bool {
        self.journal.delegations.iter().any(|d| d.stuck.is_some())
    }
}

#[test]
fn v1_a_not_sent_request_is_sent_again_only_by_a_commit_of_its_own() {
    let mut plan = story(books());
    plan.wire.script = vec![SendFault::NotSent, SendFault::LostAnswer];
    plan.crashes = vec![crash(When::At(700), 300)];
    end_of(&plan).ended(Some(Closed::Done), 1, 1);
    plan.people.cancel_at = Some(800);
    end_of(&plan).ended(Some(Closed::Cancelled), 1, 0);
}

#[test]
fn v2_canceled_by_us_is_settled_before_it_is_believed() {
    let mut plan = story(vec![Work(1000), Book(1500), End(Completed)]);
    plan.people.cancel_at = Some(1200);
    end_of(&plan).ended(Some(Closed::Cancelled), 1, 0);
    // By the deadline instead of the traveller.
    end_of(&story(vec![Work(119_900), Book(1500), End(Completed)])).ended(Some(Closed::Done), 1, 1);
}

#[test]
fn v3_an_ending_trip_with_a_send_in_doubt_earns_that_nothing_landed() {
    let mut plan = story(vec![Work(1500), Book(10), End(Completed)]);
    plan.wire.script = vec![SendFault::LostAnswer];
    plan.crashes = vec![crash(When::At(600), 2000)];
    plan.agents[0].restarts = vec![2200];
    plan.people.cancel_at = Some(700);
    end_of(&plan).ended(Some(Closed::Cancelled), 1, 0);
}

#[test]
fn v4_a_liar_that_rejects_is_settled_like_a_failure() {
    let mut plan = story(vec![Book(10), End(Rejected)]);
    plan.agents[0].facts.insert(Fact::RejectsTruthfully, false);
    end_of(&plan).ended(Some(Closed::Done), 1, 1);
    plan.people.cancel_at = Some(5);
    end_of(&plan).ended(Some(Closed::Cancelled), 1, 0);
}

#[test]
fn v5_a_resend_takes_two_looks_a_settle_time_apart() {
    let mut plan = story(vec![Work(1500), Book(10), End(Completed)]);
    plan.wire.script = vec![SendFault::LostAnswer];
    plan.crashes = vec![crash(When::At(600), 2000)];
    plan.agents[0].restarts = vec![2200];
    let sim = end_of(&plan);
    sim.ended(Some(Closed::Done), 1, 1);
    assert_eq!(sim.checks.left.len(), 1, "sent once");
}

#[test]
fn v6_a_booking_behind_a_failure_must_still_stand_at_the_settle_time() {
    let mut plan = story(vec![Book(10), End(Failed), UnbookLater(1400)]);
    plan.agents[0].scripts.push(books());
    end_of(&plan).ended(Some(Closed::Done), 2, 1);
}

#[test]
fn v7_a_bare_message_leaves_no_trace_and_earns_no_resend() {
    let mut plan = story(vec![Work(10_000), Book(10), End(Completed)]);
    plan.agents[0].answers_with_tasks = false;
    plan.agents[0].facts.remove(&Fact::AnswersWithTasks);
    plan.wire.script = vec![SendFault::LostAnswer];
    let sim = end_of(&plan);
    sim.ended(Some(Closed::Done), 1, 1);
    assert_eq!(sim.checks.left.len(), 1, "sent once");
}

#[test]
fn v8_the_grace_counts_from_the_newest_permitted_send() {
    let mut plan = story(books());
    plan.wire.script = vec![SendFault::Lost, SendFault::Lost];
    let resent = end_of(&plan).checks.left[1];
    plan.crashes = vec![crash(When::At(resent + 1), 100)];
    let sim = end_of(&plan);
    sim.ended(Some(Closed::Done), 1, 1);
    let left = &sim.checks.left;
    assert!(left[2] - left[1] > plan.grace(&plan.agents[0]), "a third send too early: {left:?}");
}

/// A holder that pauses between its check and its write, for longer than the grace allows for.
fn paused(by: i64) -> Plan {
    let mut plan = story(books());
    plan.systems[0].lag = (0, 0);
    let when = When::Named("send.before_write", 1);
    plan.crashes = vec![CrashPlan { when, down: 100, paused: Some(by) }];
    plan
}

#[test]
fn v9_a_trip_with_a_resend_closes_only_after_one_more_look() {
    let sim = end_of(&paused(5600));
    sim.ended(Some(Closed::Done), 2, 1);
    assert_eq!(sim.counts.undos, 1);
}

#[test]
fn v10_a_longer_pause_ends_as_a_ghost_that_the_watch_finds() {
    let sim = end_of(&paused(40_000));
    sim.ended(Some(Closed::Done), 2, 1);
    assert_eq!(sim.counts.undos, 1);
}

#[test]
fn v11_verified_gone_is_settled_absent() {
    let mut plan = story(books());
    plan.systems[0].cancels = vec![CancelFault::AcceptsAndIgnores];
    plan.systems[0].lag = (0, 2000);
    for seed in 1..40 {
        plan.seed = seed;
        plan.people.cancel_at = Some(700);
        let sim = end_of(&plan);
        sim.ended(None, 1, 1);
        assert!(sim.journal.compensations.iter().any(|c| c.state == CompensationState::Stuck));
    }
}

#[test]
fn v12_an_agent_not_known_to_keep_our_context_is_searched_whole() {
    let mut plan = story(vec![Work(8000), Book(10), End(Completed)]);
    plan.agents[0].keeps_context = false;
    plan.agents[0].facts.remove(&Fact::KeepsContextId);
    plan.wire.script = vec![SendFault::LostAnswer];
    let sim = end_of(&plan);
    sim.ended(Some(Closed::Done), 1, 1);
    assert_eq!(sim.checks.left.len(), 1, "sent once");
}

#[test]
fn a_booking_whose_task_a_list_may_still_hide_is_not_adopted() {
    let mut plan = story(vec![Book(10), Work(8000), End(Failed), UnbookLater(1400)]);
    plan.agents[0].scripts.push(books());
    plan.agents[0].list_lag = 1500;
    plan.systems[0].lag = (0, 0);
    plan.crashes = vec![crash(When::At(600), 300)];
    plan.wire.script = vec![SendFault::LostAnswer];
    end_of(&plan).ended(Some(Closed::Done), 2, 1);
}

#[test]
fn one_task_not_found_decides_nothing() {
    let mut plan = story(vec![Work(9000), Book(10), End(Completed)]);
    plan.agents[0].flaps = true;
    let sim = end_of(&plan);
    sim.ended(Some(Closed::Done), 1, 1);
    assert_eq!(sim.checks.left.len(), 1, "sent once");
}

#[test]
fn a_refused_reply_that_was_taken_is_not_sent_again() {
    let mut plan = story(vec![Ask { auth: false, clears: None }, Work(5000), Book(10), End(Completed)]);
    plan.wire.script = vec![SendFault::None, SendFault::RefusedAfterStart];
    let sim = end_of(&plan);
    sim.ended(Some(Closed::Done), 1, 1);
    assert_eq!(sim.counts.replies_landed, 1);
}

#[test]
fn v14_deduplication_counts_only_where_it_outlives_restarts() {
    let mut plan = story(vec![Work(10_000), Book(10), End(Completed)]);
    plan.agents[0].lists = false;
    plan.agents[0].facts.insert(Fact::Lists, false);
    plan.agents[0].dedup = Dedup::InMemory;
    plan.agents[0].restarts = vec![1500];
    plan.wire.script = vec![SendFault::LostAnswer];
    let sim = end_of(&plan);
    sim.ended(None, 0, 0);
    assert!(sim.is_stuck() && sim.checks.left.len() == 1, "sent once, and stuck");
    plan.agents[0].dedup = Dedup::Durable;
    plan.agents[0].restarts.clear();
    plan.agents[0].facts.insert(Fact::DeduplicatesDurably, true);
    let sim = end_of(&plan);
    sim.ended(Some(Closed::Done), 1, 1);
    assert_eq!(sim.checks.left.len(), 2, "sent again, harmlessly");
}

#[test]
fn v15_a_reply_in_doubt_is_sent_again_only_past_its_grace() {
    let mut plan = story(vec![Ask { auth: false, clears: None }, Work(5000), Book(10), End(Completed)]);
    plan.pause = 1500;
    let when = When::Named("send.before_write", 2);
    plan.crashes = vec![CrashPlan { when, down: 100, paused: Some(1500) }];
    let sim = end_of(&plan);
    sim.ended(Some(Closed::Done), 1, 1);
    assert_eq!((sim.counts.replies_landed, sim.counts.questions), (1, 1), "{}", sim.trace.join("\n"));
    // One that was lost for good is sent again, the same one.
    plan.crashes.clear();
    plan.wire.script = vec![SendFault::None, SendFault::Lost];
    let sim = end_of(&plan);
    sim.ended(Some(Closed::Done), 1, 1);
    assert_eq!((sim.counts.replies_landed, sim.checks.left.len()), (1, 3));
}
