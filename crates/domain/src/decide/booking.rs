//! Applies lookups: what the booking systems' own records say about the bookings under a
//! delegation's reference. A second booking there is a ghost, with an effect row of its own.

use super::{Pass, brief};
use crate::booking::{BookingRead, Record, RecordState};
use crate::effect::{Effect, Verdict};
use crate::ids::{DelegationId, EffectId};
use crate::time::Millis;
use crate::world::Fact;

type Reads = [(String, BookingRead)];

impl Pass<'_> {
    pub(super) fn apply_booking(&mut self, at: Millis, id: &DelegationId, reads: &Reads) {
        let Some(delegation) = self.trip.delegation(id).cloned() else { return };
        let present: Vec<(String, Record)> = reads
            .iter()
            .flat_map(|(system, read)| read.present().map(|record| (system.clone(), record.clone())))
            .collect();
        let by_reference = present.iter().any(|(_, r)| {
            r.reference.is_some()
                && r.reference.as_deref() == delegation.reference.as_ref().map(|r| r.as_str())
        });
        if by_reference {
            self.learn(&delegation.agent, Fact::CarriesReference, true);
        }
        let proves_absence = by_reference
            || self.world.agent(&delegation.agent).is_some_and(|agent| agent.is(Fact::CarriesReference));
        let effects: Vec<EffectId> =
            self.trip.effects.iter().filter(|e| &e.delegation == id).map(|e| e.id.clone()).collect();
        let unclaimed = self.unclaimed(id, &present);
        let mut spare = unclaimed.into_iter();
        for effect in &effects {
            self.apply_to_effect(at, effect, reads, &present, &mut spare, proves_absence);
        }
        for (system, record) in spare {
            self.take_ghost_booking(at, id, &system, &record);
        }
    }

    /// Records that no effect row of this delegation names yet.
    fn unclaimed(&self, id: &DelegationId, present: &[(String, Record)]) -> Vec<(String, Record)> {
        let named = |system: &str, record: &Record| {
            self.trip.effects.iter().any(|e| {
                &e.delegation == id
                    && e.booking_system.as_deref() == Some(system)
                    && e.confirmation.as_deref() == Some(record.confirmation.as_str())
            })
        };
        present.iter().filter(|(system, record)| !named(system, record)).cloned().collect()
    }

    fn apply_to_effect(
        &mut self,
        at: Millis,
        id: &EffectId,
        reads: &Reads,
        present: &[(String, Record)],
        spare: &mut dyn Iterator<Item = (String, Record)>,
        proves_absence: bool,
    ) {
        let ended = self.trip.closed_at.is_some();
        let under_undo = self.trip.compensations.iter().any(|c| &c.effect == id);
        let Some(effect) = self.trip.effects.iter_mut().find(|e| &e.id == id) else { return };
        let before = effect.verdict;
        let own = present.iter().find(|(system, record)| {
            effect.booking_system.as_deref() == Some(system.as_str())
                && effect.confirmation.as_deref() == Some(record.confirmation.as_str())
        });
        // The wanted effect takes the first record under its reference; also a new one when the
        // agent has replaced its own booking.
        let taken = own.cloned().or_else(|| if effect.ghost || under_undo { None } else { spare.next() });
        match taken {
            Some((system, record)) => {
                effect.booking_system = Some(system);
                effect.confirmation = Some(record.confirmation.clone());
                effect.price = record.price.clone().or(effect.price.take());
                effect.fee = record.fee.clone().or(effect.fee.take());
                effect.seen_present(at);
            }
            None => note_missing(effect, at, reads, proves_absence, ended),
        }
        let (after, effect) = (effect.verdict, effect.clone());
        if before != after {
            self.tell_verdict(&effect, before);
        }
    }

    fn tell_verdict(&mut self, effect: &Effect, before: Verdict) {
        let system = effect.booking_system.as_deref().unwrap_or("the booking systems");
        let (kind, what) = match effect.verdict {
            Verdict::Present => (
                "verified_present",
                format!(
                    "The records of {system} show booking {}",
                    brief(effect.confirmation.as_deref().unwrap_or("without a number"), 80)
                ),
            ),
            Verdict::Absent if before == Verdict::Present => {
                ("read_absent", format!("The records of {system} do not show the booking any more"))
            }
            Verdict::Absent => ("read_absent", "The booking records show no booking yet".to_owned()),
            Verdict::Unknown => {
                let why = effect.note.clone().unwrap_or_default();
                ("read_unknown", format!("The booking records cannot tell: {}", brief(&why, 200)))
            }
            Verdict::Expected | Verdict::SettledAbsent | Verdict::Undone => return,
        };
        self.tell(&effect.delegation, kind, &what, None);
    }

    fn take_ghost_booking(&mut self, at: Millis, id: &DelegationId, system: &str, record: &Record) {
        let Some(reference) = self.trip.delegation(id).and_then(|d| d.reference.clone()) else { return };
        let mut ghost = Effect::expected(EffectId(self.ids.next_id()), id.clone(), reference);
        ghost.ghost = true;
        ghost.booking_system = Some(system.to_owned());
        ghost.confirmation = Some(record.confirmation.clone());
        ghost.price = record.price.clone();
        ghost.fee = record.fee.clone();
        ghost.seen_present(at);
        self.trip.effects.push(ghost);
        let what = format!(
            "A second booking turned up under the same reference: {}",
            brief(&record.confirmation, 80)
        );
        self.tell(
            id,
            "ghost_booking",
            &what,
            Some("It is undone by its own confirmation, never by reference"),
        );
    }
}

/// Notes that no standing record is this effect's: absent, or unknown where that proves nothing.
/// After the trip's end a read that cannot tell changes no verdict.
fn note_missing(effect: &mut Effect, at: Millis, reads: &Reads, proves_absence: bool, ended: bool) {
    match missing(effect, reads, proves_absence) {
        Ok(()) => effect.seen_absent(at),
        Err(why) if ended => effect.note_unreadable(at, &why),
        Err(why) => effect.seen_unknown(at, &why),
    }
}

/// Whether the reads show for certain that the booking is not there; if not, why not.
fn missing(effect: &mut Effect, reads: &Reads, proves_absence: bool) -> Result<(), String> {
    let known = effect.booking_system.clone();
    let mut asked = 0;
    for (system, read) in reads.iter().filter(|(system, _)| known.as_ref().is_none_or(|k| k == system)) {
        asked += 1;
        if let BookingRead::Unknown(why) = read {
            return Err(format!("{system}: {why}"));
        }
        note_kept_fee(effect, read);
    }
    if asked == 0 {
        return Err("no booking system could be asked".to_owned());
    }
    if proves_absence || effect.confirmation.is_some() {
        return Ok(());
    }
    Err("no record is found, but this agent's bookings were never seen under their reference, so that proves nothing"
        .to_owned())
}

/// A record that says "cancelled" tells what was kept of the price.
fn note_kept_fee(effect: &mut Effect, read: &BookingRead) {
    let BookingRead::Found(records) = read else { return };
    let own = records.iter().find(|r| {
        r.state == RecordState::Absent && Some(r.confirmation.as_str()) == effect.confirmation.as_deref()
    });
    if let Some(record) = own {
        effect.price = record.price.clone().or(effect.price.take());
        effect.fee = record.fee.clone().or(effect.fee.take());
    }
}
