//! What people write: each is one transaction that adds an event and wakes the trip, and none
//! needs the lease.

use crate::sim::{Act, Event, Sim};
use domain::ids::QuestionId;
use domain::question::{GO_ON, QuestionKind, QuestionState};
use domain::time::Millis;
use domain::trip::Goal;

impl Sim {
    pub fn person(&mut self, act: Act) {
        if self.rng.chance(self.plan.people.in_gap) && !self.shell.down {
            self.in_gap.push(act);
        } else {
            self.carry_out(act);
        }
        self.at(self.now, Event::Wakes);
    }

    /// The write itself.
    pub fn carry_out(&mut self, act: Act) {
        let written = match act {
            Act::Cancel => self.cancel(),
            Act::Answer(question) => self.answer_question(&question),
        };
        if written {
            self.journal.seq += 1;
            self.journal.wakes += 1;
            self.last_event = self.now;
            self.at(self.now, Event::Wakes);
        }
    }

    fn cancel(&mut self) -> bool {
        if self.journal.goal != Goal::Run || self.journal.closed_at.is_some() {
            return false;
        }
        self.note(|| "the traveller cancels".to_owned());
        self.journal.goal = Goal::Cancel;
        true
    }

    fn answer_question(&mut self, id: &QuestionId) -> bool {
        let (now, go_on) = (Millis(self.now), self.plan.people.go_on);
        let Some(question) = self.journal.questions.iter_mut().find(|q| &q.id == id) else {
            return false;
        };
        if question.state == QuestionState::Open {
            question.state = QuestionState::Answered;
            question.answer = Some(match question.kind {
                QuestionKind::Decision if go_on => GO_ON.to_owned(),
                QuestionKind::Decision => domain::question::CANCEL_TRIP.to_owned(),
                _ => "yes".to_owned(),
            });
            question.answered_by = Some("traveller@example.org".to_owned());
            question.answered_at = Some(now);
            self.note(|| format!("the traveller answers question {id}"));
        } else {
            self.note(|| format!("a second answer to question {id} comes too late"));
        }
        true
    }

    /// New questions will be answered, by those who answer at all.
    pub fn schedule_answers(&mut self, known: usize) {
        let new: Vec<QuestionId> = self.journal.questions.iter().skip(known).map(|q| q.id.clone()).collect();
        for question in new {
            self.counts.questions += 1;
            let Some((shortest, longest)) = self.plan.people.answers else { continue };
            let at = self.now + self.rng.between(shortest, longest);
            self.at(at, Event::Person(Act::Answer(question.clone())));
            if self.plan.people.twice {
                let again = at + self.rng.between(0, 2000);
                self.at(again, Event::Person(Act::Answer(question)));
            }
        }
    }
}
