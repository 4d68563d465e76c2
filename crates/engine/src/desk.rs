//! Read models of the support desk. To travellers there is no desk: lists are empty, cases are
//! not there.

use crate::accounts::Viewer;
use crate::{Engine, StoreError};
use domain::desk;
use domain::ids::{DelegationId, StepName, TripId};
use domain::time::Millis;
use domain::view::{CaseDetail, CaseView, CheckAsked};
use std::collections::BTreeMap;

/// How many events a case shows.
const SHOWN_EVENTS: i64 = 50;

impl Engine {
    /// The journal's clock: what events are dated by.
    pub fn now(&self) -> Millis {
        self.inner.store.now()
    }

    /// Every stuck case, longest first. Empty for travellers.
    ///
    /// # Errors
    /// The database failed.
    pub async fn cases(&self, who: &Viewer) -> Result<Vec<CaseView>, StoreError> {
        if !who.role.sees_all() {
            return Ok(Vec::new());
        }
        let world = self.inner.world().await?;
        let ids = self.inner.store.stuck_trips().await?;
        let trips = self.inner.store.load_trips(&ids).await?;
        let now = self.inner.store.now();
        let mut cases: Vec<CaseView> =
            trips.iter().flat_map(|loaded| desk::cases(&loaded.trip, &world, now)).collect();
        cases.sort_by(|a, b| (a.since, &a.id).cmp(&(b.since, &b.id)));
        self.add_checks(&ids, cases.iter_mut()).await?;
        Ok(cases)
    }

    /// These cases, stuck or not, in the order asked for; those that do not exist are left out.
    ///
    /// # Errors
    /// The database failed.
    pub async fn cases_named(&self, who: &Viewer, ids: &[String]) -> Result<Vec<CaseView>, StoreError> {
        if !who.role.sees_all() {
            return Ok(Vec::new());
        }
        let world = self.inner.world().await?;
        let trips = self.inner.store.trips_of_cases(ids).await?;
        let loaded = self.inner.store.load_trips(&trips).await?;
        let now = self.inner.store.now();
        let named = |id: &String| loaded.iter().find_map(|l| desk::case_view(&l.trip, &world, id, now));
        let mut cases: Vec<CaseView> = ids.iter().filter_map(named).collect();
        self.add_checks(&trips, cases.iter_mut()).await?;
        Ok(cases)
    }

    /// One case with all that is known of it, stuck or not: `id` is that of an attempt or an undo.
    ///
    /// # Errors
    /// The database failed.
    pub async fn case(&self, who: &Viewer, id: &str) -> Result<Option<CaseDetail>, StoreError> {
        if !who.role.sees_all() {
            return Ok(None);
        }
        let store = &self.inner.store;
        let Some(trip) = store.trips_of_cases(&[id.to_owned()]).await?.pop() else { return Ok(None) };
        let Some(loaded) = store.load_trip(&trip).await? else { return Ok(None) };
        let world = self.inner.world().await?;
        let detail = desk::case_detail(&loaded.trip, &world, id, store.now());
        let Some(mut detail) = detail else { return Ok(None) };
        let step = StepName(detail.case.step.clone());
        detail.history = store.step_events(&trip, &step, SHOWN_EVENTS).await?;
        self.add_checks(&[trip], std::iter::once(&mut detail.case)).await?;
        Ok(Some(detail))
    }

    /// Adds to each case the newest request to read everything again; one from before it became
    /// stuck was about something else.
    async fn add_checks(
        &self,
        trips: &[TripId],
        cases: impl Iterator<Item = &mut CaseView>,
    ) -> Result<(), StoreError> {
        let asked: BTreeMap<DelegationId, CheckAsked> = self.inner.store.checks_asked(trips).await?;
        for case in cases {
            let newest = asked.get(&DelegationId(case.delegation.clone())).cloned();
            case.check_asked = newest.filter(|asked| !case.open || asked.at >= case.since);
        }
        Ok(())
    }
}
