//! The invariants that `holdfast check` reads from a database, over the rows themselves, and those
//! of a move from one recorded state to the next.

use domain::compensation::CompensationState;
use domain::delegation::{Delegation, Outcome, Purpose};
use domain::effect::Verdict;
use domain::outbox::{OutKind, SendState};
use domain::question::QuestionState;
use domain::trip::{Closed, Goal, Standing, Trip};
use std::collections::BTreeSet;

/// The first rule that a recorded trip breaks.
pub fn broken(trip: &Trip) -> Option<String> {
    [attempts, messages, budget, done_steps, closed, closed_effects, questions, ladder]
        .into_iter()
        .find_map(|rule| rule(trip))
}

fn attempts(trip: &Trip) -> Option<String> {
    for d in &trip.delegations {
        let later = |o: &&Delegation| o.step == d.step && o.purpose == d.purpose && o.ordinal > d.ordinal;
        if d.is_open() && trip.delegations.iter().any(|o| later(&o)) {
            return Some(format!("rule 2: a later attempt than {} was begun while it is open", d.id));
        }
        let doubtful =
            trip.request(&d.id).is_some_and(|m| matches!(m.state, SendState::Intent | SendState::InDoubt));
        let believed = matches!(d.outcome, Some(Outcome::Lost | Outcome::Deadline | Outcome::Refused));
        if doubtful && !believed && trip.delegations.iter().any(|o| o.previous.as_ref() == Some(&d.id)) {
            return Some(format!(
                "rule 2: a later attempt than {} was begun while its request is in doubt",
                d.id
            ));
        }
        let linked = |p: &Delegation| Some(&p.id) == d.previous.as_ref() && p.ordinal == d.ordinal - 1;
        if d.ordinal > 1 && !trip.delegations.iter().any(|p| p.step == d.step && linked(p)) {
            return Some(format!("rule 3: attempt {} is not linked to the one before it", d.id));
        }
    }
    None
}

fn messages(trip: &Trip) -> Option<String> {
    let mut ids = BTreeSet::new();
    for out in &trip.outbox {
        if out.message_id.as_ref().is_some_and(|id| !ids.insert(id.clone())) {
            return Some(format!("rule 3: the message id of {} is used twice", out.id));
        }
        if (out.number > 0) != out.may_send_until.is_some() {
            return Some(format!("rule 1: {} has a send number without its time limit", out.id));
        }
    }
    let open = |d: &Delegation| {
        let own = trip.outbox.iter().filter(|m| m.delegation == d.id && m.kind != OutKind::Cancel);
        own.filter(|m| matches!(m.state, SendState::Intent | SendState::InDoubt)).count()
    };
    if let Some(d) = trip.delegations.iter().find(|d| open(d) > 1) {
        return Some(format!("two messages of {} are under way or in doubt at once", d.id));
    }
    let lost = trip
        .delegations
        .iter()
        .find(|d| trip.request(&d.id).is_none_or(|m| m.message_id.as_ref() != Some(&d.message_id)));
    lost.map(|d| format!("rule 3: the request of {} does not carry its message id", d.id))
}

fn budget(trip: &Trip) -> Option<String> {
    let over = trip.steps.iter().find(|s| {
        let used = trip.delegations.iter().filter(|d| d.step == s.name && d.purpose == Purpose::Step).count();
        i64::try_from(used).unwrap_or(i64::MAX) > s.attempt_budget
    });
    over.map(|s| format!("rule 4: step {} used more attempts than its budget", s.name))
}

fn done_steps(trip: &Trip) -> Option<String> {
    let unproven = trip.steps.iter().filter(|s| s.standing == Standing::Done).find(|s| {
        !trip.attempts(&s.name).any(|d| match trip.wanted_effect(&d.id) {
            Some(effect) => d.outcome.is_some() && effect.verified_at.is_some(),
            None => d.outcome == Some(Outcome::Completed),
        })
    });
    unproven.map(|s| format!("rule 5: step {} is done without a booking that was ever verified", s.name))
}

