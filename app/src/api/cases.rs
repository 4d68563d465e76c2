//! Cases of the support desk.

use super::ApiError;
#[cfg(feature = "ssr")]
use super::{door, found, unavailable};
use domain::view::CaseView;
use leptos::prelude::server;

/// Every stuck case, longest first. For support and admins; to others the desk is not there.
#[server(prefix = "/read", endpoint = "cases")]
pub async fn cases() -> Result<Vec<CaseView>, ApiError> {
    let (engine, who) = door()?;
    found(who.role.sees_all().then_some(()))?;
    engine.cases(&who).await.map_err(unavailable)
}
