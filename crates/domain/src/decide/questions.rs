//! Questions (DESIGN.md §9): kept when the agent asks, withdrawn when it moved on, and our own
//! decisions about a step once a person has answered them.

use super::{Pass, brief};
use crate::delegation::{Delegation, StuckReason};
use crate::ids::{DelegationId, QuestionId};
use crate::outbox::{OutKind, SendState};
use crate::question::{CANCEL_TRIP, Choice, GO_ON, Question, QuestionKind, QuestionState};
use crate::task::{AgentMessage, Snapshot, TaskState};
use crate::trip::{Goal, Standing};
use serde_json::Value;

impl Pass<'_> {
    /// What the kept task's state asks for: a question kept, withdrawn, or an unknown state noted.
    pub(super) fn task_states(&mut self) {
        for id in self.delegation_ids() {
            let Some(delegation) = self.trip.delegation(&id).cloned() else { continue };
            let Some(snapshot) = self.kept_snapshot(&delegation) else { continue };
            if !delegation.is_open() {
                continue;
            }
            match &snapshot.state {
                TaskState::InputRequired if delegation.ended.is_none() => {
                    self.keep_question(&delegation, &snapshot, QuestionKind::Input);
                }
                TaskState::AuthRequired if delegation.ended.is_none() => {
                    self.keep_question(&delegation, &snapshot, QuestionKind::Auth);
                }
                TaskState::Unknown(word) => self.note_unknown_state(&delegation, word),
                _ => self.leave_questions(&id),
            }
        }
    }

    pub(super) fn kept_snapshot(&self, delegation: &Delegation) -> Option<Snapshot> {
        let task = delegation.task_id.as_ref()?;
        let copy =
            self.trip.tasks.iter().find(|t| t.delegation == delegation.id && &t.snapshot.task_id == task)?;
        Some(copy.snapshot.clone())
    }

    fn note_unknown_state(&mut self, delegation: &Delegation, word: &str) {
        let since = delegation.changed_at.unwrap_or(delegation.created_at);
        if self.now >= since + self.world.waits.unknown_state {
            self.stick(self.now, &delegation.id, StuckReason::UnknownState(brief(word, 80)));
        }
    }

    fn keep_question(&mut self, delegation: &Delegation, snapshot: &Snapshot, kind: QuestionKind) {
        let asking = Asking::of(snapshot);
        let same = |q: &Question| {
            q.delegation.as_ref() == Some(&delegation.id) && asking.is_same_as(&Asking::read(&q.key))
        };
        if let Some(place) = self.trip.questions.iter().rposition(same) {
            let known = &self.trip.questions[place];
            if known.left_at.is_none() {
                return;
            }
            // None is asked again once it is answered (§10, rule 7).
            if known.state == QuestionState::Answered && asking.has_id() {
                self.ask_still(delegation, place);
                return;
            }
        }
        let key = asking.key();
        // The task has moved on from whatever was asked before.
        self.leave_questions(&delegation.id);
        if self.trip.is_ending() || delegation.called_off {
            return;
        }
        let words = snapshot.message.clone();
        let text = words.as_ref().map(|m| m.text.trim().to_owned()).filter(|t| !t.is_empty());
        let question = Question {
            id: QuestionId(self.ids.next_id()),
            step: delegation.step.clone(),
            delegation: Some(delegation.id.clone()),
            kind,
            key,
            text: text.unwrap_or_else(|| "The agent needs an answer, and gave no text.".to_owned()),
            link: words.as_ref().and_then(link_in),
            choices: words.as_ref().map(choices_in).unwrap_or_default(),
            message: serde_json::to_value(&words).unwrap_or(Value::Null),
            state: QuestionState::Open,
            asked_at: self.now,
            deadline: None,
            answer: None,
            answered_by: None,
            answered_at: None,
            left_at: None,
            note: None,
        };
        let what = format!("Asks: {}", brief(&question.text, 300));
        self.trip.questions.push(question);
        self.agent_said(&delegation.id, "question_opened", &what);
    }

    /// An answered question read again after it seemed to be over: it never was.
    fn ask_still(&mut self, delegation: &Delegation, place: usize) {
        self.leave_questions(&delegation.id);
        self.trip.questions[place].left_at = None;
    }

    /// The task is no longer at a question: what is open is not needed any more.
    fn leave_questions(&mut self, id: &DelegationId) {
        let now = self.now;
        let mut withdrawn = false;
        for question in self.trip.questions.iter_mut().filter(|q| q.delegation.as_ref() == Some(id)) {
            if question.left_at.is_none() {
                question.left_at = Some(now);
                if question.state == QuestionState::Open {
                    question.state = QuestionState::Withdrawn;
                    question.note =
                        Some("No longer needed: the agent went on without an answer from here.".to_owned());
                    withdrawn = true;
                }
            }
        }
        if withdrawn {
            self.tell(id, "question_withdrawn", "The question is no longer needed: the agent went on", None);
        }
    }

    /// Withdraws what is open, because `why`.
    pub(super) fn withdraw_questions(&mut self, id: &DelegationId, why: &str) {
        let now = self.now;
        let mut withdrawn = false;
        for question in self.trip.questions.iter_mut().filter(|q| q.delegation.as_ref() == Some(id)) {
            question.left_at.get_or_insert(now);
            if question.state == QuestionState::Open {
                question.state = QuestionState::Withdrawn;
                question.note = Some(format!("Withdrawn: {why}."));
                withdrawn = true;
            }
        }
        if withdrawn {
            self.tell(id, "question_withdrawn", &format!("The question is withdrawn: {why}"), None);
        }
    }

    /// Acts on answered decisions of our own, and withdraws what an ending trip does not need.
    pub(super) fn questions(&mut self) {
        for place in 0..self.trip.questions.len() {
            let question = self.trip.questions[place].clone();
            if question.kind == QuestionKind::Decision && question.state == QuestionState::Answered {
                self.follow_decision(&question);
            }
        }
        if self.trip.is_ending() {
            self.withdraw_for_ending();
        }
    }

    fn follow_decision(&mut self, question: &Question) {
        let Some(step) = self.trip.steps.iter_mut().find(|s| s.name == question.step) else { return };
        if step.standing != Standing::Failed {
            return;
        }
        match question.answer.as_deref() {
            Some(GO_ON) => {
                step.standing = Standing::Skipped;
                self.tell_step(
                    Some(&question.step),
                    "step_skipped",
                    "The trip goes on without this step",
                    Some("The traveller decided"),
                );
            }
            Some(CANCEL_TRIP) if self.trip.goal == Goal::Run => {
                self.trip.goal = Goal::Cancel;
                self.tell_step(
                    None,
                    "goal_cancel",
                    "The trip is being cancelled",
                    Some("The traveller decided"),
                );
            }
            _ => {}
        }
    }

    pub(super) fn withdraw_for_ending(&mut self) {
        let now = self.now;
        let mut steps = Vec::new();
        for question in self.trip.questions.iter_mut().filter(|q| q.state == QuestionState::Open) {
            question.state = QuestionState::Withdrawn;
            question.left_at.get_or_insert(now);
            question.note = Some("Withdrawn: the trip is ending.".to_owned());
            steps.push(question.step.clone());
        }
        for step in steps {
            self.tell_step(
                Some(&step),
                "question_withdrawn",
                "The question is withdrawn: the trip is ending",
                None,
            );
        }
    }

    /// Asks the traveller what to do about a step that has failed for good.
    pub(super) fn ask_decision(&mut self, step: &crate::ids::StepName) {
        let title = self.trip.step_title(step);
        let text = format!(
            "{title} could not be arranged, and no further attempt is allowed. Should the trip go on without it, \
             or be cancelled and undone?"
        );
        let choice = |value: &str, label: &str| Choice { value: value.to_owned(), label: label.to_owned() };
        self.trip.questions.push(Question {
            id: QuestionId(self.ids.next_id()),
            step: step.clone(),
            delegation: None,
            kind: QuestionKind::Decision,
            key: format!("decision|{step}"),
            text,
            link: None,
            choices: vec![choice(GO_ON, "Go on without it"), choice(CANCEL_TRIP, "Cancel the trip")],
            message: Value::Null,
            state: QuestionState::Open,
            asked_at: self.now,
            deadline: None,
            answer: None,
            answered_by: None,
            answered_at: None,
            left_at: None,
            note: None,
        });
        self.tell_step(Some(step), "question_opened", "The traveller is asked what to do", None);
    }

    /// The question that a reply answers still stands on the kept task.
    pub(super) fn still_asked(&self, delegation: &Delegation, question: &Question) -> bool {
        let asks =
            |s: Snapshot| s.state.is_interrupted() && Asking::of(&s).is_same_as(&Asking::read(&question.key));
        question.left_at.is_none() && self.kept_snapshot(delegation).is_some_and(asks)
    }

    /// The task has gone on from the question. A state that is not known proves nothing.
    pub(super) fn has_moved_on(&self, delegation: &Delegation, question: &Question) -> bool {
        let known = self.kept_snapshot(delegation).is_some_and(|s| !matches!(s.state, TaskState::Unknown(_)));
        known && !self.still_asked(delegation, question)
    }

    /// Whether a message of ours to this task is under way or in doubt: then nothing else is sent.
    pub(super) fn is_busy(&self, id: &DelegationId) -> bool {
        self.trip.outbox.iter().any(|m| {
            &m.delegation == id
                && m.kind != OutKind::Cancel
                && matches!(m.state, SendState::Intent | SendState::InDoubt)
        })
    }
}

