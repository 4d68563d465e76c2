//! People's writes: each is one transaction that adds an event and wakes the trip. None needs the
//! trip's lease; the row lock of the trip orders them with the loop's records.

use super::cell::{json, word};
use super::dialect::can_name;
use super::record::put_events;
use super::{Store, StoreError, Write};
use domain::event::Event;
use domain::ids::{DelegationId, QuestionId, StepName, TripId, UserId};
use domain::question::{Choice, QuestionKind, QuestionState};
use domain::trip::Step;
use serde_json::{Map, Value};

/// A trip to be made.
pub(crate) struct NewTripRow<'a> {
    pub(crate) id: TripId,
    pub(crate) owner: &'a UserId,
    pub(crate) title: &'a str,
    pub(crate) workflow: &'a str,
    pub(crate) workflow_version: i64,
    pub(crate) inputs: &'a Map<String, Value>,
    pub(crate) steps: &'a [Step],
    pub(crate) event: Event,
    /// Key and digest of the body.
    pub(crate) idempotency: Option<(&'a str, String)>,
}

/// What became of a new trip.
pub(crate) enum Recorded {
    /// Made now, or by the same key and body before.
    Trip(TripId),
    /// The key was used with another body.
    KeyReused,
}

/// What became of an answer.
pub(crate) enum AnswerWrite {
    /// Recorded: the first one counts.
    Recorded(TripId),
    /// The question has gone; how.
    Gone { state: QuestionState, by: Option<String>, note: Option<String> },
}

/// A question as an answer needs it.
pub(crate) struct QuestionRow {
    pub(crate) trip: TripId,
    pub(crate) owner: UserId,
    pub(crate) step: StepName,
    pub(crate) delegation: Option<DelegationId>,
    pub(crate) kind: QuestionKind,
    pub(crate) state: QuestionState,
    pub(crate) choices: Vec<Choice>,
}

impl Store {
    /// Makes a trip, due now.
    pub(crate) async fn create_trip(&self, new: NewTripRow<'_>) -> Result<Recorded, StoreError> {
        let now = self.now();
        let mut write = self.write().await?;
        if let Some((key, digest)) = &new.idempotency {
            // Inserting first makes two submits at once wait for each other on the key itself.
            let fresh = sqlx::query(
                "INSERT INTO idempotency_keys (user_id, key, digest, trip_id, created_at) \
                 VALUES ($1, $2, $3, $4, $5) ON CONFLICT (user_id, key) DO NOTHING",
            )
            .bind(new.owner.as_str())
            .bind(*key)
            .bind(digest)
            .bind(new.id.as_str())
            .bind(now.0)
            .execute(write.conn())
            .await?;
            if fresh.rows_affected() == 0 {
                return known_key(&mut write, new.owner, key, digest).await;
            }
        }
        sqlx::query(
            "INSERT INTO trips (id, owner_id, title, workflow, workflow_version, inputs, goal, created_at, seq, due_at) \
             VALUES ($1, $2, $3, $4, $5, $6, 'run', $7, 1, $7)",
        )
        .bind(new.id.as_str())
        .bind(new.owner.as_str())
        .bind(new.title)
        .bind(new.workflow)
        .bind(new.workflow_version)
        .bind(json(new.inputs)?)
        .bind(now.0)
        .execute(write.conn())
        .await?;
        for (place, step) in (0_i64..).zip(new.steps) {
            use super::rows::Journaled as _;
            step.put(&new.id, place)?.run(write.conn()).await?;
        }
        put_events(write.conn(), &new.id, 0, now, std::slice::from_ref(&new.event)).await?;
        write.commit().await?;
        Ok(Recorded::Trip(new.id))
    }

    /// Adds an event to a trip and wakes it, inside a transaction. Locks the trip's row first.
    pub(super) async fn add_event(
        &self,
        write: &mut Write<'_>,
        trip: &TripId,
        event: &Event,
    ) -> Result<(), StoreError> {
        let now = self.now();
        let seq: i64 = sqlx::query_scalar(
            "UPDATE trips SET seq = seq + 1, wakes = wakes + 1, \
             due_at = CASE WHEN due_at < $1 THEN due_at ELSE $1 END WHERE id = $2 RETURNING seq",
        )
        .bind(now.0)
        .bind(trip.as_str())
        .fetch_one(write.conn())
        .await?;
        put_events(write.conn(), trip, seq - 1, now, std::slice::from_ref(event)).await
    }

