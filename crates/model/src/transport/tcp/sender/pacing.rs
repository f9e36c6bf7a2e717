//! Pacing: the rate derived from the window, and the resulting gaps between packets.

use super::Sender;
use crate::transport::tcp::config::PacingBase;
use crate::types::Instant;

/// Initial segments that are not paced.
// linux: net/ipv4/tcp_output.c tcp_update_skb_after_send (6.1) - as in fq.
const UNPACED_SEGMENTS: u32 = 10;

/// TCP header length without options, in bytes.
const TCP_HEADER: u32 = 20;

/// Eighths of a round-trip time in ticks beyond which it is divided by.
// linux: net/ipv4/tcp_input.c tcp_update_pacing_rate (3.13) - a tick, and a little more; so much at most is
// taken for an eighth of a tick, as it may be far less.
const SHORT_RTT: u32 = 8 + 2;

/// Returns eight times the RTT in us by which a kernel with ticks of `tick_us` paces.
fn paced_over(srtt8_us: u32, tick_us: u32) -> u64 {
    u64::from(if srtt8_us > SHORT_RTT * tick_us { srtt8_us } else { tick_us })
}

impl Sender {
    /// Derives the pacing rate from window and RTT.
    // linux: net/ipv4/tcp_input.c tcp_update_pacing_rate (6.1) - a window per smoothed RTT times a ratio,
    // which is larger while the window is below half of the threshold.
    // paper: tsq-pacing alg1 - the same with the flow's minimum RTT.
    pub(super) fn update_pacing_rate(&mut self) {
        let sk = &mut self.sk;
        let slow = sk.snd_cwnd < sk.snd_ssthresh / 2;
        let ratio = if slow { self.cfg.pacing_ss_ratio } else { self.cfg.pacing_ca_ratio };
        let window = u64::from(sk.mss_cache) * u64::from(sk.snd_cwnd.max(sk.packets_out));
        let rtt8 = match self.cfg.pacing_base {
            PacingBase::Srtt if self.cfg.rtt_in_ticks => paced_over(sk.srtt_us, 1_000_000 / self.cfg.hz),
            PacingBase::Srtt => u64::from(sk.srtt_us),
            PacingBase::BaseRtt if sk.min_rtt_us == u32::MAX => 0,
            PacingBase::BaseRtt => u64::from(sk.min_rtt_us) << 3,
        };
        let rate = window * u64::from(ratio) * (8 * 1_000_000 / 100) / rtt8.max(1);
        sk.pacing_rate = rate.min(sk.max_pacing_rate);
    }

    /// Returns true if the next packet must wait for its departure time, and sets a timer for it.
    // linux: net/ipv4/tcp_output.c tcp_pacing_check, include/net/tcp.h tcp_needs_internal_pacing (6.1) -
    // never if fq paces.
    #[inline]
    pub(super) fn pacing_blocks(&mut self) -> bool {
        let until = if self.cfg.departure_times { self.sk.wstamp_ns } else { self.paced_until };
        if self.cfg.fq || !self.sk.needs_pacing || until <= self.sk.clock_ns {
            return false;
        }
        if self.pace_at.is_none() {
            self.pace_at = Some(Instant::from_nanos(until));
        }
        true
    }

    /// Stamps a packet sent now. Returns the previous departure stamp.
    // linux: net/ipv4/tcp_output.c __tcp_transmit_skb (6.1) - stamps every packet, with or without data.
    #[inline]
    pub(super) fn stamp(&mut self) -> u64 {
        let prior = self.sk.wstamp_ns;
        self.sk.wstamp_ns = prior.max(self.sk.clock_ns);
        prior
    }

    /// Returns the departure time of a packet without data created now.
    #[inline]
    pub fn departure(&mut self, now: Instant) -> Instant {
        self.touch(now);
        self.stamp();
        Instant::from_nanos(self.sk.wstamp_ns)
    }

    /// Advances the departure stamp after a packet of `len` data bytes; `prior_wstamp` was the stamp before.
    // linux: net/ipv4/tcp_output.c tcp_update_skb_after_send (6.1) - adds the packet's duration at the pacing
    // rate; a late sender gets credit for at most half a packet.
    // deviation: uses such stamps also for an fq qdisc that paces an older kernel's sockets.
    #[inline]
    pub(super) fn advance_departure(&mut self, len: u32, prior_wstamp: u64) {
        let sk = &mut self.sk;
        if !sk.needs_pacing || sk.pacing_rate == 0 || sk.pacing_rate == u64::MAX {
            return;
        }
        if !self.cfg.departure_times && !self.cfg.fq {
            self.start_pacing_timer(len);
            return;
        }
        if self.count.data_segs_out < UNPACED_SEGMENTS {
            return;
        }
        let gap = u64::from(len) * 1_000_000_000 / sk.pacing_rate;
        let late = sk.wstamp_ns - prior_wstamp;
        sk.wstamp_ns += gap - late.min(gap / 2);
    }

