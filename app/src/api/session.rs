//! Who is signed in.

use super::ApiError;
#[cfg(feature = "ssr")]
use super::door;
use domain::view::ViewerView;
use leptos::prelude::server;

/// The signed-in person.
#[server(prefix = "/read", endpoint = "viewer")]
pub async fn viewer() -> Result<ViewerView, ApiError> {
    let (_, who) = door()?;
    Ok(ViewerView { id: who.user.to_string(), email: who.email, role: who.role.word().to_owned() })
}
