//! Packet sizes: size goal of a write, TSO autosizing, and TSO deferral.

use super::queue::Head;
use super::{MSS_DEFAULT, Sender};
use crate::transport::cc::{CaState, Controller};

/// Reason for deferring a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Defer {
    /// Not deferred.
    No,
    /// The congestion window.
    Cwnd,
    /// The peer's receive window.
    Window,
    /// More data.
    Data,
}

/// Segments above which a packet is never deferred if no share of the window is configured.
// linux: include/net/tcp.h tcp_max_tso_deferred_mss (6.1).
pub(super) const MAX_DEFERRED_SEGS: u32 = 3;

impl Sender {
    /// Returns the bytes that `write` puts into one packet.
    // linux: net/ipv4/tcp.c tcp_xmit_size_goal (6.1) - whole segments, at most half of the maximum window.
    pub(super) fn size_goal(&self) -> u32 {
        let mss = self.sk.mss_cache;
        if !self.cfg.tso {
            return mss;
        }
        let half = if self.max_window > MSS_DEFAULT { self.max_window >> 1 } else { self.max_window };
        let bytes = if half == 0 { self.sk.gso_max_size } else { self.sk.gso_max_size.min(half) };
        (bytes / mss).clamp(1, self.cfg.gso_max_segs.max(1)) * mss
    }

    /// Returns the maximum number of segments per packet.
    // linux: net/ipv4/tcp_output.c tcp_tso_autosize, tcp_tso_segs (6.1) - one period (`sk_pacing_shift`) at
    // the pacing rate, since 5.18 more for a small minimum RTT, at least tcp_min_tso_segs.
    pub(super) fn tso_segs(&self) -> u32 {
        if !self.cfg.tso {
            return 1;
        }
        let most = self.sk.gso_max_size;
        let mut bytes = self.sk.pacing_rate >> self.sk.pacing_shift;
        if self.cfg.tso_rtt_log > 0 {
            let halvings = self.sk.min_rtt_us >> self.cfg.tso_rtt_log.min(31);
            if halvings < u32::BITS {
                bytes = bytes.saturating_add(u64::from(most >> halvings));
            }
        }
        let bytes = bytes.min(u64::from(most)) as u32;
        let least = self.cc.min_tso_segs(&self.sk, self.cfg.min_tso_segs);
        (bytes / self.sk.mss_cache).max(least).min(self.cfg.gso_max_segs).max(1)
    }

    /// Returns how many bytes of the first unsent packet to send as one packet of up to `segs` segments.
    // linux: net/ipv4/tcp_output.c tcp_mss_split_point (6.1) - Nagle's algorithm delays a partial segment.
    pub(super) fn split_point(&self, head: Head, segs: u32, nagle_off: bool) -> u32 {
        let mss = self.sk.mss_cache;
        let window = self.wnd_end().wrapping_sub(self.sk.snd_nxt);
        let most = mss * segs;
        if most <= window && !head.last {
            return most;
        }
        let need = head.len.min(window);
        if most <= need {
            return most;
        }
        let partial = need % mss;
        if partial != 0 && self.nagle_waits(nagle_off) { need - partial } else { need }
    }

    /// Decides whether a packet should wait to become larger.
    // linux: net/ipv4/tcp_output.c tcp_tso_should_defer (6.1) - not in recovery; not if the last packet was
    // sent more than 1 ms ago; not if a full packet, a third of the window (more than three segments if
    // tcp_tso_win_divisor is 0), or a complete packet with others behind it may be sent; not if the ACK for
    // the first packet in flight is more than half an RTT, or 1 ms, away.
    pub(super) fn tso_defer(&self, head: Head, max_segs: u32) -> Defer {
        let sk = &self.sk;
        if sk.ca_state >= CaState::Recovery
            || sk.clock_ns as i64 - sk.wstamp_ns as i64 - 1_000_000 > 0
            || self.rtx.is_empty()
        {
            return Defer::No;
        }
        let window = self.wnd_end().wrapping_sub(sk.snd_nxt);
        let cwnd = (sk.snd_cwnd - sk.in_flight()).saturating_mul(sk.mss_cache);
        let may = window.min(cwnd);
        let divisor = self.cfg.tso_win_divisor;
        if may >= max_segs * sk.mss_cache
            || (!head.last && may >= head.len)
            || match self.snd_wnd.min(sk.snd_cwnd.saturating_mul(sk.mss_cache)).checked_div(divisor) {
                Some(share) => may >= share,
                None => may > MAX_DEFERRED_SEGS * sk.mss_cache,
            }
        {
            return Defer::No;
        }
        if self.ack_is_far() {
            return Defer::No;
        }
        if cwnd < window {
            if cwnd <= head.len {
                return Defer::Cwnd;
            }
        } else if window <= head.len {
            return Defer::Window;
        }
        if head.last && self.unsent.fin { Defer::No } else { Defer::Data }
    }

