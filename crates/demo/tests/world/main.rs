//! The demo world as its clients see it: the real binary on free ports, killed and started again.

mod ledgers;
mod listing;
mod registering;
mod restarts;
mod story;
mod support;
mod wire;
