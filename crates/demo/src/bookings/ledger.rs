//! A company's ledger on disk: bookings, what was done to them, and the answers kept per
//! Idempotency-Key.

use super::{NewBooking, SystemProfile};
use crate::agents::content::amount;
use crate::clock;
use crate::store::Store;
use anyhow::Result;
use serde_json::{Value, json};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, Sqlite, Transaction};

/// What is used in confirmations: nothing that looks like something else.
const LETTERS: &[u8; 32] = b"23456789ABCDEFGHJKLMNPQRSTUVWXYZ";

/// An HTTP status and a body, as they are kept for a repeated key.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The body.
    pub body: Value,
}

impl Answer {
    fn refusal(status: u16, error: &str, message: String) -> Self {
        Self { status, body: json!({ "error": error, "message": message }) }
    }
}

/// One company's ledger.
#[derive(Clone, Debug)]
pub struct Ledger {
    store: Store,
    system: &'static SystemProfile,
}

impl Ledger {
    /// The ledger of a booking system.
    pub fn new(store: Store, system: &'static SystemProfile) -> Self {
        Self { store, system }
    }

    /// Makes a booking. The same key makes it once.
    pub async fn book(&self, key: Option<&str>, new: &NewBooking) -> Result<Answer> {
        let mut tx = self.store.pool().begin_with("BEGIN IMMEDIATE").await?;
        if let Some(answer) = self.kept(&mut tx, key, "book").await? {
            return Ok(answer);
        }
        let id = self.free_confirmation(&mut tx, key).await?;
        let now = clock::now_millis();
        sqlx::query(
            "INSERT INTO bookings (system, id, reference, status, booked_at, body)
             VALUES ($1, $2, $3, 'CONFIRMED', $4, $5)",
        )
        .bind(self.system.name)
        .bind(&id)
        .bind(&new.reference)
        .bind(now)
        .bind(serde_json::to_string(new)?)
        .execute(&mut *tx)
        .await?;
        let row = self.row(&mut tx, &id).await?;
        let body = row.map(|row| self.booking(&row, now)).transpose()?.unwrap_or_default();
        let answer = Answer { status: 201, body };
        self.note(&mut tx, &id, "book", key, answer.status, &new.agent).await?;
        self.keep(&mut tx, key, "book", &answer).await?;
        tx.commit().await?;
        Ok(answer)
    }

    /// Cancels a booking. The same key gets the same answer; another key meets a conflict.
    pub async fn cancel(&self, id: &str, key: Option<&str>) -> Result<Answer> {
        let operation = format!("cancel {id}");
        let mut tx = self.store.pool().begin_with("BEGIN IMMEDIATE").await?;
        if let Some(answer) = self.kept(&mut tx, key, &operation).await? {
            self.note(&mut tx, id, "cancel", key, answer.status, "the answer kept for this key").await?;
            tx.commit().await?;
            return Ok(answer);
        }
        let now = clock::now_millis();
        let status = match self.row(&mut tx, id).await? {
            Some(row) => Some(row.try_get::<String, _>("status")?),
            None => None,
        };
        let (answer, note) = match status.as_deref() {
            None => {
                (Answer::refusal(404, "no_such_booking", format!("There is no booking {id}.")), "unknown")
            }
            Some("CANCELLED") => {
                let message = format!("Booking {id} was cancelled before.");
                (Answer::refusal(409, "already_cancelled", message), "already cancelled")
            }
            Some(_) => {
                sqlx::query(
                    "UPDATE bookings SET status = 'CANCELLED', cancelled_at = $3 WHERE system = $1 AND id = $2",
                )
                .bind(self.system.name)
                .bind(id)
                .bind(now)
                .execute(&mut *tx)
                .await?;
                let row = self.row(&mut tx, id).await?;
                let body = row.map(|row| self.booking(&row, now)).transpose()?.unwrap_or_default();
                (Answer { status: 200, body }, "cancelled")
            }
        };
        self.note(&mut tx, id, "cancel", key, answer.status, note).await?;
        if status.is_some() {
            self.keep(&mut tx, key, &operation, &answer).await?;
        }
        tx.commit().await?;
        Ok(answer)
    }

