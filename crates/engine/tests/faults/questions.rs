//! Questions: replies that go to the right task, forks, and permissions given elsewhere.
//!
//! F-18 on the wire: `a2a_client.rs`, `a_reply_without_its_task_never_leaves`.

use crate::control::{FLIGHTS, HOTELS, Play, newest, tells};
use domain::ids::TripId;
use domain::view::{TripState, TripView};
use engine::commands::{Answer, AnswerError};
use futures::future::join_all;
use serde_json::{Value, json};

fn two() -> Answer {
    Answer::Choice("two".to_owned())
}

/// What was sent on a task that exists.
async fn replies(play: &Play, agent: &str) -> Vec<Value> {
    let sent = play.asked(agent, "SendMessage").await;
    sent.into_iter().filter(|request| !request["task_id"].is_null()).collect()
}

async fn asked(play: &Play, trip: &TripId) -> TripView {
    play.until(trip, "a question", |view| view.state == TripState::NeedsAnswer).await
}

/// F-18: every reply names its task and the task's context.
#[tokio::test(flavor = "multi_thread")]
async fn f_18_every_reply_goes_to_the_task_that_asked() {
    let mut play = Play::start().await;
    play.behave(HOTELS, json!({ "behaviour": "asks_twice", "delay_ms": 60 })).await;
    let trip = play.trip(&["hotel"]).await;
    play.world.answer(&trip, "hotel", two()).await;
    play.until(&trip, "the second question", |view| view.questions.len() == 2).await;
    let view = play.world.view(&trip).await;
    let second = view.questions.iter().find(|q| q.state == "open").expect("a question");
    let answer =
        second.choices.first().map_or(Answer::Text("no".to_owned()), |c| Answer::Choice(c.value.clone()));
    play.world.answer(&trip, "hotel", answer).await;
    let view = play.done_at_once(&trip, "hotel").await;
    let attempt = newest(&view, "hotel");
    let sent = replies(&play, HOTELS).await;
    assert_eq!(sent.len(), 2, "{sent:#?}");
    for reply in sent {
        assert_eq!(reply["task_id"].as_str(), attempt.task_id.as_deref());
        assert_eq!(reply["context_id"].as_str(), attempt.context_id.as_deref());
    }
    play.sound_and_worked_once(1).await;
    play.world.stop().await;
}

/// F-18: killed between "answer saved" and "reply sent": the same reply, to the same task.
#[tokio::test(flavor = "multi_thread")]
async fn f_18_an_answer_that_was_saved_is_sent_after_a_restart() {
    let mut play = Play::start().await;
    play.behave(HOTELS, json!({ "behaviour": "asks", "delay_ms": 60 })).await;
    let trip = play.trip(&["hotel"]).await;
    let view = asked(&play, &trip).await;
    let task = newest(&view, "hotel").task_id.clone();
    play.world.crash().await;
    play.world.answer(&trip, "hotel", two()).await;
    assert_eq!(replies(&play, HOTELS).await.len(), 0);
    play.faults(HOTELS, json!([{ "fault": "drop_before", "times": 1 }])).await;
    play.run().await;
    play.until_asked(HOTELS, "SendMessage", 2).await;
    play.world.crash().await;
    play.run().await;
    play.done_at_once(&trip, "hotel").await;
    let sent = replies(&play, HOTELS).await;
    assert!(sent.len() >= 2, "lost once: {sent:#?}");
    assert!(sent.iter().all(|reply| reply["message_id"] == sent[0]["message_id"]), "{sent:#?}");
    assert!(sent.iter().all(|reply| reply["task_id"].as_str() == task.as_deref()), "{sent:#?}");
    play.sound(1).await;
    play.world.stop().await;
}

/// F-18's kind: the reply landed and its answer was lost; it is not sent twice.
#[tokio::test(flavor = "multi_thread")]
async fn f_18_a_reply_whose_answer_was_lost_is_not_sent_twice() {
    let mut play = Play::start().await;
    play.behave(HOTELS, json!({ "behaviour": "asks", "delay_ms": 300 })).await;
    let trip = play.trip(&["hotel"]).await;
    asked(&play, &trip).await;
    play.faults(HOTELS, json!([{ "fault": "drop_after", "times": 1 }])).await;
    play.world.answer(&trip, "hotel", two()).await;
    play.done_at_once(&trip, "hotel").await;
    play.sound_and_worked_once(1).await;
    play.world.stop().await;
}