    /// What an answer needs to know of its question.
    pub(crate) async fn question_row(&self, id: &QuestionId) -> Result<Option<QuestionRow>, StoreError> {
        if !can_name(id.as_str()) {
            return Ok(None);
        }
        let row = sqlx::query(
            "SELECT q.*, t.owner_id FROM questions q JOIN trips t ON t.id = q.trip_id WHERE q.id = $1",
        )
        .bind(id.as_str())
        .fetch_optional(&self.pool)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let row = super::cell::Got(&row);
        Ok(Some(QuestionRow {
            trip: row.word("trip_id")?,
            owner: row.word("owner_id")?,
            step: row.word("step")?,
            delegation: row.maybe_word("delegation_id")?,
            kind: row.word("kind")?,
            state: row.word("state")?,
            choices: row.json("choices")?,
        }))
    }

    /// Records an answer, if the question is still open. One that comes too late is kept in the
    /// history all the same (§9).
    pub(crate) async fn answer(
        &self,
        id: &QuestionId,
        trip: &TripId,
        answer: &str,
        by: &str,
        taken: &Event,
        too_late: impl FnOnce(&str) -> Event,
    ) -> Result<AnswerWrite, StoreError> {
        let now = self.now();
        let mut write = self.write().await?;
        // The trip's row is locked before the question's, in the order of the loop's records.
        lock_trip(&mut write, trip).await?;
        let done = sqlx::query(
            "UPDATE questions SET state = 'answered', answer = $1, answered_by = $2, answered_at = $3 \
             WHERE id = $4 AND state = 'open' AND (deadline IS NULL OR deadline > $3)",
        )
        .bind(answer)
        .bind(by)
        .bind(now.0)
        .bind(id.as_str())
        .execute(write.conn())
        .await?;
        if done.rows_affected() == 1 {
            self.add_event(&mut write, trip, taken).await?;
            write.commit().await?;
            return Ok(AnswerWrite::Recorded(trip.clone()));
        }
        let row = sqlx::query("SELECT state, answered_by, note FROM questions WHERE id = $1")
            .bind(id.as_str())
            .fetch_one(write.conn())
            .await?;
        let row = super::cell::Got(&row);
        let state: QuestionState = row.word("state")?;
        let (by, note) = (row.maybe_text("answered_by")?, row.maybe_text("note")?);
        let why = format!("the question was {}", state.word());
        self.add_event(&mut write, trip, &too_late(&why)).await?;
        write.commit().await?;
        Ok(AnswerWrite::Gone { state, by, note })
    }

    /// Records that the trip is to be cancelled. False where it was ending already.
    pub(crate) async fn cancel(&self, trip: &TripId, event: &Event) -> Result<bool, StoreError> {
        let mut write = self.write().await?;
        let done = sqlx::query(
            "UPDATE trips SET goal = 'cancel' WHERE id = $1 AND goal = 'run' AND closed_at IS NULL",
        )
        .bind(trip.as_str())
        .execute(write.conn())
        .await?;
        if done.rows_affected() == 0 {
            return Ok(false);
        }
        self.add_event(&mut write, trip, event).await?;
        write.commit().await?;
        Ok(true)
    }
}

async fn lock_trip(write: &mut Write<'_>, trip: &TripId) -> Result<(), StoreError> {
    sqlx::query("UPDATE trips SET wakes = wakes WHERE id = $1")
        .bind(trip.as_str())
        .execute(write.conn())
        .await?;
    Ok(())
}

async fn known_key(
    write: &mut Write<'_>,
    owner: &UserId,
    key: &str,
    digest: &str,
) -> Result<Recorded, StoreError> {
    let (known, trip): (String, String) =
        sqlx::query_as("SELECT digest, trip_id FROM idempotency_keys WHERE user_id = $1 AND key = $2")
            .bind(word(owner))
            .bind(key)
            .fetch_one(write.conn())
            .await?;
    Ok(if known == digest { Recorded::Trip(TripId(trip)) } else { Recorded::KeyReused })
}
