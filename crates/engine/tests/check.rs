//! `holdfast check` finds what was written around the constraints: one planted violation for
//! each thing that it looks at, and nothing in a trip that nobody touched.

use domain::view::{StepState, TripState};
use engine::commands::Answer;
use engine::crash_point::CrashPoints;
use testkit::{Kind, World};

/// Tables in which something is planted.
const TABLES: [&str; 7] =
    ["trips", "steps", "delegations", "messages", "questions", "effects", "compensations"];

/// So that a plant about something unfinished does not break rule 6 as well.
const REOPEN: &str = "UPDATE trips SET closed_at = NULL, closed = NULL;";

/// What is planted, the rule that it breaks, and the sentence that says so.
struct Plant {
    rule: &'static str,
    sentence: &'static str,
    reopen: bool,
    sql: &'static str,
}

const PLANTS: [Plant; 21] = [
    Plant {
        rule: "rule 2",
        sentence: "a later attempt was begun while this delegation's fate is open",
        reopen: true,
        sql: "UPDATE delegations SET outcome = NULL, closed_at = NULL WHERE step = 'car' AND ordinal = 1",
    },
    Plant {
        rule: "rule 2",
        sentence: "a later attempt was begun while this delegation's request is in doubt",
        reopen: true,
        sql: "UPDATE messages SET state = 'in_doubt' WHERE kind = 'request' AND delegation_id IN \
              (SELECT id FROM delegations WHERE step = 'car' AND ordinal = 1)",
    },
    Plant {
        rule: "rule 3",
        sentence: "this message id is used by two messages",
        reopen: false,
        sql: "UPDATE messages SET message_id = (SELECT message_id FROM delegations WHERE step = 'flight') \
              WHERE kind = 'reply'",
    },
    Plant {
        rule: "rule 3",
        sentence: "this delegation's request does not carry its message id",
        reopen: false,
        sql: "UPDATE messages SET message_id = 'another' WHERE kind = 'request' AND delegation_id IN \
              (SELECT id FROM delegations WHERE step = 'hotel')",
    },
    Plant {
        rule: "rule 3",
        sentence: "this delegation's request does not carry its message id",
        reopen: false,
        sql: "DELETE FROM messages WHERE kind = 'request' AND delegation_id IN \
              (SELECT id FROM delegations WHERE step = 'hotel')",
    },
    Plant {
        rule: "rule 3",
        sentence: "this attempt is not linked to the one before it",
        reopen: false,
        sql: "UPDATE delegations SET previous = NULL WHERE step = 'car' AND ordinal = 2",
    },
    Plant {
        rule: "rule 3",
        sentence: "this attempt is not linked to the one before it",
        reopen: false,
        sql: "UPDATE delegations SET previous = (SELECT id FROM delegations WHERE step = 'hotel') \
              WHERE step = 'car' AND ordinal = 2",
    },
    Plant {
        rule: "rule 4",
        sentence: "this step used more attempts than its budget",
        reopen: false,
        sql: "UPDATE steps SET attempt_budget = 1 WHERE name = 'car'",
    },
    Plant {
        rule: "rule 5",
        sentence: "this step is done without a booking that was ever verified",
        reopen: false,
        sql: "UPDATE effects SET verified_at = NULL WHERE delegation_id IN \
              (SELECT id FROM delegations WHERE step = 'hotel')",
    },
    Plant {
        rule: "rule 5",
        sentence: "this step is done without a booking that was ever verified",
        reopen: false,
        sql: "UPDATE steps SET standing = 'done' WHERE name = 'car'",
    },
    Plant {
        rule: "rule 6",
        sentence: "this trip is closed while a send is open or in doubt",
        reopen: false,
        sql: "UPDATE messages SET state = 'in_doubt' WHERE kind = 'reply'",
    },
    Plant {
        rule: "rule 6",
        sentence: "this trip is closed while a delegation is open",
        reopen: false,
        sql: "UPDATE delegations SET outcome = NULL, closed_at = NULL WHERE step = 'car' AND ordinal = 2",
    },
    Plant {
        rule: "rule 6",
        sentence: "this trip is closed while this effect is neither wanted nor verified gone",
        reopen: false,
        sql: "UPDATE effects SET verdict = 'present' WHERE delegation_id IN \
              (SELECT id FROM delegations WHERE step = 'hotel')",
    },
    Plant {
        rule: "rule 6",
        sentence: "this trip is closed while this effect is neither wanted nor verified gone",
        reopen: false,
        sql: "UPDATE effects SET verdict = 'unknown' WHERE delegation_id IN \
              (SELECT id FROM delegations WHERE step = 'flight')",
    },
    Plant {
        rule: "rule 6",
        sentence: "this trip is closed while this effect is neither wanted nor verified gone",
        reopen: false,
        sql: "UPDATE effects SET verdict = 'expected' WHERE delegation_id IN \
              (SELECT id FROM delegations WHERE step = 'flight')",
    },
    Plant {
        rule: "rule 6",
        sentence: "this trip is closed while a compensation is unfinished",
        reopen: false,
        sql: "UPDATE compensations SET state = 'accepted' WHERE step = 'flight'",
    },
    Plant {
        rule: "rule 7",
        sentence: "this delegation waits for a person, and its question was not kept",
        reopen: true,
        sql: "UPDATE trips SET goal = 'run'; UPDATE steps SET standing = 'open' WHERE name = 'hotel'; \
              UPDATE delegations SET outcome = NULL, closed_at = NULL, ended = NULL, called_off = 0, \
                remote_state = 'INPUT_REQUIRED' WHERE step = 'hotel'; \
              DELETE FROM questions WHERE step = 'hotel'",
    },
    Plant {
        rule: "rule 7",
        sentence: "this question is answered without an answer or a name",
        reopen: false,
        sql: "UPDATE questions SET answer = NULL WHERE step = 'hotel'",
    },
    Plant {
        rule: "rule 7",
        sentence: "this question is open in a closed trip",
        reopen: false,
        sql: "UPDATE questions SET state = 'open' WHERE step = 'hotel'",
    },
    Plant {
        rule: "rule 8",
        sentence: "this trip's events have a gap, or do not reach its seq",
        reopen: false,
        sql: "DELETE FROM events WHERE seq = 3",
    },
    Plant {
        rule: "rule 8",
        sentence: "this trip's events have a gap, or do not reach its seq",
        reopen: false,
        sql: "UPDATE trips SET seq = seq + 1",
    },
];

