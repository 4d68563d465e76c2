//! Faults that happened to others (F-01 … F-24): each case is one named test that plays its
//! trigger on the demo world and asserts what must be observable: in the trip's view, in the
//! agents' request logs, in the ledgers, and by `holdfast check`.
//!
//! `control` drives the world; the other modules hold the cases, a group each.

mod control;
mod follow;
mod input;
mod landing;
mod listing;
mod lookup;
mod outcomes;
mod questions;
