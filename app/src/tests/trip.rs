//! A trip's page: what is known, by whom, and in which words.

use super::{html, words};
use crate::components::live_trip::TripPageView;
use crate::samples;
use domain::view::TripView;
use leptos::prelude::*;

fn page(view: TripView) -> String {
    html(|| view! { <TripPageView view=view /> })
}

fn said(view: TripView) -> String {
    words(&page(view))
}

#[test]
fn the_sentence_comes_first_and_is_the_only_live_region() {
    let html = page(samples::asking());
    assert!(html.find("class=\"sentence\"") < html.find("class=\"needs\""));
    assert_eq!(html.matches("aria-live").count(), 1);
}

#[test]
fn times_are_told_in_utc_until_the_page_is_awake() {
    let html = page(samples::asking());
    assert!(html.contains(
        "<time datetime=\"2027-03-01T14:05:00Z\" title=\"1 Mar 2027, 14:05 UTC\">1 Mar 2027, 14:05 UTC</time>"
    ));
}

#[test]
fn verified_claimed_and_unknown_are_told_apart() {
    assert!(said(samples::asking()).contains("Verified in the booking system’s records"));
    let mut claimed = samples::asking();
    claimed.effects[0].verdict = "expected".into();
    assert!(said(claimed).contains("Claimed by the agent, not verified yet"));
    let stuck = said(samples::stuck());
    assert!(stuck.contains("Unknown: the records gave no clear answer"));
    assert!(stuck.contains("A second booking that nobody wanted"));
}

#[test]
fn failed_attempts_are_told_with_what_the_agents_said() {
    let said = said(samples::deciding());
    assert!(said.contains("Attempt 1 of 2: Roadrunner Agent declined. No cars left at LIS on 12 March."));
    assert!(said.contains("Attempt 2 of 2: Wheels4U Agent failed."));
}

#[test]
fn the_ladder_stands_in_undo_order_with_each_rung_as_far_as_it_came() {
    let html = page(samples::undoing());
    let ladder = &html[html.find("class=\"ladder\"").expect("a ladder")..];
    assert!(ladder.find("HOTEL7K2Q") < ladder.find("FLIGHT7K2Q"));
    let said = words(ladder);
    assert!(said.contains("Verified gone : yes"), "{said}");
    assert!(said.contains("Accepted : not yet"), "{said}");
    assert!(said.contains("answered 503"));
    assert!(!page(samples::asking()).contains("class=\"rung\""));
}

#[test]
fn only_a_trip_that_can_be_cancelled_offers_it() {
    assert!(page(samples::asking()).contains("href=\"/trips/t-lisbon/cancel\""));
    assert!(!page(samples::cancelled()).contains("/cancel\""));
}

#[test]
fn the_ids_that_support_asks_for_are_there() {
    let said = said(samples::asking());
    for id in ["task-hotel-1", "HF-HOTEL-1", "landed, sent once", "INPUT_REQUIRED"] {
        assert!(said.contains(id), "{id}");
    }
}
