//! Trips: the list, one of them, what a cancel would do, what a new one needs.

use super::ApiError;
#[cfg(feature = "ssr")]
use super::{door, found, unavailable};
use domain::view::{CancelPreview, TripSummary, TripView, WorkflowView};
use leptos::prelude::server;

/// The newest trips first.
#[server(prefix = "/read", endpoint = "trips")]
pub async fn list_trips() -> Result<Vec<TripSummary>, ApiError> {
    let (engine, who) = door()?;
    engine.list_trips(&who).await.map_err(unavailable)
}

/// One whole trip.
#[server(prefix = "/read", endpoint = "trip")]
pub async fn trip(
    /// The trip’s id.
    id: String,
) -> Result<TripView, ApiError> {
    let (engine, who) = door()?;
    found(engine.trip_view(&who, &id.into()).await.map_err(unavailable)?)
}

/// What a cancel of this trip would do now.
#[server(prefix = "/read", endpoint = "cancel_preview")]
pub async fn preview_cancel(
    /// The trip’s id.
    id: String,
) -> Result<CancelPreview, ApiError> {
    let (engine, who) = door()?;
    found(engine.cancel_preview(&who, &id.into()).await.map_err(unavailable)?)
}

/// Every workflow, for the form of a new trip.
#[server(prefix = "/read", endpoint = "workflows")]
pub async fn workflows() -> Result<Vec<WorkflowView>, ApiError> {
    let (engine, _) = door()?;
    engine.workflows().await.map_err(unavailable)
}
