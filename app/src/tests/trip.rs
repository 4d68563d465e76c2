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
fn an_agent_works_only_on_what_is_known_to_have_reached_it() {
    let told = |state: &str| {
        let mut trip = samples::asking();
        trip.steps[2].delegations[0].send_state = state.into();
        said(trip)
    };
    assert!(told("landed").contains("An agent works on it"));
    assert!(told("in_doubt").contains("Checking whether it arrived"));
    for state in ["intent", "not_sent"] {
        let told = told(state);
        assert!(told.contains("Being handed over") && !told.contains("An agent works on it"), "{told}");
    }
    assert!(said(samples::stuck()).contains("With our support"));
}

#[test]
fn history_says_which_step_an_event_is_about() {
    let mut trip = samples::asking();
    trip.history[0].step = Some("hotel".into());
    assert!(said(trip).contains("Casa Agent · Hotel"));
}

#[test]
fn a_question_that_has_ended_asks_for_nothing() {
    assert!(page(samples::asking()).contains("What needs you"));
    let mut ended = samples::asking();
    let mut card = ended.questions[0].clone();
    card.state = "withdrawn".into();
    let html = html(|| view! { <crate::components::question_card::QuestionCard question=card.clone() /> });
    assert!(html.contains("question-gone"), "{html}");
    ended.questions[0] = card;
    assert!(!page(ended).contains("question-gone"), "nor has it a card on a page that is opened later");
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
