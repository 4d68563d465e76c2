//! Builds the read models from a trip's rows: states derived, sums added up, and what is known
//! put in words, with who said it. Pure, so that every surface shows the same.

use crate::compensation::CompensationState;
use crate::delegation::{Delegation, EndedAs};
use crate::effect::{Effect, Verdict};
use crate::money::{Money, MoneyLine};
use crate::outbox::SendState;
use crate::question::{Question, QuestionKind, QuestionState};
use crate::trip::{Closed, Goal, Standing, Step, Trip};
use crate::view::{
    CancelPreview, ChoiceView, CompensationView, DelegationView, EffectView, EventView, QuestionView,
    StepState, StepView, TripState, TripSummary, TripView, UndoPreview,
};
use crate::world::World;

/// A trip's derived state (§11): where several fit, support first, then an answer.
pub fn trip_state(trip: &Trip) -> TripState {
    if let Some(closed) = trip.closed {
        return match closed {
            Closed::Done => TripState::Done,
            Closed::Cancelled => TripState::Cancelled,
            Closed::Failed => TripState::Failed,
        };
    }
    let stuck = trip.delegations.iter().any(|d| d.stuck.is_some())
        || trip.compensations.iter().any(|c| c.state == CompensationState::Stuck);
    if stuck {
        return TripState::NeedsSupport;
    }
    if trip.questions.iter().any(|q| q.state == QuestionState::Open) {
        return TripState::NeedsAnswer;
    }
    match (trip.goal, trip.delegations.iter().any(Delegation::is_open)) {
        (Goal::Run, _) => TripState::Running,
        (_, true) => TripState::Cancelling,
        (_, false) => TripState::Undoing,
    }
}

/// A step's derived state.
pub fn step_state(trip: &Trip, step: &Step) -> StepState {
    let undone = || {
        let attempts = || trip.attempts(&step.name);
        let working = attempts().next_back().is_some_and(Delegation::is_open);
        let is = |verdict| attempts().filter_map(|d| trip.wanted_effect(&d.id)).any(|e| e.verdict == verdict);
        !working && is(Verdict::Undone) && !is(Verdict::Present)
    };
    match step.standing {
        Standing::Skipped => StepState::Skipped,
        Standing::Failed => StepState::Failed,
        _ if undone() => StepState::Undone,
        Standing::Done => StepState::Done,
        Standing::Open => match trip.attempts(&step.name).next_back() {
            Some(d) if d.is_open() && d.ended.is_some() => StepState::Verifying,
            Some(d) if d.is_open() => StepState::Running,
            Some(_) if trip.is_ending() => StepState::Failed,
            Some(_) => StepState::Running,
            None if trip.is_ending() => StepState::Skipped,
            None => StepState::Waiting,
        },
    }
}

/// One line of a list.
pub fn summary(trip: &Trip, world: &World) -> TripSummary {
    let open = trip.questions.iter().filter(|q| q.state == QuestionState::Open).count();
    TripSummary {
        id: trip.id.0.clone(),
        title: trip.title.clone(),
        state: trip_state(trip),
        workflow: trip.workflow.name.clone(),
        created_at: trip.created_at.0,
        sentence: sentence(trip, world),
        open_questions: u32::try_from(open).unwrap_or(u32::MAX),
        start: trip.inputs.get("start").and_then(|v| v.as_str()).map(str::to_owned),
    }
}

/// The whole trip.
pub fn trip_view(trip: &Trip, world: &World, history: Vec<EventView>) -> TripView {
    TripView {
        id: trip.id.0.clone(),
        title: trip.title.clone(),
        state: trip_state(trip),
        sentence: sentence(trip, world),
        workflow: trip.workflow.title.clone(),
        created_at: trip.created_at.0,
        closed_at: trip.closed_at.map(|at| at.0),
        inputs: inputs(trip),
        steps: trip.steps.iter().map(|step| step_view(trip, world, step)).collect(),
        effects: trip.effects.iter().map(|effect| effect_view(trip, world, effect)).collect(),
        questions: questions(trip, world),
        money: money(trip),
        history,
        can_cancel: trip.goal == Goal::Run && trip.closed.is_none(),
        seq: trip.seq,
    }
}

/// A trip's questions, open ones first.
pub fn questions(trip: &Trip, world: &World) -> Vec<QuestionView> {
    let mut questions: Vec<&Question> = trip.questions.iter().collect();
    questions.sort_by_key(|q| (q.state != QuestionState::Open, q.asked_at));
    questions.into_iter().map(|q| question_view(trip, world, q)).collect()
}

