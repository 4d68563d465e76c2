//! Loads a trip whole, in a fixed number of queries.

use super::cell::Got;
use super::dialect::can_name;
use super::rows::Journaled;
use super::{Store, StoreError};
use domain::ids::{HolderId, TripId};
use domain::trip::Trip;
use sqlx::any::AnyRow;

/// A trip as loaded, with what the lease needs.
pub(crate) struct Loaded {
    /// The trip.
    pub(crate) trip: Trip,
    /// Who holds it.
    pub(crate) holder: Option<HolderId>,
}

impl Store {
    /// A trip with all of its rows; `None` where there is none.
    pub(crate) async fn load_trip(&self, id: &TripId) -> Result<Option<Loaded>, StoreError> {
        if !can_name(id.as_str()) {
            return Ok(None);
        }
        // One snapshot over all tables: a trip half before and half after a record would be a lie.
        let mut tx = self.pool.begin().await?;
        let sql = match self.dialect {
            super::dialect::Dialect::Postgres => {
                Some("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            }
            super::dialect::Dialect::Sqlite => None,
        };
        if let Some(sql) = sql {
            sqlx::query(sql).execute(&mut *tx).await?;
        }
        let head = sqlx::query(
            "SELECT t.*, w.definition FROM trips t \
             JOIN workflows w ON w.name = t.workflow AND w.version = t.workflow_version WHERE t.id = $1",
        )
        .bind(id.as_str())
        .fetch_optional(&mut *tx)
        .await?;
        let Some(head) = head else { return Ok(None) };
        let (mut trip, holder) = head_of(&head)?;
        let conn = &mut *tx;
        trip.steps = rows(conn, id, "SELECT * FROM steps WHERE trip_id = $1 ORDER BY position").await?;
        trip.delegations =
            rows(conn, id, "SELECT * FROM delegations WHERE trip_id = $1 ORDER BY created_at, id").await?;
        trip.outbox =
            rows(conn, id, "SELECT * FROM messages WHERE trip_id = $1 ORDER BY created_at, id").await?;
        trip.tasks =
            rows(conn, id, "SELECT * FROM tasks WHERE trip_id = $1 ORDER BY delegation_id, task_id").await?;
        trip.questions =
            rows(conn, id, "SELECT * FROM questions WHERE trip_id = $1 ORDER BY asked_at, id").await?;
        trip.effects = rows(conn, id, "SELECT * FROM effects WHERE trip_id = $1 ORDER BY id").await?;
        trip.compensations =
            rows(conn, id, "SELECT * FROM compensations WHERE trip_id = $1 ORDER BY rung").await?;
        tx.commit().await?;
        Ok(Some(Loaded { trip, holder }))
    }
}

async fn rows<T: Journaled>(
    conn: &mut sqlx::AnyConnection,
    trip: &TripId,
    sql: &'static str,
) -> Result<Vec<T>, StoreError> {
    let rows = sqlx::query(sql).bind(trip.as_str()).fetch_all(conn).await?;
    rows.iter().map(T::got).collect()
}

fn head_of(row: &AnyRow) -> Result<(Trip, Option<HolderId>), StoreError> {
    let row = Got(row);
    let trip = Trip {
        id: row.word("id")?,
        owner: row.word("owner_id")?,
        title: row.text("title")?,
        workflow: row.json("definition")?,
        inputs: row.json("inputs")?,
        goal: row.word("goal")?,
        created_at: row.at("created_at")?,
        closed_at: row.maybe_at("closed_at")?,
        closed: row.maybe_word("closed")?,
        seq: row.number("seq")?,
        fence: row.number("fence")?,
        wakes: row.number("wakes")?,
        steps: Vec::new(),
        delegations: Vec::new(),
        outbox: Vec::new(),
        tasks: Vec::new(),
        questions: Vec::new(),
        effects: Vec::new(),
        compensations: Vec::new(),
    };
    Ok((trip, row.maybe_word("holder")?))
}
