//! Faults by chance, for soaks: what is drawn follows from the seed, who is asked and how many
//! requests came before, and from nothing else.

use crate::agents::behaviour::{Behaviour, Kind, Quirk};
use crate::bookings::behaviour::{Cancel, Lookup, SystemBehaviour};
use crate::faults::{Fault, FaultChoice, sends, streams};
use crate::store::Store;
use anyhow::Result;
use serde::{Deserialize, Serialize};

const KEY: &str = "seed/chosen";

/// Chance: how much of it, and among what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seed {
    /// Where chance begins.
    pub seed: u64,
    /// How many of 1 requests to agents, and of their new tasks, meet something.
    pub rate: f64,
    /// How many of 1 lookups and cancels do; none where missing.
    #[serde(default)]
    pub systems_rate: f64,
    /// Among which faults of the wire; the survivable ones where missing.
    #[serde(default)]
    pub faults: Option<Vec<Fault>>,
    /// Among which behaviours; the survivable ones where missing.
    #[serde(default)]
    pub behaviours: Option<Vec<Kind>>,
    /// Among which quirks of tasks; the survivable ones where missing.
    #[serde(default)]
    pub quirks: Option<Vec<Quirk>>,
    /// Among which lookups; the survivable ones where missing.
    #[serde(default)]
    pub lookups: Option<Vec<Lookup>>,
    /// Among which cancels; the survivable ones where missing.
    #[serde(default)]
    pub cancels: Option<Vec<Cancel>>,
}

impl Seed {
    /// What is chosen at present, if anything.
    pub async fn current(store: &Store) -> Result<Option<Self>> {
        store.setting(KEY).await
    }

    /// Begins with request 0 of everybody.
    pub async fn choose(&self, store: &Store) -> Result<()> {
        Self::stop(store).await?;
        store.set(KEY, self).await
    }

    /// Nothing happens by chance any more.
    pub async fn stop(store: &Store) -> Result<()> {
        store.unset_all("seed/").await
    }

    /// What the next request to an agent meets.
    pub async fn fault(&self, store: &Store, agent: &str, method: &str) -> Result<Option<FaultChoice>> {
        let number = store.count(&format!("seed/{agent}/requests")).await?;
        Ok(self.fault_at(agent, number, method))
    }

    /// What an agent's `number`th request meets, if it is of this method.
    pub fn fault_at(&self, agent: &str, number: u64, method: &str) -> Option<FaultChoice> {
        let mut dice = Dice::new(self.seed, agent, number);
        if !dice.meets(self.rate) {
            return None;
        }
        let all = self.faults.as_deref().unwrap_or(Fault::ALL);
        let fits = |fault: &Fault| {
            (self.faults.is_some() || fault.is_seeded())
                && (!fault.is_of_list() || method == "ListTasks")
                && (!fault.is_of_stream() || streams(method))
                && (!matches!(fault, Fault::RefusesContext | Fault::SwapsContext) || sends(method))
                && (*fault != Fault::NotFound || method == "GetTask")
        };
        let fault = *dice.one_of(&all.iter().copied().filter(fits).collect::<Vec<_>>())?;
        let mut choice = FaultChoice::new(fault, method);
        choice.times = Some(1);
        match fault {
            Fault::StatusBefore | Fault::StatusAfter => {
                choice.status = dice.one_of(&[429, 500, 502, 503, 524]).copied();
                choice.retry_after = choice.status.filter(|status| [429, 503].contains(status)).map(|_| 1);
            }
            Fault::ErrorAfter => choice.status = dice.one_of(&[200, 500]).copied(),
            Fault::Hang | Fault::HangBefore => choice.ms = Some(dice.from(1_000, 2_500)),
            Fault::QuietStream | Fault::StreamStaysOpen => choice.ms = Some(dice.from(500, 3_000)),
            Fault::Drip => (choice.ms, choice.size) = (Some(5), Some(64)),
            Fault::Slow | Fault::SlowRequest | Fault::LandsLate | Fault::ListLag => {
                choice.ms = Some(dice.from(100, 1_500));
            }
            Fault::StreamEndsEarly => choice.size = Some(usize::from(dice.meets(0.7))),
            Fault::ClockSkew => choice.seconds = dice.one_of(&[-120, -5, 5, 120]).copied(),
            _ => {}
        }
        Some(choice)
    }

    /// How an agent treats its next new task, in place of what it usually does.
    pub async fn behaviour(
        &self,
        store: &Store,
        agent: &str,
        usual: &Behaviour,
    ) -> Result<Option<Behaviour>> {
        let number = store.count(&format!("seed/{agent}/tasks")).await?;
        Ok(self.behaviour_at(agent, number, usual))
    }

    /// How an agent treats its `number`th new task.
    pub fn behaviour_at(&self, agent: &str, number: u64, usual: &Behaviour) -> Option<Behaviour> {
        let mut dice = Dice::new(self.seed ^ 0x7461_736b, agent, number);
        if !dice.meets(self.rate) {
            return None;
        }
        let mut drawn = usual.clone();
        drawn.late_ms = Some(dice.from(100, 1_500));
        let kinds = menu(self.behaviours.as_deref(), Kind::ALL, Kind::is_seeded);
        if let Some(kind) = dice.one_of(&kinds) {
            drawn.behaviour = *kind;
        }
        if dice.meets(0.25) {
            let quirks = menu(self.quirks.as_deref(), Quirk::ALL, Quirk::is_seeded);
            drawn.also = dice.one_of(&quirks).copied().into_iter().collect();
        }
        Some(drawn)
    }