/// What makes it the same question when it is read again: the protocol gives no correlation id.
#[derive(serde::Serialize, serde::Deserialize, Default)]
pub(super) struct Asking {
    task: String,
    message_id: String,
    timestamp: Option<i64>,
    text: String,
}

impl Asking {
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let message = snapshot.message.as_ref();
        Self {
            task: snapshot.task_id.0.clone(),
            message_id: message
                .and_then(|m| m.message_id.as_ref())
                .map(|id| id.0.clone())
                .unwrap_or_default(),
            timestamp: snapshot.timestamp.map(|t| t.0),
            text: brief(message.map(|m| m.text.as_str()).unwrap_or_default(), 500),
        }
    }

    /// As kept with the question.
    pub(super) fn read(key: &str) -> Self {
        serde_json::from_str(key).unwrap_or_default()
    }

    fn key(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    fn has_id(&self) -> bool {
        !self.message_id.is_empty()
    }

    /// The ids decide where both have one, else the words; a timestamp that is missing in one read
    /// makes no other question.
    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        let words = if self.has_id() && other.has_id() {
            self.message_id == other.message_id
        } else {
            self.text == other.text
        };
        let times = self.timestamp.zip(other.timestamp).is_none_or(|(one, two)| one == two);
        self.task == other.task && words && times
    }

    /// The same, with timestamps present and equal: what a reply is sent again on (§5).
    pub(super) fn is_certainly(&self, other: &Self) -> bool {
        self.is_same_as(other) && self.timestamp.is_some() && self.timestamp == other.timestamp
    }
}

/// Choices that the agent sent in a data part: `{"choices":[{"value","label"}]}` or plain texts.
fn choices_in(message: &AgentMessage) -> Vec<Choice> {
    let lists = message.data.iter().filter_map(|d| d.get("choices")?.as_array());
    let choices = lists.flatten().filter_map(|choice| {
        let value = choice.get("value").and_then(Value::as_str).or_else(|| choice.as_str())?;
        let label = choice.get("label").and_then(Value::as_str).unwrap_or(value);
        Some(Choice { value: brief(value, 200), label: brief(label, 200) })
    });
    choices.take(20).collect()
}

/// The first http(s) link in the data parts or the text.
fn link_in(message: &AgentMessage) -> Option<String> {
    let in_data =
        message.data.iter().find_map(|d| ["url", "link", "auth_url"].iter().find_map(|k| d.get(k)?.as_str()));
    let in_text = message.text.split_whitespace().find(|word| is_web_link(word));
    in_data.filter(|link| is_web_link(link)).or(in_text).map(|link| brief(link, 2000))
}

fn is_web_link(text: &str) -> bool {
    text.starts_with("https://") || text.starts_with("http://")
}
