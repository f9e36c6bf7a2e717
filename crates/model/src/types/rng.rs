//! Named random streams: one per (seed, run, component path), independent of construction order.
//!
//! Adding a station does not change another station's draws, because a stream is looked up by name instead of
//! by a counter. A seed identifies an experiment; runs are its repetitions.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::time::Duration;

/// The seed of a run. All random streams are derived from it.
#[derive(Clone, Copy, Debug)]
pub struct Seed {
    /// Seed chosen by the user.
    pub seed: u64,
    /// Number of the run (repetition).
    pub run: u64,
}

/// Random stream of one component.
#[derive(Clone, Debug)]
pub struct RandomStream(Xoshiro256PlusPlus);

impl Seed {
    /// The stream of the component at `path`, such as `"ap.wlan0.edca.be"`.
    pub fn stream(self, path: &str) -> RandomStream {
        // FNV-1a over the three parts: unlike the standard hashers, stable across releases and machines.
        let mut h = 0xcbf2_9ce4_8422_2325_u64;
        let parts = self.seed.to_le_bytes().into_iter().chain(self.run.to_le_bytes()).chain(path.bytes());
        for byte in parts {
            h = (h ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        // seed_from_u64 spreads the 64 bits over the state with SplitMix64.
        RandomStream(Xoshiro256PlusPlus::seed_from_u64(h))
    }
}

impl RandomStream {
    /// Uniform over all 64-bit values.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A new stream, seeded with the next value of this one.
    pub fn split(&mut self) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(self.bits()))
    }

    /// Uniform over all 32-bit values.
    #[inline]
    pub fn word(&mut self) -> u32 {
        (self.bits() >> 32) as u32
    }

    /// Uniform over `0..n`, by the multiply-shift method (bias below 2^-32 for any `n` used here).
    #[inline]
    pub fn below(&mut self, n: u32) -> u32 {
        ((u64::from((self.bits() >> 32) as u32) * u64::from(n)) >> 32) as u32
    }

    /// Uniform over [0, 1) with 53 bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// True with probability `p`. Draws nothing if the result is certain, so that an error-free radio costs
    /// nothing.
    #[inline]
    pub fn chance(&mut self, p: f64) -> bool {
        p > 0.0 && (p >= 1.0 || self.unit() < p)
    }

    /// Exponentially distributed with the given mean, by inversion (with `libm`, for equal results on every
    /// machine).
    pub fn exponential(&mut self, mean: Duration) -> Duration {
        Duration::from_nanos((-libm::log(1.0 - self.unit()) * mean.nanos() as f64) as u64)
    }

    /// Uniform over `[low, high]`.
    pub fn between(&mut self, low: Duration, high: Duration) -> Duration {
        let span = (high - low).nanos() as f64;
        low + Duration::from_nanos((self.unit() * span) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_named_and_pinned() {
        let s = Seed { seed: 1, run: 0 };
        let mut a = s.stream("ap.wlan0.edca.be");
        let mut again = s.stream("ap.wlan0.edca.be");
        let mut other = s.stream("ap.wlan0.edca.bk");
        let mut next_run = Seed { seed: 1, run: 1 }.stream("ap.wlan0.edca.be");
        let first = a.bits();
        assert_eq!(first, again.bits());
        assert_ne!(first, other.bits());
        assert_ne!(first, next_run.bits());
        // Pinned: a change here changes every published result.
        assert_eq!(first, 0xd690_58e2_1c8a_b991);
    }

    #[test]
    fn moments() {
        let mut s = Seed { seed: 7, run: 3 }.stream("test");
        let n = 100_000;
        let mean = (0..n).map(|_| s.exponential(Duration::from_micros(100)).nanos()).sum::<u64>() / n;
        assert!((99_000..101_000).contains(&mean), "{mean}");
        let mean16 = (0..n).map(|_| u64::from(s.below(16))).sum::<u64>() * 100 / n;
        assert!((740..760).contains(&mean16), "{mean16}");
    }
}
