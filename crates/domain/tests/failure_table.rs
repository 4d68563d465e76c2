//! The table of DESIGN.md §7, row by row.

use Operation::{CancelTask, FirstRequest, GetTask, ListTasks, Reply, Subscribe};
use domain::failure::{Evidence, FailureClass, LONGEST_RETRY_AFTER, Operation, Phase, classify};
use domain::time::Span;

const ALL: [Operation; 7] =
    [FirstRequest, Reply, GetTask, ListTasks, CancelTask, Subscribe, Operation::FetchCard];
const SENDS: [Operation; 3] = [FirstRequest, Reply, CancelTask];

fn rpc(code: i64) -> Evidence {
    Evidence::rpc(code)
}

fn reason(reason: &str) -> Evidence {
    Evidence { reason: Some(reason.to_owned()), ..Evidence::status(400) }
}

fn check(rows: &[(Operation, Evidence, FailureClass)]) {
    for (operation, evidence, expected) in rows {
        assert_eq!(&classify(*operation, evidence), expected, "{operation:?} {evidence:?}");
    }
}

#[test]
fn what_never_left_is_not_sent_whatever_was_asked() {
    for operation in ALL {
        assert_eq!(classify(operation, &Evidence::not_written()), FailureClass::NotSent);
        let odd = Evidence { phase: Phase::NotWritten, ..Evidence::status(503) };
        assert_eq!(classify(operation, &odd), FailureClass::NotSent);
    }
}

#[test]
fn what_may_have_arrived_is_unknown() {
    let unparsable = Evidence { unparsable: true, ..Evidence::status(200) };
    for operation in ALL {
        for evidence in [
            Evidence::lost(),
            Evidence::status(500),
            Evidence::status(502),
            Evidence::status(503),
            Evidence::status(504),
            Evidence::status(524),
            Evidence::status(302),
            unparsable.clone(),
            rpc(-32603),
            rpc(-32006),
            reason("INVALID_AGENT_RESPONSE"),
            Evidence { http_status: Some(500), ..rpc(-32603) },
            Evidence { http_status: Some(500), ..rpc(-32050) },
        ] {
            assert_eq!(classify(operation, &evidence), FailureClass::Unknown, "{operation:?} {evidence:?}");
        }
    }
}

#[test]
fn refused_for_now_waits_as_told_but_not_for_ever() {
    let told =
        |status, seconds| Evidence { retry_after: Some(Span::seconds(seconds)), ..Evidence::status(status) };
    let class = |seconds| FailureClass::RefusedForNow { retry_after: Some(Span::seconds(seconds)) };
    for operation in ALL {
        assert_eq!(classify(operation, &told(429, 7)), class(7));
        assert_eq!(classify(operation, &told(503, 7)), class(7));
        assert_eq!(classify(operation, &told(429, -5)), class(0));
        let longest = FailureClass::RefusedForNow { retry_after: Some(LONGEST_RETRY_AFTER) };
        assert_eq!(classify(operation, &told(503, 1 << 40)), longest);
        let untold = FailureClass::RefusedForNow { retry_after: None };
        assert_eq!(classify(operation, &Evidence::status(429)), untold);
        let html = Evidence { unparsable: true, ..told(429, 7) };
        assert_eq!(classify(operation, &html), class(7));
    }
}

#[test]
fn a_refused_credential_is_never_the_agents_fault() {
    for operation in ALL {
        for status in [401, 403] {
            assert_eq!(classify(operation, &Evidence::status(status)), FailureClass::Credential);
            let custom = Evidence { http_status: Some(status), ..rpc(-32050) };
            assert_eq!(classify(operation, &custom), FailureClass::Credential);
        }
    }
}

#[test]
fn a_first_request_refused_for_good_or_to_be_looked_for() {
    use FailureClass::{LookFirst, RefusedForGood};
    check(&[
        (FirstRequest, rpc(-32009), RefusedForGood),
        (FirstRequest, rpc(-32601), RefusedForGood),
        (FirstRequest, rpc(-32005), RefusedForGood),
        (FirstRequest, rpc(-32008), RefusedForGood),
        (FirstRequest, rpc(-32600), RefusedForGood),
        (FirstRequest, reason("VERSION_NOT_SUPPORTED"), RefusedForGood),
        (FirstRequest, rpc(-32602), LookFirst),
        (FirstRequest, rpc(-32003), LookFirst),
        (FirstRequest, rpc(-32004), LookFirst),
        (FirstRequest, rpc(-32007), LookFirst),
        (FirstRequest, rpc(-32700), LookFirst),
        (FirstRequest, rpc(-32001), LookFirst),
        (FirstRequest, rpc(-32050), LookFirst),
        (FirstRequest, Evidence { http_status: Some(400), ..rpc(-1) }, LookFirst),
        (FirstRequest, Evidence { http_status: Some(500), ..rpc(-32602) }, LookFirst),
    ]);
}

#[test]
fn any_refusal_of_a_reply_is_a_matter_of_state() {
    for code in [-32600, -32004, -32602, -32001, -32002, -32601, -32009, -32005, -32003, -32050] {
        assert_eq!(classify(Reply, &rpc(code)), FailureClass::State, "{code}");
    }
}

#[test]
fn a_capability_is_missed_only_where_another_path_exists() {
    for operation in [ListTasks, Subscribe, CancelTask] {
        for code in [-32601, -32004] {
            assert_eq!(classify(operation, &rpc(code)), FailureClass::Capability);
        }
    }
    assert_eq!(classify(ListTasks, &reason("UNSUPPORTED_OPERATION")), FailureClass::Capability);
    assert_eq!(classify(GetTask, &rpc(-32601)), FailureClass::Capability);
}

#[test]
fn task_not_found_is_believed_only_from_get_task_and_in_the_protocols_words() {
    use FailureClass::{State, TaskNotFound, Unknown};
    check(&[
        (GetTask, rpc(-32001), TaskNotFound),
        (GetTask, reason("TASK_NOT_FOUND"), TaskNotFound),
        (GetTask, Evidence { http_status: Some(404), ..rpc(-32001) }, TaskNotFound),
        (GetTask, Evidence::status(404), Unknown),
        (GetTask, Evidence { unparsable: true, ..Evidence::status(404) }, Unknown),
        (GetTask, Evidence { http_status: Some(404), ..rpc(404) }, Unknown),
        (Subscribe, rpc(-32001), State),
        (CancelTask, rpc(-32001), State),
        (CancelTask, rpc(-32002), State),
        (CancelTask, rpc(-32602), State),
        (ListTasks, rpc(-32001), Unknown),
    ]);
}

#[test]
fn a_gateways_page_decides_nothing_about_a_send() {
    for operation in SENDS {
        for status in [200, 301, 400, 404, 405, 413, 500] {
            let page = Evidence { unparsable: true, ..Evidence::status(status) };
            assert_eq!(classify(operation, &page), FailureClass::Unknown, "{operation:?} {status}");
        }
    }
}

#[test]
fn the_reason_comes_before_the_code_and_the_code_before_the_status() {
    let both = Evidence { reason: Some("TASK_NOT_FOUND".into()), ..rpc(-32603) };
    assert_eq!(classify(GetTask, &both), FailureClass::TaskNotFound);
    let code_and_status = Evidence { http_status: Some(401), ..rpc(-32601) };
    assert_eq!(classify(ListTasks, &code_and_status), FailureClass::Capability);
    let strange_reason = Evidence { reason: Some("OUT_OF_STOCK".into()), ..rpc(-32602) };
    assert_eq!(classify(FirstRequest, &strange_reason), FailureClass::LookFirst);
}
