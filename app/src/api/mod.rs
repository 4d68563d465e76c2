//! Server functions, one file per noun: the only place in this crate that names `engine`. They
//! read and never write, and answer nobody who is not signed in.

pub mod cases;
pub mod questions;
pub mod session;
pub mod trips;

use leptos::server_fn::codec::JsonEncoding;
use leptos::server_fn::error::{FromServerFnError, ServerFnErrorErr};
use serde::{Deserialize, Serialize};

/// Why nothing can be shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ApiError {
    /// Nobody is signed in, or the role does not reach this far.
    Unauthorized,
    /// There is no such thing, or it is somebody else's.
    NotFound,
    /// The journal could not be read; nothing was changed.
    Unavailable,
    /// The call itself went wrong on its way.
    Call(String),
}

impl ApiError {
    /// The HTTP status that says the same.
    pub fn status(&self) -> u16 {
        match self {
            Self::Unauthorized => 401,
            Self::NotFound => 404,
            Self::Unavailable => 503,
            Self::Call(_) => 500,
        }
    }
}

impl FromServerFnError for ApiError {
    type Encoder = JsonEncoding;

    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        Self::Call(error.to_string())
    }
}

#[cfg(feature = "ssr")]
pub(crate) use on_server::{door, found, unavailable};

#[cfg(feature = "ssr")]
mod on_server {
    use super::ApiError;
    use engine::accounts::{Role, Viewer};
    use engine::{Engine, StoreError};
    use leptos::prelude::use_context;

    /// The engine, and who asks it. Every server function begins here.
    pub(crate) fn door() -> Result<(Engine, Viewer), ApiError> {
        let known = crate::request::viewer().ok_or_else(|| refuse(ApiError::Unauthorized))?;
        let role = Role::from_word(&known.role).ok_or_else(|| refuse(ApiError::Unauthorized))?;
        let engine = use_context::<Engine>().ok_or_else(|| refuse(ApiError::Unavailable))?;
        Ok((engine, Viewer { user: known.id.into(), email: known.email, role }))
    }

    /// What is there, or "not found".
    pub(crate) fn found<T>(row: Option<T>) -> Result<T, ApiError> {
        row.ok_or_else(|| refuse(ApiError::NotFound))
    }

    /// A failed read. What the database said is for the operator, not for the page.
    pub(crate) fn unavailable(error: StoreError) -> ApiError {
        leptos::logging::error!("a page could not be read: {error}");
        refuse(ApiError::Unavailable)
    }

    fn refuse(error: ApiError) -> ApiError {
        crate::response::set_status(error.status());
        error
    }
}