fn inputs(trip: &Trip) -> Vec<(String, String)> {
    let given = trip.workflow.inputs.iter().filter_map(|input| {
        let value = trip.inputs.get(&input.name)?;
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        Some((input.label.clone(), text))
    });
    given.collect()
}

fn sentence(trip: &Trip, world: &World) -> String {
    let titles = |wanted: StepState| {
        let steps = trip.steps.iter().filter(|s| step_state(trip, s) == wanted);
        steps.map(|s| trip.step_title(&s.name)).collect::<Vec<_>>()
    };
    match trip_state(trip) {
        TripState::Done if !vanished(trip).is_empty() => {
            format!(
                "The records no longer show what was booked: {}. It is read again.",
                vanished(trip).join(", ")
            )
        }
        TripState::Done => {
            let skipped = titles(StepState::Skipped);
            let without =
                if skipped.is_empty() { String::new() } else { format!(" Without: {}.", skipped.join(", ")) };
            format!("Everything is arranged and confirmed by the booking records.{without}")
        }
        TripState::Cancelled if trip.effects.iter().any(|e| e.verdict == Verdict::Undone) => {
            "Cancelled. Everything that was booked is verified gone.".to_owned()
        }
        TripState::Cancelled => "Cancelled. Nothing had been booked.".to_owned(),
        TripState::Failed => "This could not be completed. Nothing booked is left.".to_owned(),
        TripState::NeedsSupport if trip.questions.iter().any(|q| q.state == QuestionState::Open) => {
            "Our support looks at one part of this; another part needs an answer from you.".to_owned()
        }
        TripState::NeedsSupport => "Our support looks at this. You need not do anything.".to_owned(),
        TripState::NeedsAnswer => {
            let asking = trip.questions.iter().find(|q| q.state == QuestionState::Open);
            let who = asking.map(|q| asked_by(trip, world, q)).unwrap_or_default();
            format!("{who} needs an answer from you.")
        }
        TripState::Cancelling => "Being cancelled: open requests are called off first.".to_owned(),
        TripState::Undoing => {
            let left = trip.compensations.iter().filter(|c| !c.state.is_finished()).count();
            format!(
                "Being undone: {left} of {} bookings still to be verified gone.",
                trip.compensations.len()
            )
        }
        TripState::Running => {
            let verifying = titles(StepState::Verifying);
            let running = titles(StepState::Running);
            if running.is_empty() && !verifying.is_empty() {
                return format!("Checking the booking records: {}.", verifying.join(", "));
            }
            if running.is_empty() {
                "About to begin.".to_owned()
            } else {
                format!("Under way: {}.", running.join(", "))
            }
        }
    }
}

/// Steps that were done and whose booking the newest read does not show.
fn vanished(trip: &Trip) -> Vec<String> {
    let gone = |step: &&Step| {
        let newest = trip.attempts(&step.name).next_back().and_then(|d| trip.wanted_effect(&d.id));
        step.standing == Standing::Done && newest.is_some_and(|e| e.verdict == Verdict::Absent)
    };
    trip.steps.iter().filter(gone).map(|step| trip.step_title(&step.name)).collect()
}

/// One step with its attempts.
pub(crate) fn step_view(trip: &Trip, world: &World, step: &Step) -> StepView {
    let definition = trip.definition(&step.name);
    StepView {
        name: step.name.0.clone(),
        title: trip.step_title(&step.name),
        skill: definition.map(|d| d.skill.clone()).unwrap_or_default(),
        state: step_state(trip, step),
        sentence: step_sentence(trip, world, step),
        attempt_budget: step.attempt_budget,
        delegations: trip.attempts(&step.name).map(|d| delegation_view(trip, world, d)).collect(),
    }
}

fn step_sentence(trip: &Trip, world: &World, step: &Step) -> String {
    let Some(d) = trip.attempts(&step.name).next_back() else {
        return match step_state(trip, step) {
            StepState::Skipped => "Not part of this trip.".to_owned(),
            StepState::Failed => "No agent could be found.".to_owned(),
            _ => "Not begun yet.".to_owned(),
        };
    };
    let agent = world.agent_name(&d.agent);
    if let Some(reason) = &d.stuck {
        return reason.sentence();
    }
    match step_state(trip, step) {
        StepState::Done => format!("Arranged by {agent}."),
        StepState::Undone => "Booked, and undone again.".to_owned(),
        StepState::Skipped => "Left out.".to_owned(),
        StepState::Failed => {
            let why = d.failure_summary.clone().unwrap_or_else(|| "no reason given".to_owned());
            format!("Could not be arranged. {agent}: {why}")
        }
        StepState::Verifying => {
            let ended = d.ended.map_or("something", EndedAs::word);
            format!("{agent} said {ended}. The booking records are being asked.")
        }
        StepState::Waiting => "Not begun yet.".to_owned(),
        StepState::Running => running_sentence(trip, d, &agent),
    }
}

