//! What left the server: nothing that was not committed before, nothing again without a look
//! (rules 1 to 3), and nothing executed twice unseen.

use super::Violation;
use crate::soak::facts::{Attempt, Call, Facts, Message};
use std::collections::{HashMap, HashSet};

pub(super) fn check(facts: &Facts) -> Vec<Violation> {
    let mut found = Vec::new();
    let journaled: HashMap<&str, &Message> = facts
        .journal
        .messages
        .iter()
        .filter_map(|message| Some((message.message_id.as_deref()?, message)))
        .collect();
    let mut sends: HashMap<&str, Vec<&Call>> = HashMap::new();
    for call in facts.calls.iter().filter(|call| call.is_send()) {
        sends.entry(call.message_id.as_deref().unwrap_or_default()).or_default().push(call);
    }
    for (id, calls) in &sends {
        let Some(message) = journaled.get(id) else {
            found.push(evidence(Violation::new("send not journaled", None, format!("message {id}")), calls));
            continue;
        };
        found.extend(message_sends(message, id, calls));
        found.extend(resends(facts, message, calls));
    }
    found.extend(cancels(facts));
    found.extend(undos(facts));
    found.extend(executed_twice(facts, &journaled));
    found.extend(attempts_overlap(facts, &sends));
    found
}

fn evidence(violation: Violation, calls: &[&Call]) -> Violation {
    calls.iter().fold(violation, |violation, call| violation.row(call))
}

/// Each send had its own commit, and all copies went to one agent.
fn message_sends(message: &Message, id: &str, calls: &[&Call]) -> Vec<Violation> {
    let mut found = Vec::new();
    if calls.len() as i64 > message.send_number {
        let what =
            format!("message {id} came {} times, {} sends were committed", calls.len(), message.send_number);
        found.push(
            evidence(Violation::new("send without a commit", Some(&message.trip), what), calls).row(message),
        );
    }
    if calls.iter().any(|call| call.agent != calls[0].agent) {
        let what = format!("message {id} came to several agents");
        found.push(
            evidence(Violation::new("message given to two", Some(&message.trip), what), calls).row(message),
        );
    }
    found
}

/// Between two sends of one message the agent was asked what became of the first.
fn resends(facts: &Facts, message: &Message, calls: &[&Call]) -> Vec<Violation> {
    let mut found = Vec::new();
    for pair in calls.windows(2) {
        let looked = |call: &&Call| {
            (pair[0].number..pair[1].number).contains(&call.number)
                && call.agent == pair[0].agent
                && call.answered
                && is_look(call, pair, message)
        };
        if !facts.calls.iter().any(|call| looked(&call)) {
            let what = format!("a {} was sent again without a look", message.kind);
            found.push(
                evidence(Violation::new("resend without a look", Some(&message.trip), what), pair)
                    .row(message),
            );
        }
    }
    found
}

/// Whether a call asks for what a message became: the list of its context or of everything for a
/// request, the task itself for a reply.
fn is_look(call: &Call, sends: &[&Call], message: &Message) -> bool {
    match message.kind.as_str() {
        "reply" => call.method == "GetTask" && call.task_id == sends[0].task_id,
        _ => {
            let of_it =
                call.context_id.is_none() || sends.iter().any(|send| send.context_id == call.context_id);
            call.method == "ListTasks" && of_it && !call.by_time
        }
    }
}

/// Every CancelTask was committed.
fn cancels(facts: &Facts) -> Vec<Violation> {
    let mut permitted: HashMap<&str, i64> = HashMap::new();
    for message in facts.journal.messages.iter().filter(|message| message.kind == "cancel") {
        *permitted.entry(message.task_id.as_deref().unwrap_or_default()).or_default() += message.send_number;
    }
    let mut calls: HashMap<&str, Vec<&Call>> = HashMap::new();
    for call in facts.calls.iter().filter(|call| call.method == "CancelTask") {
        calls.entry(call.task_id.as_deref().unwrap_or_default()).or_default().push(call);
    }
    let too_many = calls
        .into_iter()
        .filter(|(task, calls)| calls.len() as i64 > permitted.get(task).copied().unwrap_or_default());
    let violation = |(task, calls): (&str, Vec<&Call>)| {
        let committed = permitted.get(task).copied().unwrap_or_default();
        let what = format!("CancelTask of {task} came {} times, {committed} were committed", calls.len());
        evidence(Violation::new("cancel without a commit", None, what), &calls)
    };
    too_many.map(violation).collect()
}

