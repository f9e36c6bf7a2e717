//! Pacing: the rate that follows from the window, and the gaps it puts between packets.

use super::Sender;
use crate::transport::tcp::config::PacingBase;
use crate::vocabulary::Instant;

/// Segments that leave unpaced at first.
// linux: net/ipv4/tcp_output.c tcp_update_skb_after_send (6.1) - as fq always had it.
const UNPACED_SEGMENTS: u32 = 10;

/// Bytes of a TCP header without options.
const TCP_HEADER: u32 = 20;

/// Eighths of a round-trip time in ticks beyond which it is divided by.
// linux: net/ipv4/tcp_input.c tcp_update_pacing_rate (3.13) - a tick, and a little more; so much at most is
// taken for an eighth of a tick, as it may be far less.
const SHORT_RTT: u32 = 8 + 2;

/// The eight-fold round-trip time in us that a kernel paces by that measures it in ticks of `tick_us`.
fn paced_over(srtt8_us: u32, tick_us: u32) -> u64 {
    u64::from(if srtt8_us > SHORT_RTT * tick_us { srtt8_us } else { tick_us })
}

impl Sender {
    /// Sets the pacing rate from window and round-trip time.
    // linux: net/ipv4/tcp_input.c tcp_update_pacing_rate (6.1) - a window in a smoothed round-trip time,
    // times a ratio: the larger one while the window is below half of the threshold.
    // paper: tsq-pacing alg1 - the same with the flow's minimum round-trip time.
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

    /// Whether the next packet has to wait for its departure time; if so, a timer is set for it.
    // linux: net/ipv4/tcp_output.c tcp_pacing_check, include/net/tcp.h tcp_needs_internal_pacing (6.1) -
    // never where fq waits instead.
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

    /// Stamps a packet that leaves now; returns the stamp before it.
    // linux: net/ipv4/tcp_output.c __tcp_transmit_skb (6.1) - each packet, whatever it bears.
    #[inline]
    pub(super) fn stamp(&mut self) -> u64 {
        let prior = self.sk.wstamp_ns;
        self.sk.wstamp_ns = prior.max(self.sk.clock_ns);
        prior
    }

    /// When a packet that is made now without data may leave.
    #[inline]
    pub fn departure(&mut self, now: Instant) -> Instant {
        self.touch(now);
        self.stamp();
        Instant::from_nanos(self.sk.wstamp_ns)
    }

    /// A packet of `len` bytes of data was sent; `prior_wstamp` is the departure stamp before it.
    // linux: net/ipv4/tcp_output.c tcp_update_skb_after_send (6.1) - the time a packet takes at the pacing
    // rate is added to the stamp; a sender that comes late may make up for half a packet at most.
    // deviation: an fq that keeps the pace of an older kernel is taken to do so by such stamps, too.
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

    /// A packet of `len` bytes of data has left: the next one waits from now on, whenever that is.
    // linux: net/ipv4/tcp_output.c tcp_internal_pacing (4.19) - the header counts, and from the first packet
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
        // cwnd, threshold, packets out, srtt us, minimum us, base | bytes a second
        let table = [
            // 10 x 1,448 bytes in 10 ms, twice
            (10, 0x7fff_ffff, 0, 10_000, 5_000, PacingBase::Srtt, 2_896_000),
            // half of the threshold is not below it: 1.2
            (10, 20, 0, 10_000, 5_000, PacingBase::Srtt, 1_737_600),
            (10, 20, 15, 10_000, 5_000, PacingBase::Srtt, 2_606_400),
            (10, 20, 0, 10_000, 5_000, PacingBase::BaseRtt, 3_475_200),
            // reno after 30 s at 50 Mbit/s in the measured kernel: window 144, srtt 34.643 ms, 57,781,224
            // bit/s
            (144, 91, 144, 34_643, 20_000, PacingBase::Srtt, 7_222_653),
        ];
        for (cwnd, ssthresh, out, srtt, min, base, rate) in table {
            let mut s = testing::established();
            s.cfg.pacing_base = base;
            (s.sk.snd_cwnd, s.sk.snd_ssthresh, s.sk.packets_out) = (cwnd, ssthresh, out);
            (s.sk.srtt_us, s.sk.min_rtt_us) = (srtt << 3, min);
            s.update_pacing_rate();
            // The kernel's figure comes from eighths of a microsecond that `ss` does not show.
            assert!(s.sk.pacing_rate.abs_diff(rate) <= rate / 30_000, "{cwnd}: {}", s.sk.pacing_rate);
        }
    }

    // linux: net/ipv4/tcp_input.c tcp_update_pacing_rate (3.13).
    #[test]
    fn a_round_trip_of_about_a_tick_makes_the_rate_boundless_before_3_15() {
        // Round-trip times in us, ticks of 4 ms; eighths of a tick, eighths paced by
        let table = [(500, 8, 1), (4_000, 8, 1), (4_100, 8, 1), (8_000, 16, 16), (20_000, 40, 40)];
        for (us, srtt8, by) in table {
            let mut s = testing::established();
            s.cfg.rtt_in_ticks = true;
            (s.sk.srtt_us, s.sk.now_us, s.sk.jiffies) = (0, 4_003_900, 1_000);
            s.rtt_sample(us);
            assert_eq!(s.sk.srtt_us, srtt8 * 4_000, "{us}");
            s.update_pacing_rate();
            // Ten segments, twice.
            assert_eq!(s.sk.pacing_rate, 2 * 14_480 * 8 * 250 / by, "{us}");
            // A timeout is three round trips or one and 200 ms.
            assert_eq!(s.rto(), srtt8 / 8 + 50, "{us}");
        }
    }

    #[test]
    fn the_first_rate_is_of_the_segments_agreed_on() {
        // Ten segments of 1,448 bytes in the 10 ms of the handshake, twice.
        assert_eq!(testing::established().sk.pacing_rate, 2_896_000);
    }

    #[test]
    fn credit_is_half_a_packet_at_most() {
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
    fn before_4_20_a_timer_runs_from_packet_to_packet() {
        let mut s = testing::established();
        (s.cfg.departure_times, s.sk.needs_pacing, s.sk.pacing_rate) = (false, true, 1_480_000);
        // The very first packets, of 1,480 bytes with their header, each after a wait of its own: no credit
        // for coming late.
        for (clock, until) in
            [(5_000_000, 6_000_000), (6_000_000, 7_000_000), (7_400_000, 8_400_000), (30_000_000, 31_000_000)]
        {
            s.sk.clock_ns = clock;
            assert!(!s.pacing_blocks(), "{clock}");
            let prior = s.stamp();
            s.advance_departure(1_448, prior);
            // Nothing leaves in the future, but for what waits.
            assert_eq!((s.paced_until, s.sk.wstamp_ns), (until, clock));
            assert!(s.pacing_blocks());
            s.pace_at = None;
        }
        // An acknowledgement starts no timer.
        s.advance_departure(0, 30_000_000);
        assert_eq!(s.paced_until, 31_000_000);
    }
}
