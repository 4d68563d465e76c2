//! Read models for the pages, the live stream and the API. Every function takes who asks: a
//! traveller sees their own trips only, and another's trip is "not there", never "forbidden".

use crate::accounts::Viewer;
use crate::{Engine, StoreError};
use domain::ids::{QuestionId, TripId};
use domain::show;
use domain::trip::Trip;
use domain::view::{CancelPreview, InputView, QuestionView, TripSummary, TripView, WorkflowView};
use domain::workflow::{Input, Workflow};
use std::time::Duration;

/// The most trips that a list shows.
const LISTED: i64 = 200;
/// How many events a trip's view holds; older ones are paged.
const SHOWN_EVENTS: i64 = 50;
/// How often a watched trip is looked up for what other instances wrote.
const WATCH: Duration = Duration::from_secs(2);

impl Engine {
    /// The newest trips first, at most 200.
    ///
    /// # Errors
    /// The database failed.
    pub async fn list_trips(&self, who: &Viewer) -> Result<Vec<TripSummary>, StoreError> {
        let owner = (!who.role.sees_all()).then_some(&who.user);
        let world = self.inner.world().await?;
        let ids = self.inner.store.trip_ids(owner, LISTED).await?;
        let trips = self.inner.store.load_trips(&ids).await?;
        Ok(trips.iter().map(|loaded| show::summary(&loaded.trip, &world)).collect())
    }

    /// One whole trip.
    ///
    /// # Errors
    /// The database failed.
    pub async fn trip_view(&self, who: &Viewer, trip: &TripId) -> Result<Option<TripView>, StoreError> {
        let Some(loaded) = self.visible(who, trip).await? else { return Ok(None) };
        let world = self.inner.world().await?;
        let history = self.inner.store.newest_events(trip, SHOWN_EVENTS).await?;
        let mut view = show::trip_view(&loaded, &world, history);
        // Events are read after the rows; the view's number is that of the newest event shown.
        view.seq = view.history.first().map_or(view.seq, |event| event.seq);
        Ok(Some(view))
    }

    /// What a cancel of this trip would do now.
    ///
    /// # Errors
    /// The database failed.
    pub async fn cancel_preview(
        &self,
        who: &Viewer,
        trip: &TripId,
    ) -> Result<Option<CancelPreview>, StoreError> {
        Ok(self.visible(who, trip).await?.map(|trip| show::cancel_preview(&trip)))
    }

    /// Every open question of this person's trips (support and admins: of all), oldest first.
    ///
    /// # Errors
    /// The database failed.
    pub async fn open_questions(&self, who: &Viewer) -> Result<Vec<QuestionView>, StoreError> {
        let owner = (!who.role.sees_all()).then_some(&who.user);
        let world = self.inner.world().await?;
        let ids = self.inner.store.trips_with_questions(owner).await?;
        let trips = self.inner.store.load_trips(&ids).await?;
        let questions = trips.iter().flat_map(|loaded| show::questions(&loaded.trip, &world));
        let mut open: Vec<QuestionView> = questions.filter(|q| q.state == "open").collect();
        open.sort_by_key(|q| q.asked_at);
        Ok(open)
    }

    /// One question, open or not.
    ///
    /// # Errors
    /// The database failed.
    pub async fn question(
        &self,
        who: &Viewer,
        question: &QuestionId,
    ) -> Result<Option<QuestionView>, StoreError> {
        let Some(id) = self.inner.store.trip_of_question(question).await? else { return Ok(None) };
        let Some(trip) = self.visible(who, &id).await? else { return Ok(None) };
        let world = self.inner.world().await?;
        Ok(show::questions(&trip, &world).into_iter().find(|q| q.id == question.as_str()))
    }

    /// Every workflow, for the form of a new trip.
    ///
    /// # Errors
    /// The database failed.
    pub async fn workflows(&self) -> Result<Vec<WorkflowView>, StoreError> {
        Ok(self.inner.store.workflows().await?.into_iter().map(workflow_view).collect())
    }

    /// Resolves as soon as the trip's newest event number may be above `seq`: woken in process,
    /// and looked up every two seconds for what other instances wrote. Cancel safe. A spurious
    /// wake is possible; a missed one is not.
    pub async fn trip_changed(&self, trip: &TripId, seq: i64) {
        let mut changes = self.inner.hints.listen();
        loop {
            // Listening began before this look, so nothing falls between the two.
            match self.inner.store.trip_owner(trip).await {
                Ok(Some((_, now))) if now <= seq => {}
                Ok(_) => return,
                Err(_) => tokio::time::sleep(WATCH).await,
            }
            let told = async {
                loop {
                    match changes.recv().await {
                        Ok((changed, _)) if &changed == trip => return,
                        Ok(_) => {}
                        Err(_) => return,
                    }
                }
            };
            if tokio::time::timeout(WATCH, told).await.is_ok() {
                return;
            }
        }
    }

    async fn visible(&self, who: &Viewer, trip: &TripId) -> Result<Option<Trip>, StoreError> {
        let loaded = self.inner.store.load_trip(trip).await?;
        Ok(loaded.map(|l| l.trip).filter(|t| who.role.sees_all() || t.owner == who.user))
    }
}

fn workflow_view(workflow: Workflow) -> WorkflowView {
    WorkflowView {
        name: workflow.name,
        title: workflow.title,
        inputs: workflow.inputs.into_iter().map(input_view).collect(),
        steps: workflow.steps.into_iter().map(|step| (step.name.0, step.title)).collect(),
    }
}

fn input_view(input: Input) -> InputView {
    InputView {
        kind: input.kind.word().to_owned(),
        name: input.name,
        label: input.label,
        required: input.required,
        hint: input.hint,
        default: input.default,
        min: input.min,
        max: input.max,
        max_chars: input.max_chars,
    }
}
