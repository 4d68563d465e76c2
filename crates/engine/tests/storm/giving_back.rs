//! Places given back, `Retry-After`, and the spread of streams.

use super::fake_agents::{Manner, target};
use super::{A, Client, LIMIT, MS, class, plain, with};
use domain::failure::{Failure, FailureClass, Operation};
use domain::ids::TaskId;
use domain::time::Span;
use engine::a2a::{AgentClient, AgentState, StreamItem, ThrottleSettings};
use futures::future::join_all;
use futures::stream::{BoxStream, StreamExt};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

async fn subscribe(client: &Client) -> Result<BoxStream<'static, StreamItem>, Failure> {
    client.0.subscribe(&target(A), &TaskId("T".into()), Duration::from_secs(60)).await
}

#[tokio::test(start_paused = true)]
async fn dropped_calls_give_their_places_back() {
    let (agents, client) = plain();
    agents.set(A, Manner::Hangs);
    let calls = join_all((0..100).map(|_| client.poll(A)));
    assert!(timeout(Duration::from_secs(1), calls).await.is_err());
    // All were dropped at once: eight in flight, the others waiting.
    assert_eq!(client.health(A), (0, 0, AgentState::Answering));

    // One that waits is dropped, and then one that is in flight: the next gets its place.
    let (_, narrow) = with(ThrottleSettings { requests: 1, ..ThrottleSettings::default() });
    let mut held = Box::pin(narrow.poll(A));
    let mut waiting = Box::pin(narrow.poll(A));
    let mut next = Box::pin(narrow.poll(A));
    for call in [&mut held, &mut waiting, &mut next] {
        assert!(futures::poll!(call).is_pending());
    }
    assert_eq!(narrow.health(A), (1, 2, AgentState::Answering));
    drop(waiting);
    assert_eq!(narrow.health(A), (1, 1, AgentState::Answering));
    drop(held);
    assert_eq!(narrow.health(A), (1, 0, AgentState::Answering), "granted, though not polled yet");
    // Dropped between the grant and its notice.
    drop(next);
    assert_eq!(narrow.health(A), (0, 0, AgentState::Answering));
    assert!(narrow.poll(A).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_dropped_probe_leaves_the_next_call_to_find_out() {
    let (agents, client) = plain();
    client.silence(&agents, A).await;
    sleep(Duration::from_secs(30)).await;
    agents.set(A, Manner::Answers(5 * MS));
    let mut probe = Box::pin(client.poll(A));
    assert!(futures::poll!(&mut probe).is_pending());
    assert_eq!(client.health(A), (1, 0, AgentState::Probing));
    assert!(client.poll(A).await.is_err(), "one probe at a time");
    drop(probe);
    assert!(client.poll(A).await.is_ok());
    assert_eq!(client.health(A), (0, 0, AgentState::Answering));
}

#[tokio::test(start_paused = true)]
async fn retry_after_is_kept_by_all_but_single_lists() {
    let (agents, client) = plain();
    agents.set(A, Manner::Busy(Span::seconds(60)));
    let begun = Instant::now();
    assert!(matches!(class(client.poll(A).await), FailureClass::RefusedForNow { .. }));
    agents.set(A, Manner::Answers(5 * MS));
    sleep(Duration::from_secs(20)).await;
    let left = FailureClass::RefusedForNow { retry_after: Some(Span::seconds(40)) };
    assert_eq!(class(client.poll(A).await), left);
    assert_eq!(class(subscribe(&client).await), left);
    assert_eq!(class(client.cancel(A).await), FailureClass::NotSent);
    let failure = client.send(A).await.expect_err("paused");
    assert_eq!(failure.class, FailureClass::NotSent);
    assert_eq!(failure.text, "the agent asked us to wait; next try in 40 s");
    assert_eq!(agents.made(A).len(), 1, "nothing more reached it");

    assert!(join_all((0..10).map(|_| client.list(A))).await.iter().all(Result::is_ok));
    assert_eq!((agents.most(A), agents.made(A).len()), (1, 11), "lists, one at a time");

    tokio::time::sleep_until(begun + Duration::from_secs(60)).await;
    assert!(client.send(A).await.is_ok() && client.poll(A).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_too_long_is_cut() {
    let (agents, client) = plain();
    agents.set(A, Manner::Busy(Span(i64::MAX)));
    assert!(client.list(A).await.is_err());
    agents.set(A, Manner::Answers(MS));
    sleep(Duration::from_secs(599)).await;
    assert!(client.poll(A).await.is_err());
    sleep(Duration::from_secs(1)).await;
    assert!(client.poll(A).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn five_hundred_streams_come_one_after_the_other() {
    let (agents, client) = with(ThrottleSettings { streams: 500, ..ThrottleSettings::default() });
    let begun = Instant::now();
    let streams = join_all((0..500).map(|_| subscribe(&client))).await;
    assert!(streams.iter().all(Result::is_ok));
    let at: Vec<Instant> = agents.made(A).iter().map(|made| made.at).collect();
    let busiest = at.iter().map(|from| at.iter().filter(|t| *t >= from && **t - *from < LIMIT / 10).count());
    let busiest = busiest.max().unwrap_or_default();
    assert!(busiest <= 52, "{busiest} within a second");
    assert!(begun.elapsed() < Duration::from_secs(11), "and not slower than that");
}

#[tokio::test(start_paused = true)]
async fn streams_have_places_of_their_own_and_give_them_back() {
    let (agents, client) = plain();
    let mut streams: Vec<_> =
        join_all((0..64).map(|_| subscribe(&client))).await.into_iter().collect::<Result<_, _>>().unwrap();
    assert!(matches!(streams[0].next().await, Some(StreamItem::Snapshot(_))));
    let mut late = Box::pin(subscribe(&client));
    assert!(futures::poll!(&mut late).is_pending());
    assert!(client.poll(A).await.is_ok() && client.send(A).await.is_ok(), "requests are counted apart");
    assert_eq!(client.health(A), (64, 1, AgentState::Answering));
    streams.pop();
    assert!(late.await.is_ok());
    // No place in time: a failed read.
    let before = agents.made(A).len();
    let fillers = subscribe(&client).await.expect("the late one was dropped at once");
    assert_eq!(class(subscribe(&client).await), FailureClass::NotSent);
    assert_eq!(agents.made(A).len(), before + 1);
    drop((fillers, streams));
    assert_eq!(client.health(A), (0, 0, AgentState::Answering));
}

#[tokio::test(start_paused = true)]
async fn a_silent_stream_says_nothing_about_the_agent_and_is_never_the_probe() {
    let (agents, client) = plain();
    agents.set(A, Manner::Hangs);
    assert!(join_all((0..20).map(|_| subscribe(&client))).await.iter().all(Result::is_err));
    assert_eq!(client.health(A).2, AgentState::Answering);

    client.silence(&agents, A).await;
    sleep(Duration::from_secs(30)).await;
    agents.set(A, Manner::Answers(MS));
    let before = agents.made(A).len();
    assert_eq!(class(subscribe(&client).await), FailureClass::NotSent);
    assert_eq!(agents.made(A).len(), before);
    assert!(client.poll(A).await.is_ok());
    assert!(subscribe(&client).await.is_ok());
    let last: Vec<_> = agents.made(A)[before..].iter().map(|made| made.operation).collect();
    assert_eq!(last, [Operation::GetTask, Operation::Subscribe]);
}

#[tokio::test(start_paused = true)]
async fn who_waits_is_told_at_once_when_the_agent_asks_us_to_wait() {
    let (agents, client) = with(ThrottleSettings { requests: 2, ..ThrottleSettings::default() });
    agents.set(A, Manner::Answers(Duration::from_secs(5)));
    let mut long = Box::pin(client.poll(A));
    assert!(futures::poll!(&mut long).is_pending());
    agents.set(A, Manner::Answers(Duration::from_secs(1)));
    let mut short = Box::pin(client.poll(A));
    assert!(futures::poll!(&mut short).is_pending());
    agents.set(A, Manner::Busy(Span::seconds(60)));
    let begun = Instant::now();
    // The first finds out when the short one has ended, while the long one is still in flight.
    let waiting = async {
        let results = join_all((0..3).map(|_| client.poll(A))).await;
        (results, begun.elapsed())
    };
    let (_, _, (results, took)) = tokio::join!(long, short, waiting);
    assert!(results.into_iter().all(|r| matches!(class(r), FailureClass::RefusedForNow { .. })));
    assert!(took < Duration::from_secs(2), "{took:?}");
    assert_eq!(agents.made(A).len(), 3);
}
