//! Chance that can be played again: numbers that follow from a seed and from what they are for.

/// A row of numbers that looks like chance (splitmix64).
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// The row for one purpose: what is drawn for another one does not move it.
    pub fn new(seed: u64, purpose: &str) -> Self {
        let purpose = purpose.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut chance = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ purpose);
        chance.next();
        chance
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from `least` to `most`.
    pub fn from(&mut self, least: u64, most: u64) -> u64 {
        least + self.next() % (most - least + 1)
    }

    /// Whether something comes true that does so `percent` times of a hundred.
    pub fn is(&mut self, percent: u64) -> bool {
        self.from(0, 99) < percent
    }

    /// One of several; none of none.
    pub fn one_of<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        let place = self.next().checked_rem(all.len() as u64)?;
        all.get(usize::try_from(place).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_and_purpose_draw_the_same() {
        let draw = |seed, purpose| {
            let mut chance = Chance::new(seed, purpose);
            (0..20).map(|_| chance.from(0, 1_000)).collect::<Vec<_>>()
        };
        assert_eq!(draw(1, "kills"), draw(1, "kills"));
        assert_ne!(draw(1, "kills"), draw(2, "kills"));
        assert_ne!(draw(1, "kills"), draw(1, "trip 1"));
        assert!(draw(1, "kills").iter().all(|number| *number <= 1_000));
    }
}
