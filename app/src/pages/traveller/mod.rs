//! What travellers see.

pub mod cancel;
pub mod inbox;
pub mod new_trip;
pub mod question;
pub mod trip;
pub mod trips;