/// F-19: the reply is answered by another task, which belongs to the same attempt.
#[tokio::test(flavor = "multi_thread")]
async fn f_19_a_fork_is_followed_as_part_of_the_same_attempt() {
    let mut play = Play::start().await;
    play.behave(HOTELS, json!({ "behaviour": "asks", "delay_ms": 200, "also": ["forks"] })).await;
    let trip = play.trip(&["hotel"]).await;
    let first = newest(&asked(&play, &trip).await, "hotel").task_id.clone();
    play.world.answer(&trip, "hotel", two()).await;
    let view = play.done_at_once(&trip, "hotel").await;
    assert_ne!(newest(&view, "hotel").task_id, first, "the other task is followed: {view:#?}");
    assert!(view.questions.iter().all(|q| q.state == "answered"), "{view:#?}");
    assert!(tells(&view, "another task"), "{view:#?}");
    play.sound_and_worked_once(1).await;
    play.world.stop().await;
}

/// F-19, and the answer that names the other task is lost: booked once, whatever is sent.
#[tokio::test(flavor = "multi_thread")]
async fn f_19_a_fork_that_was_not_read_books_once_in_the_end() {
    join_all([200, 4000].map(|delay_ms| async move {
        let mut play = Play::start().await;
        let forks = json!({ "behaviour": "asks", "delay_ms": delay_ms, "also": ["forks"] });
        play.behave(HOTELS, forks).await;
        let trip = play.trip(&["hotel"]).await;
        asked(&play, &trip).await;
        play.faults(HOTELS, json!([{ "fault": "drop_after", "times": 1 }])).await;
        play.world.answer(&trip, "hotel", two()).await;
        let (view, _) = play.done_or_case(&trip).await;
        assert_eq!(view.steps[1].delegations.len(), 1, "{view:#?}");
        play.until_standing(1).await;
        play.sound(1).await;
        play.world.stop().await;
    }))
    .await;
}

/// F-20: the permission is given elsewhere: no longer needed, and a reply now is refused.
#[tokio::test(flavor = "multi_thread")]
async fn f_20_a_permission_given_elsewhere_closes_the_question() {
    join_all([true, false].map(|streams| async move {
        let mut play = Play::start().await;
        if !streams {
            play.faults(FLIGHTS, json!([{ "fault": "stream_ends_early" }])).await;
        }
        play.behave(FLIGHTS, json!({ "behaviour": "auth_clears", "delay_ms": 200, "late_ms": 900 })).await;
        let trip = play.trip(&["flight"]).await;
        let view = asked(&play, &trip).await;
        let question = view.questions[0].id.clone();
        assert_eq!(view.questions[0].kind, "auth");
        let gone = |view: &TripView| view.questions.iter().all(|q| q.state != "open");
        play.until(&trip, "no open question", gone).await;
        let id = question.as_str().into();
        let late = Answer::Text("I have done it".to_owned());
        let refused = play.world.engine.answer(&play.world.traveller, &id, &late).await;
        assert!(matches!(refused, Err(AnswerError::Gone(_))), "{refused:?}");
        let view = play.done_at_once(&trip, "flight").await;
        assert_eq!(view.questions[0].state, "withdrawn", "{view:#?}");
        assert_eq!(replies(&play, FLIGHTS).await.len(), 0);
        play.sound_and_worked_once(1).await;
        play.world.stop().await;
    }))
    .await;
}

/// F-21: "not found" from a subscription is not "gone": the question stays, without a hot loop.
#[tokio::test(flavor = "multi_thread")]
async fn f_21_a_waiting_task_that_cannot_be_subscribed_to_stays_answerable() {
    let mut play = Play::start().await;
    play.behave(HOTELS, json!({ "behaviour": "asks", "delay_ms": 60 })).await;
    play.faults(HOTELS, json!([{ "fault": "stream_error" }])).await;
    let trip = play.trip(&["hotel"]).await;
    asked(&play, &trip).await;
    let read = play.count(HOTELS, "GetTask").await;
    play.until_asked(HOTELS, "GetTask", read + 6).await;
    let subscribed = play.count(HOTELS, "SubscribeToTask").await;
    assert!(subscribed <= 10, "{subscribed} subscriptions while a person thinks");
    play.world.answer(&trip, "hotel", two()).await;
    play.done_at_once(&trip, "hotel").await;
    play.sound_and_worked_once(1).await;
    play.world.stop().await;
}
