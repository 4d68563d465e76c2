//! One file per route, by who uses it. Each has a thin page that loads, and a view that shows
//! what it is given.

pub mod login;
pub mod not_found;
pub mod support;
pub mod traveller;
