//! Cases: stuck delegations and compensations, and what support writes to them. Preconditions are
//! checked in the transaction that writes.

use super::cell::{Got, json};
use super::dialect::can_name;
use super::{Store, StoreError};
use domain::delegation::Signed;
use domain::event::Event;
use domain::ids::{CompensationId, DelegationId, StepName, TripId};

/// A stuck row.
pub(crate) struct CaseRow {
    pub(crate) trip: TripId,
    pub(crate) step: StepName,
    pub(crate) delegation: DelegationId,
    /// The compensation, where the case is about one.
    pub(crate) compensation: Option<CompensationId>,
}

impl Store {
    /// A case by the id of its row.
    pub(crate) async fn case(&self, id: &str) -> Result<Option<CaseRow>, StoreError> {
        if !can_name(id) {
            return Ok(None);
        }
        let row = sqlx::query(
            "SELECT d.trip_id, d.step, d.id AS delegation_id, CAST(NULL AS TEXT) AS compensation_id \
             FROM delegations d WHERE d.id = $1 AND d.stuck IS NOT NULL \
             UNION ALL \
             SELECT c.trip_id, c.step, e.delegation_id, c.id AS compensation_id \
             FROM compensations c JOIN effects e ON e.id = c.effect_id WHERE c.id = $1 AND c.state = 'stuck'",
        )
        .bind(id)
        .fetch_optional(&self.pool)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let row = Got(&row);
        Ok(Some(CaseRow {
            trip: row.word("trip_id")?,
            step: row.word("step")?,
            delegation: row.word("delegation_id")?,
            compensation: row.maybe_word("compensation_id")?,
        }))
    }

    /// Wakes the case's trip. False where the case is closed.
    pub(crate) async fn wake_case(&self, case: &CaseRow, event: &Event) -> Result<bool, StoreError> {
        let mut write = self.write().await?;
        self.add_event(&mut write, &case.trip, event).await?;
        let (table, id) = match &case.compensation {
            Some(id) => ("SELECT COUNT(*) FROM compensations WHERE id = $1 AND state = 'stuck'", id.as_str()),
            None => (
                "SELECT COUNT(*) FROM delegations WHERE id = $1 AND stuck IS NOT NULL",
                case.delegation.as_str(),
            ),
        };
        let open: i64 = sqlx::query_scalar(table).bind(id).fetch_one(write.conn()).await?;
        if open == 1 {
            write.commit().await?;
        }
        Ok(open == 1)
    }

    /// Writes what a person signed for. False where the case is closed, or signed for already.
    pub(crate) async fn sign_case(
        &self,
        case: &CaseRow,
        signed: Option<&Signed>,
        event: &Event,
    ) -> Result<bool, StoreError> {
        let mut write = self.write().await?;
        // The trip's row is locked first, in the order of the loop's records.
        self.add_event(&mut write, &case.trip, event).await?;
        let query = match (&case.compensation, signed) {
            (Some(id), _) => sqlx::query(
                "UPDATE compensations SET state = 'signed', stuck_since = NULL, retry_at = NULL \
                 WHERE id = $1 AND state = 'stuck'",
            )
            .bind(id.0.clone()),
            (None, Some(signed)) => sqlx::query(
                "UPDATE delegations SET signed = $2 \
                 WHERE id = $1 AND stuck IS NOT NULL AND signed IS NULL",
            )
            .bind(case.delegation.0.clone())
            .bind(json(signed)?),
            (None, None) => return Ok(false),
        };
        let done = query.execute(write.conn()).await?;
        if done.rows_affected() == 1 {
            write.commit().await?;
        }
        Ok(done.rows_affected() == 1)
    }
}
