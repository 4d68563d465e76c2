//! Actions and reads: one file per kind. Each touches the outside once, says at its boundaries
//! where it is, and comes back with what was seen, as received, for the loop to record.

mod follow;
mod look;
mod send;
mod undo;

pub(crate) use follow::follow;
pub(crate) use look::look;

use crate::Inner;
use crate::a2a::Target;
use crate::booking::BookingSystem;
use crate::holder::Holder;
use crate::store::ReadRow;
use domain::agenda::Look;
use domain::decide::Action;
use domain::failure::{Failure, FailureClass};
use domain::ids::{AgentId, DelegationId};
use domain::seen::{Seen, What};
use domain::trip::Trip;
use serde_json::Value;
use std::sync::Arc;

/// How much of an answer is kept as a read.
const KEPT: usize = 32 << 10;

/// What came of an action or a read.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) seen: Vec<Seen>,
    pub(crate) reads: Vec<ReadRow>,
    /// The read that this is the end of.
    pub(crate) look: Option<Look>,
}

impl std::fmt::Debug for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outcome").field("seen", &self.seen).field("look", &self.look).finish_non_exhaustive()
    }
}

/// What an action needs: the engine, and the trip as it was just recorded.
pub(crate) struct Work {
    inner: Arc<Inner>,
    holder: Arc<Holder>,
    trip: Trip,
}

impl Work {
    pub(crate) fn new(inner: Arc<Inner>, holder: Arc<Holder>, trip: &Trip) -> Self {
        Self { inner, holder, trip: trip.clone() }
    }

    fn seen(&self, what: What) -> Seen {
        Seen { at: self.inner.store.now(), what }
    }

    fn read(&self, subject: &str, kind: &'static str, content: &Value) -> ReadRow {
        let content = crate::a2a::cut(&content.to_string(), KEPT);
        ReadRow { subject: subject.to_owned(), kind, content, at: self.inner.store.now() }
    }

    fn step(&self, delegation: &DelegationId) -> String {
        self.trip.delegation(delegation).map(|d| d.step.0.clone()).unwrap_or_default()
    }

    async fn boundary(&self, name: &str, step: &str) {
        self.inner.crash_points.reached(name, step).await;
    }

    async fn target(&self, agent: &AgentId) -> Result<Target, Failure> {
        let known = self.inner.target(agent).await;
        known.map_err(|text| Failure { class: FailureClass::NotSent, code: None, reason: None, text })
    }

    async fn booking_system(&self, name: &str) -> Result<BookingSystem, String> {
        self.inner.booking_system(name).await
    }
}

/// A failure as it is kept.
fn failure_json(failure: &Failure) -> Value {
    serde_json::json!({ "failure": failure })
}

/// Does one action. It was permitted by the commit that precedes it.
pub(crate) async fn act(work: Work, action: Action) -> Outcome {
    match action {
        Action::Send { out, number } => send::send(work, out, number).await,
        Action::CancelTask { out, number } => send::cancel(work, out, number).await,
        Action::Undo { compensation, number } => undo::undo(work, compensation, number).await,
    }
}
