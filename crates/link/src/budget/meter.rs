//! Measurements of a transport for a budget.

use std::time::Duration;

/// Arrivals at an application or an endpoint: bytes, time and delay.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    /// Time, delay, and bytes of each arrival, in order of time.
    arrivals: Vec<(Duration, Duration, u64)>,
}

impl Meter {
    /// Records that `bytes` arrived at `at`, `delay` after they were sent.
    pub fn add(&mut self, at: Duration, delay: Duration, bytes: u64) {
        self.arrivals.push((at, delay, bytes));
    }

    fn within(&self, from: Duration, to: Duration) -> impl Iterator<Item = &(Duration, Duration, u64)> {
        self.arrivals.iter().filter(move |(at, ..)| (from..to).contains(at))
    }

    /// Goodput between two times in Mbit/s.
    pub fn goodput_mbps(&self, from: Duration, to: Duration) -> f64 {
        let bytes: u64 = self.within(from, to).map(|(.., bytes)| bytes).sum();
        bytes as f64 * 8.0 / to.saturating_sub(from).as_secs_f64() / 1e6
    }

    /// A quantile of the delay between two times in ms, such as 0.99; NaN if nothing arrived.
    pub fn delay_ms(&self, quantile: f64, from: Duration, to: Duration) -> f64 {
        let mut delays: Vec<Duration> = self.within(from, to).map(|(_, delay, _)| *delay).collect();
        delays.sort_unstable();
        let at = (quantile * delays.len() as f64).ceil() as usize;
        let found = delays.get(at.saturating_sub(1).min(delays.len().saturating_sub(1)));
        found.map_or(f64::NAN, |delay| delay.as_secs_f64() * 1e3)
    }

    /// Duration in s of the queue caused by a drop of the link rate at `drop`: until the end of the last
    /// 0.1 s interval before `to` in which the median delay exceeds `limit` or nothing arrives.
    pub fn recovery_s(&self, drop: Duration, to: Duration, limit: Duration) -> f64 {
        let step = Duration::from_millis(100);
        let (mut at, mut calm) = (drop, drop);
        // After the last arrival, nothing has recovered.
        let last = self.arrivals.iter().map(|(at, ..)| *at).max();
        let Some(last) = last.filter(|last| *last >= drop) else {
            return to.saturating_sub(drop).as_secs_f64();
        };
        if last + step < to {
            return (to - drop).as_secs_f64();
        }
        while at < to {
            let next = at + step;
            let median = self.delay_ms(0.5, at, next);
            if median.is_nan() || median > limit.as_secs_f64() * 1e3 {
                calm = next;
            }
            at = next;
        }
        (calm - drop).as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_delays_and_recovery() {
        let ms = Duration::from_millis;
        let mut meter = Meter::default();
        for n in 0..1_000 {
            // 1,250 bytes per millisecond: 10 Mbit/s; late from 300 to 520 ms.
            let late = if (300..520).contains(&n) { 80 } else { 10 };
            meter.add(ms(n), ms(late), 1_250);
        }
        assert!((meter.goodput_mbps(ms(0), ms(1_000)) - 10.0).abs() < 1e-9);
        assert_eq!(
            (meter.delay_ms(0.5, ms(0), ms(1_000)), meter.delay_ms(0.99, ms(0), ms(1_000))),
            (10.0, 80.0)
        );
        assert!(meter.delay_ms(0.5, ms(5_000), ms(6_000)).is_nan());
        // In the interval from 500 ms on, most arrivals are on time again.
        assert_eq!(meter.recovery_s(ms(300), ms(1_000), ms(40)), 0.2);
        assert_eq!(meter.recovery_s(ms(600), ms(1_000), ms(40)), 0.0);
        // Intervals without arrivals have not recovered.
        assert_eq!(meter.recovery_s(ms(600), ms(1_600), ms(40)), 1.0);
        assert_eq!(meter.recovery_s(ms(0), ms(1 << 60), ms(40)), ms(1 << 60).as_secs_f64());
        assert_eq!(Meter::default().recovery_s(ms(0), ms(500), ms(40)), 0.5);
    }
}
