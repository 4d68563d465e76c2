//! The part of the control API that plays faults.

use super::api::{Answered, Body, Shared, agent, agent_view};
use super::{Problem, catalogue};
use crate::agents::Restart;
use crate::agents::card::CardChange;
use crate::bookings::NewBooking;
use crate::bookings::ledger::Ledger;
use crate::clock;
use crate::faults::FaultChoice;
use crate::seed::Seed;
use crate::world::World;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post, put};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// The routes.
pub fn routes() -> Router<Arc<World>> {
    Router::new()
        .route("/faults", get(async || Json(catalogue::json())))
        .route("/agents/{name}/faults", get(faults).put(choose).post(add).delete(choose_none))
        .route("/agents/{name}/card", put(change_card))
        .route("/agents/{name}/restart", post(restart))
        .route("/agents/{name}/forget", post(forget))
        .route("/agents/{name}/push", get(push_configs))
        .route("/agents/{name}/push/forget", post(forget_push_configs))
        .route("/ledgers/{name}/bookings", post(book))
        .route("/seed", get(seed).post(choose_seed).delete(stop_seed))
}

async fn faults(State(world): Shared, Path(name): Path<String>) -> Answered {
    let place = agent(&world, &name)?;
    Ok(Json(json!({ "faults": place.who.gate.faults().await? })))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Choices {
    faults: Vec<FaultChoice>,
}

async fn choose(State(world): Shared, Path(name): Path<String>, body: Body<Choices>) -> Answered {
    let place = agent(&world, &name)?;
    let Json(Choices { faults }) = body?;
    place.who.gate.choose(faults).await?;
    Ok(Json(agent_view(&world, place).await?))
}

async fn add(State(world): Shared, Path(name): Path<String>, body: Body<FaultChoice>) -> Answered {
    let place = agent(&world, &name)?;
    let Json(choice) = body?;
    place.who.gate.add(choice).await?;
    Ok(Json(agent_view(&world, place).await?))
}

async fn choose_none(State(world): Shared, Path(name): Path<String>) -> Answered {
    let place = agent(&world, &name)?;
    place.who.gate.choose(Vec::new()).await?;
    Ok(Json(agent_view(&world, place).await?))
}

async fn change_card(State(world): Shared, Path(name): Path<String>, body: Body<CardChange>) -> Answered {
    let place = agent(&world, &name)?;
    let Json(change) = body?;
    place.who.card.change(&world.store, place.who.profile, change).await?;
    Ok(Json(agent_view(&world, place).await?))
}

async fn restart(State(world): Shared, Path(name): Path<String>, body: Body<Restart>) -> Answered {
    let place = agent(&world, &name)?;
    let Json(how) = body?;
    world.restart(place, how).await?;
    Ok(Json(agent_view(&world, place).await?))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Forget {
    task: Option<String>,
}

async fn forget(State(world): Shared, Path(name): Path<String>, body: Body<Forget>) -> Answered {
    let place = agent(&world, &name)?;
    let Json(Forget { task }) = body?;
    let tasks = match task {
        Some(task) => vec![task],
        None => place.who.tasks.all().await?.into_iter().map(|task| task.id).collect(),
    };
    let mut forgotten = 0;
    for task in tasks {
        forgotten += usize::from(place.who.forget(&task).await?);
    }
    Ok(Json(json!({ "forgotten": forgotten })))
}

async fn push_configs(State(world): Shared, Path(name): Path<String>) -> Answered {
    let place = agent(&world, &name)?;
    Ok(Json(json!({ "configs": place.who.push.all().await? })))
}

async fn forget_push_configs(State(world): Shared, Path(name): Path<String>) -> Answered {
    let place = agent(&world, &name)?;
    Ok(Json(json!({ "forgotten": place.who.push.forget_all().await? })))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Foreign {
    reference: String,
    #[serde(default)]
    total_cents: i64,
    #[serde(default)]
    fee_cents: i64,
    #[serde(default)]
    details: Value,
}

async fn book(State(world): Shared, Path(name): Path<String>, body: Body<Foreign>) -> Answered {
    let place = world.system(&name).ok_or_else(|| Problem::unknown("ledger", &name))?;
    let Json(foreign) = body?;
    let booking = NewBooking {
        reference: foreign.reference,
        agent: "the control API".to_owned(),
        task: String::new(),
        title: "A booking that no agent made".to_owned(),
        details: foreign.details,
        total_cents: foreign.total_cents,
        fee_cents: foreign.fee_cents,
        rule: "Free cancellation.".to_owned(),
    };
    let key = clock::new_id();
    let answer = Ledger::new(world.store.clone(), place.who).book(Some(&key), &booking).await?;
    Ok(Json(answer.body))
}

async fn seed(State(world): Shared) -> Answered {
    Ok(Json(json!({ "seed": Seed::current(&world.store).await? })))
}

async fn choose_seed(State(world): Shared, body: Body<Seed>) -> Answered {
    let Json(seed) = body?;
    if !(0.0..=1.0).contains(&seed.rate) || !(0.0..=1.0).contains(&seed.systems_rate) {
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "rate: a number from 0 to 1"));
    }
    seed.choose(&world.store).await?;
    Ok(Json(json!({ "seed": seed })))
}

async fn stop_seed(State(world): Shared) -> Answered {
    Seed::stop(&world.store).await?;
    Ok(Json(json!({ "seed": null })))
}
