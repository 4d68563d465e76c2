//! Sends: a request, a reply, or a CancelTask, once each for the commit that permitted it.

use super::{Outcome, Work, failure_json};
use crate::a2a;
use domain::failure::{Failure, FailureClass, Operation};
use domain::ids::OutboxId;
use domain::outbox::{OutKind, OutMessage};
use domain::seen::{Answer, What};
use domain::task::Snapshot;
use serde_json::{Value, json};

/// Sends a request or a reply.
pub(super) async fn send(work: Work, out: OutboxId, number: i64) -> Outcome {
    let Some(message) = work.trip.out(&out).cloned() else { return Outcome::default() };
    let step = work.step(&message.delegation);
    work.boundary("send.before_write", &step).await;
    let answer = match still_permitted(&work, &message) {
        Ok(()) => send_now(&work, &message).await,
        Err(failure) => Answer::Failed(failure),
    };
    work.boundary("send.after_answer", &step).await;
    let kept = match &answer {
        Answer::Task(snapshot) => json!({ "task": snapshot }),
        Answer::Message(words) => json!({ "message": words }),
        Answer::Failed(failure) => failure_json(failure),
    };
    Outcome {
        reads: vec![work.read(message.delegation.as_str(), "send_message", &kept)],
        seen: vec![work.seen(What::Sent { out, number, answer })],
        look: None,
    }
}

/// A send starts only while its permission and the holder's heartbeat outlast its time limit.
fn still_permitted(work: &Work, message: &OutMessage) -> Result<(), Failure> {
    let limit = work.inner.waits.send_limit;
    let in_time = message.may_send_until.is_some_and(|until| work.inner.store.now() <= until);
    if work.holder.outlasts(limit) && in_time {
        return Ok(());
    }
    let text = "the right to send ran out before the send began".to_owned();
    Err(Failure { class: FailureClass::NotSent, code: None, reason: None, text })
}

async fn send_now(work: &Work, message: &OutMessage) -> Answer {
    let Some(delegation) = work.trip.delegation(&message.delegation) else {
        return Answer::Failed(not_sent("the delegation is gone"));
    };
    let target = match work.target(&delegation.agent).await {
        Ok(target) => target,
        Err(failure) => return Answer::Failed(failure),
    };
    let body: Value = match serde_json::from_str(&message.body) {
        Ok(body) => body,
        Err(error) => {
            return Answer::Failed(not_sent(&format!("the journaled message is not JSON: {error}")));
        }
    };
    let operation = if message.kind == OutKind::Reply { Operation::Reply } else { Operation::FirstRequest };
    let now = work.inner.store.now();
    let left = message.may_send_until.map_or(work.inner.waits.send_limit, |until| until - now);
    let limit = left.min(work.inner.waits.send_limit).to_std();
    match work.inner.agents.send_message(&target, &body, operation, limit).await {
        Ok(a2a::Answer::Task(snapshot)) => Answer::Task(snapshot),
        Ok(a2a::Answer::Message(words)) => Answer::Message(words),
        Err(failure) => Answer::Failed(failure),
    }
}

fn not_sent(text: &str) -> Failure {
    Failure { class: FailureClass::NotSent, code: None, reason: None, text: text.to_owned() }
}

/// Sends a CancelTask.
pub(super) async fn cancel(work: Work, out: OutboxId, number: i64) -> Outcome {
    let Some(message) = work.trip.out(&out).cloned() else { return Outcome::default() };
    let step = work.step(&message.delegation);
    work.boundary("cancel.before_write", &step).await;
    let answer = match still_permitted(&work, &message) {
        Ok(()) => cancel_now(&work, &message).await,
        Err(failure) => Err(failure),
    };
    work.boundary("cancel.after_answer", &step).await;
    let kept = match &answer {
        Ok(snapshot) => json!({ "task": snapshot }),
        Err(failure) => failure_json(failure),
    };
    Outcome {
        reads: vec![work.read(message.delegation.as_str(), "cancel_task", &kept)],
        seen: vec![work.seen(What::CancelSent { out, number, answer })],
        look: None,
    }
}

async fn cancel_now(work: &Work, message: &OutMessage) -> Result<Snapshot, Failure> {
    let delegation =
        work.trip.delegation(&message.delegation).ok_or_else(|| not_sent("the delegation is gone"))?;
    let task = message.task.as_ref().ok_or_else(|| not_sent("there is no task to cancel"))?;
    let target = work.target(&delegation.agent).await?;
    work.inner.agents.cancel_task(&target, task, work.inner.waits.send_limit.to_std()).await
}
