//! The pure core of Holdfast: what is recorded, what was observed, and what follows from both.
//!
//! Nothing here does I/O, reads a clock or draws a random number: time, ids and chance are
//! arguments. The crate builds for wasm32, so the read models of [`view`] reach the browser.
//! The reader's way in is [`decide::decide`]; the rows it works on are in the modules named
//! after them, and the rules of the design's sections 5, 6 and 7 are in [`landing`],
//! [`outcome`] and [`failure`].

pub mod agenda;
pub mod backoff;
pub mod booking;
pub mod compensation;
pub mod decide;
pub mod delegation;
pub mod desk;
pub mod effect;
pub mod event;
pub mod failure;
pub mod ids;
pub mod landing;
pub mod money;
pub mod outbox;
pub mod outcome;
pub mod question;
pub mod request;
pub mod seen;
pub mod show;
pub mod task;
pub mod time;
pub mod trip;
pub mod view;
pub mod waits;
pub mod workflow;
pub mod world;