/// Every cancel of a booking was committed, with its key.
fn undos(facts: &Facts) -> Vec<Violation> {
    let permitted: HashMap<&str, i64> =
        facts.journal.undos.iter().map(|undo| (undo.idempotency_key.as_str(), undo.send_number)).collect();
    let mut calls: HashMap<Option<&str>, i64> = HashMap::new();
    for undo in &facts.undos {
        *calls.entry(undo.key.as_deref()).or_default() += 1;
    }
    let committed = |key: Option<&str>| key.and_then(|key| permitted.get(key)).copied().unwrap_or_default();
    let too_many = calls.into_iter().filter(|(key, count)| *count > committed(*key));
    let violation = |(key, count): (Option<&str>, i64)| {
        let what = format!("key {key:?} came {count} times, {} were committed", committed(key));
        let rows = facts.undos.iter().filter(|undo| undo.key.as_deref() == key);
        rows.fold(Violation::new("undo without a commit", None, what), |violation, row| violation.row(row))
    };
    too_many.map(violation).collect()
}

/// One message made one task, or the others are known as ghosts.
fn executed_twice(facts: &Facts, journaled: &HashMap<&str, &Message>) -> Vec<Violation> {
    let roles = facts.journal.tasks.iter().filter(|task| task.role != "kept");
    let ghosts: HashSet<&str> = roles.map(|task| task.task_id.as_str()).collect();
    let mut made: HashMap<(&str, &str), Vec<&str>> = HashMap::new();
    for task in facts.tasks.iter().filter(|task| !ghosts.contains(task.task.as_str())) {
        made.entry((&task.agent, &task.message)).or_default().push(&task.task);
    }
    let doubled = made.into_iter().filter(|(_, tasks)| tasks.len() > 1);
    let violation = |((agent, id), tasks): ((&str, &str), Vec<&str>)| {
        let trip = journaled.get(id).map(|message| message.trip.as_str());
        let what = format!("{agent} made {tasks:?} of message {id}, and no ghost is recorded");
        Violation::new("executed twice", trip, what)
    };
    doubled.map(violation).collect()
}

