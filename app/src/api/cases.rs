//! Cases of the support desk. For support and admins; to others the desk is not there.

use super::ApiError;
#[cfg(feature = "ssr")]
use super::{door, found, unavailable};
use domain::view::{CaseDetail, CaseView};
use leptos::prelude::server;

/// Every stuck case, longest first.
#[server(prefix = "/read", endpoint = "cases")]
pub async fn cases() -> Result<Vec<CaseView>, ApiError> {
    let (engine, who) = door()?;
    found(who.role.sees_all().then_some(()))?;
    engine.cases(&who).await.map_err(unavailable)
}

/// One case, stuck or not any more.
#[server(prefix = "/read", endpoint = "case")]
pub async fn case(
    /// The id of the attempt or of the undo.
    id: String,
) -> Result<CaseDetail, ApiError> {
    let (engine, who) = door()?;
    found(engine.case(&who, &id).await.map_err(unavailable)?)
}

/// These cases as they are now, stuck or not; those that do not exist are left out.
#[server(prefix = "/read", endpoint = "cases_named")]
pub async fn cases_named(
    /// Their ids.
    ids: Vec<String>,
) -> Result<Vec<CaseView>, ApiError> {
    let (engine, who) = door()?;
    found(who.role.sees_all().then_some(()))?;
    engine.cases_named(&who, &ids).await.map_err(unavailable)
}
