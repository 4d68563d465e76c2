//! The way out: what no rule may decide becomes a case, and support frees it with evidence.

use domain::view::{StepState, TripState};
use engine::accounts::{Role, Viewer};
use engine::crash_point::CrashPoints;
use engine::support::{ActionError, CaseAction, RecordedOutcome};
use serde_json::json;
use testkit::{Kind, World};

fn support() -> Viewer {
    Viewer { user: "support".into(), email: "support@example.org".to_owned(), role: Role::Support }
}

fn record(outcome: RecordedOutcome, confirmation: Option<&str>) -> CaseAction {
    CaseAction::RecordOutcome {
        reason: "Asked the company by telephone".to_owned(),
        outcome,
        confirmation: confirmation.map(str::to_owned),
        booking_system: confirmation.map(|_| "citycar-records".to_owned()),
    }
}

/// A car request whose fate nobody may guess: the answer was lost, and nobody vouches for the agent.
async fn stuck_world(kind: Kind) -> (World, domain::ids::TripId, String) {
    let mut world = World::start_vouching(kind, false).await.expect("a world");
    let fault = json!({ "fault": "drop_before", "times": 1 });
    world.outside.fault("citycar", fault).await.expect("a fault");
    world.run(CrashPoints::default()).await.expect("a loop");
    let trip = world.new_trip(&["car"]).await.expect("a trip");
    world.until(&trip, "a case", |view| view.state == TripState::NeedsSupport).await;
    let cases = world.engine.cases(&support()).await.expect("cases");
    assert_eq!(cases.len(), 1);
    let case = cases[0].id.clone();
    (world, trip, case)
}

async fn an_unvouched_agent_is_not_asked_twice(kind: Kind) {
    let (mut world, trip, case) = stuck_world(kind).await;
    let check = CaseAction::CheckNow { reason: "The agent says it is back".to_owned() };
    let result = world.engine.act_on_case(&support(), &case, &check).await.expect("checked");
    assert_eq!(result.verified, None, "nothing reads as solved");
    let odd = CaseAction::CheckNow { reason: "Once more, with a zero \0".to_owned() };
    world.engine.act_on_case(&support(), &case, &odd).await.expect("checked");
    let detail = world.engine.case(&support(), &case).await.expect("a read").expect("the case");
    let asked = detail.case.check_asked.as_ref().and_then(|asked| asked.reason.as_deref());
    assert_eq!((detail.case.open, asked), (true, Some("Once more, with a zero \u{fffd}")));
    assert!(detail.history.iter().any(|event| event.actor == "support@example.org"), "{detail:#?}");
    let sent = world.outside.requests("citycar", "SendMessage").await.expect("a log");
    assert_eq!(sent.len(), 1, "an empty list at this agent earns nothing");

    let signed = record(RecordedOutcome::NotBooked, None);
    world.engine.act_on_case(&support(), &case, &signed).await.expect("signed");
    let view =
        world.until(&trip, "another agent was asked", |view| view.steps[2].delegations.len() == 2).await;
    assert_eq!(view.steps[2].delegations[0].outcome.as_deref(), Some("never_landed"));
    let again = world.engine.act_on_case(&support(), &case, &signed).await;
    assert!(matches!(again, Err(ActionError::MovedOn)), "{again:?}");
    for unknown in ["unknown", "\0"] {
        let refused = world.engine.act_on_case(&support(), unknown, &signed).await;
        assert!(matches!(refused, Err(ActionError::NotFound)), "{refused:?}");
    }
    let ids = ["unknown".to_owned(), "\0".to_owned(), case];
    let now = world.engine.cases_named(&support(), &ids).await.expect("a read");
    assert_eq!(now.len(), 1);
    assert_eq!((now[0].open, now[0].cause.as_str()), (false, "cleared"));
    assert!(now[0].signed.is_some() && now[0].check_asked.is_some(), "{now:#?}");
    assert_eq!(world.engine.cases_named(&world.traveller, &ids).await.expect("a read").len(), 0);
    assert_eq!(world.violations().await, Vec::<String>::new());
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unvouched_agent_is_not_asked_twice_on_sqlite() {
    an_unvouched_agent_is_not_asked_twice(Kind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unvouched_agent_is_not_asked_twice_on_postgres() {
    an_unvouched_agent_is_not_asked_twice(Kind::Postgres).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_booking_that_support_found_makes_the_step_done() {
    let (mut world, trip, case) = stuck_world(Kind::Sqlite).await;
    for wrong in [
        record(RecordedOutcome::Undone, None),
        record(RecordedOutcome::Booked, None),
        CaseAction::CheckNow { reason: "  ".to_owned() },
        CaseAction::CheckNow { reason: "x".repeat(1_000_000) },
    ] {
        let refused = world.engine.act_on_case(&support(), &case, &wrong).await;
        assert!(matches!(refused, Err(ActionError::Invalid { .. })), "{refused:?}");
    }
    let traveller = world.traveller.clone();
    let foreign =
        world.engine.act_on_case(&traveller, &case, &record(RecordedOutcome::NotBooked, None)).await;
    assert!(matches!(foreign, Err(ActionError::NotFound)), "{foreign:?}");

    let signed = record(RecordedOutcome::Booked, Some("CC-TOLD-US"));
    world.engine.act_on_case(&support(), &case, &signed).await.expect("signed");
    let view = world.until(&trip, "the end", |view| view.state.is_closed()).await;
    assert_eq!((view.state, view.steps[2].state), (TripState::Done, StepState::Done));
    assert!(view.history.iter().any(|e| e.actor == "support@example.org" && e.why.is_some()));
    assert_eq!(world.violations().await, Vec::<String>::new());
    world.stop().await;
}
