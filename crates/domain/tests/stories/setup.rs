//! What the core is told at the start: the trip as it was asked for, and the registry.

use crate::ledger::system_name;
use crate::plan::Plan;
use domain::ids::{AgentId, StepName};
use domain::time::{Millis, Span};
use domain::trip::{Goal, Standing, Step, Trip};
use domain::waits::Waits;
use domain::workflow::{EffectDefinition, StepDefinition, Workflow};
use domain::world::{AgentProfile, AgentState, BookingProfile, World};
use serde_json::Map;

pub fn step_name(place: usize) -> StepName {
    StepName(format!("step-{place}"))
}

pub fn agent_id(place: usize) -> AgentId {
    AgentId(format!("agent-{place}"))
}

/// Which agent of the plan an id names.
pub fn agent_place(id: &AgentId) -> usize {
    id.0.rsplit('-').next().and_then(|n| n.parse().ok()).unwrap_or_default()
}

/// Which booking system of the plan a name names.
pub fn system_place(name: &str) -> usize {
    name.rsplit('-').next().and_then(|n| n.parse().ok()).unwrap_or_default()
}

pub fn waits() -> Waits {
    Waits { deadline: Span::seconds(120), watch: Span::seconds(1), ..Waits::demo() }
}

pub fn world(plan: &Plan) -> World {
    let agents = plan.agents.iter().enumerate().map(|(place, agent)| AgentProfile {
        id: agent_id(place),
        name: format!("agent {place}"),
        state: AgentState::Enabled,
        principal: "holdfast".to_owned(),
        skills: agent.steps.iter().map(|s| format!("skill-{s}")).collect(),
        streaming: agent.streams,
        facts: agent.facts.clone(),
        failures: 0,
        preference: 0,
        cost: 0,
        landing_grace: Span(plan.grace(agent)),
    });
    let systems = plan.systems.iter().enumerate().map(|(place, system)| BookingProfile {
        name: system_name(place),
        settle: Span(plan.settle(system)),
        cancels: true,
    });
    World { agents: agents.collect(), booking_systems: systems.collect(), waits: waits() }
}

fn definition(plan: &Plan, place: usize) -> StepDefinition {
    let step = &plan.steps[place];
    StepDefinition {
        name: step_name(place),
        title: format!("Step {place}"),
        skill: format!("skill-{place}"),
        message: "Please do it under {{ reference }}.".to_owned(),
        depends_on: step.depends_on.iter().map(|s| step_name(*s)).collect(),
        effect: step.system.map(|system| EffectDefinition {
            kind: "booking".to_owned(),
            booking_systems: vec![system_name(system)],
        }),
        attempt_budget: step.budget,
        on_failure: step.on_failure,
        deadline_seconds: None,
        stall_limit_seconds: None,
    }
}

pub fn trip(plan: &Plan) -> Trip {
    let workflow = Workflow {
        name: "story".to_owned(),
        version: 1,
        title: "Story".to_owned(),
        trip_title: "Story".to_owned(),
        inputs: Vec::new(),
        steps: (0..plan.steps.len()).map(|place| definition(plan, place)).collect(),
    };
    let steps = plan.steps.iter().enumerate().map(|(place, step)| Step {
        name: step_name(place),
        standing: Standing::Open,
        attempt_budget: step.budget,
        not_before: None,
    });
    Trip {
        id: "trip".into(),
        owner: "traveller".into(),
        title: "Story".to_owned(),
        steps: steps.collect(),
        workflow,
        inputs: Map::new(),
        goal: Goal::Run,
        created_at: Millis(0),
        closed_at: None,
        closed: None,
        seq: 1,
        fence: 0,
        wakes: 0,
        delegations: Vec::new(),
        outbox: Vec::new(),
        tasks: Vec::new(),
        questions: Vec::new(),
        effects: Vec::new(),
        compensations: Vec::new(),
    }
}
