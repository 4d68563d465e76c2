//! Records a decision: rows, events, learned facts and reads in one transaction, guarded by the
//! fence and the `seq` that were read at load (DESIGN.md §1).

use super::cell::Put;
use super::rows::Journaled;
use super::{Store, StoreError};
use domain::decide::Decision;
use domain::event::Event;
use domain::ids::{HolderId, TripId};
use domain::time::Millis;
use domain::trip::Trip;
use domain::waits::Waits;

/// One answer of the outside as it is kept. The same answer read again only moves its last time.
pub(crate) struct ReadRow {
    /// The delegation or compensation that it is about.
    pub(crate) subject: String,
    /// The operation, for example `get_task`.
    pub(crate) kind: &'static str,
    /// As received, capped.
    pub(crate) content: String,
    /// When.
    pub(crate) at: Millis,
}

/// Why nothing was recorded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecordError {
    /// The lease has gone to another holder: hands off.
    #[error("the fence is old")]
    FenceOld,
    /// Somebody wrote meanwhile: load and decide again, with the same reads.
    #[error("the trip has moved on")]
    SeqMoved,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<sqlx::Error> for RecordError {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(error.into())
    }
}

impl Store {
    /// Records `decision`, made on `before`. Returns the trip's new `seq`.
    pub(crate) async fn record(
        &self,
        holder: &HolderId,
        before: &Trip,
        decision: &Decision,
        reads: &[ReadRow],
        waits: &Waits,
    ) -> Result<i64, RecordError> {
        let after = &decision.trip;
        let mut write = self.write().await?;
        let conn = write.conn();
        let count = i64::try_from(decision.events.len()).unwrap_or(i64::MAX);
        let seq = before.seq + count;
        let due = decision.agenda.due(|_| false);
        let changed = sqlx::query(
            "UPDATE trips SET seq = $1, goal = $2, closed_at = $3, closed = $4, due_at = $5, resting = $6 \
             WHERE id = $7 AND fence = $8 AND holder = $9 AND seq = $10",
        )
        .bind(seq)
        .bind(super::cell::word(&after.goal))
        .bind(after.closed_at.map(|at| at.0))
        .bind(super::cell::maybe_word(after.closed.as_ref()))
        .bind(due.unwrap_or(Millis(i64::MAX)).0)
        .bind(i64::from(due.is_none()))
        .bind(before.id.as_str())
        .bind(before.fence)
        .bind(holder.as_str())
        .bind(before.seq)
        .execute(&mut *conn)
        .await?;
        if changed.rows_affected() == 0 {
            return Err(why_not(conn, before, holder).await?);
        }
        put_changed(conn, before, after).await?;
        put_events(conn, &before.id, before.seq, self.now(), &decision.events).await?;
        super::registry::put_learned(conn, self.now(), waits.capability_expiry, &decision.learned).await?;
        for delegation in &after.delegations {
            let was_open =
                before.delegation(&delegation.id).is_none_or(domain::delegation::Delegation::is_open);
            if was_open && !delegation.is_open() {
                super::registry::put_health(conn, delegation).await?;
            }
        }
        for read in reads {
            put_read(conn, &before.id, read).await?;
        }
        write.commit().await?;
        Ok(seq)
    }
}

async fn why_not(
    conn: &mut sqlx::AnyConnection,
    before: &Trip,
    holder: &HolderId,
) -> Result<RecordError, StoreError> {
    let row: Option<(i64, Option<String>)> = sqlx::query_as("SELECT fence, holder FROM trips WHERE id = $1")
        .bind(before.id.as_str())
        .fetch_optional(conn)
        .await?;
    Ok(match row {
        Some((fence, Some(now))) if fence == before.fence && now == holder.as_str() => RecordError::SeqMoved,
        _ => RecordError::FenceOld,
    })
}

