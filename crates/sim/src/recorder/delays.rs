//! Delay histogram with bounded memory. Quantiles are accurate to 1 %.

use stillair_model::types::Duration;

/// Log2 of the number of buckets per octave. A bucket is 1/64 of its octave's start wide, so its middle is
/// off by at most 1/128.
// paper: Tene, "HdrHistogram" (2012) - octaves of equally wide buckets.
const FINE: u32 = 6;
/// Buckets allocated at a time.
const OCTAVE: u32 = 1 << FINE;

/// Histogram of delays. Its memory covers the octaves between the shortest and the longest delay recorded, a
/// few hundred numbers.
#[derive(Clone, Debug, Default)]
pub struct Delays {
    /// Bucket of the first element of `counts`.
    first: u32,
    counts: Vec<u64>,
}

impl Delays {
    /// Records one delay.
    #[inline]
    pub fn add(&mut self, delay: Duration) {
        let at = bucket(delay.nanos());
        match self.counts.get_mut(at.wrapping_sub(self.first) as usize) {
            Some(count) => *count += 1,
            None => self.reach(at),
        }
    }

    /// Records `many` equal delays.
    pub fn add_many(&mut self, delay: Duration, many: u64) {
        if many > 0 {
            self.add(delay);
            let at = bucket(delay.nanos()) - self.first;
            self.counts[at as usize] += many - 1;
        }
    }

    /// Returns the upper bound in ms of each used bucket, with the number of delays up to it.
    pub(super) fn bounds(&self) -> impl Iterator<Item = (f64, u64)> {
        let mut seen = 0;
        (self.first..).zip(&self.counts).filter(|(_, count)| **count > 0).map(move |(bucket, count)| {
            seen += count;
            (highest(bucket) / 1e6, seen)
        })
    }

    /// Extends the histogram to the octave of a bucket outside its range.
    #[cold]
    #[inline(never)]
    fn reach(&mut self, at: u32) {
        let octave = at & !(OCTAVE - 1);
        if self.counts.is_empty() {
            self.first = octave;
        }
        let before = self.first.saturating_sub(octave);
        self.counts.splice(..0, core::iter::repeat_n(0, before as usize));
        self.first -= before;
        let room = (octave + OCTAVE - self.first) as usize;
        self.counts.resize(room.max(self.counts.len()), 0);
        self.counts[(at - self.first) as usize] += 1;
    }

    /// Adds all delays of another histogram.
    pub fn merge(&mut self, other: &Self) {
        for (bucket, count) in (other.first..).zip(&other.counts).filter(|(_, count)| **count > 0) {
            if self.counts.get(bucket.wrapping_sub(self.first) as usize).is_none() {
                self.reach(bucket);
                self.counts[(bucket - self.first) as usize] -= 1;
            }
            self.counts[(bucket - self.first) as usize] += count;
        }
    }

    /// Returns the quantile `part` (0 to 1) of the delays, in ms. `None` without delays.
    pub fn quantile_ms(&self, part: f64) -> Option<f64> {
        let packets: u64 = self.counts.iter().sum();
        let rank = ((part * packets as f64).ceil() as u64).clamp(1, packets.max(1));
        let mut seen = 0;
        let found = self.counts.iter().position(|count| {
            seen += count;
            seen >= rank
        })?;
        Some(middle(self.first + found as u32) / 1e6)
    }
}

/// Returns the bucket of a delay: one per ns in the first two octaves, then 64 per octave.
#[inline]
const fn bucket(ns: u64) -> u32 {
    let octave = 63 - FINE - (ns | OCTAVE as u64).leading_zeros();
    (octave << FINE) + (ns >> octave) as u32
}

/// Returns the longest delay of a bucket, in ns.
fn highest(bucket: u32) -> f64 {
    let octave = (bucket >> FINE).saturating_sub(1);
    ((u64::from(bucket - (octave << FINE)) << octave) + ((1_u64 << octave) - 1)) as f64
}

/// Returns the middle of a bucket, in ns.
fn middle(bucket: u32) -> f64 {
    let octave = (bucket >> FINE).saturating_sub(1);
    let (least, width) = (u64::from(bucket - (octave << FINE)) << octave, 1_u64 << octave);
    least as f64 + (width - 1) as f64 / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use stillair_model::metrics::quantile;

    fn delays(all: &[u64]) -> Delays {
        let mut delays = Delays::default();
        all.iter().for_each(|&ns| delays.add(Duration::from_nanos(ns)));
        delays
    }

    #[test]
    fn buckets_follow_each_other_without_a_gap() {
        let ends = [0, 1, 63, 64, 127, 128, 129, 130, 255, 256, 259, 260, u64::MAX];
        assert_eq!(
            ends.map(bucket),
            [0, 1, 63, 64, 127, 128, 128, 129, 191, 192, 192, 193, 58 * 64 + 63 + 64 - 64]
        );
        for ns in 1..100_000 {
            assert!(bucket(ns) - bucket(ns - 1) <= 1, "{ns}");
        }
    }

    #[test]
    fn empty_histogram_has_no_quantile() {
        assert_eq!(delays(&[]).quantile_ms(0.5), None);
        assert_eq!(delays(&[0]).quantile_ms(0.99), Some(0.0));
    }

    proptest! {
        /// For any delays in any order, a quantile is the middle of the bucket with the value of that rank.
        #[test]
        fn quantile_is_accurate_to_one_percent(all in prop::collection::vec((0_u32..40).prop_flat_map(|bits| 0_u64..=1 << bits), 1..200)) {
            let (found, mut sorted) = (delays(&all), all);
            sorted.sort_unstable();
            for part in [0.5, 0.95, 0.99] {
                let rank = (part * sorted.len() as f64).ceil() as usize;
                let exact = sorted[rank - 1] as f64;
                let ns = found.quantile_ms(part).expect("packets") * 1e6;
                prop_assert!((ns - exact).abs() <= exact / 128.0 + 1e-6, "{ns} {exact}");
            }
            prop_assert!(quantile(&sorted, 0.5).is_some());
            prop_assert!(found.counts.len() <= 40 * 64);
        }
    }
}
