//! Loads trips whole, in a fixed number of queries however many they are.

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
        Ok(self.load_trips(std::slice::from_ref(id)).await?.pop())
    }

    /// Several trips, in the order asked for, in as many queries as one takes.
    pub(crate) async fn load_trips(&self, ids: &[TripId]) -> Result<Vec<Loaded>, StoreError> {
        // One snapshot over all tables: a trip half before and half after a record would be a lie.
        let mut tx = self.begin(self.dialect.begin_snapshot()).await?;
        let list = super::cell::json(&ids)?;
        let among = self.dialect.in_list();
        let heads = format!(
            "SELECT t.*, w.definition FROM trips t \
             JOIN workflows w ON w.name = t.workflow AND w.version = t.workflow_version WHERE t.id IN {among}"
        );
        let mut loaded = Vec::new();
        for head in sqlx::query(sqlx::AssertSqlSafe(heads)).bind(&list).fetch_all(&mut *tx).await? {
            loaded.push(head_of(&head)?);
        }
        loaded.sort_by_key(|l| ids.iter().position(|id| *id == l.trip.id));
        let mut rows = Rows { conn: &mut tx, list: &list, among, loaded: &mut loaded };
        rows.fill("steps", "position", |trip| &mut trip.steps).await?;
        rows.fill("delegations", "created_at, id", |trip| &mut trip.delegations).await?;
        rows.fill("messages", "created_at, id", |trip| &mut trip.outbox).await?;
        rows.fill("tasks", "delegation_id, task_id", |trip| &mut trip.tasks).await?;
        rows.fill("questions", "asked_at, id", |trip| &mut trip.questions).await?;
        rows.fill("effects", "id", |trip| &mut trip.effects).await?;
        rows.fill("compensations", "rung", |trip| &mut trip.compensations).await?;
        tx.commit().await?;
        Ok(loaded)
    }
}

/// The rows of several trips, table by table.
struct Rows<'a> {
    conn: &'a mut sqlx::AnyConnection,
    list: &'a str,
    among: &'static str,
    loaded: &'a mut Vec<Loaded>,
}

impl Rows<'_> {
    async fn fill<T: Journaled>(
        &mut self,
        table: &'static str,
        order: &'static str,
        place: impl Fn(&mut Trip) -> &mut Vec<T>,
    ) -> Result<(), StoreError> {
        let sql = format!("SELECT * FROM {table} WHERE trip_id IN {} ORDER BY {order}", self.among);
        for row in sqlx::query(sqlx::AssertSqlSafe(sql)).bind(self.list).fetch_all(&mut *self.conn).await? {
            let trip = Got(&row).text("trip_id")?;
            if let Some(loaded) = self.loaded.iter_mut().find(|l| l.trip.id.as_str() == trip) {
                place(&mut loaded.trip).push(T::got(&row)?);
            }
        }
        Ok(())
    }
}

fn head_of(row: &AnyRow) -> Result<Loaded, StoreError> {
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
    Ok(Loaded { trip, holder: row.maybe_word("holder")? })
}
