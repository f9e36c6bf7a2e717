//! Hybrid slow start by delay: ends slow start when the RTT of a round has increased.
// spec: congestion_control/hybrid_slow_start.cc (Chromium 62). Constants are those of TCP HyStart, but each
// ACK frame is one sample, and there is no ACK train detection.
// paper: bquic sec. IV-C.1.

use crate::types::Duration;

/// Samples per round whose minimum is compared with the overall minimum.
const SAMPLES: u32 = 8;
/// Minimum window in packets. Below it, detection takes effect one sample later.
const LOW_WINDOW: u64 = 16;
/// Bounds of the RTT increase that ends slow start, which is 1/8 of the minimum RTT.
const INCREASE: (Duration, Duration) = (Duration::from_millis(4), Duration::from_millis(16));

/// Hybrid slow start state.
#[derive(Clone, Copy, Debug, Default)]
pub struct HybridSlowStart {
    started: bool,
    found: bool,
    last_sent: u64,
    /// Packet whose acknowledgement ends the round.
    end: u64,
    samples: u32,
    least: Duration,
}

impl HybridSlowStart {
    /// Called when a packet was sent.
    pub fn on_sent(&mut self, number: u64) {
        self.last_sent = number;
    }

    /// Called when a packet was acknowledged in slow start.
    pub fn on_acked(&mut self, number: u64) {
        if self.end <= number {
            self.started = false;
        }
    }

    /// Restarts after a timeout.
    pub fn restart(&mut self) {
        (self.started, self.found) = (false, false);
    }

    /// Processes an RTT sample. Returns true if slow start ends. `cwnd` is in packets.
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

    /// Index of the sample at which slow start ends, among twenty in one round.
    fn exit(min: u64, latest: impl Fn(u32) -> u64, cwnd: u64) -> Option<u32> {
        let mut h = HybridSlowStart::default();
        h.on_sent(1_000);
        (1..=20).find(|&n| h.should_exit(us(latest(n)), us(min), cwnd))
    }

    #[test]
    fn at_the_eighth_sample() {
        // 1/8 of 8 ms is below 4 ms, and 1/8 of 200 ms above 16 ms.
        for (min, limit) in [(8_000, 12_000), (64_000, 72_000), (200_000, 216_000)] {
            assert_eq!(exit(min, |_| limit, 100), None, "{min}");
            assert_eq!(exit(min, |_| limit + 1, 100), Some(8), "{min}");
            assert_eq!(exit(min, |_| limit + 1, 16), Some(8), "{min}");
            // A low window delays the exit by only one sample.
            assert_eq!(exit(min, |_| limit + 1, 15), Some(9), "{min}");
        }
        // The minimum of the first eight samples decides; later samples do not count.
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
        // Eight new samples are required.
        let at = (1..=20).find(|_| h.should_exit(us(20_000), us(8_000), 100));
        assert_eq!(at, Some(8));
        h.restart();
        assert!(!h.should_exit(us(20_000), us(8_000), 100));
    }
}