    /// Cancels a booking, but keeps half of its price.
    pub async fn cancel_for_half(&self, id: &str, key: Option<&str>) -> Result<Answer> {
        sqlx::query(
            "UPDATE bookings SET body = json_set(body, '$.fee_cents', json_extract(body, '$.total_cents') / 2)
             WHERE system = $1 AND id = $2 AND status <> 'CANCELLED'",
        )
        .bind(self.system.name)
        .bind(id)
        .execute(self.store.pool())
        .await?;
        self.cancel(id, key).await
    }

    /// Fails a cancel, and keeps the failure as the answer for its key.
    pub async fn fail_for_key(&self, id: &str, key: Option<&str>) -> Result<Answer> {
        let operation = format!("cancel {id}");
        let mut tx = self.store.pool().begin_with("BEGIN IMMEDIATE").await?;
        let answer = match self.kept(&mut tx, key, &operation).await? {
            Some(answer) => answer,
            None => {
                let answer = Answer::refusal(500, "internal", "Something broke on our side.".to_owned());
                self.keep(&mut tx, key, &operation, &answer).await?;
                answer
            }
        };
        self.note(&mut tx, id, "cancel", key, answer.status, "failed, kept for this key").await?;
        tx.commit().await?;
        Ok(answer)
    }

    /// Notes a call that a fault kept away from the ledger.
    pub async fn note_fault(&self, id: &str, key: Option<&str>, status: u16, note: &str) -> Result<()> {
        let mut tx = self.store.pool().begin_with("BEGIN IMMEDIATE").await?;
        self.note(&mut tx, id, "cancel", key, status, note).await?;
        tx.commit().await?;
        Ok(())
    }

    /// All bookings under a reference, as they were known at a time.
    pub async fn by_reference(&self, reference: &str, as_of: i64) -> Result<Vec<Value>> {
        let rows = sqlx::query(
            "SELECT * FROM bookings WHERE system = $1 AND reference = $2 AND booked_at <= $3
             ORDER BY booked_at, id",
        )
        .bind(self.system.name)
        .bind(reference)
        .bind(as_of)
        .fetch_all(self.store.pool())
        .await?;
        rows.iter().map(|row| self.booking(row, as_of)).collect()
    }

    /// One booking, as it was known at a time.
    pub async fn by_confirmation(&self, id: &str, as_of: i64) -> Result<Option<Value>> {
        let row = sqlx::query("SELECT * FROM bookings WHERE system = $1 AND id = $2 AND booked_at <= $3")
            .bind(self.system.name)
            .bind(id)
            .bind(as_of)
            .fetch_optional(self.store.pool())
            .await?;
        row.map(|row| self.booking(&row, as_of)).transpose()
    }

    /// The whole ledger, as the control API shows it.
    pub async fn whole(&self) -> Result<Value> {
        let now = clock::now_millis();
        let bookings = sqlx::query("SELECT * FROM bookings WHERE system = $1 ORDER BY booked_at, id")
            .bind(self.system.name)
            .fetch_all(self.store.pool())
            .await?;
        let operations = sqlx::query("SELECT * FROM operations WHERE system = $1 ORDER BY id")
            .bind(self.system.name)
            .fetch_all(self.store.pool())
            .await?;
        let bookings: Vec<Value> =
            bookings.iter().map(|row| self.booking(row, now)).collect::<Result<_>>()?;
        let operations: Vec<Value> = operations.iter().map(operation).collect::<Result<_>>()?;
        Ok(json!({
            "name": self.system.name, "title": self.system.title,
            "bookings": bookings, "operations": operations,
        }))
    }

    async fn row(&self, tx: &mut Transaction<'_, Sqlite>, id: &str) -> Result<Option<SqliteRow>> {
        let query = sqlx::query("SELECT * FROM bookings WHERE system = $1 AND id = $2");
        Ok(query.bind(self.system.name).bind(id).fetch_optional(&mut **tx).await?)
    }

