//! Agents, their skills and facts, booking systems and workflows.

use super::cell::{Got, Put, json};
use super::{Store, StoreError};
use domain::decide::Learned;
use domain::delegation::{Delegation, Outcome};
use domain::time::{Millis, Span};
use domain::workflow::Workflow;
use domain::world::Fact;
use std::collections::BTreeMap;

/// One registered agent.
#[derive(Clone, Debug)]
pub(crate) struct AgentRow {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) card_url: String,
    /// The endpoint as JSON.
    pub(crate) endpoint: String,
    /// The card as received.
    pub(crate) card: String,
    pub(crate) card_version: String,
    pub(crate) streaming: bool,
    pub(crate) principal: String,
    pub(crate) state: String,
    pub(crate) preference: i64,
    pub(crate) cost: i64,
    pub(crate) failures: i64,
    pub(crate) landing_grace_seconds: Option<i64>,
    /// What is vouched, as JSON.
    pub(crate) vouched: String,
    pub(crate) vouched_by: String,
    /// Their skill by ours.
    pub(crate) skills: BTreeMap<String, String>,
}

/// One learned fact.
#[derive(Clone, Debug)]
pub(crate) struct FactRow {
    pub(crate) agent: String,
    pub(crate) card_version: String,
    pub(crate) fact: Fact,
    pub(crate) holds: bool,
}

impl Store {
    /// Stores a new agent; false where its card url is registered.
    pub(crate) async fn insert_agent(&self, agent: &AgentRow) -> Result<bool, StoreError> {
        let now = self.now();
        let mut write = self.write().await?;
        let taken: Option<String> = sqlx::query_scalar("SELECT id FROM agents WHERE card_url = $1")
            .bind(&agent.card_url)
            .fetch_optional(write.conn())
            .await?;
        if taken.is_some() {
            return Ok(false);
        }
        let cells = vec![
            ("id", agent.id.clone().into()),
            ("name", agent.name.clone().into()),
            ("card_url", agent.card_url.clone().into()),
            ("endpoint", agent.endpoint.clone().into()),
            ("card", agent.card.clone().into()),
            ("card_version", agent.card_version.clone().into()),
            ("streaming", agent.streaming.into()),
            ("principal", agent.principal.clone().into()),
            ("state", agent.state.clone().into()),
            ("preference", agent.preference.into()),
            ("cost", agent.cost.into()),
            ("landing_grace_seconds", super::cell::Cell::Number(agent.landing_grace_seconds)),
            ("vouched", agent.vouched.clone().into()),
            ("vouched_by", agent.vouched_by.clone().into()),
            ("vouched_at", now.into()),
            ("created_at", now.into()),
        ];
        Put { table: "agents", key: "id", cells }.run(write.conn()).await?;
        for (ours, theirs) in &agent.skills {
            sqlx::query("INSERT INTO agent_skills (agent_id, theirs, ours) VALUES ($1, $2, $3)")
                .bind(&agent.id)
                .bind(theirs)
                .bind(ours)
                .execute(write.conn())
                .await?;
        }
        audit(write.conn(), now, &agent.vouched_by, "agent_added", &agent.id, &agent.vouched).await?;
        write.commit().await?;
        Ok(true)
    }

    /// Every agent with its skills.
    pub(crate) async fn agents(&self) -> Result<Vec<AgentRow>, StoreError> {
        let rows = sqlx::query("SELECT * FROM agents ORDER BY name, id").fetch_all(&self.pool).await?;
        let skills: Vec<(String, String, String)> =
            sqlx::query_as("SELECT agent_id, ours, theirs FROM agent_skills").fetch_all(&self.pool).await?;
        rows.iter()
            .map(|row| {
                let row = Got(row);
                let id = row.text("id")?;
                let own = skills.iter().filter(|(agent, ..)| agent == &id);
                Ok(AgentRow {
                    skills: own.map(|(_, ours, theirs)| (ours.clone(), theirs.clone())).collect(),
                    id,
                    name: row.text("name")?,
                    card_url: row.text("card_url")?,
                    endpoint: row.text("endpoint")?,
                    card: row.text("card")?,
                    card_version: row.text("card_version")?,
                    streaming: row.flag("streaming")?,
                    principal: row.text("principal")?,
                    state: row.text("state")?,
                    preference: row.number("preference")?,
                    cost: row.number("cost")?,
                    failures: row.number("failures")?,
                    landing_grace_seconds: row.maybe_number("landing_grace_seconds")?,
                    vouched: row.text("vouched")?,
                    vouched_by: row.text("vouched_by")?,
                })
            })
            .collect()
    }

