//! Holders and leases: one heartbeat for each process, one conditional update for each taking.

use super::dialect::Dialect;
use super::{Store, StoreError};
use domain::ids::{HolderId, TripId};
use domain::time::{Millis, Span};
use sqlx::Row as _;
use std::sync::atomic::Ordering;

/// A trip that was taken.
#[derive(Clone, Debug)]
pub(crate) struct Leased {
    /// Which.
    pub(crate) trip: TripId,
    /// Its fence now.
    pub(crate) fence: i64,
    /// Its wakes now.
    pub(crate) wakes: i64,
}

impl Store {
    /// Enters this process as a holder. On SQLite the file lock has proved that no other lives,
    /// so the others are forgotten and every unfinished trip is due.
    pub(crate) async fn enter_holder(&self, holder: &HolderId, good_for: Span) -> Result<(), StoreError> {
        self.measure_clock().await?;
        let now = self.now();
        let mut write = self.write().await?;
        if self.dialect == Dialect::Sqlite {
            sqlx::query("DELETE FROM holders").execute(write.conn()).await?;
            sqlx::query("UPDATE trips SET holder = NULL, due_at = CASE WHEN closed_at IS NULL THEN $1 ELSE due_at END WHERE resting = 0")
                .bind(now.0)
                .execute(write.conn())
                .await?;
        }
        sqlx::query("INSERT INTO holders (id, started_at, heartbeat_until) VALUES ($1, $2, $3)")
            .bind(holder.as_str())
            .bind(now.0)
            .bind((now + good_for).0)
            .execute(write.conn())
            .await?;
        write.commit().await
    }

    /// Renews the heartbeat; false where this holder has been forgotten.
    pub(crate) async fn renew_holder(&self, holder: &HolderId, good_for: Span) -> Result<bool, StoreError> {
        self.measure_clock().await?;
        let until = self.now() + good_for;
        let mut write = self.write().await?;
        let done = sqlx::query("UPDATE holders SET heartbeat_until = $1 WHERE id = $2")
            .bind(until.0)
            .bind(holder.as_str())
            .execute(write.conn())
            .await?;
        write.commit().await?;
        Ok(done.rows_affected() == 1)
    }

    /// Gives back every lease, due at once, and leaves.
    pub(crate) async fn leave_holder(&self, holder: &HolderId) -> Result<(), StoreError> {
        let now = self.now();
        let mut write = self.write().await?;
        sqlx::query("UPDATE trips SET holder = NULL, due_at = CASE WHEN closed_at IS NULL THEN $1 ELSE due_at END WHERE holder = $2")
            .bind(now.0)
            .bind(holder.as_str())
            .execute(write.conn())
            .await?;
        sqlx::query("DELETE FROM holders WHERE id = $1").bind(holder.as_str()).execute(write.conn()).await?;
        write.commit().await
    }

    /// Learns how far the database's clock is from ours: all times are the database's.
    async fn measure_clock(&self) -> Result<(), StoreError> {
        if self.dialect == Dialect::Postgres {
            let before = self.clock.now();
            let theirs: i64 =
                sqlx::query_scalar("SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)")
                    .fetch_one(&self.pool)
                    .await?;
            let after = self.clock.now();
            let middle = before.0 + (after.0 - before.0) / 2;
            self.offset.store(theirs - middle, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Takes up to `limit` due trips that nobody alive holds. Each taking raises the fence.
    pub(crate) async fn lease_due(&self, holder: &HolderId, limit: i64) -> Result<Vec<Leased>, StoreError> {
        let now = self.now();
        if !self.any_due(now).await? {
            return Ok(Vec::new());
        }
        let sql = format!(
            "UPDATE trips SET holder = $1, fence = fence + 1 WHERE id IN (\
               SELECT id FROM trips WHERE resting = 0 AND (\
                 (holder IS NULL AND due_at <= $2) OR \
                 (holder IS NOT NULL AND holder NOT IN (SELECT id FROM holders WHERE heartbeat_until > $2))) \
               ORDER BY due_at LIMIT $3{}) \
             RETURNING id, fence, wakes",
            self.dialect.skip_locked()
        );
        let mut write = self.write().await?;
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(holder.as_str())
            .bind(now.0)
            .bind(limit)
            .fetch_all(write.conn())
            .await?;
        write.commit().await?;
        rows.iter()
            .map(|row| {
                Ok(Leased {
                    trip: TripId(row.try_get("id")?),
                    fence: row.try_get("fence")?,
                    wakes: row.try_get("wakes")?,
                })
            })
            .collect()
    }

    /// Whether there is anything to take: an idle loop writes nothing.
    async fn any_due(&self, now: Millis) -> Result<bool, StoreError> {
        let found: Option<i64> = sqlx::query_scalar(
            "SELECT CAST(1 AS BIGINT) FROM trips WHERE resting = 0 AND (\
               (holder IS NULL AND due_at <= $1) OR \
               (holder IS NOT NULL AND holder NOT IN (SELECT id FROM holders WHERE heartbeat_until > $1))) LIMIT 1",
        )
        .bind(now.0)
        .fetch_optional(&self.pool)
        .await?;
        Ok(found.is_some())
    }

    /// When the next trip that nobody holds is due.
    pub(crate) async fn next_due(&self) -> Result<Option<Millis>, StoreError> {
        let due: Option<i64> =
            sqlx::query_scalar("SELECT MIN(due_at) FROM trips WHERE resting = 0 AND holder IS NULL")
                .fetch_one(&self.pool)
                .await?;
        Ok(due.map(Millis))
    }

    /// Lets a trip go, due at `due`; a wake that came since `wakes` was read wins over that.
    pub(crate) async fn let_go(
        &self,
        holder: &HolderId,
        trip: &TripId,
        fence: i64,
        wakes: i64,
        due: Millis,
    ) -> Result<(), StoreError> {
        let now = self.now();
        let mut write = self.write().await?;
        sqlx::query(
            "UPDATE trips SET holder = NULL, due_at = CASE WHEN wakes = $1 THEN $2 ELSE $3 END \
             WHERE id = $4 AND fence = $5 AND holder = $6",
        )
        .bind(wakes)
        .bind(due.0)
        .bind(now.0)
        .bind(trip.as_str())
        .bind(fence)
        .bind(holder.as_str())
        .execute(write.conn())
        .await?;
        write.commit().await
    }

    /// Id and wakes of every trip that this process holds: what other instances woke shows here.
    pub(crate) async fn held(&self, holder: &HolderId) -> Result<Vec<(TripId, i64)>, StoreError> {
        let rows: Vec<(String, i64)> = sqlx::query_as("SELECT id, wakes FROM trips WHERE holder = $1")
            .bind(holder.as_str())
            .fetch_all(&self.pool)
            .await?;
        Ok(rows.into_iter().map(|(id, wakes)| (TripId(id), wakes)).collect())
    }
}
