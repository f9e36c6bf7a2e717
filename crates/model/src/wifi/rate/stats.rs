//! Statistics of one rate: attempts and successes in the current interval, and their average.
//!
//! Probabilities are integers in units of 1/4096, as in Linux, so that comparisons give the same result on
//! every machine.

/// Probability 1, in units of 1/4096.
// linux: net/mac80211/rc80211_minstrel.h MINSTREL_SCALE (4.4) - twelve fractional bits.
pub const ONE: u32 = 1 << 12;

/// Converts `n` percent to units of 1/4096, rounded down.
pub const fn percent(n: u32) -> u32 {
    n * ONE / 100
}

/// Averaging of the success ratios of intervals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Average {
    /// EWMA: an interval has weight 1/4.
    // linux: net/mac80211/rc80211_minstrel.h EWMA_LEVEL (4.4) - keeps 96/128 of the old value.
    Weighted,
    /// A second-order filter, which tolerates a single bad interval.
    // linux: net/mac80211/rc80211_minstrel_ht.c minstrel_filter_avg_add (5.12).
    Filtered,
}

/// Weights of the interval, of the average and of the previous average, in units of 1/4096.
// linux: net/mac80211/rc80211_minstrel_ht.h MINSTREL_AVG_COEFF1 to 3 (5.12) - a low-pass filter with a period
// of 16 intervals.
const FILTER: [i32; 3] = [1_173, 5_273, -2_350];

/// Returns the weighted mean of an old and a new value.
// linux: net/mac80211/rc80211_minstrel.h minstrel_ewma (4.4) - rounds the difference towards zero.
pub const fn weighted(old: u32, new: u32) -> u32 {
    (old as i32 + 32 * (new as i32 - old as i32) / 128) as u32
}

/// Statistics of one rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RateStats {
    /// Average success probability in units of 1/4096.
    pub prob: u32,
    /// Average before the last interval, used by the filter only.
    before: u32,
    /// Attempts and successes in the current interval.
    pub current: Count,
    /// Attempts and successes in the last interval.
    pub last: Count,
    /// Attempts and successes in all completed intervals.
    pub total: Count,
    /// Intervals since the rate was last tried.
    pub skipped: u8,
}

/// Attempts and successes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Count {
    /// Frames sent, counted once per try.
    pub attempts: u64,
    /// Frames acknowledged.
    pub successes: u64,
}

impl RateStats {
    /// Adds attempts and successes.
    pub fn add(&mut self, attempts: u64, successes: u64) {
        self.current.attempts += attempts;
        self.current.successes += successes;
    }

    /// Returns true if more than 30 frames were sent in this interval and the acknowledged share is less than
    /// `share` (in units of 1/4096).
    // linux: net/mac80211/rc80211_minstrel_ht.c minstrel_ht_tx_status (4.4).
    pub fn has_collapsed(&self, share: u32) -> bool {
        let Count { attempts, successes } = self.current;
        attempts > 30 && successes * u64::from(ONE) / attempts < u64::from(share)
    }

    /// Ends an interval and updates the average.
    // linux: net/mac80211/rc80211_minstrel.c minstrel_calc_rate_stats (4.4), rc80211_minstrel_ht.c
    // minstrel_ht_calc_rate_stats (5.12) - the first interval with a try sets the average.
    pub fn end_interval(&mut self, average: Average) {
        let now = core::mem::take(&mut self.current);
        self.last = now;
        if now.attempts == 0 {
            self.skipped = self.skipped.saturating_add(1);
            return;
        }
        self.skipped = 0;
        let share = (now.successes * u64::from(ONE) / now.attempts) as u32;
        match average {
            Average::Weighted if self.total.attempts == 0 => self.prob = share,
            Average::Weighted => self.prob = weighted(self.prob, share),
            Average::Filtered => self.filter(share),
        }
        self.total.attempts += now.attempts;
        self.total.successes += now.successes;
    }

    fn filter(&mut self, share: u32) {
        // Zero means "never tried".
        let share = share.max(1);
        if self.prob == 0 {
            (self.prob, self.before) = (share, share);
            return;
        }
        let parts = [share, self.prob, self.before];
        let sum: i32 = FILTER.iter().zip(parts).map(|(&weight, part)| weight * part as i32).sum();
        self.before = self.prob;
        self.prob = (sum >> 12).clamp(1, ONE as i32) as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn course(average: Average, shares: &[u64]) -> Vec<u32> {
        let mut stats = RateStats::default();
        let step = |&percent: &u64| {
            stats.add(100, percent);
            stats.end_interval(average);
            stats.prob
        };
        shares.iter().map(step).collect()
    }

    #[test]
    fn averages_step_by_step() {
        let shares = [100, 100, 0, 0, 0, 100];
        // A quarter of the difference each time, rounded towards zero.
        assert_eq!(course(Average::Weighted, &shares), [4096, 4096, 3072, 2304, 1728, 2320]);
        // A second-order filter keeps falling, and overshoots; the result is capped at 1.0.
        assert_eq!(course(Average::Filtered, &shares), [4096, 4096, 2923, 1413, 142, 545]);
        assert_eq!(course(Average::Filtered, &[0, 100, 100, 100, 100]), [1, 1173, 2682, 3952, 4096]);
    }

    #[test]
    fn intervals_without_a_try_change_nothing() {
        let mut stats = RateStats::default();
        stats.add(4, 3);
        stats.end_interval(Average::Weighted);
        let prob = stats.prob;
        (0..300).for_each(|_| stats.end_interval(Average::Weighted));
        assert_eq!((stats.prob, stats.skipped, stats.last), (prob, 255, Count::default()));
        assert_eq!((prob, stats.total), (3072, Count { attempts: 4, successes: 3 }));
    }

    #[test]
    fn collapse_needs_thirty_frames_in_one_interval() {
        let mut stats = RateStats::default();
        stats.add(30, 0);
        assert!(!stats.has_collapsed(percent(20)));
        stats.add(1, 0);
        assert!(stats.has_collapsed(percent(20)));
        stats.add(9, 8);
        assert!(!stats.has_collapsed(percent(20)));
    }
}