    /// Facts that have not expired.
    pub(crate) async fn facts(&self) -> Result<Vec<FactRow>, StoreError> {
        let rows = sqlx::query("SELECT * FROM agent_facts WHERE expires_at IS NULL OR expires_at > $1")
            .bind(self.now().0)
            .fetch_all(&self.pool)
            .await?;
        let facts = rows.iter().map(|row| {
            let row = Got(row);
            let known = Fact::from_word(&row.text("fact")?);
            let (agent, card_version) = (row.text("agent_id")?, row.text("card_version")?);
            let holds = row.flag("holds")?;
            Ok(known.map(|fact| FactRow { agent, card_version, fact, holds }))
        });
        facts.filter_map(Result::transpose).collect()
    }

    /// Stores a booking system; false where its name is taken.
    pub(crate) async fn insert_booking_system(
        &self,
        id: &str,
        name: &str,
        definition: &str,
        by: &str,
    ) -> Result<bool, StoreError> {
        let now = self.now();
        let mut write = self.write().await?;
        let done = sqlx::query(
            "INSERT INTO booking_systems (id, name, definition, created_at) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (name) DO NOTHING",
        )
        .bind(id)
        .bind(name)
        .bind(definition)
        .bind(now.0)
        .execute(write.conn())
        .await?;
        if done.rows_affected() == 1 {
            audit(write.conn(), now, by, "booking_system_added", id, name).await?;
        }
        write.commit().await?;
        Ok(done.rows_affected() == 1)
    }

    /// Id, name and definition of every booking system.
    pub(crate) async fn booking_systems(&self) -> Result<Vec<(String, String, String)>, StoreError> {
        let rows = sqlx::query_as("SELECT id, name, definition FROM booking_systems ORDER BY name");
        Ok(rows.fetch_all(&self.pool).await?)
    }

    /// Stores a shipped workflow, unless that version is there.
    pub(crate) async fn insert_workflow(&self, workflow: &Workflow) -> Result<(), StoreError> {
        let now = self.now();
        let mut write = self.write().await?;
        sqlx::query(
            "INSERT INTO workflows (name, version, definition, created_at) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (name, version) DO NOTHING",
        )
        .bind(&workflow.name)
        .bind(workflow.version)
        .bind(json(workflow)?)
        .bind(now.0)
        .execute(write.conn())
        .await?;
        write.commit().await
    }

    /// The newest version of every workflow.
    pub(crate) async fn workflows(&self) -> Result<Vec<Workflow>, StoreError> {
        let rows = sqlx::query(
            "SELECT definition FROM workflows w \
             WHERE version = (SELECT MAX(version) FROM workflows v WHERE v.name = w.name) ORDER BY name",
        )
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(|row| Got(row).json("definition")).collect()
    }
}

/// One line of the audit log.
async fn audit(
    conn: &mut sqlx::AnyConnection,
    at: Millis,
    actor: &str,
    action: &str,
    object: &str,
    detail: &str,
) -> Result<(), StoreError> {
    sqlx::query("INSERT INTO audit (id, at, actor, action, object, detail) VALUES ($1, $2, $3, $4, $5, $6)")
        .bind(crate::clock::new_id())
        .bind(at.0)
        .bind(actor)
        .bind(action)
        .bind(object)
        .bind(detail)
        .execute(conn)
        .await?;
    Ok(())
}

/// Writes what a decision learned, for the agent's present card version.
pub(super) async fn put_learned(
    conn: &mut sqlx::AnyConnection,
    at: Millis,
    expiry: Span,
    learned: &[Learned],
) -> Result<(), StoreError> {
    for one in learned {
        // What an upgrade without a new version may change is found out again in a while.
        let expires = match (one.fact, one.holds) {
            (Fact::Lists | Fact::Streams, false) => Some((at + expiry).0),
            _ => None,
        };
        sqlx::query(
            "INSERT INTO agent_facts (agent_id, card_version, skill, fact, holds, source, learned_at, expires_at) \
             SELECT id, card_version, '', $2, $3, 'seen', $4, $5 FROM agents WHERE id = $1 \
             ON CONFLICT (agent_id, card_version, skill, fact) DO UPDATE SET \
               holds = excluded.holds, source = excluded.source, learned_at = excluded.learned_at, \
               expires_at = excluded.expires_at",
        )
        .bind(one.agent.as_str())
        .bind(one.fact.word())
        .bind(i64::from(one.holds))
        .bind(at.0)
        .bind(expires)
        .execute(&mut *conn)
        .await?;
    }
    Ok(())
}

/// An agent's health from real outcomes: a good one clears it, a bad one counts.
pub(super) async fn put_health(
    conn: &mut sqlx::AnyConnection,
    closed: &Delegation,
) -> Result<(), StoreError> {
    let failures = match closed.outcome {
        Some(Outcome::Completed) => "0",
        // A truthful no is no failing.
        Some(Outcome::Canceled | Outcome::NeverLanded | Outcome::Rejected) | None => return Ok(()),
        Some(_) => "failures + 1",
    };
    sqlx::query(sqlx::AssertSqlSafe(format!("UPDATE agents SET failures = {failures} WHERE id = $1")))
        .bind(closed.agent.as_str())
        .execute(conn)
        .await?;
    Ok(())
}
