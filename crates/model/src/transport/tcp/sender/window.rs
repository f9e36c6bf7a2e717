//! Whether the window is what limits the sender; a window that is not used is not kept.

use super::Sender;
use super::chrono::Limit;
use crate::transport::cc::{CaState, CcEvent, Controller};
use crate::transport::seq::before;

/// How the window was used of late.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// The window limited the sender in the present round trip.
    pub limited: bool,
    /// That round trip ends when this is acknowledged.
    seq: u32,
    /// Most segments in flight since the window was full.
    used: u32,
    /// When it was full last, or was cut for not being so, in ticks.
    pub stamp: u32,
}

impl Usage {
    pub fn starting(seq: u32, tick: u32) -> Self {
        Self { limited: false, seq, used: 0, stamp: tick }
    }
}

impl Sender {
    /// The window counts as full if it was in this round, or if slow start has not reached twice of what was in flight.
    // linux: include/net/tcp.h tcp_is_cwnd_limited (6.1).
    #[inline]
    pub(super) fn is_cwnd_limited(&self) -> bool {
        let sk = &self.sk;
        self.usage.limited || (sk.in_slow_start() && sk.snd_cwnd < sk.max_packets_out.saturating_mul(2))
    }

    /// After sending: was the window the limit?
    // linux: net/ipv4/tcp_output.c tcp_cwnd_validate (6.1) - a round that was limited once stays so; one that was not keeps the
    // most that was in flight. Before 6.1 (recalled) the most that was in flight decides either way.
    pub(super) fn validate_cwnd(&mut self, limited: bool) {
        let sk = &mut self.sk;
        let usage = &mut self.usage;
        let more = sk.packets_out > sk.max_packets_out;
        let decides = if self.cfg.cwnd_limited_is_kept { limited || (!usage.limited && more) } else { more };
        if !before(sk.snd_una, usage.seq) || decides {
            usage.limited = limited;
            sk.max_packets_out = sk.packets_out;
            usage.seq = sk.snd_nxt;
        }
        if self.is_cwnd_limited() {
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

    /// A limit no longer acts.
    #[inline]
    pub(super) fn stop_chrono(&mut self, limit: Limit) {
        self.chrono.stop(limit, self.rtx.is_empty() && self.unsent.is_empty(), self.sk.jiffies);
    }

    // linux: net/ipv4/tcp_output.c tcp_cwnd_application_limited (6.1) - half-way towards what was used, unless the send buffer is
    // what was lacking.
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

    /// The threshold as a restart or an undo keeps it.
    // linux: include/net/tcp.h tcp_current_ssthresh (6.1).
    pub(super) fn current_ssthresh(&self) -> u32 {
        let sk = &self.sk;
        if self.in_cwnd_reduction() {
            sk.snd_ssthresh
        } else {
            sk.snd_ssthresh.max((sk.snd_cwnd >> 1) + (sk.snd_cwnd >> 2))
        }
    }

    /// The application writes after a pause: the window is halved for each timeout that has passed.
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
    use super::super::testing::established;

    // linux: net/ipv4/tcp_output.c tcp_cwnd_validate (6.1, and as it was before).
    #[test]
    fn a_full_window_is_remembered_for_the_round_since_6_1() {
        // In flight, and whether the window was full; then whether it counts as the limit, since 6.1 and before.
        let table = [
            (8, false, false, false),
            (10, true, true, true),
            (12, false, true, false), // more in flight, and not limited
            (11, true, true, false),  // less in flight does not tell
            (13, true, true, true),
        ];
        for kept in [true, false] {
            let mut s = established();
            s.cfg.cwnd_limited_is_kept = kept;
            (s.sk.snd_cwnd, s.sk.snd_ssthresh) = (20, 10);
            // Nothing is acknowledged: it is one round.
            s.sk.snd_nxt = s.sk.snd_una.wrapping_add(20_000);
            for (row, (packets_out, full, since, before)) in table.into_iter().enumerate() {
                s.sk.packets_out = packets_out;
                s.validate_cwnd(full);
                assert_eq!(s.is_cwnd_limited(), if kept { since } else { before }, "row {row}, {kept}");
            }
        }
    }
}
