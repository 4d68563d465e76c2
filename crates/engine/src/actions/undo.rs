//! The undo of a booking at its booking system: the same key and body on every try.

use super::{Outcome, Work};
use crate::booking::CancelCall;
use domain::booking::CancelAnswer;
use domain::compensation::Compensation;
use domain::ids::CompensationId;
use domain::seen::What;
use serde_json::json;

/// Asks a booking system to undo, once for the commit that permitted it.
pub(super) async fn undo(work: Work, id: CompensationId, number: i64) -> Outcome {
    let Some(rung) = work.trip.compensations.iter().find(|c| c.id == id).cloned() else {
        return Outcome::default();
    };
    work.boundary("undo.before_write", rung.step.as_str()).await;
    let in_time = rung.may_send_until.is_some_and(|until| work.inner.store.now() <= until);
    let answer = if work.holder.outlasts(work.inner.waits.send_limit) && in_time {
        undo_now(&work, &rung).await
    } else {
        CancelAnswer::NotSent("the right to call ran out before the call began".to_owned())
    };
    work.boundary("undo.after_answer", rung.step.as_str()).await;
    let kept = json!({ "answer": answer, "number": number });
    Outcome {
        reads: vec![work.read(id.as_str(), "undo", &kept)],
        seen: vec![work.seen(What::Undo { compensation: id, number, answer })],
        look: None,
    }
}

async fn undo_now(work: &Work, rung: &Compensation) -> CancelAnswer {
    let system = match work.booking_system(&rung.booking_system).await {
        Ok(system) => system,
        Err(text) => return CancelAnswer::NotSent(text),
    };
    let call = CancelCall {
        confirmation: Some(&rung.confirmation),
        reference: None,
        idempotency_key: &rung.idempotency_key,
        body: &rung.body,
    };
    work.inner.bookings.cancel(&system, &call, work.inner.waits.send_limit.to_std()).await
}
