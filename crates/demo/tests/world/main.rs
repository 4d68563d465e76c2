//! The demo world as its clients see it: the real binary on free ports, killed and started again.

mod behaviours;
mod content;
mod ledgers;
mod lies;
mod listing;
mod lists;
mod pushes;
mod registering;
mod restarts;
mod seeds;
mod story;
mod streams;
mod support;
mod wire;
mod wire_more;
