//! The booking systems: what truly stands, what their lagging replicas show, and their cancels.

use crate::plan::{CancelFault, SystemPlan};
use crate::rng::Rng;
use domain::booking::{BookingRead, CancelAnswer, Record, RecordState};
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
pub struct Booking {
    pub system: usize,
    pub confirmation: String,
    pub reference: String,
    /// The message that it was made for.
    pub message_id: String,
    /// The agent that made it.
    pub agent: usize,
    pub made_at: i64,
    pub gone_at: Option<i64>,
    /// A read of ours has shown it.
    pub shown: bool,
}

pub struct Ledger {
    pub plans: Vec<SystemPlan>,
    pub bookings: Vec<Booking>,
    /// Calls of each key that were carried out, with what was said.
    keys: BTreeMap<String, CancelAnswer>,
    calls: Vec<usize>,
}

/// What becomes of one cancel call.
pub enum Called {
    Answer(CancelAnswer),
    /// Nothing comes back.
    Silence,
}

pub fn system_name(place: usize) -> String {
    format!("system-{place}")
}

impl Ledger {
    pub fn new(plans: &[SystemPlan]) -> Self {
        Self {
            plans: plans.to_vec(),
            bookings: Vec::new(),
            keys: BTreeMap::new(),
            calls: vec![0; plans.len()],
        }
    }

    pub fn book(
        &mut self,
        now: i64,
        system: usize,
        reference: &str,
        message_id: &str,
        agent: usize,
    ) -> String {
        let confirmation = format!("B{}", self.bookings.len() + 1);
        self.bookings.push(Booking {
            system,
            confirmation: confirmation.clone(),
            reference: reference.to_owned(),
            message_id: message_id.to_owned(),
            agent,
            made_at: now,
            gone_at: None,
            shown: false,
        });
        confirmation
    }

    /// The agent undoes what it booked for a message.
    pub fn unbook(&mut self, now: i64, message_id: &str) {
        for booking in self.bookings.iter_mut().filter(|b| b.message_id == message_id) {
            booking.gone_at.get_or_insert(now);
        }
    }

    /// What one replica says of a reference.
    pub fn lookup(&mut self, now: i64, system: usize, reference: &str, rng: &mut Rng) -> BookingRead {
        let plan = &self.plans[system];
        if now < plan.unknown_until && rng.chance(plan.unknown) {
            return BookingRead::Unknown("503".to_owned());
        }
        let as_of = now - rng.between(plan.lag.0, plan.lag.1);
        let mut records = Vec::new();
        for booking in self.bookings.iter_mut() {
            if booking.system != system || booking.reference != reference || booking.made_at > as_of {
                continue;
            }
            let gone = booking.gone_at.is_some_and(|at| at <= as_of);
            booking.shown |= !gone;
            records.push(Record {
                confirmation: booking.confirmation.clone(),
                reference: Some(reference.to_owned()),
                state: if gone { RecordState::Absent } else { RecordState::Present },
                price: None,
                fee: None,
            });
        }
        if records.is_empty() { BookingRead::Absent } else { BookingRead::Found(records) }
    }

    pub fn next_fault(&mut self, system: usize) -> CancelFault {
        let call = self.calls[system];
        self.calls[system] += 1;
        self.plans[system].cancels.get(call).copied().unwrap_or(CancelFault::None)
    }

    /// One cancel call that has arrived.
    pub fn cancel(
        &mut self,
        now: i64,
        system: usize,
        confirmation: &str,
        key: &str,
        fault: CancelFault,
    ) -> Called {
        if let Some(answer) = self.keys.get(key) {
            return Called::Answer(answer.clone());
        }
        let accepted = CancelAnswer::Accepted("{}".to_owned());
        match fault {
            CancelFault::LostCall | CancelFault::NotSent => return Called::Silence,
            CancelFault::Conflict => {
                return Called::Answer(CancelAnswer::Refused { status: 409, text: "try again".to_owned() });
            }
            CancelFault::AcceptsAndIgnores => {
                self.keys.insert(key.to_owned(), accepted.clone());
                return Called::Answer(accepted);
            }
            CancelFault::None | CancelFault::LostAnswer => {}
        }
        let own = |b: &&mut Booking| b.system == system && b.confirmation == confirmation;
        let Some(booking) = self.bookings.iter_mut().find(own) else {
            return Called::Answer(CancelAnswer::Refused { status: 404, text: "none such".to_owned() });
        };
        if booking.gone_at.is_some() {
            return Called::Answer(CancelAnswer::Refused { status: 410, text: "gone".to_owned() });
        }
        booking.gone_at = Some(now);
        self.keys.insert(key.to_owned(), accepted.clone());
        if fault == CancelFault::LostAnswer { Called::Silence } else { Called::Answer(accepted) }
    }
}
