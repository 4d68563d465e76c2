//! The journal's rows: how each is written and how each is read back, side by side.

use super::StoreError;
use super::cell::{Cell, Got, Put, json, maybe_word, word};
use domain::compensation::Compensation;
use domain::delegation::Delegation;
use domain::effect::Effect;
use domain::ids::TripId;
use domain::outbox::OutMessage;
use domain::question::Question;
use domain::task::TaskCopy;
use domain::trip::Step;
use sqlx::any::AnyRow;

/// A row of the journal: it belongs to a trip and is compared whole to find out whether it changed.
pub(super) trait Journaled: Sized + PartialEq {
    /// The row as it is written.
    fn put(&self, trip: &TripId, place: i64) -> Result<Put, StoreError>;
    /// The row as it is read.
    fn got(row: &AnyRow) -> Result<Self, StoreError>;
    /// Whether both are the same row, changed or not.
    fn same_row(&self, other: &Self) -> bool;
}

fn put(table: &'static str, key: &'static str, cells: Vec<(&'static str, Cell)>) -> Put {
    Put { table, key, cells }
}

impl Journaled for Step {
    fn put(&self, trip: &TripId, place: i64) -> Result<Put, StoreError> {
        Ok(put(
            "steps",
            "trip_id, name",
            vec![
                ("trip_id", word(trip).into()),
                ("name", word(&self.name).into()),
                ("position", place.into()),
                ("standing", word(&self.standing).into()),
                ("attempt_budget", self.attempt_budget.into()),
                ("not_before", self.not_before.into()),
            ],
        ))
    }
    fn got(row: &AnyRow) -> Result<Self, StoreError> {
        let row = Got(row);
        Ok(Self {
            name: row.word("name")?,
            standing: row.word("standing")?,
            attempt_budget: row.number("attempt_budget")?,
            not_before: row.maybe_at("not_before")?,
        })
    }
    fn same_row(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Journaled for Delegation {
    fn put(&self, trip: &TripId, _place: i64) -> Result<Put, StoreError> {
        Ok(put(
            "delegations",
            "id",
            vec![
                ("id", word(&self.id).into()),
                ("trip_id", word(trip).into()),
                ("step", word(&self.step).into()),
                ("purpose", word(&self.purpose).into()),
                ("agent_id", word(&self.agent).into()),
                ("principal", self.principal.clone().into()),
                ("ordinal", self.ordinal.into()),
                ("message_id", word(&self.message_id).into()),
                ("context_id", maybe_word(self.context_id.as_ref()).into()),
                ("reference", maybe_word(self.reference.as_ref()).into()),
                ("previous", maybe_word(self.previous.as_ref()).into()),
                ("created_at", self.created_at.into()),
                ("task_id", maybe_word(self.task_id.as_ref()).into()),
                ("remote_state", self.remote_state.as_ref().map(|s| s.word().to_owned()).into()),
                ("status_timestamp", self.status_timestamp.into()),
                ("observed_at", self.observed_at.into()),
                ("changed_at", self.changed_at.into()),
                ("ended", maybe_word(self.ended.as_ref()).into()),
                ("ended_at", self.ended_at.into()),
                ("claim", self.claim.clone().into()),
                ("claimed_confirmation", self.claimed_confirmation.clone().into()),
                ("outcome", maybe_word(self.outcome.as_ref()).into()),
                ("closed_at", self.closed_at.into()),
                ("failure_summary", self.failure_summary.clone().into()),
                ("stuck", self.stuck.as_ref().map(json).transpose()?.into()),
                ("stuck_since", self.stuck_since.into()),
                ("signed", self.signed.as_ref().map(json).transpose()?.into()),
                ("called_off", self.called_off.into()),
                ("doubt", json(&self.doubt)?.into()),
                ("read_health", json(&self.reads)?.into()),
            ],
        ))
    }
    fn got(row: &AnyRow) -> Result<Self, StoreError> {
        let row = Got(row);
        Ok(Self {
            id: row.word("id")?,
            step: row.word("step")?,
            purpose: row.word("purpose")?,
            agent: row.word("agent_id")?,
            principal: row.text("principal")?,
            ordinal: row.number("ordinal")?,
            message_id: row.word("message_id")?,
            context_id: row.maybe_word("context_id")?,
            reference: row.maybe_word("reference")?,
            previous: row.maybe_word("previous")?,
            created_at: row.at("created_at")?,
            task_id: row.maybe_word("task_id")?,
            remote_state: row.maybe_text("remote_state")?.map(|w| domain::task::TaskState::from_word(&w)),
            status_timestamp: row.maybe_at("status_timestamp")?,
            observed_at: row.maybe_at("observed_at")?,
            changed_at: row.maybe_at("changed_at")?,
            ended: row.maybe_word("ended")?,
            ended_at: row.maybe_at("ended_at")?,
            claim: row.maybe_text("claim")?,
            claimed_confirmation: row.maybe_text("claimed_confirmation")?,
            outcome: row.maybe_word("outcome")?,
            closed_at: row.maybe_at("closed_at")?,
            failure_summary: row.maybe_text("failure_summary")?,
            stuck: row.maybe_json("stuck")?,
            stuck_since: row.maybe_at("stuck_since")?,
            signed: row.maybe_json("signed")?,
            called_off: row.flag("called_off")?,
            doubt: row.json("doubt")?,
            reads: row.json("read_health")?,
        })
    }
    fn same_row(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Journaled for OutMessage {
    fn put(&self, trip: &TripId, _place: i64) -> Result<Put, StoreError> {
        Ok(put(
            "messages",
            "id",
            vec![
                ("id", word(&self.id).into()),
                ("trip_id", word(trip).into()),
                ("delegation_id", word(&self.delegation).into()),
                ("kind", word(&self.kind).into()),
                ("message_id", maybe_word(self.message_id.as_ref()).into()),
                ("body", self.body.clone().into()),
                ("state", word(&self.state).into()),
                ("send_number", self.number.into()),
                ("may_send_until", self.may_send_until.into()),
                ("task_id", maybe_word(self.task.as_ref()).into()),
                ("question_id", maybe_word(self.question.as_ref()).into()),
                ("created_at", self.created_at.into()),
                ("retry_at", self.retry_at.into()),
                ("setbacks", self.setbacks.into()),
                ("note", self.note.clone().into()),
            ],
        ))
    }
    fn got(row: &AnyRow) -> Result<Self, StoreError> {
        let row = Got(row);
        Ok(Self {
            id: row.word("id")?,
            delegation: row.word("delegation_id")?,
            kind: row.word("kind")?,
            message_id: row.maybe_word("message_id")?,
            body: row.text("body")?,
            state: row.word("state")?,
            number: row.number("send_number")?,
            may_send_until: row.maybe_at("may_send_until")?,
            task: row.maybe_word("task_id")?,
            question: row.maybe_word("question_id")?,
            created_at: row.at("created_at")?,
            retry_at: row.maybe_at("retry_at")?,
            setbacks: row.number("setbacks")?,
            note: row.maybe_text("note")?,
        })
    }
    fn same_row(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Journaled for TaskCopy {
    fn put(&self, trip: &TripId, _place: i64) -> Result<Put, StoreError> {
        Ok(put(
            "tasks",
            "delegation_id, task_id",
            vec![
                ("trip_id", word(trip).into()),
                ("delegation_id", word(&self.delegation).into()),
                ("task_id", word(&self.snapshot.task_id).into()),
                ("role", word(&self.role).into()),
                ("snapshot", json(&self.snapshot)?.into()),
                ("observed_at", self.observed_at.into()),
            ],
        ))
    }
    fn got(row: &AnyRow) -> Result<Self, StoreError> {
        let row = Got(row);
        Ok(Self {
            delegation: row.word("delegation_id")?,
            role: row.word("role")?,
            snapshot: row.json("snapshot")?,
            observed_at: row.at("observed_at")?,
        })
    }
    fn same_row(&self, other: &Self) -> bool {
        self.delegation == other.delegation && self.snapshot.task_id == other.snapshot.task_id
    }
}

impl Journaled for Question {
    fn put(&self, trip: &TripId, _place: i64) -> Result<Put, StoreError> {
        Ok(put(
            "questions",
            "id",
            vec![
                ("id", word(&self.id).into()),
                ("trip_id", word(trip).into()),
                ("step", word(&self.step).into()),
                ("delegation_id", maybe_word(self.delegation.as_ref()).into()),
                ("kind", word(&self.kind).into()),
                ("question_key", self.key.clone().into()),
                ("text", self.text.clone().into()),
                ("link", self.link.clone().into()),
                ("choices", json(&self.choices)?.into()),
                ("message", json(&self.message)?.into()),
                ("state", word(&self.state).into()),
                ("asked_at", self.asked_at.into()),
                ("deadline", self.deadline.into()),
                ("answer", self.answer.clone().into()),
                ("answered_by", self.answered_by.clone().into()),
                ("answered_at", self.answered_at.into()),
                ("left_at", self.left_at.into()),
                ("note", self.note.clone().into()),
            ],
        ))
    }
    fn got(row: &AnyRow) -> Result<Self, StoreError> {
        let row = Got(row);
        Ok(Self {
            id: row.word("id")?,
            step: row.word("step")?,
            delegation: row.maybe_word("delegation_id")?,
            kind: row.word("kind")?,
            key: row.text("question_key")?,
            text: row.text("text")?,
            link: row.maybe_text("link")?,
            choices: row.json("choices")?,
            message: row.json("message")?,
            state: row.word("state")?,
            asked_at: row.at("asked_at")?,
            deadline: row.maybe_at("deadline")?,
            answer: row.maybe_text("answer")?,
            answered_by: row.maybe_text("answered_by")?,
            answered_at: row.maybe_at("answered_at")?,
            left_at: row.maybe_at("left_at")?,
            note: row.maybe_text("note")?,
        })
    }
    fn same_row(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Journaled for Effect {
    fn put(&self, trip: &TripId, _place: i64) -> Result<Put, StoreError> {
        Ok(put(
            "effects",
            "id",
            vec![
                ("id", word(&self.id).into()),
                ("trip_id", word(trip).into()),
                ("delegation_id", word(&self.delegation).into()),
                ("reference", word(&self.reference).into()),
                ("ghost", self.ghost.into()),
                ("booking_system", self.booking_system.clone().into()),
                ("confirmation", self.confirmation.clone().into()),
                ("verdict", word(&self.verdict).into()),
                ("present_first", self.present_first.into()),
                ("present_last", self.present_last.into()),
                ("absent_first", self.absent_first.into()),
                ("absent_last", self.absent_last.into()),
                ("unknown_since", self.unknown_since.into()),
                ("note", self.note.clone().into()),
                ("checked_at", self.checked_at.into()),
                ("unknown_reads", self.unknown_reads.into()),
                ("verified_at", self.verified_at.into()),
                ("price", self.price.as_ref().map(json).transpose()?.into()),
                ("fee", self.fee.as_ref().map(json).transpose()?.into()),
            ],
        ))
    }
    fn got(row: &AnyRow) -> Result<Self, StoreError> {
        let row = Got(row);
        Ok(Self {
            id: row.word("id")?,
            delegation: row.word("delegation_id")?,
            reference: row.word("reference")?,
            ghost: row.flag("ghost")?,
            booking_system: row.maybe_text("booking_system")?,
            confirmation: row.maybe_text("confirmation")?,
            verdict: row.word("verdict")?,
            present_first: row.maybe_at("present_first")?,
            present_last: row.maybe_at("present_last")?,
            absent_first: row.maybe_at("absent_first")?,
            absent_last: row.maybe_at("absent_last")?,
            unknown_since: row.maybe_at("unknown_since")?,
            note: row.maybe_text("note")?,
            checked_at: row.maybe_at("checked_at")?,
            unknown_reads: row.number("unknown_reads")?,
            verified_at: row.maybe_at("verified_at")?,
            price: row.maybe_json("price")?,
            fee: row.maybe_json("fee")?,
        })
    }
    fn same_row(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Journaled for Compensation {
    fn put(&self, trip: &TripId, _place: i64) -> Result<Put, StoreError> {
        Ok(put(
            "compensations",
            "id",
            vec![
                ("id", word(&self.id).into()),
                ("trip_id", word(trip).into()),
                ("effect_id", word(&self.effect).into()),
                ("step", word(&self.step).into()),
                ("rung", self.rung.into()),
                ("booking_system", self.booking_system.clone().into()),
                ("confirmation", self.confirmation.clone().into()),
                ("idempotency_key", self.idempotency_key.clone().into()),
                ("body", self.body.clone().into()),
                ("state", word(&self.state).into()),
                ("send_number", self.number.into()),
                ("may_send_until", self.may_send_until.into()),
                ("planned_at", self.planned_at.into()),
                ("requested_at", self.requested_at.into()),
                ("accepted_at", self.accepted_at.into()),
                ("verified_at", self.verified_at.into()),
                ("retry_at", self.retry_at.into()),
                ("reason", self.reason.clone().into()),
                ("stuck_since", self.stuck_since.into()),
            ],
        ))
    }
    fn got(row: &AnyRow) -> Result<Self, StoreError> {
        let row = Got(row);
        Ok(Self {
            id: row.word("id")?,
            effect: row.word("effect_id")?,
            step: row.word("step")?,
            rung: row.number("rung")?,
            booking_system: row.text("booking_system")?,
            confirmation: row.text("confirmation")?,
            idempotency_key: row.text("idempotency_key")?,
            body: row.text("body")?,
            state: row.word("state")?,
            number: row.number("send_number")?,
            may_send_until: row.maybe_at("may_send_until")?,
            planned_at: row.at("planned_at")?,
            requested_at: row.maybe_at("requested_at")?,
            accepted_at: row.maybe_at("accepted_at")?,
            verified_at: row.maybe_at("verified_at")?,
            retry_at: row.maybe_at("retry_at")?,
            reason: row.maybe_text("reason")?,
            stuck_since: row.maybe_at("stuck_since")?,
        })
    }
    fn same_row(&self, other: &Self) -> bool {
        self.id == other.id
    }
}
