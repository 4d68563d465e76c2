//! The client of agents against servers that answer, refuse, break and lie.

mod fake_http;

use domain::failure::{Failure, FailureClass, Operation};
use domain::ids::TaskId;
use domain::task::{Snapshot, TaskState};
use domain::time::{Millis, Span};
use engine::a2a::{
    AgentClient, Answer, Applied, Binding, Completeness, Credential, Endpoint, Followed, Http, HttpAgents,
    Limits, ListFilter, Listing, StreamItem, Target,
};
use engine::net::AddressPolicy;
use fake_http::{Fake, Request, Then, http, json};
use futures::StreamExt;
use serde_json::{Value, json as value};
use std::sync::Arc;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(5);
const SHORT: Duration = Duration::from_millis(150);

fn agents(policy: AddressPolicy) -> HttpAgents {
    let limits = Limits { body_bytes: 100_000, event_bytes: 20_000, pages: 20, ..Limits::default() };
    HttpAgents::new(Arc::new(Http::new(policy, limits).expect("builds")))
}

fn client() -> HttpAgents {
    agents(AddressPolicy::demo())
}

fn target(url: &str) -> Target {
    let endpoint = Endpoint {
        url: url.to_owned(),
        tenant: Some("acme".into()),
        binding: Binding::JsonRpc,
        version: "1.0".into(),
    };
    Target { endpoint, credential: Credential::bearer("s3cret") }
}

fn message() -> Value {
    value!({"messageId": "M", "contextId": "C", "role": "ROLE_USER", "parts": [{"text": "book"}]})
}

async fn send_for(url: &str, limit: Duration) -> Result<Answer, Failure> {
    client().send_message(&target(url), &message(), Operation::FirstRequest, limit).await
}

async fn send(url: &str) -> Result<Answer, Failure> {
    send_for(url, LIMIT).await
}

/// The class of a first request's failure at a server that does this, and that it was asked once.
async fn class_of(then: Then, limit: Duration) -> FailureClass {
    let fake = Fake::start(move |_, _| then.clone()).await;
    let failure = send_for(&fake.url, limit).await.expect_err("a failure");
    assert_eq!(fake.requests().len(), 1, "sent once: {failure:?}");
    failure.class
}

/// An answer with this result, for the request's own id.
fn result(request: &Request, result: &str) -> Then {
    let id = request.json()["id"].clone();
    Then::Close(json(200, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)))
}

fn error(status: u16, code: i64) -> Then {
    Then::Close(json(
        status,
        &format!(r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":{code},"message":"no"}}}}"#),
    ))
}

async fn answering(text: &'static str) -> Fake {
    Fake::start(move |request, _| result(request, text)).await
}

#[tokio::test]
async fn a_send_carries_what_the_protocol_and_the_design_ask_for() {
    let fake =
        answering(r#"{"task":{"id":"T","contextId":"C","status":{"state":"TASK_STATE_SUBMITTED"}}}"#).await;
    let Answer::Task(task) = send(&fake.url).await.expect("an answer") else { panic!("a task") };
    assert_eq!((task.task_id.as_str(), task.state), ("T", TaskState::Submitted));
    let request = fake.requests().remove(0);
    assert_eq!(request.line(), "POST /rpc HTTP/1.1");
    assert_eq!(request.header("a2a-version"), Some("1.0"));
    assert_eq!(request.header("authorization"), Some("Bearer s3cret"));
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(request.header("transfer-encoding"), None);
    let body = request.json();
    assert_eq!((&body["jsonrpc"], &body["method"]), (&value!("2.0"), &value!("SendMessage")));
    assert_eq!(body["params"]["message"], message());
    assert_eq!(body["params"]["tenant"], "acme");
    let configuration = &body["params"]["configuration"];
    assert_eq!(configuration["returnImmediately"], true);
    assert_eq!(configuration["historyLength"], 100);
    assert_eq!(configuration["acceptedOutputModes"], value!(["text/plain", "application/json"]));
}

#[tokio::test]
async fn a_reply_without_its_task_never_leaves() {
    let fake = answering(r#"{"task":{"id":"T2"}}"#).await;
    let mut reply = message();
    let refused = client().send_message(&target(&fake.url), &reply, Operation::Reply, LIMIT).await;
    assert_eq!(refused.expect_err("no task").class, FailureClass::NotSent);
    assert_eq!(fake.requests().len(), 0);
    reply["taskId"] = value!("T");
    let answer = client().send_message(&target(&fake.url), &reply, Operation::Reply, LIMIT).await;
    assert!(matches!(answer, Ok(Answer::Task(task)) if task.task_id.as_str() == "T2"), "a fork is an answer");
    assert_eq!(fake.requests()[0].json()["params"]["message"]["taskId"], "T");
}

#[tokio::test]
async fn what_never_left_is_not_sent() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let closed = listener.local_addr().expect("an address");
    drop(listener);
    for url in [format!("http://{closed}/"), "http://no-such-host.invalid/".into(), "no url".into()] {
        let failure = send(&url).await.expect_err("not sent");
        assert_eq!(failure.class, FailureClass::NotSent, "{url}: {}", failure.text);
        assert!(!failure.text.contains("s3cret"));
    }
}

#[tokio::test]
async fn a_limit_that_strikes_during_the_handshake_is_not_sent() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("https://{}/", listener.local_addr().expect("an address"));
    let silent = tokio::spawn(async move { listener.accept().await.expect("a connection") });
    let failure = send_for(&url, SHORT).await.expect_err("no handshake");
    assert_eq!(failure.class, FailureClass::NotSent, "{}", failure.text);
    silent.await.expect("was connected to");
}

#[tokio::test]
async fn a_server_that_speaks_no_tls_was_not_sent_to() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("https://{}/", listener.local_addr().expect("an address"));
    let plain = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a connection");
        let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, &http(400, "", "plain HTTP here")).await;
    });
    let failure = send(&url).await.expect_err("no TLS");
    assert_eq!(failure.class, FailureClass::NotSent, "{}", failure.text);
    plain.await.expect("was connected to");
}

