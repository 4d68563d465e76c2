//! What a closed trip says that stands.

use crate::setup::system_place;
use domain::effect::Verdict;
use domain::trip::{Closed, Standing, Trip};

/// The bookings that a closed trip wants, by system and confirmation.
pub fn wanted_bookings(trip: &Trip) -> Vec<(usize, String)> {
    if trip.closed != Some(Closed::Done) {
        return Vec::new();
    }
    let wanted = trip.effects.iter().filter(|e| {
        let done = trip
            .delegation(&e.delegation)
            .is_some_and(|d| trip.steps.iter().any(|s| s.name == d.step && s.standing == Standing::Done));
        !e.ghost && done && e.verdict == Verdict::Present
    });
    wanted
        .filter_map(|e| Some((system_place(e.booking_system.as_deref()?), e.confirmation.clone()?)))
        .collect()
}
