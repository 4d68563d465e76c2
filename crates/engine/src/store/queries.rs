//! Reads for people: lists, events, questions, cases. Each by an index, none per row.

use super::cell::Got;
use super::dialect::can_name;
use super::{Store, StoreError};
use domain::ids::{QuestionId, StepName, TripId, UserId};
use domain::view::EventView;
use sqlx::any::AnyRow;

impl Store {
    /// Ids of the newest trips, of one owner or of all.
    pub(crate) async fn trip_ids(
        &self,
        owner: Option<&UserId>,
        limit: i64,
    ) -> Result<Vec<TripId>, StoreError> {
        let ids: Vec<String> = match owner {
            Some(owner) => {
                sqlx::query_scalar(
                    "SELECT id FROM trips WHERE owner_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2",
                )
                .bind(owner.as_str())
                .bind(limit)
                .fetch_all(&self.pool)
                .await?
            }
            None => {
                sqlx::query_scalar("SELECT id FROM trips ORDER BY created_at DESC, id DESC LIMIT $1")
                    .bind(limit)
                    .fetch_all(&self.pool)
                    .await?
            }
        };
        Ok(ids.into_iter().map(TripId).collect())
    }

    /// Who a trip belongs to and its newest event number.
    pub(crate) async fn trip_owner(&self, id: &TripId) -> Result<Option<(UserId, i64)>, StoreError> {
        if !can_name(id.as_str()) {
            return Ok(None);
        }
        let row: Option<(String, i64)> = sqlx::query_as("SELECT owner_id, seq FROM trips WHERE id = $1")
            .bind(id.as_str())
            .fetch_optional(&self.pool)
            .await?;
        Ok(row.map(|(owner, seq)| (UserId(owner), seq)))
    }

    /// The newest events of a trip, newest first.
    pub(crate) async fn newest_events(&self, id: &TripId, limit: i64) -> Result<Vec<EventView>, StoreError> {
        let rows = sqlx::query("SELECT * FROM events WHERE trip_id = $1 ORDER BY seq DESC LIMIT $2")
            .bind(id.as_str())
            .bind(limit)
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(event_view).collect()
    }

    /// The newest events about a step, and about the trip as a whole, newest first.
    pub(crate) async fn step_events(
        &self,
        id: &TripId,
        step: &StepName,
        limit: i64,
    ) -> Result<Vec<EventView>, StoreError> {
        let rows = sqlx::query(
            "SELECT * FROM events WHERE trip_id = $1 AND (step = $2 OR step IS NULL) ORDER BY seq DESC LIMIT $3",
        )
        .bind(id.as_str())
        .bind(step.as_str())
        .bind(limit)
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(event_view).collect()
    }

    /// Trips with an open question, oldest question first.
    pub(crate) async fn trips_with_questions(
        &self,
        owner: Option<&UserId>,
    ) -> Result<Vec<TripId>, StoreError> {
        let rows: Vec<(String, String)> = sqlx::query_as(
            "SELECT q.trip_id, t.owner_id FROM questions q JOIN trips t ON t.id = q.trip_id \
             WHERE q.state = 'open' ORDER BY q.asked_at LIMIT 1000",
        )
        .fetch_all(&self.pool)
        .await?;
        let mut ids: Vec<TripId> = Vec::new();
        for (trip, of) in rows {
            let wanted = owner.is_none_or(|owner| owner.as_str() == of);
            if wanted && !ids.iter().any(|id| id.as_str() == trip) {
                ids.push(TripId(trip));
            }
        }
        Ok(ids)
    }

    /// The trip of a question.
    pub(crate) async fn trip_of_question(&self, id: &QuestionId) -> Result<Option<TripId>, StoreError> {
        if !can_name(id.as_str()) {
            return Ok(None);
        }
        let trip: Option<String> = sqlx::query_scalar("SELECT trip_id FROM questions WHERE id = $1")
            .bind(id.as_str())
            .fetch_optional(&self.pool)
            .await?;
        Ok(trip.map(TripId))
    }

    /// Trips with a stuck row, longest stuck first.
    pub(crate) async fn stuck_trips(&self) -> Result<Vec<TripId>, StoreError> {
        let rows: Vec<(String, i64)> = sqlx::query_as(
            "SELECT trip_id, stuck_since FROM delegations WHERE stuck IS NOT NULL \
             UNION ALL SELECT trip_id, stuck_since FROM compensations WHERE state = 'stuck' \
             ORDER BY 2 LIMIT 1000",
        )
        .fetch_all(&self.pool)
        .await?;
        let mut ids: Vec<TripId> = Vec::new();
        for (trip, _) in rows {
            if !ids.iter().any(|id| id.as_str() == trip) {
                ids.push(TripId(trip));
            }
        }
        Ok(ids)
    }

    /// How many of these tasks of an agent belong to no delegation here.
    pub(crate) async fn strangers(&self, agent: &str, tasks: &[String]) -> Result<i64, StoreError> {
        let known: Vec<String> = sqlx::query_scalar(
            "SELECT task_id FROM tasks WHERE delegation_id IN (SELECT id FROM delegations WHERE agent_id = $1)",
        )
        .bind(agent)
        .fetch_all(&self.pool)
        .await?;
        let known: std::collections::HashSet<String> = known.into_iter().collect();
        Ok(i64::try_from(tasks.iter().filter(|task| !known.contains(*task)).count()).unwrap_or(i64::MAX))
    }
}

fn event_view(row: &AnyRow) -> Result<EventView, StoreError> {
    let row = Got(row);
    Ok(EventView {
        seq: row.number("seq")?,
        at: row.number("at")?,
        actor: row.text("actor")?,
        what: row.text("what")?,
        why: row.maybe_text("why")?,
        step: row.maybe_text("step")?,
    })
}