fn running_sentence(trip: &Trip, d: &Delegation, agent: &str) -> String {
    if !d.is_open() {
        return "Looking for another agent.".to_owned();
    }
    let request = trip.request(&d.id).map(|m| m.state);
    match (request, &d.remote_state) {
        (Some(SendState::NotSent), _) => {
            format!("{agent} cannot be reached at the moment. It is tried again.")
        }
        (Some(SendState::InDoubt), _) => {
            format!(
                "It is not known whether {agent} got the request. It is looked for there before anything is sent again."
            )
        }
        (Some(SendState::Intent), _) => format!("Being handed to {agent}."),
        (_, Some(state)) if state.is_interrupted() => format!("{agent} waits for an answer."),
        (_, Some(state)) => format!("{agent} says {}.", state.word()),
        _ => format!("Handed to {agent}."),
    }
}

fn delegation_view(trip: &Trip, world: &World, d: &Delegation) -> DelegationView {
    let request = trip.request(&d.id);
    let stalled = d.reads.failed > 0;
    DelegationView {
        id: d.id.0.clone(),
        ordinal: d.ordinal,
        agent: world.agent_name(&d.agent),
        message_id: d.message_id.0.clone(),
        context_id: d.context_id.as_ref().map(|c| c.0.clone()),
        task_id: d.task_id.as_ref().map(|t| t.0.clone()),
        reference: d.reference.as_ref().map(|r| r.0.clone()),
        remote_state: d.remote_state.as_ref().map(|s| s.word().to_owned()),
        observed_at: d.observed_at.map(|at| at.0),
        send_state: request.map_or("not_sent", |m| m.state.word()).to_owned(),
        send_number: request.map_or(0, |m| m.number),
        outcome: d.outcome.and_then(|o| serde_json::to_value(o).ok()?.as_str().map(str::to_owned)),
        failure: d
            .failure_summary
            .clone()
            .or_else(|| d.reads.reason.clone().filter(|_| stalled && d.is_open())),
        stuck_reason: d.stuck.as_ref().map(crate::delegation::StuckReason::sentence),
        previous: d.previous.as_ref().map(|p| p.0.clone()),
    }
}

/// One booking.
pub(crate) fn effect_view(trip: &Trip, world: &World, e: &Effect) -> EffectView {
    let d = trip.delegation(&e.delegation);
    let compensation = trip.compensations.iter().find(|c| c.effect == e.id).map(|c| CompensationView {
        state: c.state.word().to_owned(),
        rung: c.rung,
        requested_at: c.requested_at.map(|at| at.0),
        accepted_at: c.accepted_at.map(|at| at.0),
        verified_at: c.verified_at.map(|at| at.0),
        reason: c.reason.clone(),
    });
    EffectView {
        id: e.id.0.clone(),
        step: d.map(|d| d.step.0.clone()).unwrap_or_default(),
        step_title: d.map(|d| trip.step_title(&d.step)).unwrap_or_default(),
        delegation: e.delegation.0.clone(),
        reference: e.reference.0.clone(),
        confirmation: e.confirmation.clone(),
        booking_system: e.booking_system.clone(),
        verdict: e.verdict.word().to_owned(),
        ghost: e.ghost,
        checked_at: e.checked_at.map(|at| at.0),
        price: e.price.clone(),
        fee: e.fee.clone(),
        sentence: twin_sentence(trip, world, d, e),
        compensation,
    }
}

/// Both words where they differ: what the agent said, what the records show (§12).
fn twin_sentence(trip: &Trip, world: &World, d: Option<&Delegation>, e: &Effect) -> String {
    let agent = d.map(|d| world.agent_name(&d.agent)).unwrap_or_default();
    let said = match d.and_then(|d| d.ended) {
        Some(ended) => format!("{agent} said {}.", ended.word()),
        None if d.and_then(|d| trip.request(&d.id)).is_some_and(|m| m.state != SendState::Landed) => {
            format!("{agent} is not known to have the request.")
        }
        None if d.is_some_and(|d| d.is_open()) => format!("{agent} has not ended its work."),
        None => String::new(),
    };
    let records = match e.verdict {
        Verdict::Expected => "The booking records were not asked yet.",
        Verdict::Present if e.ghost => "The booking records show this second booking, which nobody wanted.",
        Verdict::Present => "The booking records confirm it.",
        Verdict::Absent => "The booking records show no booking at the moment.",
        Verdict::SettledAbsent => "The booking records show no booking.",
        Verdict::Unknown => "The booking records cannot tell whether there is a booking.",
        Verdict::Undone => "The booking records show that it is gone.",
    };
    format!("{said} {records}").trim().to_owned()
}

