//! Latencies for the quantiles of a summary: single values, or a histogram if there are many.

use stillair_model::metrics::quantile;
use stillair_model::types::Duration;

use super::delays::Delays;

/// Maximum number of latencies kept as single values.
const EXACT: usize = 1 << 20;

/// Latencies in bounded memory. Quantiles are exact up to 1,048,576 values, and accurate to 1 % beyond. The
/// mean is always exact.
#[derive(Clone, Debug, Default)]
pub struct Latencies {
    count: u64,
    sum: u128,
    /// Values in ns in the order recorded; empty if there are too many.
    each: Vec<u64>,
    many: Delays,
}

impl Latencies {
    /// Records one latency.
    #[inline]
    pub fn add(&mut self, time: Duration) {
        self.count += 1;
        self.sum += u128::from(time.nanos());
        if self.count <= EXACT as u64 {
            self.each.push(time.nanos());
        } else {
            self.fold();
            self.many.add(time);
        }
    }

    /// Adds all latencies of another record.
    pub fn extend(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.each.extend_from_slice(&other.each);
        self.many.merge(&other.many);
        if self.count > EXACT as u64 {
            self.fold();
        }
    }

    fn fold(&mut self) {
        for ns in core::mem::take(&mut self.each) {
            self.many.add(Duration::from_nanos(ns));
        }
    }

    /// Returns the single values in ns, in the order recorded. Empty with more than 1,048,576 latencies.
    pub fn each(&self) -> &[u64] {
        &self.each
    }

    /// Returns the number of latencies.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Returns the mean latency in ns. `None` without latencies.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Returns these quantiles (0 to 1) of the latencies, in ns. `None` without latencies.
    pub fn quantiles_ns<const N: usize>(&self, parts: [f64; N]) -> Option<[f64; N]> {
        if self.count > self.each.len() as u64 {
            let found = parts.map(|part| self.many.quantile_ms(part).map(|ms| ms * 1e6));
            return found.iter().all(Option::is_some).then(|| found.map(Option::unwrap_or_default));
        }
        let mut sorted = self.each.clone();
        sorted.sort_unstable();
        let found = parts.map(|part| quantile(&sorted, part));
        found.iter().all(Option::is_some).then(|| found.map(|ns| ns.unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(all: impl Iterator<Item = u64>) -> Latencies {
        let mut times = Latencies::default();
        all.for_each(|ns| times.add(Duration::from_nanos(ns)));
        times
    }

    #[test]
    fn few_latencies_are_exact_and_many_are_binned() {
        let few = times([3_000_000, 1_000_000, 2_000_000].into_iter());
        assert_eq!(
            (few.count(), few.mean_ns(), few.quantiles_ns([0.0, 0.5, 1.0])),
            (3, Some(2e6), Some([1e6, 2e6, 3e6]))
        );
        assert_eq!(
            (times([].into_iter()).mean_ns(), times([].into_iter()).quantiles_ns([0.5])),
            (None, None)
        );

        let n = EXACT as u64 + 1;
        let many = times(1..=n);
        assert_eq!((many.count(), many.each.len()), (n, 0), "memory does not grow");
        assert_eq!(many.mean_ns(), Some((n + 1) as f64 / 2.0));
        let [median] = many.quantiles_ns([0.5]).expect("there are some");
        assert!((median - n as f64 / 2.0).abs() < n as f64 / 200.0, "{median}");
    }

    #[test]
    fn merged_records_equal_a_single_one() {
        let mut both = times(1..=10);
        both.extend(&times(11..=20));
        assert_eq!((both.count(), both.quantiles_ns([0.5])), (20, times(1..=20).quantiles_ns([0.5])));
        // Records that fit separately but not together, a record that did not fit, and a small one before a
        // large one.
        let half = EXACT as u64 / 2 + 1;
        for (first, second) in [(half, half), (2 * half, half), (1, 2 * half)] {
            let mut both = times(0..first);
            both.extend(&times(first..first + second));
            assert_eq!((both.count(), both.each.len()), (first + second, 0));
            let once = times(0..first + second);
            assert_eq!(both.quantiles_ns([0.1, 0.5, 0.99]), once.quantiles_ns([0.1, 0.5, 0.99]));
        }
    }
}
