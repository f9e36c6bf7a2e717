//! RTT estimation: smoothed RTT, mean deviation and minimum.
// spec: congestion_control/rtt_stats.cc (Chromium 62), rfc9002 5.

use crate::types::Duration;

/// RTT estimates of a sender.
#[derive(Clone, Copy, Debug, Default)]
pub struct QuicRtt {
    /// Latest sample, excluding the ACK delay.
    pub latest: Duration,
    /// Smoothed RTT; zero before the first sample.
    pub smoothed: Duration,
    /// Smoothed RTT before the latest sample.
    pub previous: Duration,
    /// Mean deviation.
    pub deviation: Duration,
    /// Minimum RTT, including the ACK delay; zero before the first sample.
    pub min: Duration,
    /// RTT assumed before the first sample.
    pub initial: Duration,
}

impl QuicRtt {
    /// State before the first sample with Chromium's initial RTT.
    // spec: rtt_stats.cc (Chromium 62) - 100 ms.
    pub const INITIAL: Self = Self::new(Duration::from_millis(100));

    /// Creates the state before the first sample.
    pub const fn new(initial: Duration) -> Self {
        let zero = Duration::ZERO;
        Self { latest: zero, smoothed: zero, previous: zero, deviation: zero, min: zero, initial }
    }

    /// Processes a sample: the time from a packet to its ACK, and the ACK delay reported by the receiver.
    /// With `subtract_below_min`, the delay is subtracted even if the result is below the minimum RTT.
    // spec: rtt_stats.cc UpdateRtt (Chromium 62) - always subtracts the delay; rfc9002 5.3 - down to min_rtt.
    pub fn update(&mut self, sample: Duration, ack_delay: Duration, subtract_below_min: bool) {
        if sample == Duration::ZERO {
            return;
        }
        if self.min == Duration::ZERO || sample < self.min {
            self.min = sample;
        }
        self.previous = self.smoothed;
        let floor = if subtract_below_min { Duration::ZERO } else { self.min };
        let without = sample.saturating_sub(ack_delay);
        let sample = if sample > ack_delay && without >= floor { without } else { sample };
        self.latest = sample;
        if self.smoothed == Duration::ZERO {
            (self.smoothed, self.deviation) = (sample, sample / 2);
        } else {
            let off = self.smoothed.saturating_sub(sample) + sample.saturating_sub(self.smoothed);
            self.deviation = (self.deviation * 3 + off) / 4;
            self.smoothed = (self.smoothed * 7 + sample) / 8;
        }
    }

    /// Returns the smoothed RTT, or the initial value before the first sample.
    pub fn smoothed_or_initial(&self) -> Duration {
        if self.smoothed == Duration::ZERO { self.initial } else { self.smoothed }
    }

    /// Called after a spurious timeout. Raises smoothed RTT and deviation to match the latest sample.
    // spec: rtt_stats.cc ExpireSmoothedMetrics (Chromium 62).
    pub fn expire(&mut self) {
        let off = self.smoothed.saturating_sub(self.latest) + self.latest.saturating_sub(self.smoothed);
        self.deviation = self.deviation.max(off);
        self.smoothed = self.smoothed.max(self.latest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn smoothing_and_ack_delay() {
        let mut rtt = QuicRtt::new(ms(100));
        assert_eq!(rtt.smoothed_or_initial(), ms(100));
        rtt.update(ms(16), ms(8), true);
        // The minimum includes the delay.
        assert_eq!((rtt.smoothed, rtt.deviation, rtt.min, rtt.latest), (ms(8), ms(4), ms(16), ms(8)));
        rtt.update(ms(16), Duration::ZERO, true);
        assert_eq!((rtt.smoothed, rtt.deviation, rtt.previous), (ms(9), ms(5), ms(8)));
        // A delay longer than the sample is ignored.
        rtt.update(ms(17), ms(20), true);
        assert_eq!((rtt.smoothed, rtt.min), (ms(10), ms(16)));
        rtt.update(Duration::ZERO, Duration::ZERO, true);
        assert_eq!(rtt.smoothed, ms(10));
    }

    #[test]
    fn rfc_never_subtracts_the_ack_delay_below_min_rtt() {
        let mut rtt = QuicRtt::new(ms(333));
        rtt.update(ms(16), ms(8), false);
        assert_eq!((rtt.latest, rtt.min), (ms(16), ms(16)));
        rtt.update(ms(30), ms(8), false);
        assert_eq!(rtt.latest, ms(22));
    }
}