#[tokio::test]
async fn a_private_address_is_refused_before_anything_is_written() {
    let fake = Fake::start(|_, _| error(200, -32603)).await;
    let port = fake.url.rsplit(':').next().expect("a port").to_owned();
    let strict = agents(AddressPolicy::public_only());
    for host in ["127.0.0.1", "localhost", "0x7f000001", "[::ffff:127.0.0.1]"] {
        let to = target(&format!("http://{host}:{port}"));
        let failure =
            strict.send_message(&to, &message(), Operation::FirstRequest, LIMIT).await.expect_err("refused");
        assert_eq!(failure.class, FailureClass::NotSent, "{host}");
        assert!(failure.text.contains("private address"), "{host}: {}", failure.text);
    }
    assert_eq!(fake.requests().len(), 0);
}

#[tokio::test]
async fn what_may_have_arrived_is_unknown_and_sent_once() {
    let cut = br#"HTTP/1.1 200 OK
Content-Type: application/json
Content-Length: 90

{"jsonrpc":"2.0","id":1,"resu"#;
    let cut = String::from_utf8_lossy(cut).replace('\n', "\r\n").into_bytes();
    let html = "<html>one moment</html>";
    for (name, then) in [
        ("closed without a word", Then::Close(Vec::new())),
        ("reset after the request was read", Then::Reset(Vec::new())),
        ("reset mid-answer", Then::Reset(cut.clone())),
        ("closed mid-answer", Then::Close(cut)),
        ("cut JSON", Then::Close(json(200, r#"{"jsonrpc":"2.0","id":1,"result":{"task":"#))),
        ("HTML with 200", Then::Close(http(200, "Content-Type: text/html\r\n", html))),
        ("a gateway's 404", Then::Close(http(404, "Content-Type: text/html\r\n", html))),
        ("524", Then::Close(http(524, "", html))),
        ("502", Then::Close(http(502, "", ""))),
        ("503 without Retry-After", Then::Close(http(503, "", ""))),
        ("a redirect", Then::Close(http(307, "Location: /elsewhere\r\n", ""))),
        ("-32603", error(200, -32603)),
        ("-32603 with 500", error(500, -32603)),
        ("another id", Then::Close(json(200, r#"{"jsonrpc":"2.0","id":999,"result":{"task":{"id":"T"}}}"#))),
        ("no id", Then::Close(json(200, r#"{"result":{"task":{"id":"T"}}}"#))),
        ("no envelope", Then::Close(json(200, r#"{"task":{"id":"T"}}"#))),
        (
            "a result under 500",
            Then::Close(json(500, r#"{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"T"}}}"#)),
        ),
        ("a task without an id", Then::Close(json(200, r#"{"jsonrpc":"2.0","id":1,"result":{"task":{}}}"#))),
        ("too large", Then::Close(json(200, &"x".repeat(200_000)))),
        ("too deep", Then::Close(json(200, &"[".repeat(9_000)))),
    ] {
        assert_eq!(class_of(then, LIMIT).await, FailureClass::Unknown, "{name}");
    }
    assert_eq!(class_of(Then::Hang(Vec::new()), SHORT).await, FailureClass::Unknown, "silence");
    let half = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{".to_vec();
    assert_eq!(class_of(Then::Hang(half), SHORT).await, FailureClass::Unknown, "silence mid-answer");
}

#[tokio::test]
async fn the_agents_own_word_is_read_whatever_the_status() {
    let reason = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"x","data":[{"@type":"t"},{"reason":"VERSION_NOT_SUPPORTED"}]}}"#;
    let status = r#"{"error":{"code":400,"status":"X","message":"m","details":[{"reason":"CONTENT_TYPE_NOT_SUPPORTED"}]}}"#;
    let wait = |seconds| FailureClass::RefusedForNow { retry_after: Some(Span::seconds(seconds)) };
    let dated = "Date: Wed, 01 Dec 2027 12:00:00 GMT\r\nRetry-After: Wed, 01 Dec 2027 12:00:30 GMT\r\n";
    for (then, class) in [
        (error(200, -32601), FailureClass::RefusedForGood),
        (error(500, -32602), FailureClass::LookFirst),
        (Then::Close(json(200, reason)), FailureClass::RefusedForGood),
        (Then::Close(json(400, status)), FailureClass::RefusedForGood),
        (Then::Close(http(401, "", "who are you")), FailureClass::Credential),
        (error(403, -32050), FailureClass::Credential),
        (Then::Close(http(503, "Retry-After: 7\r\n", "")), wait(7)),
        (Then::Close(http(429, dated, "")), wait(30)),
    ] {
        assert_eq!(class_of(then.clone(), LIMIT).await, class, "{then:?}");
    }
}

#[tokio::test]
async fn a_send_never_uses_a_connection_that_a_read_left_open() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    let server = tokio::spawn(async move {
        let task = r#"{"jsonrpc":"2.0","id":1,"result":{"id":"T"}}"#;
        let (mut kept, _) = listener.accept().await.expect("the read");
        let mut buffer = [0; 4096];
        let _ = kept.read(&mut buffer).await.expect("a request");
        let text = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{task}", task.len());
        kept.write_all(text.as_bytes()).await.expect("written");
        let (mut fresh, _) = listener.accept().await.expect("the send has its own connection");
        let _ = fresh.read(&mut buffer).await.expect("a request");
        drop(fresh);
        let again = tokio::time::timeout(SHORT, listener.accept()).await;
        assert!(again.is_err(), "no retry");
    });
    let client = client();
    client.get_task(&target(&url), &TaskId::from("T")).await.expect("a task");
    let failure = client
        .send_message(&target(&url), &message(), Operation::FirstRequest, LIMIT)
        .await
        .expect_err("closed");
    assert_eq!(failure.class, FailureClass::Unknown);
    server.await.expect("as scripted");
}

async fn read_task(text: &'static str) -> Result<Snapshot, Failure> {
    let fake = answering(text).await;
    client().get_task(&target(&fake.url), &TaskId::from("T")).await
}

#[tokio::test]
async fn odd_but_certain_answers_are_read() {
    let paused = r#"{"id":"T","contextId":null,"status":{"state":"TASK_STATE_PAUSED","message":null,"timestamp":"soon"},
        "artifacts":null,"history":null,"newField":{"x":[1]}}"#;
    let task = read_task(paused).await.expect("a task");
    assert_eq!(task.state, TaskState::Unknown("TASK_STATE_PAUSED".into()));
    assert_eq!((task.message, task.timestamp, task.context_id), (None, None, None));

    let old = r#"{"kind":"task","id":"T","contextId":7,"status":{"state":"input-required","timestamp":"2027-03-01T10:00:00.123456",
        "message":{"kind":"message","messageId":"Q","role":"agent","parts":[{"kind":"text","text":"which"},{"kind":"data","data":{"choices":[1]}},
        {"kind":"file","file":{"uri":"https://agent.example/form"}}]}},
        "artifacts":[{"artifactId":"A","name":"Ticket","parts":[{"kind":"text","text":"17"}]},{"parts":[]}],
        "history":[{"messageId":"M"},{"messageId":null},"x",{"messageId":8}]}"#;
    let task = read_task(old).await.expect("a task");
    assert_eq!(task.state, TaskState::InputRequired);
    assert_eq!(task.timestamp, Some(Millis(1_803_895_200_123)));
    let question = task.message.expect("a question");
    assert_eq!(question.text, "which\nhttps://agent.example/form");
    assert_eq!(question.data, [value!({"choices": [1]})]);
    assert_eq!(task.artifacts.len(), 2);
    assert_eq!(task.artifacts[0].name.as_deref(), Some("Ticket"));
    assert_eq!(task.history_ids, ["M".into(), "8".into()]);

    let wrapped = read_task(r#"{"task":{"id":"T","status":{"state":3}}}"#).await.expect("a task");
    assert_eq!(wrapped.state, TaskState::Completed);
    let bare = read_task(r#"{"id":"T"}"#).await.expect("a task");
    assert_eq!(bare.state, TaskState::Unknown("UNSPECIFIED".into()));
    assert_eq!(read_task(r#"{"id":"T2"}"#).await.expect_err("another task").class, FailureClass::Unknown);
}

#[tokio::test]
async fn a_bare_message_and_a_fork_are_answers() {
    let fake = answering(r#"{"message":{"messageId":"A","parts":[{"text":"received, ticket 17"}]}}"#).await;
    let Answer::Message(message) = send(&fake.url).await.expect("an answer") else { panic!("a message") };
    assert_eq!(message.text, "received, ticket 17");
    let fake = answering(r#"{"kind":"task","id":"T2","status":{"state":"working"}}"#).await;
    let Answer::Task(task) = send(&fake.url).await.expect("an answer") else { panic!("a task") };
    assert_eq!(task.task_id.as_str(), "T2");
}

#[tokio::test]
async fn a_task_that_is_too_large_is_asked_for_with_less_history() {
    let fake = Fake::start(|request, _| {
        let many = if request.json()["params"]["historyLength"] == 100 { 200_000 } else { 10 };
        result(request, &format!(r#"{{"id":"T","history":[{{"messageId":"{}"}}]}}"#, "x".repeat(many)))
    })
    .await;
    let task = client().get_task(&target(&fake.url), &TaskId::from("T")).await.expect("a task");
    assert_eq!(task.history_ids.len(), 1);
    assert_eq!(fake.requests().len(), 2);
}

async fn list(answer: impl Fn(usize) -> String + Send + Sync + 'static) -> Listing {
    let fake = Fake::start(move |request, number| result(request, &answer(number))).await;
    client().list_tasks(&target(&fake.url), &ListFilter::All).await.expect("a list")
}

fn tasks(ids: impl IntoIterator<Item = usize>) -> String {
    let tasks: Vec<Value> = ids.into_iter().map(|id| value!({"id": format!("T{id}")})).collect();
    value!(tasks).to_string()
}

#[tokio::test]
async fn a_list_is_complete_only_if_nothing_speaks_against_it() {
    let one = |text: &'static str| list(move |_| text.to_owned());
    for text in [
        r#"{}"#,
        r#"{"pageSize":50}"#,
        r#"{"tasks":[],"nextPageToken":"","totalSize":0}"#,
        r#"{"tasks":null,"nextPageToken":null}"#,
        r#"{"tasks":[{"id":"T1"}]}"#,
        r#"{"tasks":[{"id":"T1"}],"totalSize":"1","pageSize":1}"#,
    ] {
        assert_eq!(one(text).await.complete, Completeness::Complete, "{text}");
    }
    let incomplete = |listing: &Listing| matches!(listing.complete, Completeness::Incomplete(_));
    for text in [
        r#"{"tasks":[{"id":"T1"}],"totalSize":2}"#,
        r#"{"tasks":[{"id":"T1"}],"pageSize":1}"#,
        r#"{"tasks":[{"id":"T1"},{"status":{}}]}"#,
    ] {
        assert!(incomplete(&one(text).await), "{text}");
    }
    for count in [50, 100] {
        let page = list(move |_| format!(r#"{{"tasks":{}}}"#, tasks(0..count))).await;
        assert!(incomplete(&page), "a full page of {count} without a token");
    }
}

#[tokio::test]
async fn pages_are_read_to_the_end_and_each_task_counts_once() {
    let listing = list(|number| match number {
        0 => format!(r#"{{"tasks":{},"nextPageToken":"a","totalSize":3}}"#, tasks([1, 2])),
        _ => format!(r#"{{"tasks":{},"totalSize":3}}"#, tasks([2, 3])),
    })
    .await;
    assert_eq!((listing.tasks.len(), listing.pages), (3, 2));
    assert_eq!(listing.complete, Completeness::Complete);
}

#[tokio::test]
async fn pages_that_never_end_are_given_up() {
    let circle = list(|number| format!(r#"{{"nextPageToken":"{}"}}"#, ["a", "b"][number % 2])).await;
    assert_eq!(circle.pages, 3);
    let endless = list(|number| format!(r#"{{"nextPageToken":"{number}"}}"#)).await;
    assert_eq!(endless.pages, 20);
    let breaks = list(|number| match number {
        0 => r#"{"tasks":[{"id":"T1"}],"nextPageToken":"a"}"#.to_owned(),
        _ => "[]".to_owned(),
    })
    .await;
    assert_eq!(breaks.tasks.len(), 1);
    for listing in [circle, endless, breaks] {
        assert!(matches!(listing.complete, Completeness::Incomplete(_)), "{listing:?}");
    }
}

#[tokio::test]
async fn filters_are_sent_as_the_protocol_names_them() {
    let fake = answering("{}").await;
    let client = client();
    for filter in [ListFilter::Context("C".into()), ListFilter::Since(Millis(1_000)), ListFilter::All] {
        client.list_tasks(&target(&fake.url), &filter).await.expect("a list");
    }
    let asked: Vec<Value> = fake.requests().iter().map(|request| request.json()["params"].clone()).collect();
    let base = || value!({"tenant": "acme", "pageSize": 100, "historyLength": 100});
    let with = |name: &str, text: &str| {
        let mut params = base();
        params[name] = value!(text);
        params
    };
    assert_eq!(asked, [with("contextId", "C"), with("statusTimestampAfter", "1970-01-01T00:00:01Z"), base()]);
}

#[tokio::test]
async fn a_list_that_cannot_be_had_is_a_failure() {
    let fake = Fake::start(|_, _| error(200, -32601)).await;
    let failure = client().list_tasks(&target(&fake.url), &ListFilter::All).await.expect_err("no list");
    assert_eq!(failure.class, FailureClass::Capability);
}

#[tokio::test]
async fn a_cancel_answers_with_the_real_state() {
    let fake = answering(r#"{"id":"T","status":{"state":"TASK_STATE_WORKING"}}"#).await;
    let task = client().cancel_task(&target(&fake.url), &TaskId::from("T"), LIMIT).await.expect("a task");
    assert_eq!(task.state, TaskState::Working);
    let fake = Fake::start(|_, _| error(400, -32002)).await;
    let failure = client().cancel_task(&target(&fake.url), &TaskId::from("T"), LIMIT).await;
    assert_eq!(failure.expect_err("terminal").class, FailureClass::State);
}

async fn follow(then: Then) -> Result<Vec<StreamItem>, Failure> {
    let fake = Fake::start(move |_, _| then.clone()).await;
    let stream = client().subscribe(&target(&fake.url), &TaskId::from("T"), LIMIT).await?;
    Ok(stream.take(20).collect().await)
}

fn sse(headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\n{headers}\r\n{body}").into_bytes()
}

const EVENT_STREAM: &str = "Content-Type: text/event-stream\r\n";

#[tokio::test]
async fn a_stream_is_read_to_its_end() {
    let body = r#": ping

data: {"jsonrpc":"2.0","id":1,"result":{"task":{"id":"T","status":{"state":"TASK_STATE_WORKING"}}}}

data: {"result":{"artifactUpdate":{"taskId":"T","artifact":{"artifactId":"A","parts":[{"text":"1"}]}}}}

data: {"result":{"artifactUpdate":{"taskId":"T","artifact":{"artifactId":"A","parts":[{"text":"2"}]},"append":true,"lastChunk":true}}}

data: {"result":{"somethingNew":{"x":1}}}

data: {"result":{"kind":"status-update","taskId":"T","status":{"state":"completed"},"final":true}}"#;
    let items = follow(Then::Close(sse(EVENT_STREAM, body))).await.expect("a stream");
    let mut followed = Followed::default();
    let applied: Vec<Applied> = items.iter().map(|item| followed.apply(item)).collect();
    use Applied::{Changed, Nothing, Replaced};
    assert_eq!(applied, [Replaced, Changed, Changed, Nothing, Changed, Nothing]);
    assert_eq!(items.last(), Some(&StreamItem::Ended));
    let task = followed.snapshot.expect("a task");
    assert_eq!((task.state, task.artifacts[0].text.as_str()), (TaskState::Completed, "1\n2"));
    assert_eq!(followed.skipped, 1);
}

#[tokio::test]
async fn an_error_in_place_of_a_stream_is_that_error() {
    let text = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32004,"message":"over"}}"#;
    let frame = format!("data: {text}\n\n");
    for then in [Then::Close(json(200, text)), Then::Close(json(400, text)), Then::Close(sse("", text))] {
        let failure = follow(then).await.expect_err("an error");
        assert_eq!(failure.class, FailureClass::Capability);
    }
    for headers in [EVENT_STREAM, ""] {
        let items = follow(Then::Close(sse(headers, &frame))).await.expect("a stream");
        assert_eq!(items.len(), 1);
        let StreamItem::Refused(failure) = &items[0] else { panic!("{items:?}") };
        assert_eq!(failure.code, Some(-32004));
    }
    let gone = r#"data: {"error":{"code":-32001,"message":"no"}}"#;
    let items = follow(Then::Close(sse(EVENT_STREAM, gone))).await.expect("a stream");
    assert!(matches!(&items[0], StreamItem::Refused(failure) if failure.class == FailureClass::State));
    let html = follow(Then::Close(http(200, "Content-Type: text/html\r\n", "<html>"))).await;
    assert_eq!(html.expect_err("no stream").class, FailureClass::Unknown);
}

#[tokio::test]
async fn a_stream_that_cannot_be_read_is_broken() {
    let long = format!("data: {}", "x".repeat(30_000));
    let deep = format!("data: {}\n\n", "[".repeat(9_000));
    for body in ["data: {\"result\":\n\n", "data: {\"result\":{\"task\":{}}}\n\n", &long, &deep] {
        let items = follow(Then::Hang(sse(EVENT_STREAM, body))).await.expect("a stream");
        assert!(matches!(items.as_slice(), [StreamItem::Broken(_)]), "{items:?}");
    }
    let chunked = sse("Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n", "4\r\n: x\n\r\n");
    let items = follow(Then::Reset(chunked)).await.expect("a stream");
    assert!(matches!(items.as_slice(), [StreamItem::Broken(_)]), "{items:?}");
}

#[tokio::test]
async fn a_silent_stream_says_so_and_stays_open() {
    let fake = Fake::start(|_, _| Then::Hang(sse(EVENT_STREAM, ": ping\n\n"))).await;
    let stream = client().subscribe(&target(&fake.url), &TaskId::from("T"), SHORT).await.expect("a stream");
    let items: Vec<StreamItem> = stream.take(2).collect().await;
    assert_eq!(items, [StreamItem::Idle, StreamItem::Idle]);
}

#[tokio::test]
async fn a_card_is_fetched_from_the_well_known_place() {
    let fake = Fake::start(|_, _| {
        Then::Close(json(200, r#"{"name":"Air","supportedInterfaces":[{"url":"/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}"#))
    })
    .await;
    let root = fake.url.replace("/rpc", "/").parse().expect("a url");
    let (card, raw) = client().card(&root, &Credential::None).await.expect("a card");
    assert_eq!(card.endpoint.expect("spoken").url, fake.url);
    assert_eq!(raw["name"], "Air");
    let request = fake.requests().remove(0);
    assert_eq!(request.line(), "GET /.well-known/agent-card.json HTTP/1.1");
    assert_eq!(request.header("a2a-version"), Some("1.0"));
}
