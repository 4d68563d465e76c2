//! Cases: stuck delegations and compensations, and what support writes to them. Preconditions are
//! checked in the transaction that writes.

use super::cell::{Got, json};
use super::dialect::can_name;
use super::{Store, StoreError};
use domain::delegation::Signed;
use domain::event::Event;
use domain::ids::{CompensationId, DelegationId, StepName, TripId};
use domain::view::CheckAsked;
use std::collections::BTreeMap;

/// The kind of the event of a request to read everything again.
pub(crate) const CHECK_ASKED: &str = "check_asked";

/// A row that is stuck or was.
pub(crate) struct CaseRow {
    pub(crate) trip: TripId,
    pub(crate) step: StepName,
    pub(crate) delegation: DelegationId,
    /// The compensation, where the case is about one.
    pub(crate) compensation: Option<CompensationId>,
}

impl Store {
    /// A case by the id of its row, stuck or not: whether it is must hold when something is
    /// written, and is looked at then.
    pub(crate) async fn case(&self, id: &str) -> Result<Option<CaseRow>, StoreError> {
        if !can_name(id) {
            return Ok(None);
        }
        let row = sqlx::query(
            "SELECT d.trip_id, d.step, d.id AS delegation_id, CAST(NULL AS TEXT) AS compensation_id \
             FROM delegations d WHERE d.id = $1 \
             UNION ALL \
             SELECT c.trip_id, c.step, e.delegation_id, c.id AS compensation_id \
             FROM compensations c JOIN effects e ON e.id = c.effect_id WHERE c.id = $1",
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

    /// The trips of these cases, each once.
    pub(crate) async fn trips_of_cases(&self, ids: &[String]) -> Result<Vec<TripId>, StoreError> {
        let ids: Vec<&String> = ids.iter().filter(|id| can_name(id)).collect();
        let among = self.dialect.in_list();
        let sql = format!(
            "SELECT trip_id FROM delegations WHERE id IN {among} \
             UNION SELECT trip_id FROM compensations WHERE id IN {among}"
        );
        let trips: Vec<String> =
            sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).bind(json(&ids)?).fetch_all(&self.pool).await?;
        Ok(trips.into_iter().map(TripId).collect())
    }

    /// The newest request to read everything again about each attempt of these trips.
    pub(crate) async fn checks_asked(
        &self,
        trips: &[TripId],
    ) -> Result<BTreeMap<DelegationId, CheckAsked>, StoreError> {
        let sql = format!(
            "SELECT delegation_id, at, actor, why FROM events WHERE trip_id IN {} \
             AND kind = '{CHECK_ASKED}' AND delegation_id IS NOT NULL ORDER BY seq",
            self.dialect.in_list()
        );
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(json(&trips)?).fetch_all(&self.pool).await?;
        let asked = rows.iter().map(|row| {
            let row = Got(row);
            let asked =
                CheckAsked { at: row.number("at")?, by: row.text("actor")?, reason: row.maybe_text("why")? };
            Ok((row.word("delegation_id")?, asked))
        });
        // Of several about one attempt, the newest comes last and stays.
        asked.collect()
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
                // A late booking is being undone: there is nothing to sign for.
                "UPDATE delegations SET signed = $2 WHERE id = $1 AND stuck IS NOT NULL AND signed IS NULL \
                 AND stuck NOT LIKE '%\"reason\":\"late_booking\"%'",
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
