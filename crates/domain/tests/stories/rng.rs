//! Chance by seed: SplitMix64, with a stream of its own for every purpose, so that leaving one
//! thing out of a story changes as little of the rest as can be.

pub struct Rng(u64);

impl Rng {
    /// The stream for `purpose` in the story of `seed`.
    pub fn of(seed: u64, purpose: &str) -> Self {
        let mut mixed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D_4C95_7F2D;
        for byte in purpose.bytes() {
            mixed = (mixed ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
        let mut rng = Self(mixed);
        rng.next();
        rng
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From `low` to `high`, both included.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        let width = u64::try_from(high - low + 1).unwrap_or(1).max(1);
        low + i64::try_from(self.next() % width).unwrap_or(0)
    }

    pub fn chance(&mut self, percent: i64) -> bool {
        self.between(0, 99) < percent
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        let place = self.between(0, i64::try_from(from.len()).unwrap_or(1) - 1);
        &from[usize::try_from(place).unwrap_or(0)]
    }
}
