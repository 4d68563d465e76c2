//! Reads: GetTask, ListTasks, and the lookup of a reference in the booking systems of its step.

use super::{Outcome, Work, failure_json};
use crate::a2a::{Completeness, ListFilter};
use crate::booking::LookupBy;
use domain::agenda::Look;
use domain::booking::BookingRead;
use domain::delegation::Delegation;
use domain::failure::Failure;
use domain::ids::{ContextId, DelegationId, TaskId};
use domain::seen::{ListScope, Listed, Seen, Source, What};
use serde_json::json;

/// Does one read.
pub(crate) async fn look(work: Work, look: Look) -> Outcome {
    let step = match &look {
        Look::Task { delegation, .. } | Look::List { delegation, .. } | Look::Booking { delegation } => {
            work.step(delegation)
        }
    };
    work.boundary("look.before", &step).await;
    let mut outcome = match &look {
        Look::Task { delegation, task } => get_task(&work, delegation, task).await,
        Look::List { delegation, scope, context, then_booking } => {
            let mut outcome = list(&work, delegation, *scope, context.as_ref()).await;
            if *then_booking {
                let booking = lookup(&work, delegation).await;
                outcome.seen.extend(booking.seen);
                outcome.reads.extend(booking.reads);
            }
            outcome
        }
        Look::Booking { delegation } => lookup(&work, delegation).await,
    };
    work.boundary("look.after", &step).await;
    outcome.look = Some(look);
    outcome
}

/// GetTask.
pub(super) async fn get_task(work: &Work, id: &DelegationId, task: &TaskId) -> Outcome {
    let Some(delegation) = work.trip.delegation(id) else { return Outcome::default() };
    // What happens while the answer is on its way may be missed: the read counts from its beginning.
    let begun = work.inner.store.now();
    let answer = match work.target(&delegation.agent).await {
        Ok(target) => work.inner.agents.get_task(&target, task).await,
        Err(failure) => Err(failure),
    };
    let kept = match &answer {
        Ok(snapshot) => json!({ "task": snapshot }),
        Err(failure) => failure_json(failure),
    };
    let what = What::Task { delegation: id.clone(), task: task.clone(), source: Source::Read, answer };
    Outcome {
        reads: vec![work.read(id.as_str(), "get_task", &kept)],
        seen: vec![Seen { at: begun, what }],
        look: None,
    }
}

async fn list(work: &Work, id: &DelegationId, scope: ListScope, context: Option<&ContextId>) -> Outcome {
    let Some(delegation) = work.trip.delegation(id) else { return Outcome::default() };
    let filter = match (scope, context) {
        (ListScope::Context, Some(context)) => ListFilter::Context(context.clone()),
        _ => ListFilter::All,
    };
    // What lands while the list is being read may be missed: the look counts from its beginning.
    let begun = work.inner.store.now();
    let answer = listed(work, delegation, &filter).await;
    let kept = match &answer {
        Ok(listed) => {
            json!({ "tasks": listed.tasks, "incomplete": listed.incomplete, "strangers": listed.strangers })
        }
        Err(failure) => failure_json(failure),
    };
    let what = What::List { delegation: id.clone(), scope, answer };
    Outcome {
        reads: vec![work.read(id.as_str(), "list_tasks", &kept)],
        seen: vec![Seen { at: begun, what }],
        look: None,
    }
}

async fn listed(work: &Work, delegation: &Delegation, filter: &ListFilter) -> Result<Listed, Failure> {
    let target = work.target(&delegation.agent).await?;
    let listing = work.inner.agents.list_tasks(&target, filter).await?;
    let mut incomplete = match listing.complete {
        Completeness::Complete => None,
        Completeness::Incomplete(why) => Some(why),
    };
    let ids: Vec<String> = listing.tasks.iter().map(|task| task.task_id.0.clone()).collect();
    let strangers = match work.inner.store.strangers(delegation.agent.as_str(), &ids).await {
        Ok(strangers) => strangers,
        Err(error) => {
            incomplete = Some(format!("it could not be compared with the journal: {error}"));
            0
        }
    };
    Ok(Listed { tasks: listing.tasks, incomplete, strangers })
}

/// Asks every booking system of the step for the delegation's reference; where that finds nothing
/// and the agent claims a confirmation, for that too. A record found so counts only if it carries
/// our reference.
async fn lookup(work: &Work, id: &DelegationId) -> Outcome {
    let Some(delegation) = work.trip.delegation(id) else { return Outcome::default() };
    let Some(reference) = delegation.reference.clone() else { return Outcome::default() };
    let effect = work.trip.definition(&delegation.step).and_then(|s| s.effect.clone());
    let names = effect.map(|e| e.booking_systems).unwrap_or_default();
    let begun = work.inner.store.now();
    let asked = names.into_iter().map(|name| ask(work, delegation, reference.as_str().to_owned(), name));
    let answers = futures::future::join_all(asked).await;
    let mut outcome = Outcome::default();
    let mut reads = Vec::new();
    for (name, result, raw) in answers {
        let kept = json!({ "booking_system": name, "result": result, "raw": raw });
        outcome.reads.push(work.read(id.as_str(), "lookup", &kept));
        reads.push((name, result));
    }
    outcome.seen.push(Seen { at: begun, what: What::Booking { delegation: id.clone(), reads } });
    outcome
}

async fn ask(
    work: &Work,
    delegation: &Delegation,
    reference: String,
    name: String,
) -> (String, BookingRead, String) {
    let system = match work.booking_system(&name).await {
        Ok(system) => system,
        Err(text) => return (name, BookingRead::Unknown(text), String::new()),
    };
    let bookings = &work.inner.bookings;
    let read = bookings.lookup(&system, LookupBy::Reference(&reference)).await;
    let claimed = delegation.claimed_confirmation.as_deref();
    if let (BookingRead::Absent, Some(confirmation), true) =
        (&read.result, claimed, system.lookup.by_confirmation.is_some())
    {
        let by_claim = bookings.lookup(&system, LookupBy::Confirmation(confirmation)).await;
        if let BookingRead::Found(records) = &by_claim.result {
            let ours: Vec<_> = records
                .iter()
                .filter(|r| r.reference.as_deref() == Some(reference.as_str()))
                .cloned()
                .collect();
            if !ours.is_empty() {
                return (name, BookingRead::Found(ours), by_claim.raw);
            }
        }
    }
    (name, read.result, read.raw)
}
