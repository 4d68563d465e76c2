//! What tests stand on: databases of their own, the demo world, the engine in this process (to be
//! dropped at any boundary) or the real binaries (to be killed), and waiting for conditions.
//!
//! Nothing here sleeps for luck: every wait is for a condition, with a limit that fails loudly.

pub mod database;
pub mod outside;
pub mod process;
pub mod soak;
pub mod wait;
pub mod world;

pub use database::{Database, Kind};
pub use outside::Outside;
pub use process::{Api, App, Service};
pub use world::World;
