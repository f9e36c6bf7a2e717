//! Westwood+: after a loss, sets the window to the measured bandwidth times the minimum RTT.
// paper: westwood+ (Mascolo, Grieco et al. 2004) - filters bandwidth samples taken over at least an RTT.

use super::reno::{MIN_SSTHRESH, Reno};
use super::{AckSample, CcEvent, CcSock, Controller};

/// Minimum duration of a bandwidth sample, as a fraction of a second.
// linux: net/ipv4/tcp_westwood.c TCP_WESTWOOD_RTT_MIN (6.1) - HZ/20, 50 ms.
const SAMPLE_MIN: u32 = 20;
/// RTT before the first measurement, in s.
// linux: net/ipv4/tcp_westwood.c TCP_WESTWOOD_INIT_RTT (6.1).
const INIT_RTT_S: u32 = 20;

/// Westwood+ congestion control.
#[derive(Clone, Debug, Default)]
pub struct Westwood {
    bandwidth: Bandwidth,
    delivered: Delivered,
    /// Start of the bandwidth sample in ticks, and bytes delivered since.
    sample_start: u32,
    sample_bytes: u32,
    /// Last and minimum round-trip time in ticks.
    rtt: u32,
    rtt_min: u32,
    /// The next acknowledgement replaces the minimum by the last round-trip time.
    forget_min: bool,
}

/// Bandwidth in bytes per tick, smoothed by two low-pass filters in a row; 0 before the first sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bandwidth {
    once: u32,
    twice: u32,
}

impl Bandwidth {
    // paper: westwood+ - each filter keeps seven eighths of its value.
    fn add(&mut self, sample: u32) {
        let low_pass = |old: u32, new: u32| ((7 * u64::from(old) + u64::from(new)) / 8) as u32;
        *self = if *self == Self::default() {
            Self { once: sample, twice: sample }
        } else {
            let once = low_pass(self.once, sample);
            Self { once, twice: low_pass(self.twice, once) }
        };
    }
}

/// Count of delivered bytes by acknowledgements.
#[derive(Clone, Copy, Debug, Default)]
struct Delivered {
    /// Sequence number acknowledged so far; `None` before the first acknowledgement.
    up_to: Option<u32>,
    /// Bytes beyond it that duplicate acknowledgements have counted.
    in_advance: u32,
}

impl Delivered {
    /// Bytes that an acknowledgement of everything before `una` reports. A duplicate counts as a segment,
    /// which later acknowledgements do not count again; each of them counts at least a segment.
    // paper: westwood+ - AckedCount.
    // deviation: Linux counts so on its slow path only - on the fast path there is nothing to subtract,
    // except for the remainder of a recovery.
    fn add(&mut self, una: u32, mss: u32) -> u32 {
        match una.wrapping_sub(self.up_to.replace(una).unwrap_or(una)) {
            0 => {
                self.in_advance += mss;
                mss
            }
            bytes if bytes <= mss => bytes,
            bytes if bytes <= self.in_advance => {
                self.in_advance -= bytes;
                mss
            }
            bytes => bytes - core::mem::take(&mut self.in_advance),
        }
    }
}

impl Westwood {
    /// Ends the bandwidth sample if it has lasted for a round-trip time, and for 50 ms at least.
    fn end_sample(&mut self, sk: &CcSock) {
        let least = self.rtt.max(sk.hz / SAMPLE_MIN);
        let ticks = sk.jiffies.wrapping_sub(self.sample_start);
        if self.rtt == 0 || ticks as i32 <= least as i32 {
            return;
        }
        self.bandwidth.add(core::mem::take(&mut self.sample_bytes) / ticks);
        self.sample_start = sk.jiffies;
    }

    /// Segments that the path holds: bandwidth times minimum round-trip time.
    fn pipe(&self, sk: &CcSock) -> u32 {
        let bytes = u64::from(self.bandwidth.twice) * u64::from(self.rtt_min);
        ((bytes / u64::from(sk.mss_cache)) as u32).max(MIN_SSTHRESH)
    }
}

impl Controller for Westwood {
    fn init(&mut self, sk: &mut CcSock) {
        let rtt = INIT_RTT_S * sk.hz;
        *self = Self { sample_start: sk.jiffies, rtt, rtt_min: rtt, forget_min: true, ..Self::default() };
    }

    fn ssthresh(&mut self, sk: &mut CcSock) -> u32 {
        Reno.ssthresh(sk)
    }

    #[inline]
    fn cong_avoid(&mut self, sk: &mut CcSock, ack: u32, acked: u32) {
        Reno.cong_avoid(sk, ack, acked);
    }

