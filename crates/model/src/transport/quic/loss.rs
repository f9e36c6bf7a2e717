//! Loss detection: by packets acknowledged after a lost one, and by time.
// spec: congestion_control/general_loss_algorithm.cc (Chromium 62); rfc9002 6.1 with `time`.
// quiche: congestion_control/general_loss_algorithm.cc DetectLosses (f44fa9f) - `LossParams::QUICHE`.

use crate::types::{Duration, Instant};
use alloc::vec::Vec;

use super::rtt::QuicRtt;
use super::sent::SentPackets;

/// Parameters of loss detection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LossParams {
    /// Packet threshold: a packet is lost when a packet with a number this much higher was acknowledged.
    pub packets: u64,
    /// Time threshold: a packet before an acknowledged one is lost when it was sent this many eighths of a
    /// round trip ago.
    pub eighths: u64,
    /// Minimum of the time threshold.
    pub least: Duration,
    /// The rule by time holds always; otherwise only when the newest packet was acknowledged (early
    /// retransmit), and beside it the rule that what was sent a smoothed round trip before an acknowledged
    /// packet is lost.
    pub time: bool,
    /// The round trip of the time threshold is the longer of the newest sample and the smoothed value before
    /// that sample. Otherwise the smoothed value includes the sample.
    pub previous: bool,
    /// A packet that is received after it was declared lost raises the packet threshold so far that it would
    /// not have been lost.
    pub adaptive: bool,
}

impl LossParams {
    /// Chromium's: three packets, and early retransmit after 1.25 round trips.
    pub const CHROMIUM: Self = Self {
        packets: 3,
        eighths: 10,
        least: Duration::from_millis(5),
        time: false,
        previous: true,
        adaptive: false,
    };
    /// RFC 9002's: three packets, 9/8 of a round trip.
    pub const RFC9002: Self = Self {
        packets: 3,
        eighths: 9,
        least: Duration::from_millis(1),
        time: true,
        previous: false,
        adaptive: false,
    };
    /// Today's of Google's QUIC: three packets, more if that was wrong, and always 5/4 of a round trip of 1
    /// ms at least.
    // quiche: quic_constants.h kDefaultLossDelayShift, kAlarmGranularity; general_loss_algorithm.h (f44fa9f)
    // - the threshold adapts unless a connection option turns that off, the time does not.
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
    /// Packets after a lost one that show it, as they are now.
    packets: u64,
    timeout: Option<Instant>,
}

impl Loss {
    /// State before any loss.
    pub fn new(params: LossParams) -> Self {
        Self { params, packets: params.packets, timeout: None }
    }

    /// A packet that was declared lost was acknowledged. `by` is its distance from the highest number
    /// acknowledged before.
    // quiche: congestion_control/general_loss_algorithm.cc SpuriousLossDetected (f44fa9f).
    pub fn on_reordered(&mut self, by: u64) {
        if self.params.adaptive {
            self.packets = self.packets.max(by + 1);
        }
    }

    /// When packets will be lost by the time threshold.
    pub fn timeout(&self) -> Option<Instant> {
        self.timeout
    }

    /// Adds the numbers of packets that are lost now to `lost`, in rising order; `newly` is the newest packet
    /// that was just acknowledged.
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

    /// Packets sent at the times given, of which `acked` are acknowledged: what is lost at `now`, and when to
    /// look again.
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
        // A packet more has been sent: packets decide.
        assert_eq!(detect(c, &[0, 0, 0, 0], &[3], 30), (vec![], None));
    }

    #[test]
    fn a_round_trip_before_an_acknowledged_one() {
        let c = LossParams::CHROMIUM;
        assert_eq!(detect(c, &[0, 8, 9, 9], &[2], 16), (vec![], None));
        assert_eq!(detect(c, &[0, 9, 9, 9], &[2], 17), (vec![1], None));
    }

    #[test]
    fn todays_chromium_waits_five_quarters_whatever_came_last() {
        let q = LossParams::QUICHE;
        assert_eq!(detect(q, &[0, 1, 2, 3], &[2], 8), (vec![], Some(10)));
        assert_eq!(detect(q, &[0, 1, 2, 3], &[2], 10), (vec![1], None));
        assert_eq!(detect(q, &[0, 1, 2, 3, 4], &[4], 5), (vec![1], Some(11)));
    }

    /// Packets 1 to 20 at once, of which 10 is acknowledged: how many are lost after one that was had come so
    /// much later.
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
    fn by_the_rfc_time_counts_always() {
        let r = LossParams::RFC9002;
        assert_eq!(detect(r, &[0, 1, 2, 3], &[2], 8), (vec![], Some(9)));
        assert_eq!(detect(r, &[0, 1, 2, 3], &[2], 9), (vec![1], None));
        assert_eq!(detect(r, &[0, 1, 2, 3, 4], &[4], 5), (vec![1], Some(10)));
    }
}
