//! Congestion window validation: whether the window limits the sender, and decay of an unused window.

use super::Sender;
use super::chrono::Limit;
use super::tso::MAX_DEFERRED_SEGS;
use crate::transport::cc::{CaState, CcEvent, Controller};
use crate::transport::seq::before;
use crate::transport::tcp::config::CwndLimitedRules;

/// Recent use of the window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// True if the window limited the sender in this round trip.
    pub limited: bool,
    /// Sequence number whose acknowledgement ends the round trip.
    seq: u32,
    /// Maximum segments in flight since the window was full.
    used: u32,
    /// Tick at which the window was last full, or last reduced for being unused.
    pub stamp: u32,
}

impl Usage {
    pub fn starting(seq: u32, tick: u32) -> Self {
        Self { limited: false, seq, used: 0, stamp: tick }
    }
}

impl Sender {
    /// Returns true if the window limited the sender in this round, or if slow start has not reached twice
    /// the maximum flight.
    // linux: include/net/tcp.h tcp_is_cwnd_limited (6.1).
    #[inline]
    pub(super) fn is_cwnd_limited(&self) -> bool {
        let sk = &self.sk;
        self.usage.limited || (sk.in_slow_start() && sk.snd_cwnd < sk.max_packets_out.saturating_mul(2))
    }

    /// Returns true if an ACK may grow the window. `in_flight` segments were in flight before the ACK.
    #[inline]
    pub(super) fn may_grow(&self, in_flight: u32) -> bool {
        match self.cfg.cwnd_limited {
            CwndLimitedRules::Linux3_13 => self.window_was_used(in_flight),
            _ => self.is_cwnd_limited(),
        }
    }

    /// Returns true if the unused part of the window is no larger than what TSO deferral leaves.
    // linux: net/ipv4/tcp_cong.c tcp_is_cwnd_limited (3.10) - without TSO nothing is deferred.
    fn window_was_used(&self, in_flight: u32) -> bool {
        let sk = &self.sk;
        let left = sk.snd_cwnd.saturating_sub(in_flight);
        let waits = self.cfg.tso
            && left.saturating_mul(self.cfg.tso_win_divisor) < sk.snd_cwnd
            && left.saturating_mul(sk.mss_cache) < self.cfg.gso_max_size
            && left < self.cfg.gso_max_segs;
        waits || left <= MAX_DEFERRED_SEGS
    }

    /// Updates the use of the window after a transmission attempt.
    // linux: net/ipv4/tcp_output.c tcp_cwnd_validate (6.1, 5.15, 4.4, 3.10) - the maximum flight decides;
    // since 5.10 also a full window; since 6.1 a limited round stays limited.
    pub(super) fn validate_cwnd(&mut self, limited: bool) {
        use CwndLimitedRules::{Linux3_13, Linux3_16, Linux5_10, Linux6_1};
        let sk = &mut self.sk;
        let usage = &mut self.usage;
        let more = sk.packets_out > sk.max_packets_out;
        let decides = match self.cfg.cwnd_limited {
            Linux6_1 => limited || (!usage.limited && more),
            Linux5_10 => limited || more,
            Linux3_16 => more,
            Linux3_13 => true,
        };
        if !before(sk.snd_una, usage.seq) || decides {
            usage.limited =
                if self.cfg.cwnd_limited == Linux3_13 { sk.packets_out >= sk.snd_cwnd } else { limited };
            sk.max_packets_out = sk.packets_out;
            usage.seq = sk.snd_nxt;
        }
        let full = match self.cfg.cwnd_limited {
            Linux3_13 => self.usage.limited,
            _ => self.is_cwnd_limited(),
        };
        if full {
            self.usage.used = 0;
            self.usage.stamp = self.sk.jiffies;
            return;
        }
        self.usage.used = self.usage.used.max(self.sk.packets_out);
        if self.cfg.slow_start_after_idle
            && self.sk.jiffies.wrapping_sub(self.usage.stamp) >= self.rtt.rto
            && !self.cc_controls
        {
            self.shrink_unused_cwnd();
        }
        if self.unsent.is_empty() && self.buf.nospace && !self.closing {
            self.chrono.start(Limit::Buffer, self.sk.jiffies);
        }
    }

    /// Stops timing a limit.
    #[inline]
    pub(super) fn stop_chrono(&mut self, limit: Limit) {
        self.chrono.stop(limit, self.rtx.is_empty() && self.unsent.is_empty(), self.sk.jiffies);
    }

    // linux: net/ipv4/tcp_output.c tcp_cwnd_application_limited (6.1) - reduces the window halfway towards
    // the part used, unless the send buffer was the limit.
    // spec: rfc2861 3.2.
    fn shrink_unused_cwnd(&mut self) {
        if self.sk.ca_state == CaState::Open && !self.buf.nospace {
            let used = self.usage.used.max(self.sk.init_cwnd);
            if used < self.sk.snd_cwnd {
                self.sk.snd_ssthresh = self.current_ssthresh();
                self.sk.snd_cwnd = (self.sk.snd_cwnd + used) >> 1;
            }
            self.usage.used = 0;
        }
        self.usage.stamp = self.sk.jiffies;
    }

