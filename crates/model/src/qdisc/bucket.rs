//! Token buckets: filled with time, of which a packet takes the nanoseconds that it lasts at the rate.

use crate::types::Rate;

/// How long bytes take at a rate, by the kernel's reciprocal: a product and a shift, rounded down.
// linux: net/sched/sch_generic.c psched_ratecfg_precompute, include/net/sch_generic.h psched_l2t_ns (6.1) -
// the factor has 32 significant bits; the rate is in whole bytes a second.
#[derive(Clone, Copy, Debug)]
pub(super) struct BucketRate {
    mult: u64,
    shift: u32,
}

impl BucketRate {
    pub(super) fn new(rate: Rate) -> Self {
        let bytes = (rate.bps() / 8).max(1);
        let second = 1_000_000_000_u64;
        // Bits by which the factor falls short of 32, and those that 64 leave for the numerator.
        let mut shift = second.leading_zeros();
        while shift > 0 && (second << (shift - 1)) / bytes >= 1 << 31 {
            shift -= 1;
        }
        Self { mult: (second << shift) / bytes, shift }
    }

    #[inline]
    pub(super) fn nanos(self, bytes: u32) -> i64 {
        ((u64::from(bytes) * self.mult) >> self.shift) as i64
    }
}

/// Tokens of a rate, in nanoseconds. How deep a burst of bytes makes a bucket, and whether it may be in debt,
/// is up to whose it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    pace: BucketRate,
    pub(super) depth: i64,
    pub(super) tokens: i64,
}

impl Bucket {
    /// A full one.
    pub(super) fn new(pace: BucketRate, depth: i64) -> Self {
        Self { pace, depth, tokens: depth }
    }

    /// Changes rate and depth; the tokens stay.
    pub(super) fn change(&mut self, to: Self) {
        (self.pace, self.depth) = (to.pace, to.depth);
    }

    /// What is left once a packet has taken its tokens: what was gathered since the last one fills it up to
    /// its depth before.
    // linux: net/sched/sch_htb.c htb_accnt_tokens, net/sched/sch_tbf.c tbf_dequeue (6.1).
    #[inline]
    pub(super) fn left(&self, gathered: i64, bytes: u32) -> i64 {
        (self.tokens + gathered).min(self.depth) - self.pace.nanos(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reciprocals_as_the_kernel_has_them() {
        // The factor fills 32 bits as long as a second, shifted, fits 64.
        for (bps, mult, shift) in [
            (1, 4_000_000_000, 2),
            (8, 4_000_000_000, 2),
            (10_000_000, 3_355_443_200, 22),
            (100_000_000, 2_684_354_560, 25),
            (1_000_000_000, 2_147_483_648, 28),
            (1_000_000_000_000, 137_438_953, 34),
        ] {
            let pace = BucketRate::new(Rate::from_bps(bps));
            assert_eq!((pace.mult, pace.shift), (mult, shift), "{bps}");
        }
    }
}
