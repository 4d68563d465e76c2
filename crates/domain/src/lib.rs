//! The pure core of Holdfast: what is recorded, what was observed, and what follows from both.
//!
//! Nothing here does I/O, reads a clock or draws a random number: time, ids and chance are
//! arguments. The crate builds for wasm32, so the read models of [`view`] reach the browser.
//! The reader's way in is [`decide::decide`]; the rows it works on are in the modules named
//! after them, and the rules of the design's sections 5, 6 and 7 are in [`landing`],
//! [`outcome`] and [`failure`].

pub mod ids;
pub mod time;
pub mod failure;
pub mod money;
pub mod task;
pub mod view;
