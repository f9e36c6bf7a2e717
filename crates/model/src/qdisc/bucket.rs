//! Token buckets. Tokens are nanoseconds: a packet takes its transmission time at the bucket's rate.

use crate::types::Rate;

/// Transmission time of bytes at a rate, by the kernel's reciprocal: a multiplication and a shift, rounded
/// down.
// linux: net/sched/sch_generic.c psched_ratecfg_precompute, include/net/sch_generic.h psched_l2t_ns (6.1) -
// the factor has 32 significant bits; the rate is in whole bytes per second.
#[derive(Clone, Copy, Debug)]
pub(super) struct BucketRate {
    mult: u64,
    shift: u32,
}

impl BucketRate {
    pub(super) fn new(rate: Rate) -> Self {
        let bytes = (rate.bps() / 8).max(1);
        let second = 1_000_000_000_u64;
        // Bits missing for a 32-bit factor, limited by the room that 64 bits leave for the numerator.
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

/// Tokens of a rate, in nanoseconds. The owner converts the burst into a depth, and decides whether the
/// bucket may be in debt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    pace: BucketRate,
    pub(super) depth: i64,
    pub(super) tokens: i64,
}

impl Bucket {
    pub(super) fn new(pace: BucketRate, depth: i64) -> Self {
        Self { pace, depth, tokens: depth }
    }

    pub(super) fn change(&mut self, to: Self) {
        (self.pace, self.depth) = (to.pace, to.depth);
    }

    /// Returns the tokens left after a packet. Tokens gathered since the last packet are added first, up to
    /// the depth.
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
    fn reciprocals_match_the_kernel() {
        // The factor has 32 bits as long as a second, shifted, fits in 64 bits.
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