#[tokio::test(flavor = "multi_thread")]
async fn check_finds_what_was_planted_on_sqlite() {
    finds_every_plant(Kind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn check_finds_what_was_planted_on_postgres() {
    finds_every_plant(Kind::Postgres).await;
}

async fn finds_every_plant(kind: Kind) {
    let world = finished_trip(kind).await;
    let clean = Vec::<String>::new();
    assert_eq!(world.violations().await, clean, "an untouched journal");
    world.database.sql(&each_table(|table| {
        format!("ALTER TABLE {table} RENAME TO strict_{table}; CREATE TABLE {table} AS SELECT * FROM strict_{table};")
    }));
    assert_eq!(world.violations().await, clean, "the same journal without its constraints");
    for Plant { rule, sentence, reopen, sql } in PLANTS {
        world.database.sql(&format!("{} {sql};", if reopen { REOPEN } else { "" }));
        let found = world.violations().await;
        let says = |line: &String| line.starts_with(&format!("{rule}: ")) && line.ends_with(sentence);
        assert!(!found.is_empty() && found.iter().all(says), "{sql}\nshould break {rule}, found: {found:#?}");
        assert_eq!(found.len(), 1, "{sql}: {found:#?}");
        world.database.sql(&each_table(|table| {
            format!("DELETE FROM {table}; INSERT INTO {table} SELECT * FROM strict_{table};")
        }));
    }
    assert_eq!(world.violations().await, clean, "everything planted is gone again");
}

/// SQL for every table that can be planted in. The events' copy has none of their triggers.
fn each_table(sql: impl Fn(&str) -> String) -> String {
    TABLES.into_iter().chain(["events"]).map(sql).collect()
}

/// The worked example, ended and at rest.
async fn finished_trip(kind: Kind) -> World {
    let mut world = World::start(kind).await.expect("a world");
    world.run(CrashPoints::default()).await.expect("a loop");
    let trip = world.new_trip(&["flight", "hotel", "car"]).await.expect("a trip");
    world.answer(&trip, "hotel", Answer::Choice("two".to_owned())).await;
    let done = |view: &domain::view::TripView| {
        view.steps.iter().filter(|step| step.state == StepState::Done).count() == 2
    };
    world.until(&trip, "flight and hotel done", done).await;
    world.answer(&trip, "car", Answer::Choice("cancel_trip".to_owned())).await;
    let view = world.until(&trip, "the end", |view| view.state.is_closed()).await;
    assert_eq!(view.state, TripState::Cancelled);
    world.stop().await;
    world
}
