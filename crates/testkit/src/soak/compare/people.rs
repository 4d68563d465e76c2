//! What people were told stays true: no trip lost or doubled, no answer lost or overruled, no
//! cancel forgotten, no history that goes back (rules 7 and 8).

use super::Violation;
use crate::soak::diary::{Cancel, Diary};
use crate::soak::facts::{Facts, QuestionRow};
use domain::view::{TripState, TripView};
use std::collections::{HashMap, HashSet};

pub(super) fn check(facts: &Facts) -> Vec<Violation> {
    let views: HashMap<&str, &TripView> = facts.trips.iter().map(|trip| (trip.id.as_str(), trip)).collect();
    let mut found = Vec::new();
    for diary in &facts.diaries {
        if diary.ids.len() > 1 {
            let what = format!("one Idempotency-Key made {} trips", diary.ids.len());
            found.push(Violation::new("trip doubled", diary.id(), what).row(diary));
        }
        let Some(view) = diary.id().and_then(|id| views.get(id)) else {
            found.push(Violation::new("trip lost", diary.id(), "its traveller has its id").row(diary));
            continue;
        };
        found.extend(kept(diary, view));
    }
    let known: HashSet<&str> =
        facts.diaries.iter().flat_map(|diary| &diary.ids).map(String::as_str).collect();
    let strange = facts.journal.trips.iter().filter(|id| !known.contains(id.as_str()));
    found.extend(strange.map(|id| Violation::new("trip doubled", Some(id), "nobody was told of it")));
    found.extend(asked_again(facts));
    found
}

/// A question that was answered is not asked again: the same message of the same task, read again,
/// is no new question.
fn asked_again(facts: &Facts) -> Vec<Violation> {
    let mut answered: HashMap<(&str, &str), &QuestionRow> = HashMap::new();
    for question in facts.journal.questions.iter().filter(|question| question.answered_at.is_some()) {
        let first = answered.entry((&question.delegation, &question.key)).or_insert(question);
        if question.asked_at < first.asked_at {
            *first = question;
        }
    }
    let again = |question: &&QuestionRow| {
        let first = answered.get(&(question.delegation.as_str(), question.key.as_str()))?;
        let is_later = question.id != first.id && Some(question.asked_at) >= first.answered_at;
        is_later.then(|| {
            let what = format!("question {} was answered and asked again", first.id);
            Violation::new("asked again", Some(&question.trip), what).row(first).row(question)
        })
    };
    facts.journal.questions.iter().filter_map(|question| again(&question)).collect()
}

fn kept(diary: &Diary, view: &TripView) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut add = |check, what: String| {
        found.push(Violation::new(check, Some(&view.id), what).row(diary).row(view));
    };
    if let Some((from, to)) = diary.went_back {
        add("history went back", format!("from event {from} to {to}"));
    }
    if view.seq < diary.seq {
        add("history went back", format!("from event {} to {} at the end", diary.seq, view.seq));
    }
    if diary.cancels.contains(&Cancel::Recorded) && view.state == TripState::Done {
        add("cancel forgotten", "a recorded cancel, and the trip is done".to_owned());
    }
    for (id, said) in &diary.questions {
        let Some(question) = view.questions.iter().find(|question| &question.id == id) else {
            add("question lost", format!("question {id} is not known any more"));
            continue;
        };
        let taken: Vec<_> = said.iter().filter(|said| (200..300).contains(&said.status)).collect();
        let Some(first) = taken.first() else { continue };
        if taken.len() > 1 {
            add("answer taken twice", format!("question {id} took {} answers", taken.len()));
        }
        let shown = question.answer.as_deref();
        if question.state != "answered" || shown != Some(&first.answer) {
            add("answer lost", format!("question {id} is {} with {shown:?}", question.state));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::soak::compare::sample::{facts, only};

    #[test]
    fn a_lost_or_doubled_trip_is_found() {
        let mut lost = facts();
        lost.trips.clear();
        assert_eq!(only(&check(&lost)), "trip lost");
        let mut doubled = facts();
        doubled.diaries[0].ids.push("another".to_owned());
        assert_eq!(only(&check(&doubled)), "trip doubled");
        let mut unknown = facts();
        unknown.journal.trips.push("another".to_owned());
        assert_eq!(only(&check(&unknown)), "trip doubled");
    }

    #[test]
    fn a_history_that_goes_back_is_found() {
        let mut meanwhile = facts();
        meanwhile.diaries[0].went_back = Some((9, 7));
        assert_eq!(only(&check(&meanwhile)), "history went back");
        let mut at_the_end = facts();
        at_the_end.diaries[0].seq = at_the_end.trips[0].seq + 1;
        assert_eq!(only(&check(&at_the_end)), "history went back");
    }

    #[test]
    fn a_forgotten_cancel_is_found() {
        let mut facts = facts();
        facts.diaries[0].cancels = vec![Cancel::AlreadyEnding, Cancel::Refused];
        assert_eq!(check(&facts), []);
        facts.diaries[0].cancels.push(Cancel::Recorded);
        assert_eq!(only(&check(&facts)), "cancel forgotten");
    }

    #[test]
    fn a_question_that_is_asked_again_is_found() {
        let mut facts = facts();
        let mut again = facts.journal.questions[0].clone();
        (again.id, again.asked_at, again.answered_at) = ("q-2".to_owned(), 3, None);
        facts.journal.questions.push(again);
        assert_eq!(only(&check(&facts)), "asked again");
        facts.journal.questions[0].answered_at = None;
        assert_eq!(check(&facts), [], "withdrawn before anybody answered");
        facts.journal.questions[0].answered_at = Some(2);
        facts.journal.questions[1].key = "t-1|a-2|2|One or two?".to_owned();
        assert_eq!(check(&facts), [], "another message of the agent");
    }

    #[test]
    fn lost_and_doubled_answers_are_found() {
        let mut lost = facts();
        lost.trips[0].questions.clear();
        assert_eq!(only(&check(&lost)), "question lost");
        let mut other = facts();
        other.trips[0].questions[0].answer = Some("another".to_owned());
        assert_eq!(only(&check(&other)), "answer lost");
        let mut open = facts();
        open.trips[0].questions[0].state = "open".to_owned();
        assert_eq!(only(&check(&open)), "answer lost");
        let mut twice = facts();
        let said = twice.diaries[0].questions.values_mut().next().expect("a question");
        let again = said[0].clone();
        said.push(again);
        assert_eq!(only(&check(&twice)), "answer taken twice");
    }
}
