//! What support staff see.

pub mod desk;