fn asked_by(trip: &Trip, world: &World, q: &Question) -> String {
    match (&q.delegation, q.kind) {
        (_, QuestionKind::Decision) | (None, _) => "Holdfast".to_owned(),
        (Some(id), _) => trip.delegation(id).map(|d| world.agent_name(&d.agent)).unwrap_or_default(),
    }
}

fn question_view(trip: &Trip, world: &World, q: &Question) -> QuestionView {
    let reply = trip.outbox.iter().find(|m| m.question.as_ref() == Some(&q.id));
    let way = reply.map(|m| match m.state {
        SendState::Landed => "The answer reached the agent.".to_owned(),
        SendState::NotSent => "The answer is waiting to be sent.".to_owned(),
        SendState::Intent => "The answer is on its way.".to_owned(),
        SendState::InDoubt => "It is being checked whether the answer arrived.".to_owned(),
        SendState::Refused => {
            format!("The answer was not delivered: {}.", m.note.clone().unwrap_or_default())
        }
    });
    QuestionView {
        id: q.id.0.clone(),
        trip: trip.id.0.clone(),
        trip_title: trip.title.clone(),
        step: q.step.0.clone(),
        step_title: trip.step_title(&q.step),
        asked_by: asked_by(trip, world, q),
        kind: q.kind.word().to_owned(),
        text: q.text.clone(),
        link: q.link.clone(),
        choices: q
            .choices
            .iter()
            .map(|c| ChoiceView { value: c.value.clone(), label: c.label.clone() })
            .collect(),
        state: q.state.word().to_owned(),
        asked_at: q.asked_at.0,
        deadline: q.deadline.map(|at| at.0),
        answer: q.answer.clone(),
        answered_by: q.answered_by.clone(),
        answered_at: q.answered_at.map(|at| at.0),
        note: q.note.clone().or(way),
    }
}

/// Sums per currency: held, refunded, fees, in doubt (§8).
pub fn money(trip: &Trip) -> Vec<MoneyLine> {
    let mut lines: Vec<MoneyLine> = Vec::new();
    for effect in &trip.effects {
        let Some(price) = &effect.price else { continue };
        let place = lines.iter().position(|l| l.currency == price.currency).unwrap_or_else(|| {
            lines.push(MoneyLine::empty(&price.currency, price.digits));
            lines.len() - 1
        });
        let line = &mut lines[place];
        let fee = effect.fee.as_ref().filter(|f| f.currency == price.currency).map_or(0, |f| f.minor);
        match effect.verdict {
            Verdict::Present => line.held += price.minor,
            Verdict::Undone => {
                line.refunded += price.minor - fee;
                line.fees += fee;
            }
            Verdict::Unknown | Verdict::Absent => line.in_doubt += price.minor,
            Verdict::Expected | Verdict::SettledAbsent => {}
        }
    }
    lines.sort_by(|a, b| a.currency.cmp(&b.currency));
    lines
}

/// What a cancel would do now: undone in reverse of the order of verification.
pub fn cancel_preview(trip: &Trip) -> CancelPreview {
    let mut standing: Vec<&Effect> = trip.effects.iter().filter(|e| e.verdict == Verdict::Present).collect();
    standing.sort_by_key(|e| std::cmp::Reverse((e.verified_at, e.id.clone())));
    let undo = standing.into_iter().map(|e| {
        let refund = e.price.as_ref().map(|price| Money {
            minor: price.minor
                - e.fee.as_ref().filter(|f| f.currency == price.currency).map_or(0, |f| f.minor),
            ..price.clone()
        });
        UndoPreview {
            step_title: trip.delegation(&e.delegation).map(|d| trip.step_title(&d.step)).unwrap_or_default(),
            confirmation: e.confirmation.clone(),
            booking_system: e.booking_system.clone(),
            price: e.price.clone(),
            fee: e.fee.clone(),
            refund,
        }
    });
    let open = trip.delegations.iter().filter(|d| d.is_open()).map(|d| trip.step_title(&d.step));
    let refused = match (trip.closed, trip.goal) {
        (Some(_), _) => Some("This trip is closed.".to_owned()),
        (None, Goal::Run) => None,
        (None, _) => Some("This trip is being undone already.".to_owned()),
    };
    CancelPreview {
        trip: trip.id.0.clone(),
        title: trip.title.clone(),
        undo: undo.collect(),
        open_steps: open.collect(),
        refused,
    }
}
