//! Lateness of packets delivered to hosts.

use serde::Serialize;
use stillair_model::types::Duration;
use stillair_sim::recorder::Delays;

/// Lateness of packets relative to the model, and stalls of the engine.
#[derive(Clone, Debug, Default)]
pub struct Lateness {
    all: Delays,
    count: u64,
    max: u64,
    gap: u64,
}

/// Summary of lateness.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LatenessSummary {
    /// Packets delivered to hosts.
    pub packets: u64,
    /// Median lateness in us: from the model's delivery time to the real one.
    pub p50_us: Option<f64>,
    /// 99th percentile of lateness in us.
    pub p99_us: Option<f64>,
    /// Largest lateness in us.
    pub max_us: f64,
    /// Longest stall in us: the time from the end of one wait to the end of the next, beyond the requested
    /// wait.
    pub gap_us: f64,
    /// Reasons why the run is invalid; empty if it is valid.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub invalid: Vec<String>,
}

impl Lateness {
    /// Records a packet delivered this many nanoseconds late.
    pub fn note(&mut self, nanos: u64) {
        self.all.add(Duration::from_nanos(nanos));
        self.count += 1;
        self.max = self.max.max(nanos);
    }

    /// Records the time in ns from the end of one wait to the end of the next, beyond the requested wait.
    pub fn woke(&mut self, nanos: u64) {
        self.gap = self.gap.max(nanos);
    }

    /// The summary, checked against the limits for the 99th percentile and the longest stall, in ns.
    pub fn summary(&self, most_p99: u64, most_gap: u64) -> LatenessSummary {
        let us = |part| self.all.quantile_ms(part).map(|ms| ms * 1e3);
        let p99_us = us(0.99);
        let mut invalid = Vec::new();
        let most_us = most_p99 as f64 / 1e3;
        if let Some(late) = p99_us.filter(|late| *late > most_us) {
            invalid.push(format!(
                "late: 99th percentile of lateness {late:.0} us, expected at most {most_us:.0} us"
            ));
        }
        if self.gap > most_gap {
            let (gap, most) = (self.gap / 1_000_000, most_gap / 1_000_000);
            invalid.push(format!("late: the engine stalled for {gap} ms, expected at most {most} ms"));
        }
        LatenessSummary {
            packets: self.count,
            p50_us: us(0.5),
            p99_us,
            max_us: self.max as f64 / 1e3,
            gap_us: self.gap as f64 / 1e3,
            invalid,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_makes_a_run_invalid() {
        let mut late = Lateness::default();
        (0..990).for_each(|_| late.note(20_000));
        (0..5).for_each(|_| late.note(3_000_000));
        let good = late.summary(1_000_000, 20_000_000);
        assert_eq!((good.packets, good.max_us, good.invalid.len()), (995, 3_000.0, 0));
        assert!(good.p50_us.is_some_and(|us| (us - 20.0).abs() < 0.5), "{good:?}");
        (0..10).for_each(|_| late.note(3_000_000));
        late.woke(21_000_000);
        let bad = late.summary(1_000_000, 20_000_000);
        assert_eq!(bad.invalid.len(), 2);
        assert!(bad.p99_us.is_some_and(|us| (us / 3_000.0 - 1.0).abs() < 0.008), "{bad:?}");
        assert!(bad.invalid[0].starts_with("late: 99th percentile of lateness "), "{bad:?}");
        assert_eq!(bad.invalid[1], "late: the engine stalled for 21 ms, expected at most 20 ms");
    }
}
