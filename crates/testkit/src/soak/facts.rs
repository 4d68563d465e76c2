//! Everything known at the end of a soak, from four sides that cannot copy from each other: what
//! the trips say, what the journal holds, what the outside saw and did, what people were told.

use super::diary::Diary;
use anyhow::{Context as _, Result};
use domain::view::TripView;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// All of it.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The trips, as the API shows them.
    pub trips: Vec<TripView>,
    /// What their travellers know.
    pub diaries: Vec<Diary>,
    /// Every booking in every ledger.
    pub bookings: Vec<Booking>,
    /// Every cancel that a booking system was asked for by somebody else than its agents.
    pub undos: Vec<Undo>,
    /// Every call of an agent, in the order in which they came in.
    pub calls: Vec<Call>,
    /// Every task that an agent knows.
    pub tasks: Vec<AgentTask>,
    /// The journal.
    pub journal: Journal,
    /// What `holdfast check` found.
    pub check: Vec<String>,
    /// Panics, and ends that nobody asked for.
    pub breakdowns: Vec<String>,
}

/// The journal's rows that a comparison needs.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Journal {
    /// Every trip's id.
    pub trips: Vec<String>,
    /// Attempts.
    pub attempts: Vec<Attempt>,
    /// Requests, replies and cancels.
    pub messages: Vec<Message>,
    /// Tasks, by their role.
    pub tasks: Vec<TaskRow>,
    /// Undos.
    pub undos: Vec<UndoRow>,
    /// Questions of agents.
    pub questions: Vec<QuestionRow>,
}

/// A row of `questions`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct QuestionRow {
    /// Its id.
    pub id: String,
    /// Its trip.
    pub trip: String,
    /// Its delegation.
    pub delegation: String,
    /// What makes it the same question when it is read again.
    pub key: String,
    /// When it was asked.
    pub asked_at: i64,
    /// When it was answered.
    pub answered_at: Option<i64>,
}

/// A row of `delegations`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Attempt {
    /// Its id.
    pub id: String,
    /// Its trip.
    pub trip: String,
    /// Its step.
    pub step: String,
    /// Which attempt at the step.
    pub ordinal: i64,
    /// What its bookings are made under.
    pub reference: Option<String>,
    /// When its fate was settled.
    pub closed_at: Option<i64>,
}

/// A row of `messages`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Message {
    /// Its trip.
    pub trip: String,
    /// Its delegation.
    pub delegation: String,
    /// `request`, `reply` or `cancel`.
    pub kind: String,
    /// None for a cancel.
    pub message_id: Option<String>,
    /// For a cancel.
    pub task_id: Option<String>,
    /// How many sends were committed.
    pub send_number: i64,
}

/// A row of `tasks`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TaskRow {
    /// The agent's id of it.
    pub task_id: String,
    /// `kept`, `ghost` or `fork`.
    pub role: String,
}

/// A row of `compensations`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UndoRow {
    /// Its key.
    pub idempotency_key: String,
    /// How many calls were committed.
    pub send_number: i64,
}

/// A booking in a ledger.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Booking {
    /// The booking system.
    pub system: String,
    /// Its number.
    pub confirmation: String,
    /// What it was made under.
    pub reference: String,
    /// Whether it was not cancelled.
    pub stands: bool,
    /// When, as the ledger says.
    pub booked_at: String,
}

/// A cancel that came to a booking system.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Undo {
    /// The booking system.
    pub system: String,
    /// The booking.
    pub confirmation: String,
    /// The Idempotency-Key that came with it.
    pub key: Option<String>,
}

/// A call of an agent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Call {
    /// Its place in the order in which calls came in.
    pub number: i64,
    /// UTC milliseconds.
    pub at: i64,
    /// The agent.
    pub agent: String,
    /// The operation.
    pub method: String,
    /// The message sent.
    pub message_id: Option<String>,
    /// The context named.
    pub context_id: Option<String>,
    /// The task named.
    pub task_id: Option<String>,
    /// Whether a list was to be filtered by time.
    pub by_time: bool,
    /// Whether an answer was let go.
    pub answered: bool,
}

/// A task that an agent knows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AgentTask {
    /// The agent.
    pub agent: String,
    /// Its id.
    pub task: String,
    /// The message that made it.
    pub message: String,
}

impl Call {
    /// Reads a row of the request log.
    ///
    /// # Errors
    /// It is not one.
    pub fn read(row: &Value) -> Result<Self> {
        let text = |name: &str| row[name].as_str().map(str::to_owned);
        let at: jiff::Timestamp = text("at").context("a call without a time")?.parse()?;
        Ok(Self {
            number: row["id"].as_i64().context("a call without a number")?,
            at: at.as_millisecond(),
            agent: text("agent").context("a call of nobody")?,
            method: text("method").context("a call of nothing")?,
            message_id: text("message_id"),
            context_id: text("context_id"),
            task_id: text("task_id"),
            by_time: row["body"]["params"]["statusTimestampAfter"].is_string(),
            answered: row["answer_status"].as_i64() == Some(200),
        })
    }

    /// Whether it sends a message.
    pub fn is_send(&self) -> bool {
        matches!(self.method.as_str(), "SendMessage" | "SendStreamingMessage")
    }
}

impl Booking {
    /// Reads a row of a ledger.
    pub fn read(system: &str, row: &Value) -> Self {
        let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        Self {
            system: system.to_owned(),
            confirmation: text("id"),
            reference: text("reference"),
            stands: row["status"] == "CONFIRMED",
            booked_at: text("booked_at"),
        }
    }
}

impl Undo {
    /// Reads an operation; none where it is no cancel, or an agent's own.
    pub fn read(system: &str, row: &Value) -> Option<Self> {
        let confirmation = row["booking"].as_str()?.to_owned();
        let key = row["idempotency_key"].as_str().map(str::to_owned);
        let by_agent = key.as_deref() == Some(&format!("undo-{confirmation}"));
        (row["operation"] == "cancel" && !by_agent).then(|| Self {
            system: system.to_owned(),
            confirmation,
            key,
        })
    }
}
