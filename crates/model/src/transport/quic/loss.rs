//! Loss detection by packet threshold and time threshold.
// spec: congestion_control/general_loss_algorithm.cc (Chromium 62); rfc9002 6.1 with `time`.
// quiche: congestion_control/general_loss_algorithm.cc DetectLosses (f44fa9f) - `LossParams::QUICHE`.

use crate::types::{Duration, Instant};
use alloc::vec::Vec;

use super::rtt::QuicRtt;
use super::sent::SentPackets;

/// Parameters of loss detection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LossParams {
    /// Packet threshold: a packet is lost once a packet with a number higher by this much is acknowledged.
    pub packets: u64,
    /// Time threshold in eighths of an RTT: an older packet is lost if a later one was acknowledged.
    pub eighths: u64,
    /// Minimum time threshold.
    pub least: Duration,
    /// Always apply the time threshold. If false, it applies only once the newest packet is acknowledged
    /// (early retransmit), and a packet sent over one smoothed RTT before an acknowledged one is lost too.
    pub time: bool,
    /// Base the time threshold on the longer of the latest RTT sample and the smoothed RTT before that
    /// sample. If false, the smoothed RTT includes the sample.
    pub previous: bool,
    /// Raise the packet threshold after a spurious loss, enough to have avoided it.
    pub adaptive: bool,
}

impl LossParams {
    /// Chromium 62: three packets, and early retransmit after 1.25 RTTs.
    pub const CHROMIUM: Self = Self {
        packets: 3,
        eighths: 10,
        least: Duration::from_millis(5),
        time: false,
        previous: true,
        adaptive: false,
    };
    /// RFC 9002: three packets, 9/8 of an RTT.
    pub const RFC9002: Self = Self {
        packets: 3,
        eighths: 9,
        least: Duration::from_millis(1),
        time: true,
        previous: false,
        adaptive: false,
    };
    /// Current QUICHE: three packets, adaptive, and always 5/4 of an RTT with an RTT of at least 1 ms.
    // quiche: quic_constants.h kDefaultLossDelayShift, kAlarmGranularity; general_loss_algorithm.h (f44fa9f)
    // - adapts the packet threshold unless a connection option disables that; the time threshold is fixed.
    pub const QUICHE: Self = Self {
        packets: 3,
        eighths: 10,
        least: Duration::from_micros(1_250),
        time: true,
        previous: true,
        adaptive: true,
    };
}

/// Detects losses and determines when to check again.
#[derive(Clone, Debug)]
pub struct Loss {
    params: LossParams,
    /// Current packet threshold.
    packets: u64,
    timeout: Option<Instant>,
}

impl Loss {
    /// Creates the state before any loss.
    pub fn new(params: LossParams) -> Self {
        Self { params, packets: params.packets, timeout: None }
    }

    /// Called when a packet declared lost is acknowledged. `by` is its distance from the largest acknowledged
    /// number.
    // quiche: congestion_control/general_loss_algorithm.cc SpuriousLossDetected (f44fa9f).
    pub fn on_reordered(&mut self, by: u64) {
        if self.params.adaptive {
            self.packets = self.packets.max(by + 1);
        }
    }

    /// Returns the time at which packets exceed the time threshold.
    pub fn timeout(&self) -> Option<Instant> {
        self.timeout
    }

