//! Random stories of a trip: agents and booking systems that misbehave, a wire that loses things,
//! people who answer and cancel, and a process that dies, in virtual time and by seed.
//!
//! `HOLDFAST_STORIES=N` plays N stories instead of as many as fit into a few seconds,
//! `HOLDFAST_STORY_FROM=S` begins at seed S, and `HOLDFAST_STORY_SEED=S` plays one and tells it.

mod agents;
mod calls;
mod check;
mod draw;
mod ledger;
mod people;
mod plan;
mod reads;
mod rng;
mod rows;
mod setup;
mod shell;
mod sim;
mod steps_of;
mod tell;
mod traces;

use plan::Plan;
use sim::{Counts, Sim};
use std::time::{Duration, Instant};

/// How long the stories of a plain `cargo test` may take.
const BUDGET: Duration = Duration::from_secs(15);

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Leaves things out of a failing story for as long as it still fails.
fn shrunk(plan: Plan) -> Plan {
    let mut plan = plan;
    let mut tries = 0;
    'again: loop {
        for smaller in draw::smaller(&plan) {
            tries += 1;
            if tries > 300 {
                return plan;
            }
            let is_smaller = format!("{smaller:?}").len() < format!("{plan:?}").len();
            if is_smaller && Sim::new(&smaller, false).play().is_err() {
                plan = smaller;
                continue 'again;
            }
        }
        return plan;
    }
}

fn tell(plan: &Plan) -> String {
    let mut sim = Sim::new(plan, true);
    let end = sim.play();
    format!("{plan:#?}\n{}\n{end:?}", sim.trace.join("\n"))
}

fn add(sum: &mut Counts, one: &Counts) {
    sum.passes += one.passes;
    sum.records += one.records;
    sum.refused_records += one.refused_records;
    sum.sends += one.sends;
    sum.resends += one.resends;
    sum.crashes += one.crashes;
    sum.replies_landed += one.replies_landed;
    sum.undos += one.undos;
    sum.questions += one.questions;
    sum.closed += one.closed;
    sum.stuck += one.stuck;
    sum.asking += one.asking;
    sum.left_to_the_watch += one.left_to_the_watch;
}

#[test]
fn random_stories_end_as_they_should() {
    if let Some(seed) = number("HOLDFAST_STORY_SEED") {
        let plan = draw::plan(seed);
        let plan = if std::env::var("HOLDFAST_STORY_WHOLE").is_ok() { plan } else { shrunk(plan) };
        println!("{}", tell(&plan));
        assert_eq!(Sim::new(&plan, false).play(), Ok(()), "story {seed}");
        return;
    }
    let first = number("HOLDFAST_STORY_FROM").unwrap_or(1);
    let most = number("HOLDFAST_STORIES");
    let (begun, mut played, mut sum) = (Instant::now(), 0, Counts::default());
    let mut failures: Vec<(u64, String)> = Vec::new();
    loop {
        let over = most.map_or(begun.elapsed() >= BUDGET, |most| played >= most);
        if over || (failures.len() > 4 && most.is_none()) {
            break;
        }
        let seed = first + played;
        let mut sim = Sim::new(&draw::plan(seed), false);
        if let Err(what) = sim.play() {
            failures.push((seed, what));
        }
        add(&mut sum, &sim.counts);
        played += 1;
    }
    println!("{played} random stories in {:.1} s: {sum:?}", begun.elapsed().as_secs_f64());
    for (seed, what) in &failures {
        println!("story {seed}: {what}");
    }
    if let Some((seed, what)) = failures.first() {
        println!("{}", tell(&shrunk(draw::plan(*seed))));
        panic!(
            "{} of {played} stories failed, the first: {what}\nreplay: HOLDFAST_STORY_SEED={seed} cargo test -p domain --test stories -- --nocapture",
            failures.len()
        );
    }
}
