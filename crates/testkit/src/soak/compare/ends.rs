//! Every trip ends, or says why it cannot; and nothing broke down on the way (rule 10).

use super::Violation;
use crate::soak::facts::Facts;
use crate::soak::travellers::is_settled;
use domain::view::{TripState, TripView};

pub(super) fn check(facts: &Facts) -> Vec<Violation> {
    let mut found = Vec::new();
    for trip in &facts.trips {
        if !is_settled(trip) {
            found.push(Violation::new("no end", Some(&trip.id), format!("still {:?}", trip.state)).row(trip));
        } else if trip.state == TripState::NeedsSupport && reasons(trip).is_empty() {
            found.push(Violation::new("stuck without a reason", Some(&trip.id), &trip.sentence).row(trip));
        }
    }
    let broken = facts.breakdowns.iter().map(|text| Violation::new("breakdown", None, text));
    let unsound = facts.check.iter().map(|text| Violation::new("holdfast check", None, text));
    found.extend(broken.chain(unsound));
    found
}

/// Why a trip waits for support.
pub(crate) fn reasons(trip: &TripView) -> Vec<String> {
    let delegations = trip.steps.iter().flat_map(|step| &step.delegations);
    let stuck = delegations.filter_map(|delegation| delegation.stuck_reason.clone());
    let undos = trip.effects.iter().filter_map(|effect| effect.compensation.as_ref());
    let stuck_undos = undos.filter(|undo| undo.state == "stuck");
    stuck
        .chain(stuck_undos.filter_map(|undo| undo.reason.clone()))
        .filter(|reason| !reason.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::soak::compare::sample::{facts, only};

    #[test]
    fn a_trip_that_never_ends_is_found() {
        let mut facts = facts();
        facts.trips[0].state = TripState::Undoing;
        assert_eq!(only(&check(&facts)), "no end");
    }

    #[test]
    fn a_case_needs_its_reason() {
        let mut facts = facts();
        facts.trips[0].state = TripState::NeedsSupport;
        assert_eq!(only(&check(&facts)), "stuck without a reason");
        facts.trips[0].steps[0].delegations[0].stuck_reason = Some("Nobody knows.".to_owned());
        assert_eq!(check(&facts), []);
    }

    #[test]
    fn breakdowns_and_what_check_says_are_passed_on() {
        let mut facts = facts();
        facts.breakdowns.push("panicked at …".to_owned());
        assert_eq!(only(&check(&facts)), "breakdown");
        facts.breakdowns.clear();
        facts.check.push("rule 6: …".to_owned());
        assert_eq!(only(&check(&facts)), "holdfast check");
    }
}