    /// What the next call of a booking system meets.
    pub async fn system(&self, store: &Store, system: &str) -> Result<Option<SystemBehaviour>> {
        let number = store.count(&format!("seed/{system}/calls")).await?;
        Ok(self.system_at(system, number))
    }

    /// What a booking system's `number`th call meets.
    pub fn system_at(&self, system: &str, number: u64) -> Option<SystemBehaviour> {
        let mut dice = Dice::new(self.seed ^ 0x626f_6f6b, system, number);
        if !dice.meets(self.systems_rate) {
            return None;
        }
        let lookups = menu(self.lookups.as_deref(), Lookup::ALL, Lookup::is_seeded);
        let cancels = menu(self.cancels.as_deref(), Cancel::ALL, Cancel::is_seeded);
        Some(SystemBehaviour {
            lookup: dice.one_of(&lookups).copied().unwrap_or_default(),
            cancel: dice.one_of(&cancels).copied().unwrap_or_default(),
            lag_ms: if dice.meets(0.3) { i64::try_from(dice.from(100, 1_500)).unwrap_or(0) } else { 0 },
            hang_ms: Some(dice.from(1_000, 2_500)),
            ..SystemBehaviour::default()
        })
    }
}

fn menu<T: Copy>(named: Option<&[T]>, all: &[T], seeded: fn(T) -> bool) -> Vec<T> {
    named.map_or_else(|| all.iter().copied().filter(|one| seeded(*one)).collect(), <[T]>::to_vec)
}

/// Numbers that look like chance (splitmix64) and follow from where they begin.
struct Dice(u64);

impl Dice {
    fn new(seed: u64, who: &str, number: u64) -> Self {
        let who = who.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut dice =
            Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ who ^ number.wrapping_mul(0xd134_2543_de82_ef95));
        dice.next();
        dice
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn meets(&mut self, rate: f64) -> bool {
        let millionths = u32::try_from(self.next() % 1_000_000).unwrap_or_default();
        f64::from(millionths) < rate * 1_000_000.0
    }

    fn from(&mut self, least: u64, most: u64) -> u64 {
        least + self.next() % (most - least + 1)
    }

    fn one_of<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        let place = self.next().checked_rem(all.len() as u64)?;
        all.get(usize::try_from(place).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seed(number: u64) -> Seed {
        serde_json::from_value(serde_json::json!({ "seed": number, "rate": 0.2, "systems_rate": 0.5 }))
            .unwrap()
    }

    fn drawn(seed: &Seed, agent: &str, method: &str) -> Vec<Option<FaultChoice>> {
        (0..2_000).map(|number| seed.fault_at(agent, number, method)).collect()
    }

    #[test]
    fn the_same_seed_draws_the_same_and_about_as_often_as_told() {
        let first = drawn(&seed(7), "citycar", "GetTask");
        assert_eq!(first, drawn(&seed(7), "citycar", "GetTask"));
        assert_ne!(first, drawn(&seed(8), "citycar", "GetTask"));
        assert_ne!(first, drawn(&seed(7), "metrocar", "GetTask"));
        let count = first.iter().flatten().count();
        assert!((300..500).contains(&count), "{count} of 2000");
    }

    #[test]
    fn every_survivable_fault_comes_up_where_it_belongs() {
        let mut met: Vec<Fault> = Vec::new();
        for method in ["SendMessage", "GetTask", "ListTasks", "SubscribeToTask"] {
            let faults = drawn(&seed(3), "a", method).into_iter().flatten().map(|choice| choice.fault);
            let faults: Vec<_> = faults.collect();
            assert!(faults.iter().all(|fault| !fault.is_of_list() || method == "ListTasks"), "{method}");
            assert!(faults.iter().all(|fault| !fault.is_of_stream() || streams(method)), "{method}");
            met.extend(faults);
        }
        for fault in Fault::ALL.iter().filter(|fault| fault.is_seeded()) {
            assert!(met.contains(fault), "{fault}");
        }
        assert!(met.iter().all(|fault| fault.is_seeded()));
    }

    #[test]
    fn what_is_named_is_all_that_comes() {
        let mut seed = seed(1);
        seed.faults = Some(vec![Fault::HugeBody]);
        seed.behaviours = Some(vec![Kind::Auth]);
        let all = drawn(&seed, "a", "GetTask");
        assert!(all.iter().flatten().all(|choice| choice.fault == Fault::HugeBody));
        let usual = Behaviour::new(Kind::Works, 5);
        let kinds = (0..500).filter_map(|number| seed.behaviour_at("a", number, &usual));
        assert!(kinds.map(|drawn| (drawn.behaviour, drawn.delay_ms())).all(|drawn| drawn == (Kind::Auth, 5)));
        assert!((0..100).any(|number| seed.system_at("a", number).is_some()));
    }
}
