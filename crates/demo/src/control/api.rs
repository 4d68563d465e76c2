//! The JSON side of the control API.

use super::Problem;
use crate::agents::behaviour::{self, Behaviour};
use crate::agents::{Agent, task_view};
use crate::bookings::behaviour::{self as system_behaviour, SystemBehaviour};
use crate::bookings::ledger::Ledger;
use crate::faults::FaultChoice;
use crate::requests;
use crate::world::{Place, World};
use a2a_server::TaskStore;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post, put};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// What all routes share.
pub(super) type Shared = State<Arc<World>>;
pub(super) type Answered = Result<Json<Value>, Problem>;
pub(super) type Body<T> = Result<Json<T>, JsonRejection>;

/// The routes.
pub fn routes() -> Router<Arc<World>> {
    Router::new()
        .route("/healthz", get(async || "ok\n"))
        .route("/world", get(async |State(world): Shared| Json(world.description())))
        .route("/agents", get(agents))
        .route("/agents/{name}/behaviour", put(choose_behaviour))
        .route("/agents/{name}/up", put(put_up))
        .route("/agents/{name}/fault", put(choose_fault).delete(choose_no_fault))
        .route("/agents/{name}/release", post(release))
        .route("/agents/{name}/requests", get(requests_of))
        .route("/agents/{name}/tasks", get(tasks_of))
        .route("/agents/{name}/tasks/{task}/authorise", post(authorise))
        .route("/booking-systems", get(systems))
        .route("/booking-systems/{name}/behaviour", put(choose_system_behaviour))
        .route("/ledgers", get(ledgers))
        .route("/ledgers/{name}", get(ledger))
        .route("/reset", post(reset))
}

/// An agent by its name, or the problem that there is none.
pub fn agent<'a>(world: &'a World, name: &str) -> Result<&'a Place<Agent>, Problem> {
    world.agent(name).ok_or_else(|| Problem::unknown("agent", name))
}

/// One agent, as it is shown.
pub async fn agent_view(world: &World, place: &Place<Agent>) -> Result<Value, Problem> {
    let agent = &place.who;
    let faults = agent.gate.faults().await?;
    Ok(json!({
        "name": agent.profile.name, "title": agent.profile.title, "url": agent.url,
        "card_url": agent.card_url(), "skills": [agent.profile.their_skill],
        "books_at": agent.profile.books_at, "up": place.site.is_open().await,
        "held": agent.gate.held(), "fault": faults.first(), "faults": faults,
        "card": agent.card.get(),
        "behaviour": behaviour::current(&world.store, agent.profile).await?,
        "untouched": agent.profile.untouched(),
    }))
}

async fn agents(State(world): Shared) -> Answered {
    let mut views = Vec::new();
    for place in &world.agents {
        views.push(agent_view(&world, place).await?);
    }
    Ok(Json(json!({ "agents": views })))
}

async fn choose_behaviour(State(world): Shared, Path(name): Path<String>, body: Body<Behaviour>) -> Answered {
    let place = agent(&world, &name)?;
    let Json(chosen) = body?;
    behaviour::choose(&world.store, place.who.profile, &chosen).await?;
    Ok(Json(agent_view(&world, place).await?))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Up {
    up: bool,
}

async fn put_up(State(world): Shared, Path(name): Path<String>, body: Body<Up>) -> Answered {
    let place = agent(&world, &name)?;
    let Json(Up { up }) = body?;
    world.set_up(place, up).await?;
    Ok(Json(agent_view(&world, place).await?))
}

async fn choose_fault(State(world): Shared, Path(name): Path<String>, body: Body<FaultChoice>) -> Answered {
    let place = agent(&world, &name)?;
    let Json(choice) = body?;
    place.who.gate.choose(vec![choice]).await?;
    Ok(Json(agent_view(&world, place).await?))
}

async fn choose_no_fault(State(world): Shared, Path(name): Path<String>) -> Answered {
    let place = agent(&world, &name)?;
    place.who.gate.choose(Vec::new()).await?;
    Ok(Json(agent_view(&world, place).await?))
}

async fn release(State(world): Shared, Path(name): Path<String>) -> Answered {
    Ok(Json(json!({ "released": agent(&world, &name)?.who.gate.release() })))
}

async fn requests_of(State(world): Shared, Path(name): Path<String>) -> Answered {
    let place = agent(&world, &name)?;
    let requests = requests::of_agent(&world.store, place.who.profile.name).await?;
    Ok(Json(json!({ "requests": requests })))
}

async fn tasks_of(State(world): Shared, Path(name): Path<String>) -> Answered {
    let place = agent(&world, &name)?;
    let mut views = Vec::new();
    for task in place.who.tasks.all().await? {
        views.push(task_view(&world.store, &place.who, task).await?);
    }
    Ok(Json(json!({ "tasks": views })))
}

async fn authorise(State(world): Shared, Path((name, task)): Path<(String, String)>) -> Answered {
    authorise_task(&world, &name, &task).await?;
    Ok(Json(json!({ "authorised": task })))
}

/// Gives the permission that a task waits for.
pub async fn authorise_task(world: &World, name: &str, task: &str) -> Result<(), Problem> {
    let place = agent(world, name)?;
    let stored = place.who.tasks.get(task).await?.ok_or_else(|| Problem::unknown("task", task))?;
    let given = place.who.authorise(&stored).await;
    given.map_err(|error| Problem::new(StatusCode::CONFLICT, error.to_string()))
}

async fn systems(State(world): Shared) -> Answered {
    let mut views = Vec::new();
    for place in &world.systems {
        views.push(json!({
            "name": place.who.name, "title": place.who.title, "url": World::system_url(place),
            "behaviour": system_behaviour::current(&world.store, place.who).await?,
        }));
    }
    Ok(Json(json!({ "booking_systems": views })))
}

async fn choose_system_behaviour(
    State(world): Shared,
    Path(name): Path<String>,
    body: Body<SystemBehaviour>,
) -> Answered {
    let place = world.system(&name).ok_or_else(|| Problem::unknown("booking system", &name))?;
    let Json(chosen) = body?;
    system_behaviour::choose(&world.store, place.who, &chosen).await?;
    Ok(Json(json!({ "name": name, "behaviour": chosen })))
}

async fn ledgers(State(world): Shared) -> Answered {
    let mut ledgers = Vec::new();
    for place in &world.systems {
        ledgers.push(Ledger::new(world.store.clone(), place.who).whole().await?);
    }
    Ok(Json(json!({ "ledgers": ledgers })))
}

async fn ledger(State(world): Shared, Path(name): Path<String>) -> Answered {
    let place = world.system(&name).ok_or_else(|| Problem::unknown("ledger", &name))?;
    Ok(Json(Ledger::new(world.store.clone(), place.who).whole().await?))
}

async fn reset(State(world): Shared) -> Answered {
    world.reset().await?;
    Ok(Json(json!({ "reset": true })))
}
