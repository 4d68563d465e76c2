//! What support staff see.

pub mod case;
pub mod case_actions;
pub mod checked;
pub mod desk;
