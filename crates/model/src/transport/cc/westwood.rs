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
    /// Bandwidth in bytes per tick, filtered once and twice.
    bw_ns_est: u32,
    bw_est: u32,
    /// Start of the sample in ticks, and bytes acknowledged since.
    rtt_win_sx: u32,
    bk: u32,
    /// `snd_una` at the last ACK.
    snd_una: u32,
    /// Bytes already counted for duplicate ACKs.
    accounted: u32,
    /// Latest and minimum RTT in ticks.
    rtt: u32,
    rtt_min: u32,
    first_ack: bool,
    reset_rtt_min: bool,
}

/// Weights the old value by 7/8.
fn filter(old: u32, new: u32) -> u32 {
    ((7 * u64::from(old) + u64::from(new)) >> 3) as u32
}

impl Westwood {
    // linux: net/ipv4/tcp_westwood.c westwood_update_window (6.1).
    fn update_window(&mut self, sk: &CcSock) {
        let ticks = sk.jiffies.wrapping_sub(self.rtt_win_sx);
        // The initial sequence number is only known at the first ACK.
        if core::mem::take(&mut self.first_ack) {
            self.snd_una = sk.snd_una;
        }
        if self.rtt != 0 && ticks as i32 > self.rtt.max(sk.hz / SAMPLE_MIN) as i32 {
            let sample = self.bk / ticks;
            if self.bw_ns_est == 0 && self.bw_est == 0 {
                (self.bw_ns_est, self.bw_est) = (sample, sample);
            } else {
                self.bw_ns_est = filter(self.bw_ns_est, sample);
                self.bw_est = filter(self.bw_est, self.bw_ns_est);
            }
            self.bk = 0;
            self.rtt_win_sx = sk.jiffies;
        }
    }

    /// Returns the bytes that this ACK accounts for. A duplicate ACK counts as one segment, which a later
    /// cumulative ACK does not count again.
    // linux: net/ipv4/tcp_westwood.c westwood_acked_count (6.1).
    // deviation: Linux counts this way only on its slow path - differs only for the remainder of a recovery.
    fn acked_bytes(&mut self, sk: &CcSock) -> u32 {
        let mss = sk.mss_cache;
        let mut bytes = sk.snd_una.wrapping_sub(self.snd_una);
        if bytes == 0 {
            self.accounted += mss;
            bytes = mss;
        }
        if bytes > mss {
            if self.accounted >= bytes {
                self.accounted -= bytes;
                bytes = mss;
            } else {
                bytes -= self.accounted;
                self.accounted = 0;
            }
        }
        self.snd_una = sk.snd_una;
        bytes
    }

    /// Returns the bandwidth-delay product in segments.
    // linux: net/ipv4/tcp_westwood.c tcp_westwood_bw_rttmin (6.1).
    fn pipe(&self, sk: &CcSock) -> u32 {
        let bytes = u64::from(self.bw_est) * u64::from(self.rtt_min);
        ((bytes / u64::from(sk.mss_cache)) as u32).max(MIN_SSTHRESH)
    }
}

impl Controller for Westwood {
    // linux: net/ipv4/tcp_westwood.c tcp_westwood_init (6.1).
    fn init(&mut self, sk: &mut CcSock) {
        *self = Self {
            rtt_win_sx: sk.jiffies,
            snd_una: sk.snd_una,
            rtt: INIT_RTT_S * sk.hz,
            rtt_min: INIT_RTT_S * sk.hz,
            first_ack: true,
            reset_rtt_min: true,
            ..Self::default()
        };
    }

    fn ssthresh(&mut self, sk: &mut CcSock) -> u32 {
        Reno.ssthresh(sk)
    }

    #[inline]
    fn cong_avoid(&mut self, sk: &mut CcSock, ack: u32, acked: u32) {
        Reno.cong_avoid(sk, ack, acked);
    }

    // linux: net/ipv4/tcp_westwood.c tcp_westwood_event (6.1).
    fn cwnd_event(&mut self, sk: &mut CcSock, event: CcEvent) {
        match event {
            CcEvent::CompleteCwr => {
                sk.snd_ssthresh = self.pipe(sk);
                sk.snd_cwnd = sk.snd_ssthresh;
            }
            CcEvent::Loss => {
                sk.snd_ssthresh = self.pipe(sk);
                self.reset_rtt_min = true;
            }
            CcEvent::TxStart | CcEvent::CwndRestart | CcEvent::EcnIsCe => {}
        }
    }

    // linux: net/ipv4/tcp_westwood.c tcp_westwood_ack (6.1).
    #[inline]
    fn in_ack_event(&mut self, sk: &mut CcSock, _ece: bool) {
        self.update_window(sk);
        self.bk = self.bk.wrapping_add(self.acked_bytes(sk));
        self.rtt_min =
            if core::mem::take(&mut self.reset_rtt_min) { self.rtt } else { self.rtt_min.min(self.rtt) };
    }

    // linux: net/ipv4/tcp_westwood.c tcp_westwood_pkts_acked (6.1) - converts to ticks, rounding up.
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
        let mut westwood = Westwood { snd_una: sk.snd_una, ..Westwood::default() };
        // segments acknowledged by the ACK, segments counted
        let table =
            [(1, 1), (2, 2), (0, 1), (0, 1), (0, 1), (1, 1), (5, 2), (2, 2), (0, 1), (0, 1), (2, 1), (3, 3)];
        for (i, (moves, counted)) in table.into_iter().enumerate() {
            sk.snd_una += moves * MSS;
            assert_eq!(westwood.acked_bytes(&sk), counted * MSS, "{i}");
        }
    }

    #[test]
    fn filters_twice() {
        let mut sk = sock();
        let mut westwood = Westwood { rtt: 1, ..Westwood::default() };
        // bytes in a sample of 13 ticks, bandwidth filtered once and twice
        for (bytes, once, twice) in [(13_000, 1_000, 1_000), (26_000, 1_125, 1_015), (26_000, 1_234, 1_042)] {
            sk.jiffies += 13;
            westwood.bk = bytes;
            westwood.update_window(&sk);
            assert_eq!((westwood.bw_ns_est, westwood.bw_est), (once, twice));
        }
        // 12 ticks at 250 Hz are less than 50 ms.
        (westwood.bk, sk.jiffies) = (1, sk.jiffies + 12);
        westwood.update_window(&sk);
        assert_eq!(westwood.bk, 1);
    }
}
