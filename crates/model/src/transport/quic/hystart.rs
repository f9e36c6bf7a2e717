//! Hybrid slow start by delay: slow start ends when the round-trip times of a round have increased.
// spec: congestion_control/hybrid_slow_start.cc (Chromium 62). Constants are those of TCP's HyStart, but a
// sample is an acknowledgement frame, not a segment, and there is no train of acknowledgements.
// paper: bquic sec. IV-C.1.

use crate::types::Duration;

/// Samples of a round of which the least is held against the least of all.
const SAMPLES: u32 = 8;
/// With a window below so many packets the sample that shows it does not end slow start; the next one does.
const LOW_WINDOW: u64 = 16;
/// The increase that counts is an eighth of the least round-trip time, within these bounds.
const INCREASE: (Duration, Duration) = (Duration::from_millis(4), Duration::from_millis(16));

/// State of hybrid slow start.
#[derive(Clone, Copy, Debug, Default)]
pub struct HybridSlowStart {
    started: bool,
    found: bool,
    last_sent: u64,
    /// A round ends with the acknowledgement of this packet.
    end: u64,
    samples: u32,
    least: Duration,
}

impl HybridSlowStart {
    /// A packet was sent.
    pub fn on_sent(&mut self, number: u64) {
        self.last_sent = number;
    }

    /// A packet was acknowledged in slow start.
    pub fn on_acked(&mut self, number: u64) {
        if self.end <= number {
            self.started = false;
        }
    }

    /// Restarts after a timeout.
    pub fn restart(&mut self) {
        (self.started, self.found) = (false, false);
    }

    /// Processes a sample of the round-trip time. Returns whether slow start ends. `cwnd` is in packets.
    pub fn should_exit(&mut self, latest: Duration, min: Duration, cwnd: u64) -> bool {
        if !self.started {
            (self.started, self.end, self.samples, self.least) = (true, self.last_sent, 0, Duration::ZERO);
        }
        if self.found {
            return true;
        }
        self.samples += 1;
        if self.samples <= SAMPLES && (self.least == Duration::ZERO || latest < self.least) {
            self.least = latest;
        }
        if self.samples == SAMPLES {
            let increase = (min / 8).clamp(INCREASE.0, INCREASE.1);
            self.found = self.least > min + increase;
        }
        cwnd >= LOW_WINDOW && self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(n: u64) -> Duration {
        Duration::from_micros(n)
    }

    /// Number of the sample at which slow start ends, of twenty in one round.
    fn exit(min: u64, latest: impl Fn(u32) -> u64, cwnd: u64) -> Option<u32> {
        let mut h = HybridSlowStart::default();
        h.on_sent(1_000);
        (1..=20).find(|&n| h.should_exit(us(latest(n)), us(min), cwnd))
    }

    #[test]
    fn at_the_eighth_sample() {
        // An eighth of 8 ms is below 4 ms, of 200 ms above 16 ms.
        for (min, limit) in [(8_000, 12_000), (64_000, 72_000), (200_000, 216_000)] {
            assert_eq!(exit(min, |_| limit, 100), None, "{min}");
            assert_eq!(exit(min, |_| limit + 1, 100), Some(8), "{min}");
            assert_eq!(exit(min, |_| limit + 1, 16), Some(8), "{min}");
            // A low window puts it off by one sample only.
            assert_eq!(exit(min, |_| limit + 1, 15), Some(9), "{min}");
        }
        // The least of eight decides; what comes after them does not.
        assert_eq!(exit(8_000, |n| if n == 3 { 9_000 } else { 90_000 }, 100), None);
        assert_eq!(exit(8_000, |n| if n > 8 { 90_000 } else { 9_000 }, 100), None);
    }

    #[test]
    fn a_round_ends_with_the_packet_that_was_newest_at_its_beginning() {
        let mut h = HybridSlowStart::default();
        h.on_sent(10);
        for _ in 0..7 {
            assert!(!h.should_exit(us(20_000), us(8_000), 100));
        }
        h.on_acked(9);
        h.on_sent(30);
        h.on_acked(10);
        // Eight new samples are needed.
        let at = (1..=20).find(|_| h.should_exit(us(20_000), us(8_000), 100));
        assert_eq!(at, Some(8));
        h.restart();
        assert!(!h.should_exit(us(20_000), us(8_000), 100));
    }
}