    /// Starts the pacing timer after a packet with `len` bytes of data.
    // linux: net/ipv4/tcp_output.c tcp_internal_pacing (4.19) - includes the header; from the first packet
    // on.
    fn start_pacing_timer(&mut self, len: u32) {
        if len > 0 {
            let options = if self.timestamps { super::TIMESTAMP_OPTION } else { 0 };
            let bytes = u64::from(len + TCP_HEADER + options);
            self.paced_until = self.sk.clock_ns + bytes * 1_000_000_000 / self.sk.pacing_rate;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    #[test]
    fn rates_by_hand() {
        // cwnd, threshold, packets in flight, srtt in us, minimum in us, base | bytes per second
        let table = [
            // 10 x 1,448 bytes per 10 ms, times two
            (10, 0x7fff_ffff, 0, 10_000, 5_000, PacingBase::Srtt, 2_896_000),
            // half of the threshold is not below it: ratio 1.2
            (10, 20, 0, 10_000, 5_000, PacingBase::Srtt, 1_737_600),
            (10, 20, 15, 10_000, 5_000, PacingBase::Srtt, 2_606_400),
            (10, 20, 0, 10_000, 5_000, PacingBase::BaseRtt, 3_475_200),
            // Reno after 30 s at 50 Mbit/s as measured: window 144, srtt 34.643 ms, 57,781,224 bit/s
            (144, 91, 144, 34_643, 20_000, PacingBase::Srtt, 7_222_653),
        ];
        for (cwnd, ssthresh, out, srtt, min, base, rate) in table {
            let mut s = testing::established();
            s.cfg.pacing_base = base;
            (s.sk.snd_cwnd, s.sk.snd_ssthresh, s.sk.packets_out) = (cwnd, ssthresh, out);
            (s.sk.srtt_us, s.sk.min_rtt_us) = (srtt << 3, min);
            s.update_pacing_rate();
            // The kernel computes with eighths of a us, which `ss` does not show.
            assert!(s.sk.pacing_rate.abs_diff(rate) <= rate / 30_000, "{cwnd}: {}", s.sk.pacing_rate);
        }
    }

    // linux: net/ipv4/tcp_input.c tcp_update_pacing_rate (3.13).
    #[test]
    fn short_rtts_inflate_the_pacing_rate_before_3_15() {
        // RTT in us, ticks of 4 ms; RTT in eighths of a tick, eighths used for pacing
        let table = [(500, 8, 1), (4_000, 8, 1), (4_100, 8, 1), (8_000, 16, 16), (20_000, 40, 40)];
        for (us, srtt8, by) in table {
            let mut s = testing::established();
            s.cfg.rtt_in_ticks = true;
            (s.sk.srtt_us, s.sk.now_us, s.sk.jiffies) = (0, 4_003_900, 1_000);
            s.rtt_sample(us);
            assert_eq!(s.sk.srtt_us, srtt8 * 4_000, "{us}");
            s.update_pacing_rate();
            // Ten segments, times two.
            assert_eq!(s.sk.pacing_rate, 2 * 14_480 * 8 * 250 / by, "{us}");
            // The timeout is three RTTs, or one RTT plus 200 ms.
            assert_eq!(s.rto(), srtt8 / 8 + 50, "{us}");
        }
    }

    #[test]
    fn first_pacing_rate_uses_the_negotiated_mss() {
        // Ten segments of 1,448 bytes per handshake RTT of 10 ms, times two.
        assert_eq!(testing::established().sk.pacing_rate, 2_896_000);
    }

    #[test]
    fn pacing_credit_is_at_most_half_a_packet() {
        let mut s = testing::established();
        s.sk.needs_pacing = true;
        s.sk.pacing_rate = 1_448_000;
        s.count.data_segs_out = 10;
        // stamp before, clock, stamp after: a packet takes 1 ms
        let table = [
            (5_000_000, 5_000_000, 6_000_000),
            (5_000_000, 5_300_000, 6_000_000),
            (5_000_000, 5_500_000, 6_000_000),
            (5_000_000, 9_000_000, 9_500_000),
        ];
        for (before, clock, after) in table {
            s.sk.wstamp_ns = clock;
            s.advance_departure(1_448, before);
            assert_eq!(s.sk.wstamp_ns, after, "{clock}");
        }
        s.count.data_segs_out = 9;
        s.sk.wstamp_ns = 7;
        s.advance_departure(1_448, 7);
        assert_eq!(s.sk.wstamp_ns, 7);
    }
    // linux: net/ipv4/tcp_output.c tcp_internal_pacing (4.19).
    #[test]
    fn pacing_timer_runs_from_packet_to_packet_before_4_20() {
        let mut s = testing::established();
        (s.cfg.departure_times, s.sk.needs_pacing, s.sk.pacing_rate) = (false, true, 1_480_000);
        // The first packets, 1,480 bytes with header, are paced without credit for late departures.
        for (clock, until) in
            [(5_000_000, 6_000_000), (6_000_000, 7_000_000), (7_400_000, 8_400_000), (30_000_000, 31_000_000)]
        {
            s.sk.clock_ns = clock;
            assert!(!s.pacing_blocks(), "{clock}");
            let prior = s.stamp();
            s.advance_departure(1_448, prior);
            // Packets are stamped with the current time, and only the timer is in the future.
            assert_eq!((s.paced_until, s.sk.wstamp_ns), (until, clock));
            assert!(s.pacing_blocks());
            s.pace_at = None;
        }
        // A pure ACK starts no timer.
        s.advance_departure(0, 30_000_000);
        assert_eq!(s.paced_until, 31_000_000);
    }
}
