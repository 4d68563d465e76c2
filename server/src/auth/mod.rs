//! Who is at the browser: sessions kept by the engine, the person behind one, and where to go
//! after a sign-in. Programs are told apart in [`crate::api::access`].

pub mod identify;
pub mod next_path;
pub mod session_store;
pub mod sign_out;

/// The session's key for the account's id.
pub const SESSION_USER: &str = "user";
/// The session's key for the sentence that the next page shows.
pub const SESSION_FLASH: &str = "flash";
