//! The ledgers equal what the trips say: what is wanted stands, once, and nothing else does
//! (rule 10).

use super::Violation;
use crate::soak::facts::{Booking, Facts};
use domain::view::{DelegationView, EffectView, StepState, TripState, TripView};
use std::collections::{HashMap, HashSet};

/// A booking that was made for some trip, with what that trip says of it.
struct Placed<'a> {
    booking: &'a Booking,
    trip: &'a TripView,
    step: &'a str,
    effect: Option<&'a EffectView>,
}

pub(super) fn check(facts: &Facts) -> Vec<Violation> {
    let by_reference = references(facts);
    let (mut placed, mut found) = (Vec::new(), Vec::new());
    for booking in &facts.bookings {
        match by_reference.get(booking.reference.as_str()) {
            Some((trip, step, _)) => {
                let same = |effect: &&EffectView| {
                    effect.reference == booking.reference
                        && effect.confirmation.as_deref() == Some(&booking.confirmation)
                };
                let effect = trip.effects.iter().find(same);
                placed.push(Placed { booking, trip, step, effect });
            }
            None => {
                let what = format!("booking {} has a reference of nobody", booking.confirmation);
                found.push(Violation::new("booking of nobody", None, what).row(booking));
            }
        }
    }
    found.extend(placed.iter().filter(|one| one.booking.stands).filter_map(standing));
    found.extend(twice(&placed));
    let standing: HashSet<(&str, &str)> = facts
        .bookings
        .iter()
        .filter(|booking| booking.stands)
        .map(|booking| (booking.reference.as_str(), booking.confirmation.as_str()))
        .collect();
    for trip in &facts.trips {
        found.extend(said(trip, &standing));
    }
    found
}

type ByReference<'a> = HashMap<&'a str, (&'a TripView, &'a str, &'a DelegationView)>;

fn references(facts: &Facts) -> ByReference<'_> {
    let mut all = HashMap::new();
    for trip in &facts.trips {
        for step in &trip.steps {
            for delegation in &step.delegations {
                if let Some(reference) = &delegation.reference {
                    all.insert(reference.as_str(), (trip, step.name.as_str(), delegation));
                }
            }
        }
    }
    all
}

/// A standing booking is wanted by a trip that is done, or known in a trip that waits for support.
fn standing(one: &Placed) -> Option<Violation> {
    let (trip, booking) = (one.trip, one.booking);
    let wrong = |check, what: &str| {
        let what = format!("{} of step {} stands: {what}", booking.confirmation, one.step);
        Some(Violation::new(check, Some(&trip.id), what).row(booking).row(trip))
    };
    let Some(effect) = one.effect else {
        return wrong("booking unseen", "the trip does not know of it");
    };
    match (trip.state, effect.verdict.as_str()) {
        (TripState::Done, "present") if !effect.ghost => None,
        (TripState::Done, "present") => wrong("ghost left", "it is a ghost, and the trip is closed"),
        (TripState::NeedsSupport, "present") => None,
        (TripState::Cancelled | TripState::Failed, _) => {
            wrong("booking left", "the trip is closed and wants nothing")
        }
        (_, verdict) => wrong("booking misjudged", &format!("the trip calls it {verdict}")),
    }
}

/// No two bookings of one step stand, unless all but one are shown as ghosts or are being undone.
fn twice(placed: &[Placed]) -> Vec<Violation> {
    let mut wanted: HashMap<(&str, &str), Vec<&Placed>> = HashMap::new();
    for one in placed.iter().filter(|one| one.booking.stands) {
        let is_excused = one.trip.state == TripState::NeedsSupport
            && one.effect.is_some_and(|effect| effect.ghost || effect.compensation.is_some());
        if !is_excused {
            wanted.entry((&one.trip.id, one.step)).or_default().push(one);
        }
    }
    let doubled = wanted.into_iter().filter(|(_, all)| all.len() > 1);
    let violation = |((trip, step), all): ((&str, &str), Vec<&Placed>)| {
        let what = format!("{} bookings stand for step {step}", all.len());
        all.iter()
            .fold(Violation::new("booked twice", Some(trip), what), |v, one| v.row(one.booking))
            .row(all[0].trip)
    };
    doubled.map(violation).collect()
}

/// What a trip says is there stands, what it says is gone does not, and a step that is done has
/// its booking.
fn said(trip: &TripView, standing: &HashSet<(&str, &str)>) -> Vec<Violation> {
    let mut found = Vec::new();
    let stands = |effect: &EffectView| {
        standing.contains(&(effect.reference.as_str(), effect.confirmation.as_deref().unwrap_or_default()))
    };
    for effect in &trip.effects {
        let wrong = match effect.verdict.as_str() {
            "present" => !stands(effect),
            "undone" => stands(effect),
            _ => false,
        };
        if wrong {
            let what = format!("the trip calls {:?} {}", effect.confirmation, effect.verdict);
            found.push(Violation::new("booking misjudged", Some(&trip.id), what).row(effect).row(trip));
        }
    }
    for step in
        trip.steps.iter().filter(|step| trip.state == TripState::Done && step.state == StepState::Done)
    {
        let own = |effect: &&EffectView| effect.step == step.name && !effect.ghost && stands(effect);
        if !trip.effects.iter().any(|effect| own(&effect)) {
            let what = format!("step {} is done, and no booking of it stands", step.name);
            found.push(Violation::new("booking missing", Some(&trip.id), what).row(trip));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::soak::compare::sample::{checks, facts, only};

    #[test]
    fn a_booking_of_nobody_is_found() {
        let mut facts = facts();
        let mut strange = facts.bookings[0].clone();
        strange.reference = "HF-OTHER".to_owned();
        facts.bookings.push(strange);
        assert_eq!(only(&check(&facts)), "booking of nobody");
    }

    #[test]
    fn a_second_booking_is_found_whether_or_not_the_trip_knows_of_it() {
        let mut facts = facts();
        let mut second = facts.bookings[0].clone();
        second.confirmation = "NW-SECOND".to_owned();
        facts.bookings.push(second);
        assert_eq!(checks(&check(&facts)), ["booked twice", "booking unseen"]);
        let mut effect = facts.trips[0].effects[0].clone();
        effect.confirmation = Some("NW-SECOND".to_owned());
        facts.trips[0].effects.push(effect);
        assert_eq!(only(&check(&facts)), "booked twice");
        facts.trips[0].effects[1].ghost = true;
        assert_eq!(checks(&check(&facts)), ["booked twice", "ghost left"]);
        facts.trips[0].state = TripState::NeedsSupport;
        assert_eq!(check(&facts), [], "shown as a ghost, in a trip that support looks at");
    }

    #[test]
    fn a_booking_left_after_a_cancel_is_found() {
        for state in [TripState::Cancelled, TripState::Failed] {
            let mut facts = facts();
            facts.trips[0].state = state;
            assert_eq!(only(&check(&facts)), "booking left");
        }
    }

    #[test]
    fn a_booking_that_is_not_there_is_found() {
        let mut facts = facts();
        facts.bookings[0].stands = false;
        assert_eq!(checks(&check(&facts)), ["booking misjudged", "booking missing"]);
        facts.trips[0].effects[0].verdict = "absent".to_owned();
        assert_eq!(only(&check(&facts)), "booking missing");
    }

    #[test]
    fn a_booking_that_only_seems_undone_is_found() {
        let mut facts = facts();
        facts.trips[0].steps[0].state = StepState::Undone;
        facts.trips[0].effects[0].verdict = "undone".to_owned();
        assert_eq!(checks(&check(&facts)), ["booking misjudged", "booking misjudged"]);
    }
}