fn closed(trip: &Trip) -> Option<String> {
    trip.closed_at?;
    if let Some(out) = trip.outbox.iter().find(|m| !m.state.is_settled()) {
        return Some(format!("rule 6: closed while {:?} {} is {}", out.kind, out.id, out.state.word()));
    }
    if let Some(d) = trip.delegations.iter().find(|d| d.is_open()) {
        return Some(format!("rule 6: closed while delegation {} is open", d.id));
    }
    if let Some(c) = trip.compensations.iter().find(|c| !c.state.is_finished()) {
        return Some(format!("rule 6: closed while undo {} is {}", c.id, c.state.word()));
    }
    let open = trip.questions.iter().find(|q| q.state == QuestionState::Open);
    open.map(|q| format!("rule 7: closed while question {} is open", q.id))
}

fn closed_effects(trip: &Trip) -> Option<String> {
    trip.closed_at?;
    let bad = trip.effects.iter().find(|e| {
        let outcome = trip.delegation(&e.delegation).and_then(|d| d.outcome);
        match e.verdict {
            Verdict::Present => trip.closed != Some(Closed::Done) || e.ghost,
            Verdict::Unknown => outcome != Some(Outcome::Unreachable),
            Verdict::Expected => {
                !matches!(outcome, Some(Outcome::Unreachable | Outcome::Refused | Outcome::NeverLanded))
            }
            Verdict::Absent | Verdict::SettledAbsent | Verdict::Undone => false,
        }
    });
    bad.map(|e| format!("rule 6: closed while effect {} is {}", e.id, e.verdict.word()))
}

fn questions(trip: &Trip) -> Option<String> {
    for d in trip.delegations.iter().filter(|d| d.is_open() && d.ended.is_none() && !d.called_off) {
        let asks = d.remote_state.as_ref().is_some_and(domain::task::TaskState::is_interrupted);
        let kept = trip.questions.iter().any(|q| q.delegation.as_ref() == Some(&d.id));
        if asks && !kept && trip.goal == Goal::Run {
            return Some(format!("rule 7: {} waits for a person, and its question was not kept", d.id));
        }
        let open = trip
            .questions
            .iter()
            .filter(|q| q.delegation.as_ref() == Some(&d.id) && q.state == QuestionState::Open);
        if open.count() > 1 {
            return Some(format!("rule 7: {} has two open questions", d.id));
        }
    }
    for q in &trip.questions {
        let same = |o: &&domain::question::Question| {
            o.delegation == q.delegation && o.key == q.key && o.left_at.is_none()
        };
        if q.left_at.is_none() && q.delegation.is_some() && trip.questions.iter().filter(same).count() > 1 {
            return Some(format!("rule 7: question {} is asked again", q.id));
        }
        if q.state == QuestionState::Answered && (q.answer.is_none() || q.answered_by.is_none()) {
            return Some(format!("rule 7: question {} is answered without an answer or a name", q.id));
        }
        let replies = trip.outbox.iter().filter(|m| m.question.as_ref() == Some(&q.id));
        if replies.count() > 1 {
            return Some(format!("rule 7: question {} is answered by two messages", q.id));
        }
    }
    None
}

/// One rung at a time, and in reverse of the order in which the bookings were verified.
fn ladder(trip: &Trip) -> Option<String> {
    let moving = trip
        .compensations
        .iter()
        .filter(|c| matches!(c.state, CompensationState::Requested | CompensationState::Accepted));
    if moving.count() > 1 {
        return Some("two undos are under way at once".to_owned());
    }
    for c in &trip.compensations {
        let verified =
            |c: &domain::compensation::Compensation| trip.effect(&c.effect).and_then(|e| e.verified_at);
        let later = trip
            .compensations
            .iter()
            .find(|o| o.planned_at == c.planned_at && o.rung > c.rung && verified(o) > verified(c));
        if let Some(other) = later {
            return Some(format!(
                "undo {} comes before {}, whose booking was verified later",
                c.id, other.id
            ));
        }
    }
    None
}

/// The first rule that a move from one recorded state to the next breaks.
pub fn broken_move(before: &Trip, after: &Trip) -> Option<String> {
    let was_ending = before.goal != Goal::Run;
    if was_ending && after.goal != before.goal {
        return Some("an ending trip runs again".to_owned());
    }
    let begun = after.delegations.len() > before.delegations.len();
    if begun && after.goal != Goal::Run {
        return Some("an attempt is begun though the trip is ending".to_owned());
    }
    moved_delegations(before, after)
        .or_else(|| moved_messages(before, after))
        .or_else(|| lost_rows(before, after))
}