    /// Returns true if the ACK for the first packet in flight, due one smoothed RTT after transmission, is
    /// too far away to wait for.
    fn ack_is_far(&self) -> bool {
        let srtt_ns = u64::from(self.sk.srtt_us) * 125;
        let sent_ns = self.rtx.head().map_or(self.sk.clock_ns, |skb| skb.sent_us * 1_000);
        let away = (sent_ns + srtt_ns) as i64 - self.sk.clock_ns as i64;
        let near = if self.cfg.defers_for_a_ms { (srtt_ns / 2).min(1_000_000) } else { srtt_ns / 2 };
        away > near as i64
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::super::testing::{Sink, at_us};
    use super::*;

    #[test]
    fn sizes_by_rate_and_round_trip() {
        let mut s = testing::established();
        s.cfg.tso = true;
        // Mbit/s, minimum RTT in us, tso_rtt_log | segments: at most 65,536 - 257 bytes
        let table = [
            (25, 10_000, 0, 2),
            (100, 10_000, 0, 8),
            (1_000, 10_000, 0, 45),
            (25, 400, 9, 45),
            (25, 1_100, 9, 13),
            (25, 600, 9, 24),
            (25, 20_000, 9, 2),
        ];
        for (mbps, min_rtt, log, segs) in table {
            s.sk.pacing_rate = mbps * 125_000;
            s.sk.min_rtt_us = min_rtt;
            s.cfg.tso_rtt_log = log;
            assert_eq!(s.tso_segs(), segs, "{mbps} {min_rtt} {log}");
        }
    }

    #[test]
    fn deferral_does_not_wait_for_a_distant_ack() {
        // srtt in us, us since the first packet was sent, limit of 1 ms, too far
        let table = [
            (1_000, 499, true, true),
            (1_000, 500, true, false),
            (12_000, 10_999, true, true),
            (12_000, 11_000, true, false),
            (12_000, 5_999, false, true),
            (12_000, 6_000, false, false),
        ];
        for (srtt, since, a_ms, far) in table {
            let mut s = testing::established();
            s.write(at_us(20_000), 1_448, &mut Sink::default());
            s.touch(at_us(20_000 + since));
            s.sk.srtt_us = srtt << 3;
            s.cfg.defers_for_a_ms = a_ms;
            assert_eq!(s.ack_is_far(), far, "{srtt} {since} {a_ms}");
        }
    }

    #[test]
    fn deferral_with_win_divisor_zero() {
        // divisor, window in segments, reason for deferral
        let table = [
            (3, 12, Defer::Cwnd),
            (3, 14, Defer::Data),
            (3, 15, Defer::No),
            (0, 12, Defer::Cwnd),
            (0, 13, Defer::Data),
            (0, 14, Defer::No),
        ];
        for (divisor, window, defer) in table {
            let mut s = testing::established();
            (s.cfg.small_queues.off, s.cfg.tso_win_divisor) = (true, divisor);
            s.write(at_us(20_000), 10 * 1_448, &mut Sink::default());
            s.touch(at_us(20_600));
            (s.sk.snd_cwnd, s.sk.srtt_us) = (window, 1_000 << 3);
            assert_eq!(s.sk.in_flight(), 10);
            let head = Head { len: 2 * 1_448, push: false, last: true };
            assert_eq!(s.tso_defer(head, 40), defer, "{divisor} {window}");
        }
    }

    #[test]
    fn size_goal_is_at_most_half_of_the_window() {
        let mut s = testing::established();
        s.cfg.tso = true;
        // maximum window, bytes per packet
        for (window, goal) in [(500, 1_448), (10_000, 3 * 1_448), (64_240, 22 * 1_448), (1 << 20, 45 * 1_448)]
        {
            s.max_window = window;
            assert_eq!(s.size_goal(), goal, "{window}");
        }
    }
}
