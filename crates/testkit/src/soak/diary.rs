//! What a traveller of a soak asked for and was told: what must not be forgotten, however often
//! the server dies.

use serde::Serialize;
use std::collections::BTreeMap;

/// An answer given to a question, and what was answered to that.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Said {
    /// The answer.
    pub answer: String,
    /// The HTTP status that came in the end.
    pub status: u16,
}

/// What became of a cancel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Cancel {
    /// It was recorded: nothing else was ending the trip.
    Recorded,
    /// The trip was ending already, by an earlier cancel or a failure.
    AlreadyEnding,
    /// The trip was closed.
    Refused,
}

/// Everything about one trip that somebody outside the server knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Diary {
    /// Its number in this soak.
    pub number: u64,
    /// The steps asked for.
    pub steps: Vec<String>,
    /// The ids that came for its Idempotency-Key; a sound server gives one only.
    pub ids: Vec<String>,
    /// Questions seen, with the answers given to each.
    pub questions: BTreeMap<String, Vec<Said>>,
    /// Cancels asked for.
    pub cancels: Vec<Cancel>,
    /// The newest event number seen.
    pub seq: i64,
    /// Where the history once went back: from which number to which.
    pub went_back: Option<(i64, i64)>,
}

impl Diary {
    /// The trip's id, once there is one.
    pub fn id(&self) -> Option<&str> {
        self.ids.first().map(String::as_str)
    }

    /// Notes an id that came for the key.
    pub fn note_id(&mut self, id: &str) {
        if !self.ids.iter().any(|known| known == id) {
            self.ids.push(id.to_owned());
        }
    }

    /// Notes how far the history reaches; true where it has moved.
    pub fn note_seq(&mut self, seq: i64) -> bool {
        if seq < self.seq {
            self.went_back.get_or_insert((self.seq, seq));
        }
        let moved = seq != self.seq;
        self.seq = self.seq.max(seq);
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_that_goes_back_is_noted() {
        let mut diary = Diary::default();
        assert!(diary.note_seq(3) && diary.note_seq(5) && !diary.note_seq(5));
        assert_eq!(diary.went_back, None);
        diary.note_seq(4);
        assert_eq!((diary.went_back, diary.seq), (Some((5, 4)), 5));
    }
}
