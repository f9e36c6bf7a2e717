//! Capture effect: a frame that is much stronger than all others at its receiver survives a collision.

use alloc::vec::Vec;
use libm::{pow, round};

/// Decides from the power levels at the receiver if a frame survives overlapping frames.
// paper: Namislo, Analysis of mobile radio slotted ALOHA networks (IEEE JSAC 2(4), 1984) - a frame is
// received if its power exceeds the sum of the others by a threshold.
// deviation: one threshold for all rates, and noise does not count as interference - noise causes frame
// errors separately.
#[derive(Clone, Debug)]
pub struct CaptureEffect {
    /// Minimum ratio to the sum of the others, in thousandths.
    least: u64,
    /// Power at the receiver in femtowatts, by sender and receiver.
    power: Vec<u64>,
    radios: usize,
}

impl CaptureEffect {
    /// Builds the table for `radios` radios. `threshold` is in thousandths of a dB. `level(a, b)` is the
    /// level of radio `a` at radio `b`, in thousandths of a dBm.
    pub fn new(threshold: u32, radios: usize, level: impl Fn(usize, usize) -> i32) -> Self {
        let ratio = |millidecibel: f64| pow(10.0, millidecibel / 10_000.0);
        let femtowatts = |n: usize| {
            let dbm = f64::from(level(n / radios, n % radios));
            // Nonzero, so that ratios are defined, and small enough that sums cannot overflow.
            (round(ratio(dbm) * 1e12) as u64).clamp(1, u64::MAX >> 16)
        };
        let power = (0..radios * radios).map(femtowatts).collect();
        Self { least: round(ratio(f64::from(threshold)) * 1e3) as u64, power, radios }
    }

    /// Returns the power of radio `from` at radio `to`, in femtowatts.
    #[inline]
    pub fn power(&self, from: usize, to: usize) -> u64 {
        self.power[from * self.radios + to]
    }

    /// Returns true if a frame of `power` survives overlapping frames with the total power `others`, both in
    /// femtowatts.
    #[inline]
    pub const fn survives(&self, power: u64, others: u64) -> bool {
        power as u128 * 1_000 >= others as u128 * self.least as u128
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn survival_by_level() {
        // Levels of four radios at a receiver: -50, -57, -60 and -60 dBm, with a threshold of 10 dB.
        let levels = [-50_000, -57_000, -60_000, -60_000];
        let capture = CaptureEffect::new(10_000, 4, |from, _| levels[from]);
        assert_eq!([0, 1, 2].map(|from| capture.power(from, 0)), [10_000_000, 1_995_262, 1_000_000]);
        for (own, others, survives) in [
            (0, &[][..], true),
            (0, &[2], true),
            (0, &[1], false),
            // Each of them is weak enough, both together are not.
            (0, &[2, 3], false),
            (2, &[0], false),
            (2, &[3], false),
        ] {
            let sum = others.iter().map(|&n| capture.power(n, 0)).sum();
            assert_eq!(capture.survives(capture.power(own, 0), sum), survives, "{own} {others:?}");
        }
        // Extreme levels are clamped: their order is preserved and sums do not overflow.
        let odd = CaptureEffect::new(10_000, 2, |from, _| [-200_000, 90_000][from]);
        assert_eq!([0, 1].map(|from| odd.power(from, 0)), [1, u64::MAX >> 16]);
        assert!(!odd.survives(1, 1) && odd.power(1, 0).checked_mul(1 << 16).is_some());
        // Without a threshold the stronger frame survives. Of equal frames both would.
        let equal = CaptureEffect::new(0, 4, |from, _| levels[from]);
        assert!(equal.survives(10, 10) && !equal.survives(9, 10));
    }
}
