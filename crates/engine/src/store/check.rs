//! `holdfast check`: reads a database and says every violation of rules 2 to 8 of DESIGN.md §10.
//! Constraints hold most of them already; this finds what was written around them.

use super::cell::Got;
use super::{Store, StoreError};
use sqlx::Row as _;

/// Rule, query for the ids that break it, and what to say.
const RULES: &[(&str, &str, &str)] = &[
    (
        "rule 2",
        "SELECT d.id FROM delegations d JOIN delegations o \
           ON o.trip_id = d.trip_id AND o.step = d.step AND o.purpose = d.purpose AND o.ordinal > d.ordinal \
         WHERE d.outcome IS NULL",
        "a later attempt was begun while this delegation's fate is open",
    ),
    (
        "rule 2",
        "SELECT d.id FROM delegations d JOIN messages m ON m.delegation_id = d.id AND m.kind = 'request' \
         JOIN delegations o ON o.previous = d.id \
         WHERE m.state IN ('intent', 'in_doubt') AND d.outcome NOT IN ('lost', 'deadline', 'refused')",
        "a later attempt was begun while this delegation's request is in doubt",
    ),
    (
        "rule 3",
        "SELECT message_id AS id FROM messages WHERE message_id IS NOT NULL GROUP BY message_id HAVING COUNT(*) > 1",
        "this message id is used by two messages",
    ),
    (
        "rule 3",
        "SELECT d.id FROM delegations d LEFT JOIN messages m ON m.delegation_id = d.id AND m.kind = 'request' \
         WHERE m.id IS NULL OR m.message_id <> d.message_id",
        "this delegation's request does not carry its message id",
    ),
    (
        "rule 3",
        "SELECT d.id FROM delegations d WHERE d.ordinal > 1 AND NOT EXISTS (SELECT 1 FROM delegations p \
           WHERE p.id = d.previous AND p.trip_id = d.trip_id AND p.step = d.step AND p.ordinal = d.ordinal - 1)",
        "this attempt is not linked to the one before it",
    ),
    (
        "rule 4",
        "SELECT s.trip_id || ' ' || s.name AS id FROM steps s JOIN delegations d \
           ON d.trip_id = s.trip_id AND d.step = s.name AND d.purpose = 'step' \
         GROUP BY s.trip_id, s.name, s.attempt_budget HAVING COUNT(*) > s.attempt_budget",
        "this step used more attempts than its budget",
    ),
    (
        "rule 5",
        "SELECT s.trip_id || ' ' || s.name AS id FROM steps s WHERE s.standing = 'done' AND NOT EXISTS ( \
           SELECT 1 FROM delegations d LEFT JOIN effects e ON e.delegation_id = d.id AND e.ghost = 0 \
           WHERE d.trip_id = s.trip_id AND d.step = s.name AND d.outcome IS NOT NULL \
             AND ((e.id IS NOT NULL AND e.verified_at IS NOT NULL) OR (e.id IS NULL AND d.outcome = 'completed')))",
        "this step is done without a booking that was ever verified",
    ),
    (
        "rule 6",
        "SELECT t.id FROM trips t JOIN messages m ON m.trip_id = t.id \
         WHERE t.closed_at IS NOT NULL AND m.state IN ('intent', 'in_doubt', 'not_sent')",
        "this trip is closed while a send is open or in doubt",
    ),
    (
        "rule 6",
        "SELECT t.id FROM trips t JOIN delegations d ON d.trip_id = t.id \
         WHERE t.closed_at IS NOT NULL AND d.outcome IS NULL",
        "this trip is closed while a delegation is open",
    ),
    (
        "rule 6",
        "SELECT e.id FROM trips t JOIN effects e ON e.trip_id = t.id JOIN delegations d ON d.id = e.delegation_id \
         LEFT JOIN compensations c ON c.effect_id = e.id \
         WHERE t.closed_at IS NOT NULL AND COALESCE(c.state, '') <> 'signed' AND ( \
           (e.verdict = 'present' AND (t.closed <> 'done' OR e.ghost = 1)) OR \
           (e.verdict = 'unknown' AND d.outcome <> 'unreachable') OR \
           (e.verdict = 'expected' AND d.outcome NOT IN ('unreachable', 'refused', 'never_landed')))",
        "this trip is closed while this effect is neither wanted nor verified gone",
    ),
    (
        "rule 6",
        "SELECT c.id FROM trips t JOIN compensations c ON c.trip_id = t.id \
         WHERE t.closed_at IS NOT NULL AND c.state NOT IN ('verified', 'signed')",
        "this trip is closed while a compensation is unfinished",
    ),
    (
        "rule 7",
        "SELECT d.id FROM delegations d WHERE d.remote_state IN ('INPUT_REQUIRED', 'AUTH_REQUIRED') \
           AND d.outcome IS NULL AND d.ended IS NULL AND d.called_off = 0 \
           AND (SELECT goal FROM trips t WHERE t.id = d.trip_id) = 'run' \
           AND NOT EXISTS (SELECT 1 FROM questions q WHERE q.delegation_id = d.id)",
        "this delegation waits for a person, and its question was not kept",
    ),
    (
        "rule 7",
        "SELECT q.id FROM questions q WHERE q.state = 'answered' \
           AND (q.answer IS NULL OR q.answered_by IS NULL)",
        "this question is answered without an answer or a name",
    ),
    (
        "rule 7",
        "SELECT q.id FROM questions q JOIN trips t ON t.id = q.trip_id WHERE t.closed_at IS NOT NULL AND q.state = 'open'",
        "this question is open in a closed trip",
    ),
    (
        "rule 8",
        "SELECT t.id FROM trips t LEFT JOIN events e ON e.trip_id = t.id \
         GROUP BY t.id, t.seq HAVING COUNT(e.seq) <> t.seq OR COALESCE(MAX(e.seq), 0) <> t.seq OR COALESCE(MIN(e.seq), 1) <> 1",
        "this trip's events have a gap, or do not reach its seq",
    ),
];

impl Store {
    /// Every violation found, one sentence each.
    pub(crate) async fn violations(&self) -> Result<Vec<String>, StoreError> {
        let mut violations = Vec::new();
        for (rule, sql, sentence) in RULES {
            let rows = sqlx::query(*sql).fetch_all(&self.pool).await?;
            for row in &rows {
                violations.push(format!("{rule}: {}: {sentence}", Got(row).text("id")?));
            }
        }
        Ok(violations)
    }

    /// How many trips and delegations were looked at.
    pub(crate) async fn size(&self) -> Result<(i64, i64), StoreError> {
        let row = sqlx::query(
            "SELECT (SELECT COUNT(*) FROM trips) AS trips, (SELECT COUNT(*) FROM delegations) AS delegations",
        )
        .fetch_one(&self.pool)
        .await?;
        Ok((row.try_get("trips")?, row.try_get("delegations")?))
    }
}