fn moved_delegations(before: &Trip, after: &Trip) -> Option<String> {
    before.delegations.iter().find_map(|old| {
        let Some(new) = after.delegation(&old.id) else { return Some(format!("{} is gone", old.id)) };
        let ended = old.ended.is_some() && new.ended != old.ended;
        let closed = old.outcome.is_some() && (new.outcome != old.outcome || new.closed_at != old.closed_at);
        (ended || closed).then(|| format!("{}: an end has changed", old.id))
    })
}

fn moved_messages(before: &Trip, after: &Trip) -> Option<String> {
    before.outbox.iter().find_map(|old| {
        let Some(new) = after.out(&old.id) else { return Some(format!("message {} is gone", old.id)) };
        let settled = old.state == SendState::Landed && new.state != SendState::Landed
            || old.state == SendState::Refused && !new.state.is_settled();
        let number = new.number < old.number || new.number > old.number + 1;
        let unraised =
            new.state == SendState::Intent && old.state != SendState::Intent && new.number == old.number;
        let begun = new.number > old.number && old.kind == OutKind::Request && before.goal != Goal::Run;
        if begun {
            return Some(format!("request {} is sent again though the trip is ending", old.id));
        }
        if settled || number || unraised {
            return Some(format!("message {}: {} becomes {}", old.id, old.state.word(), new.state.word()));
        }
        let request_body = old.kind == OutKind::Reply && old.body != new.body;
        request_body.then(|| format!("message {} has another body", old.id))
    })
}

fn lost_rows(before: &Trip, after: &Trip) -> Option<String> {
    for old in &before.questions {
        let Some(new) = after.questions.iter().find(|q| q.id == old.id) else {
            return Some(format!("question {} is lost", old.id));
        };
        if old.state != QuestionState::Open && new.state != old.state {
            return Some(format!("question {}: {} becomes {}", old.id, old.state.word(), new.state.word()));
        }
    }
    if before.effects.iter().any(|e| after.effect(&e.id).is_none()) {
        return Some("an effect is lost".to_owned());
    }
    before.compensations.iter().find_map(|old| {
        let new = after.compensations.iter().find(|c| c.id == old.id);
        let same = new.is_some_and(|c| c.idempotency_key == old.idempotency_key && c.body == old.body);
        (!same).then(|| format!("undo {} is lost or has another key", old.id))
    })
}

/// What keeps a trip from its end, for the story's last line.
pub fn what_is_open(trip: &Trip) -> String {
    let outs = trip.outbox.iter().filter(|m| !m.state.is_settled());
    let outs: Vec<String> = outs.map(|m| format!("{:?} {} {}", m.kind, m.id, m.state.word())).collect();
    let open = trip.delegations.iter().filter(|d| d.is_open());
    let open: Vec<String> = open.map(|d| format!("{} {:?} {:?}", d.id, d.ended, d.remote_state)).collect();
    let effects: Vec<String> = trip
        .effects
        .iter()
        .map(|e| {
            let outcome = trip.delegation(&e.delegation).and_then(|d| d.outcome);
            format!("{} {} ({outcome:?}{})", e.id, e.verdict.word(), if e.ghost { ", ghost" } else { "" })
        })
        .collect();
    let undos: Vec<String> =
        trip.compensations.iter().map(|c| format!("{} {}", c.id, c.state.word())).collect();
    let steps: Vec<String> = trip.steps.iter().map(|s| format!("{:?}", s.standing)).collect();
    let unlooked = trip.delegations.iter().filter(|d| trip.request(&d.id).is_some_and(|m| m.number > 1));
    let resent: Vec<String> = unlooked.map(|d| format!("{} looked {:?}", d.id, d.doubt.looked_at)).collect();
    format!(
        "goal {:?}, steps {steps:?}, messages {outs:?}, open {open:?}, effects {effects:?}, undos {undos:?}, resent {resent:?}",
        trip.goal
    )
}
