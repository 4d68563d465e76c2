//! Read models for the pages, the live stream and the API. Every function takes who asks: a
//! traveller sees their own trips only, and another's trip is "not there", never "forbidden".

use crate::accounts::Viewer;
use crate::{Engine, StoreError};
use domain::ids::{QuestionId, TripId};
use domain::view::{CancelPreview, CaseView, QuestionView, TripSummary, TripView, WorkflowView};

impl Engine {
    /// The newest trips first, at most 200.
    pub async fn list_trips(&self, who: &Viewer) -> Result<Vec<TripSummary>, StoreError> {
        let _ = who;
        unimplemented!()
    }
    /// One whole trip.
    pub async fn trip_view(&self, who: &Viewer, trip: &TripId) -> Result<Option<TripView>, StoreError> {
        let _ = (who, trip);
        unimplemented!()
    }
    /// What a cancel of this trip would do now.
    pub async fn cancel_preview(&self, who: &Viewer, trip: &TripId) -> Result<Option<CancelPreview>, StoreError> {
        let _ = (who, trip);
        unimplemented!()
    }
    /// Every open question of this person's trips (support and admins: of all), oldest first.
    pub async fn open_questions(&self, who: &Viewer) -> Result<Vec<QuestionView>, StoreError> {
        let _ = who;
        unimplemented!()
    }
    /// One question, open or not.
    pub async fn question(&self, who: &Viewer, question: &QuestionId) -> Result<Option<QuestionView>, StoreError> {
        let _ = (who, question);
        unimplemented!()
    }
    /// Every workflow, for the form of a new trip.
    pub async fn workflows(&self) -> Result<Vec<WorkflowView>, StoreError> {
        unimplemented!()
    }
    /// Every stuck case, longest first. Empty for travellers.
    pub async fn cases(&self, who: &Viewer) -> Result<Vec<CaseView>, StoreError> {
        let _ = who;
        unimplemented!()
    }
    /// Resolves as soon as the trip's newest event number may be above `seq`: woken in process,
    /// and looked up every two seconds for what other instances wrote. Cancel safe. A spurious
    /// wake is possible; a missed one is not.
    pub async fn trip_changed(&self, trip: &TripId, seq: i64) {
        let _ = (trip, seq);
        unimplemented!()
    }
}