    fn booking(&self, row: &SqliteRow, as_of: i64) -> Result<Value> {
        let new: NewBooking = serde_json::from_str(row.try_get("body")?)?;
        let cancelled_at: Option<i64> = row.try_get("cancelled_at")?;
        let cancelled_at = cancelled_at.filter(|at| *at <= as_of);
        Ok(json!({
            "id": row.try_get::<String, _>("id")?,
            "reference": new.reference,
            "status": if cancelled_at.is_some() { "CANCELLED" } else { "CONFIRMED" },
            "total": { "amount": amount(new.total_cents), "currency": "EUR" },
            "fee": { "amount": amount(new.fee_cents), "currency": "EUR" },
            "company": self.system.title,
            "title": new.title,
            "cancellation": new.rule,
            "booked_by": new.agent,
            "booked_at": clock::rfc3339(row.try_get("booked_at")?),
            "cancelled_at": cancelled_at.map(clock::rfc3339),
            "details": new.details,
        }))
    }

    /// Six letters that follow from the key, or the next free ones.
    async fn free_confirmation(&self, tx: &mut Transaction<'_, Sqlite>, key: Option<&str>) -> Result<String> {
        let seed = key.map_or_else(clock::new_id, str::to_owned);
        let mut hash = seed.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        loop {
            hash = hash.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let letters: String = (0..6)
                .map(|place| char::from(LETTERS[usize::from(hash.to_be_bytes()[place] & 31)]))
                .collect();
            let id = format!("{}-{letters}", self.system.prefix);
            if self.row(tx, &id).await?.is_none() {
                return Ok(id);
            }
        }
    }

    async fn kept(
        &self,
        tx: &mut Transaction<'_, Sqlite>,
        key: Option<&str>,
        operation: &str,
    ) -> Result<Option<Answer>> {
        let query = sqlx::query(
            "SELECT operation, answer_status, answer FROM idempotency_keys WHERE system = $1 AND key = $2",
        );
        let Some(row) = query.bind(self.system.name).bind(key).fetch_optional(&mut **tx).await? else {
            return Ok(None);
        };
        if row.try_get::<&str, _>("operation")? != operation {
            let message = "This Idempotency-Key was used for something else.".to_owned();
            return Ok(Some(Answer::refusal(422, "key_used_before", message)));
        }
        let status = u16::try_from(row.try_get::<i64, _>("answer_status")?)?;
        Ok(Some(Answer { status, body: serde_json::from_str(row.try_get("answer")?)? }))
    }

    async fn keep(
        &self,
        tx: &mut Transaction<'_, Sqlite>,
        key: Option<&str>,
        operation: &str,
        answer: &Answer,
    ) -> Result<()> {
        let Some(key) = key else { return Ok(()) };
        sqlx::query(
            "INSERT INTO idempotency_keys (system, key, operation, answer_status, answer)
             VALUES ($1, $2, $3, $4, $5)",
        )
        .bind(self.system.name)
        .bind(key)
        .bind(operation)
        .bind(i64::from(answer.status))
        .bind(answer.body.to_string())
        .execute(&mut **tx)
        .await?;
        Ok(())
    }

    async fn note(
        &self,
        tx: &mut Transaction<'_, Sqlite>,
        id: &str,
        operation: &str,
        key: Option<&str>,
        status: u16,
        note: &str,
    ) -> Result<()> {
        sqlx::query(
            "INSERT INTO operations (system, booking, at, operation, idempotency_key, answer_status, note)
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
        )
        .bind(self.system.name)
        .bind(id)
        .bind(clock::now_millis())
        .bind(operation)
        .bind(key)
        .bind(i64::from(status))
        .bind(note)
        .execute(&mut **tx)
        .await?;
        Ok(())
    }
}

fn operation(row: &SqliteRow) -> Result<Value> {
    Ok(json!({
        "at": clock::rfc3339(row.try_get("at")?),
        "booking": row.try_get::<String, _>("booking")?,
        "operation": row.try_get::<String, _>("operation")?,
        "idempotency_key": row.try_get::<Option<String>, _>("idempotency_key")?,
        "answer_status": row.try_get::<i64, _>("answer_status")?,
        "note": row.try_get::<String, _>("note")?,
    }))
}