    // linux: net/ipv4/tcp_westwood.c (6.1) - the window follows the path after recovery; after a timeout only
    // the threshold does.
    fn cwnd_event(&mut self, sk: &mut CcSock, event: CcEvent) {
        match event {
            CcEvent::CompleteCwr => {
                sk.snd_cwnd = self.pipe(sk);
                sk.snd_ssthresh = sk.snd_cwnd;
            }
            CcEvent::Loss => {
                sk.snd_ssthresh = self.pipe(sk);
                self.forget_min = true;
            }
            CcEvent::TxStart | CcEvent::CwndRestart | CcEvent::EcnIsCe => {}
        }
    }

    // linux: net/ipv4/tcp_westwood.c (6.1) - an acknowledgement that ends a sample counts for the next one.
    #[inline]
    fn in_ack_event(&mut self, sk: &mut CcSock, _ece: bool) {
        self.end_sample(sk);
        let bytes = self.delivered.add(sk.snd_una, sk.mss_cache);
        self.sample_bytes = self.sample_bytes.wrapping_add(bytes);
        if core::mem::take(&mut self.forget_min) || self.rtt < self.rtt_min {
            self.rtt_min = self.rtt;
        }
    }

    // linux: net/ipv4/tcp_westwood.c (6.1) - in ticks, rounded up.
    #[inline]
    fn pkts_acked(&mut self, sk: &mut CcSock, sample: &AckSample) {
        if sample.rtt_us > 0 {
            self.rtt = (sample.rtt_us as u64 * u64::from(sk.hz)).div_ceil(1_000_000) as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{MSS, set_time, sock};
    use super::*;

    #[test]
    fn the_window_after_a_loss_is_bandwidth_times_round_trip() {
        let mut sk = sock();
        let mut westwood = Westwood::default();
        westwood.init(&mut sk);
        // 1,000 segments per second for 3 s; minimum RTT 60 ms, final RTT 100 ms.
        for ms in 1..=3_000 {
            set_time(&mut sk, ms * 1_000);
            sk.snd_una += MSS;
            westwood.in_ack_event(&mut sk, false);
            let rtt_us = if ms < 1_500 { 60_000 } else { 100_000 };
            westwood.pkts_acked(&mut sk, &AckSample { pkts_acked: 1, rtt_us, in_flight: 0 });
        }
        sk.snd_cwnd = 200;
        westwood.cwnd_event(&mut sk, CcEvent::CompleteCwr);
        assert!((58..=60).contains(&sk.snd_cwnd), "{}", sk.snd_cwnd);
        assert_eq!(sk.snd_ssthresh, sk.snd_cwnd);
        // After a timeout, the next ACK resets the minimum RTT.
        westwood.cwnd_event(&mut sk, CcEvent::Loss);
        assert!((58..=60).contains(&sk.snd_ssthresh));
        westwood.in_ack_event(&mut sk, false);
        westwood.cwnd_event(&mut sk, CcEvent::CompleteCwr);
        assert!((97..=100).contains(&sk.snd_cwnd), "{}", sk.snd_cwnd);
    }

    #[test]
    fn duplicates_are_counted_once() {
        let mut sk = sock();
        let mut delivered = Delivered { up_to: Some(sk.snd_una), in_advance: 0 };
        // segments by which the acknowledgement moves, segments counted
        let table =
            [(1, 1), (2, 2), (0, 1), (0, 1), (0, 1), (1, 1), (5, 2), (2, 2), (0, 1), (0, 1), (2, 1), (3, 3)];
        for (i, (moves, counted)) in table.into_iter().enumerate() {
            sk.snd_una += moves * MSS;
            assert_eq!(delivered.add(sk.snd_una, MSS), counted * MSS, "{i}");
        }
    }

    #[test]
    fn filters_twice() {
        let mut sk = sock();
        let mut westwood = Westwood { rtt: 1, ..Westwood::default() };
        // bytes in a sample of 13 ticks, bandwidth filtered once and twice
        for (bytes, once, twice) in [(13_000, 1_000, 1_000), (26_000, 1_125, 1_015), (26_000, 1_234, 1_042)] {
            sk.jiffies += 13;
            westwood.sample_bytes = bytes;
            westwood.end_sample(&sk);
            assert_eq!(westwood.bandwidth, Bandwidth { once, twice });
        }
        // 12 ticks of 250 Hz are less than 50 ms' worth.
        (westwood.sample_bytes, sk.jiffies) = (1, sk.jiffies + 12);
        westwood.end_sample(&sk);
        assert_eq!(westwood.sample_bytes, 1);
    }
}