/// Writes the rows that are new or not as they were. The order keeps foreign keys satisfied, and
/// a closed delegation is written before a new one, so that at most one is ever open.
async fn put_changed(conn: &mut sqlx::AnyConnection, before: &Trip, after: &Trip) -> Result<(), StoreError> {
    let trip = &after.id;
    put_rows(conn, trip, &before.steps, &after.steps).await?;
    put_rows(conn, trip, &before.delegations, &after.delegations).await?;
    put_rows(conn, trip, &before.questions, &after.questions).await?;
    put_rows(conn, trip, &before.outbox, &after.outbox).await?;
    // A kept task that became a fork is written before the one that is kept now.
    let mut tasks: Vec<_> = after.tasks.clone();
    tasks.sort_by_key(|t| t.role == domain::task::TaskRole::Kept);
    put_rows(conn, trip, &before.tasks, &tasks).await?;
    put_artifacts(conn, before, after).await?;
    put_rows(conn, trip, &before.effects, &after.effects).await?;
    put_rows(conn, trip, &before.compensations, &after.compensations).await
}

async fn put_rows<T: Journaled>(
    conn: &mut sqlx::AnyConnection,
    trip: &TripId,
    before: &[T],
    after: &[T],
) -> Result<(), StoreError> {
    for (place, row) in after.iter().enumerate() {
        let old = before.iter().find(|old| old.same_row(row));
        if old != Some(row) {
            row.put(trip, i64::try_from(place).unwrap_or(i64::MAX))?.run(conn).await?;
        }
    }
    Ok(())
}

/// The snapshot's artifacts replace what was held, keyed by their ids (§5, Following).
async fn put_artifacts(
    conn: &mut sqlx::AnyConnection,
    before: &Trip,
    after: &Trip,
) -> Result<(), StoreError> {
    for copy in &after.tasks {
        let old = before.tasks.iter().find(|t| t.same_row(copy));
        if old.map(|t| &t.snapshot.artifacts) == Some(&copy.snapshot.artifacts) {
            continue;
        }
        sqlx::query("DELETE FROM artifacts WHERE delegation_id = $1 AND task_id = $2")
            .bind(copy.delegation.as_str())
            .bind(copy.snapshot.task_id.as_str())
            .execute(&mut *conn)
            .await?;
        for artifact in &copy.snapshot.artifacts {
            Put {
                table: "artifacts",
                key: "delegation_id, task_id, artifact_id",
                cells: vec![
                    ("trip_id", after.id.as_str().into()),
                    ("delegation_id", copy.delegation.as_str().into()),
                    ("task_id", copy.snapshot.task_id.as_str().into()),
                    ("artifact_id", artifact.artifact_id.clone().into()),
                    ("content", super::cell::json(artifact)?.into()),
                    ("observed_at", copy.observed_at.into()),
                ],
            }
            .run(conn)
            .await?;
        }
    }
    Ok(())
}

/// Appends events, numbered on from `seq`.
pub(super) async fn put_events(
    conn: &mut sqlx::AnyConnection,
    trip: &TripId,
    seq: i64,
    at: Millis,
    events: &[Event],
) -> Result<(), StoreError> {
    for (number, event) in (seq + 1..).zip(events) {
        sqlx::query(
            "INSERT INTO events (trip_id, seq, at, actor, kind, step, delegation_id, what, why) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        )
        .bind(trip.as_str())
        .bind(number)
        .bind(at.0)
        .bind(&event.actor)
        .bind(&event.kind)
        .bind(event.step.as_ref().map(|s| s.0.clone()))
        .bind(event.delegation.as_ref().map(|d| d.0.clone()))
        .bind(&event.what)
        .bind(event.why.clone())
        .execute(&mut *conn)
        .await?;
    }
    Ok(())
}

async fn put_read(conn: &mut sqlx::AnyConnection, trip: &TripId, read: &ReadRow) -> Result<(), StoreError> {
    use sha2::Digest as _;
    let digest = hex::encode(sha2::Sha256::digest(read.content.as_bytes()));
    sqlx::query(
        "INSERT INTO reads (trip_id, subject, kind, digest, content, first_at, last_at, times) \
         VALUES ($1, $2, $3, $4, $5, $6, $6, 1) \
         ON CONFLICT (trip_id, subject, kind, digest) DO UPDATE SET last_at = excluded.last_at, times = reads.times + 1",
    )
    .bind(trip.as_str())
    .bind(&read.subject)
    .bind(read.kind)
    .bind(digest)
    .bind(&read.content)
    .bind(read.at.0)
    .execute(conn)
    .await?;
    Ok(())
}