    /// Appends the numbers of packets that are now lost to `lost`, in ascending order. `newly` is the largest
    /// packet number to compare with.
    pub fn detect(
        &mut self,
        sent: &SentPackets,
        now: Instant,
        rtt: &QuicRtt,
        newly: u64,
        lost: &mut Vec<u64>,
    ) {
        self.timeout = None;
        let Some(newest) = sent.get(newly) else { return };
        let longest = if self.params.previous { rtt.previous } else { rtt.smoothed }.max(rtt.latest);
        let delay = (longest * self.params.eighths / 8).max(self.params.least);
        let last_acked = newly + 1 == sent.next_number();
        for (number, packet) in sent.iter_in_flight().take_while(|(n, _)| *n <= newly) {
            if !packet.in_flight {
                continue;
            }
            if newly - number >= self.packets {
                lost.push(number);
            } else if self.params.time || (last_acked && !packet.frames.is_empty()) {
                let when = packet.time + delay;
                if now < when {
                    self.timeout = Some(when);
                    break;
                }
                lost.push(number);
            } else if packet.time + rtt.smoothed < newest.time {
                lost.push(number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::QuicFrame;
    use alloc::vec;

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(n)
    }

    /// Sends packets at `times` and acknowledges `acked`. Returns the losses at `now` and the next check.
    fn detect(params: LossParams, times: &[u64], acked: &[u64], now: u64) -> (Vec<u64>, Option<u64>) {
        let mut sent = SentPackets::default();
        let frame = QuicFrame::Ping;
        times.iter().for_each(|&t| sent.push(ms(t), 100, vec![frame], true, 0));
        let mut ranges: Vec<(u64, u64)> = acked.iter().map(|&n| (n, n + 1)).collect();
        ranges.reverse();
        sent.acknowledge(&ranges, |_, _| ());
        let d = Duration::from_millis(8);
        let rtt = QuicRtt { latest: d, smoothed: d, previous: d, ..QuicRtt::default() };
        let (mut loss, mut lost) = (Loss::new(params), Vec::new());
        loss.detect(&sent, ms(now), &rtt, *acked.last().expect("one"), &mut lost);
        (lost, loss.timeout().map(|at| at.nanos() / 1_000_000))
    }

    #[test]
    fn three_packets_later() {
        let c = LossParams::CHROMIUM;
        assert_eq!(detect(c, &[0; 8], &[3], 8), (vec![], None));
        assert_eq!(detect(c, &[0; 8], &[4], 8), (vec![1], None));
        assert_eq!(detect(c, &[0; 8], &[2, 6], 8), (vec![1, 3], None));
    }

    #[test]
    fn early_retransmit_when_the_newest_is_acknowledged() {
        let c = LossParams::CHROMIUM;
        assert_eq!(detect(c, &[0, 0, 0], &[3], 8), (vec![], Some(10)));
        assert_eq!(detect(c, &[0, 0, 0], &[3], 10), (vec![1, 2], None));
        // With another packet sent, only the packet threshold applies.
        assert_eq!(detect(c, &[0, 0, 0, 0], &[3], 30), (vec![], None));
    }

    #[test]
    fn a_round_trip_before_an_acknowledged_one() {
        let c = LossParams::CHROMIUM;
        assert_eq!(detect(c, &[0, 8, 9, 9], &[2], 16), (vec![], None));
        assert_eq!(detect(c, &[0, 9, 9, 9], &[2], 17), (vec![1], None));
    }

    #[test]
    fn quiche_always_waits_five_quarters_of_an_rtt() {
        let q = LossParams::QUICHE;
        assert_eq!(detect(q, &[0, 1, 2, 3], &[2], 8), (vec![], Some(10)));
        assert_eq!(detect(q, &[0, 1, 2, 3], &[2], 10), (vec![1], None));
        assert_eq!(detect(q, &[0, 1, 2, 3, 4], &[4], 5), (vec![1], Some(11)));
    }

    /// Sends packets 1 to 20 together and acknowledges 10. Counts the losses after reordering by `by`.
    #[test]
    fn packets_out_of_order_raise_the_threshold() {
        let lost = |params: LossParams, by: &[u64]| {
            let mut sent = SentPackets::default();
            (0..20).for_each(|_| sent.push(ms(0), 100, vec![QuicFrame::Ping], true, 0));
            sent.acknowledge(&[(10, 11)], |_, _| ());
            let d = Duration::from_millis(8);
            let rtt = QuicRtt { latest: d, smoothed: d, previous: d, ..QuicRtt::default() };
            let (mut loss, mut lost) = (Loss::new(params), Vec::new());
            by.iter().for_each(|&by| loss.on_reordered(by));
            loss.detect(&sent, ms(1), &rtt, 10, &mut lost);
            lost.len()
        };
        assert_eq!([&[][..], &[3], &[5, 4], &[9]].map(|by| lost(LossParams::QUICHE, by)), [7, 6, 4, 0]);
        assert_eq!(lost(LossParams::RFC9002, &[5]), 7);
    }

    #[test]
    fn rfc_always_applies_the_time_threshold() {
        let r = LossParams::RFC9002;
        assert_eq!(detect(r, &[0, 1, 2, 3], &[2], 8), (vec![], Some(9)));
        assert_eq!(detect(r, &[0, 1, 2, 3], &[2], 9), (vec![1], None));
        assert_eq!(detect(r, &[0, 1, 2, 3, 4], &[4], 5), (vec![1], Some(10)));
    }
}