/// The next attempt at a step began after the one before it was closed.
fn attempts_overlap(facts: &Facts, sends: &HashMap<&str, Vec<&Call>>) -> Vec<Violation> {
    let mut steps: HashMap<(&str, &str), Vec<&Attempt>> = HashMap::new();
    for attempt in &facts.journal.attempts {
        steps.entry((&attempt.trip, &attempt.step)).or_default().push(attempt);
    }
    let requests = facts.journal.messages.iter().filter(|message| message.kind == "request");
    let request: HashMap<&str, &str> =
        requests.filter_map(|m| Some((m.delegation.as_str(), m.message_id.as_deref()?))).collect();
    let first_send = |attempt: &Attempt| {
        let calls = request.get(attempt.id.as_str()).and_then(|id| sends.get(id));
        calls.and_then(|calls| calls.first()).map(|call| call.at)
    };
    let mut found = Vec::new();
    for attempts in steps.values_mut() {
        attempts.sort_by_key(|attempt| attempt.ordinal);
        for pair in attempts.windows(2) {
            let begun = first_send(pair[1]);
            if begun.is_some_and(|at| pair[0].closed_at.is_none_or(|closed| at < closed)) {
                let what = format!(
                    "attempt {} at {} began before {} was closed",
                    pair[1].ordinal, pair[1].step, pair[0].ordinal
                );
                found.push(
                    Violation::new("attempts overlap", Some(&pair[0].trip), what).row(pair[0]).row(pair[1]),
                );
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::soak::compare::sample::{call, facts, only};
    use crate::soak::facts::{AgentTask, TaskRow, Undo, UndoRow};

    #[test]
    fn sends_need_their_commits() {
        let mut unknown = facts();
        unknown.journal.messages.remove(0);
        assert_eq!(only(&check(&unknown)), "send not journaled");
        let mut uncommitted = facts();
        uncommitted.journal.messages[0].send_number = 0;
        assert_eq!(only(&check(&uncommitted)), "send without a commit");
        let mut elsewhere = facts();
        elsewhere.journal.messages[0].send_number = 2;
        elsewhere.calls.push(call(5, "ListTasks", None));
        elsewhere.calls.push(Call { agent: "citycar".to_owned(), ..call(6, "SendMessage", Some("m-1")) });
        elsewhere.calls[3].context_id = Some("c-1".to_owned());
        assert_eq!(only(&check(&elsewhere)), "message given to two");
    }

    #[test]
    fn a_resend_needs_a_look_that_can_find() {
        let mut facts = facts();
        facts.journal.messages[0].send_number = 2;
        facts.calls.push(call(9, "SendMessage", Some("m-1")));
        assert_eq!(only(&check(&facts)), "resend without a look");
        let look = call(8, "ListTasks", None);
        let useless = [
            Call { context_id: Some("c-other".to_owned()), ..look.clone() },
            Call { by_time: true, ..look.clone() },
            Call { answered: false, ..look.clone() },
            Call { agent: "citycar".to_owned(), ..look.clone() },
            Call { number: 10, ..look.clone() },
            Call { method: "GetTask".to_owned(), ..look.clone() },
        ];
        for call in useless {
            facts.calls.push(call.clone());
            assert_eq!(only(&check(&facts)), "resend without a look", "{call:?}");
            facts.calls.pop();
        }
        facts.calls.push(look);
        assert_eq!(check(&facts), []);
    }

    #[test]
    fn a_reply_sent_again_needs_a_read_of_its_task() {
        let mut facts = facts();
        facts.journal.messages[1].send_number = 2;
        let again = Call { task_id: Some("t-1".to_owned()), ..call(9, "SendMessage", Some("m-2")) };
        facts.calls.push(again);
        facts.calls.push(call(8, "ListTasks", None));
        assert_eq!(only(&check(&facts)), "resend without a look");
        facts.calls.push(Call { task_id: Some("t-1".to_owned()), ..call(8, "GetTask", None) });
        assert_eq!(check(&facts), []);
    }

    #[test]
    fn cancels_need_their_commits() {
        let mut facts = facts();
        facts.calls.push(Call { task_id: Some("t-1".to_owned()), ..call(9, "CancelTask", None) });
        assert_eq!(only(&check(&facts)), "cancel without a commit");
        let mut row = facts.journal.messages[0].clone();
        (row.kind, row.message_id, row.task_id) = ("cancel".to_owned(), None, Some("t-1".to_owned()));
        facts.journal.messages.push(row);
        assert_eq!(check(&facts), []);
    }

    #[test]
    fn undos_need_their_commits_and_keys() {
        let undo = |key: Option<&str>| Undo {
            system: "northwind-air".to_owned(),
            confirmation: "NW-1".to_owned(),
            key: key.map(str::to_owned),
        };
        let mut facts = facts();
        facts.undos.push(undo(Some("k")));
        assert_eq!(only(&check(&facts)), "undo without a commit");
        facts.journal.undos.push(UndoRow { idempotency_key: "k".to_owned(), send_number: 1 });
        assert_eq!(check(&facts), []);
        facts.undos.push(undo(Some("k")));
        assert_eq!(only(&check(&facts)), "undo without a commit");
        facts.undos.pop();
        facts.undos.push(undo(None));
        assert_eq!(only(&check(&facts)), "undo without a commit");
    }

    #[test]
    fn one_message_makes_one_task_unless_a_ghost_is_recorded() {
        let mut facts = facts();
        facts.tasks.push(AgentTask {
            agent: facts.tasks[0].agent.clone(),
            task: "t-2".to_owned(),
            message: facts.tasks[0].message.clone(),
        });
        assert_eq!(only(&check(&facts)), "executed twice");
        facts.journal.tasks.push(TaskRow { task_id: "t-2".to_owned(), role: "kept".to_owned() });
        assert_eq!(only(&check(&facts)), "executed twice");
        facts.journal.tasks[1].role = "ghost".to_owned();
        assert_eq!(check(&facts), []);
    }

    #[test]
    fn an_attempt_waits_for_the_fate_of_the_one_before() {
        let mut facts = facts();
        let mut second = facts.journal.attempts[0].clone();
        (second.id, second.ordinal, second.reference) = ("d-2".to_owned(), 2, Some("HF-2".to_owned()));
        facts.journal.attempts.push(second);
        let mut request = facts.journal.messages[0].clone();
        (request.delegation, request.message_id) = ("d-2".to_owned(), Some("m-3".to_owned()));
        facts.journal.messages.push(request);
        facts.calls.push(call(60, "SendMessage", Some("m-3")));
        assert_eq!(check(&facts), []);
        facts.journal.attempts[0].closed_at = Some(61);
        assert_eq!(only(&check(&facts)), "attempts overlap");
        facts.journal.attempts[0].closed_at = None;
        assert_eq!(only(&check(&facts)), "attempts overlap");
    }
}