    /// Returns the threshold to keep across a restart or an undo.
    // linux: include/net/tcp.h tcp_current_ssthresh (6.1).
    pub(super) fn current_ssthresh(&self) -> u32 {
        let sk = &self.sk;
        if self.in_cwnd_reduction() {
            sk.snd_ssthresh
        } else {
            sk.snd_ssthresh.max((sk.snd_cwnd >> 1) + (sk.snd_cwnd >> 2))
        }
    }

    /// Restarts after an idle period: halves the window for each elapsed timeout.
    // linux: include/net/tcp.h tcp_slow_start_after_idle_check, net/ipv4/tcp_output.c tcp_cwnd_restart (6.1).
    // spec: rfc2861 3.1.
    pub(super) fn restart_after_idle(&mut self) {
        if !self.cfg.slow_start_after_idle || self.sk.packets_out > 0 || self.cc_controls {
            return;
        }
        let rto = i64::from(self.rtt.rto);
        let mut idle = i64::from(self.sk.jiffies.wrapping_sub(self.sk.lsndtime) as i32);
        if idle <= rto {
            return;
        }
        let mut cwnd = self.sk.snd_cwnd;
        let restart = self.sk.init_cwnd.min(cwnd);
        self.cc.cwnd_event(&mut self.sk, CcEvent::CwndRestart);
        self.sk.snd_ssthresh = self.current_ssthresh();
        idle -= rto;
        while idle > 0 && cwnd > restart {
            cwnd >>= 1;
            idle -= rto;
        }
        self.sk.snd_cwnd = cwnd.max(restart);
        self.usage.stamp = self.sk.jiffies;
        self.usage.used = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Sink, at_us, established};
    use crate::transport::tcp::config::CwndLimitedRules::{Linux3_13, Linux3_16, Linux5_10, Linux6_1};

    // linux: net/ipv4/tcp_output.c tcp_cwnd_validate (6.1, 5.15, 4.4).
    #[test]
    fn a_full_window_is_remembered_for_the_round_since_6_1() {
        // in flight, window full; window counts as the limit in 6.1, 5.10 and 3.16
        let table = [
            (8, false, [false, false, false]),
            (10, true, [true, true, true]),
            (12, false, [true, false, false]), // more in flight, not limited
            (11, true, [true, true, false]),   // less in flight does not count, but a full window does
            (10, false, [true, true, false]),
            (13, true, [true, true, true]),
        ];
        for (i, rules) in [Linux6_1, Linux5_10, Linux3_16].into_iter().enumerate() {
            let mut s = established();
            s.cfg.cwnd_limited = rules;
            (s.sk.snd_cwnd, s.sk.snd_ssthresh) = (20, 10);
            // Nothing is acknowledged: a single round.
            s.sk.snd_nxt = s.sk.snd_una.wrapping_add(20_000);
            for (row, (packets_out, full, limits)) in table.into_iter().enumerate() {
                s.sk.packets_out = packets_out;
                s.validate_cwnd(full);
                assert_eq!(s.may_grow(0), limits[i], "row {row}, {rules:?}");
            }
        }
    }

    // linux: net/ipv4/tcp_output.c tcp_write_xmit (5.15) - since 5.10, also if the window blocks sending.
    #[test]
    fn a_full_window_that_blocks_sending_counts_since_5_10() {
        for (rules, limits) in [(Linux6_1, true), (Linux5_10, true), (Linux3_16, false)] {
            let mut s = established();
            s.cfg.cwnd_limited = rules;
            (s.cfg.small_queues.off, s.sk.snd_ssthresh, s.buf.sndbuf) = (true, 5, 1 << 24);
            let mut out = Sink::default();
            s.write(at_us(20_000), 10 * 1_448, &mut out);
            assert_eq!(out.sent.len(), 10);
            // All data was sent with room to spare; then the window shrinks and more data is written.
            s.usage.limited = false;
            s.sk.snd_cwnd = 9;
            s.write(at_us(20_100), 1_448, &mut out);
            assert_eq!((out.sent.len(), s.may_grow(0)), (10, limits), "{rules:?}");
        }
    }

    // linux: net/ipv4/tcp_cong.c tcp_is_cwnd_limited (3.10).
    #[test]
    fn three_unused_segments_still_count_as_limited_before_3_16() {
        // TSO; window, in flight before the ACK; window may grow
        let table = [
            (false, 20, 17, true),
            (false, 20, 16, false),
            (false, 20, 25, true),
            // TSO defers less than a third of the window, up to 64 KiB.
            (true, 20, 14, true),
            (true, 20, 13, false),
            (true, 200, 155, true),
            (true, 200, 154, false),
        ];
        for (tso, cwnd, in_flight, grows) in table {
            let mut s = established();
            (s.cfg.tso, s.cfg.cwnd_limited, s.sk.snd_cwnd) = (tso, Linux3_13, cwnd);
            assert_eq!(s.may_grow(in_flight), grows, "{tso} {cwnd} {in_flight}");
        }
    }
}
