//! Agents that do not answer.

use super::fake_agents::Manner;
use super::{A, B, MS, class, plain, with};
use domain::failure::{FailureClass, Operation};
use domain::time::Span;
use engine::a2a::{AgentState, BreakerRules, ThrottleSettings};
use futures::future::join_all;
use std::time::Duration;
use tokio::time::{Instant, sleep};

#[tokio::test(start_paused = true)]
async fn a_hanging_agent_costs_little_and_delays_no_other() {
    // An hour's backoff: that its jitter ends within this test is all but impossible.
    let (hour, failures) = (Span::seconds(3600), 5);
    let breaker = BreakerRules { failures, first: hour, longest: hour };
    let (agents, client) = with(ThrottleSettings { breaker, ..ThrottleSettings::default() });
    agents.set(A, Manner::Hangs);
    let hanging = {
        let client = client.clone();
        tokio::spawn(async move { join_all((0..1000).map(|_| client.poll(A))).await })
    };
    tokio::task::yield_now().await;
    let begun = Instant::now();
    assert!(join_all((0..80).map(|_| client.send(B))).await.iter().all(Result::is_ok));
    assert!(begun.elapsed() < 60 * MS, "ten rounds of 5 ms, took {:?}", begun.elapsed());

    sleep(Duration::from_secs(10)).await;
    let failure = client.send(A).await.expect_err("silent");
    assert_eq!(failure.class, FailureClass::NotSent);
    assert!(failure.text.starts_with("the agent does not answer; next try in "), "{}", failure.text);
    assert!(failure.text.ends_with(" s (last: no answer within the time limit)"), "{}", failure.text);
    // Four failures gave their places to others before the fifth opened the breaker.
    assert_eq!((agents.made(A).len(), client.health(A).1), (12, 0), "calls made, and none waits");
    assert!(hanging.await.unwrap().iter().all(Result::is_err));
    assert!(begun.elapsed() < Duration::from_secs(21), "two time limits, not a hundred");
    assert_eq!(agents.made(A).len(), 12);
}

#[tokio::test(start_paused = true)]
async fn exactly_one_probe_finds_out_and_a_success_closes() {
    let (agents, client) = plain();
    client.silence(&agents, A).await;
    for round in 1..=8 {
        sleep(Duration::from_secs(30)).await;
        let before = agents.made(A).len();
        agents.set(A, Manner::Hangs);
        let results = join_all((0..100).map(|_| client.poll(A))).await;
        assert!(results.iter().all(Result::is_err));
        assert_eq!(agents.made(A).len() - before, 1, "round {round}");
    }
    sleep(Duration::from_secs(30)).await;
    agents.set(A, Manner::Answers(5 * MS));
    let well = join_all((0..100).map(|_| client.poll(A))).await.iter().filter(|r| r.is_ok()).count();
    assert_eq!(well, 1, "the probe");
    assert!(join_all((0..100).map(|_| client.poll(A))).await.iter().all(Result::is_ok));
    assert_eq!(client.health(A).2, AgentState::Answering);
}

#[tokio::test(start_paused = true)]
async fn a_send_lets_a_read_be_the_probe() {
    let (agents, client) = plain();
    client.silence(&agents, A).await;
    sleep(Duration::from_secs(30)).await;
    agents.set(A, Manner::Answers(5 * MS));
    let late_read = async {
        sleep(100 * MS).await;
        client.poll(A).await
    };
    let (sent, read) = tokio::join!(client.send(A), late_read);
    assert!(sent.is_ok() && read.is_ok());
    let operations: Vec<_> = agents.made(A)[5..].iter().map(|made| made.operation).collect();
    assert_eq!(operations, [Operation::GetTask, Operation::FirstRequest]);
    // Without a read, the send finds out by itself.
    client.silence(&agents, B).await;
    sleep(Duration::from_secs(30)).await;
    agents.set(B, Manner::Answers(5 * MS));
    assert!(client.send(B).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn failures_of_calls_begun_before_the_agent_came_back_do_not_count() {
    let breaker = BreakerRules { failures: 3, ..BreakerRules::default() };
    let (agents, client) = with(ThrottleSettings { breaker, ..ThrottleSettings::default() });
    agents.set(A, Manner::Hangs);
    let begin = |after: u64| {
        let client = client.clone();
        tokio::spawn(async move {
            sleep(Duration::from_secs(after)).await;
            client.poll(A).await
        })
    };
    let (first, second) = ([0; 3].map(begin), [5; 3].map(begin));
    sleep(Duration::from_secs(6)).await;
    agents.set(A, Manner::Answers(MS));
    for call in first {
        assert!(call.await.unwrap().is_err());
    }
    assert!(matches!(client.health(A).2, AgentState::Silent { .. }));
    sleep(Duration::from_secs(1)).await;
    assert!(client.poll(A).await.is_ok(), "the probe");
    for call in second {
        assert!(call.await.unwrap().is_err());
    }
    assert_eq!(client.health(A).2, AgentState::Answering);
}

#[tokio::test(start_paused = true)]
async fn an_agents_own_errors_are_answers() {
    let (agents, client) = plain();
    agents.set(A, Manner::Errs);
    for _ in 0..50 {
        assert_eq!(class(client.poll(A).await), FailureClass::Unknown);
    }
    assert_eq!((agents.made(A).len(), client.health(A).2), (50, AgentState::Answering));
}

#[tokio::test(start_paused = true)]
async fn who_waits_is_told_at_once_when_the_agent_is_found_silent() {
    let breaker = BreakerRules { failures: 1, ..BreakerRules::default() };
    let settings = ThrottleSettings { process_requests: 1, breaker, ..ThrottleSettings::default() };
    let (agents, client) = with(settings);
    agents.set(A, Manner::Gone);
    agents.set(B, Manner::Answers(Duration::from_secs(1)));
    let begun = Instant::now();
    let b = join_all((0..5).map(|_| client.poll(B)));
    let a = async {
        let results = join_all((0..2).map(|_| client.poll(A))).await;
        (results, begun.elapsed())
    };
    // The other agent has the only place again as soon as the first loss has been noticed.
    let (_, (results, took)) = tokio::join!(b, a);
    assert!(results.iter().all(Result::is_err));
    assert!(took < Duration::from_millis(1500), "{took:?}");
    assert_eq!(agents.made(A).len(), 1);
}
