//! RACK: a packet is lost if another one sent sufficiently later was delivered.
// spec: rfc8985 6 - RACK.

use super::Sender;
use super::queue::{EVER_RETRANS, LOST, NIL, RETRANS, Skb};
use super::rate::sent_after;
use super::timer::Due;
use crate::transport::cc::{CaState, RateSample};
use crate::transport::seq::before;
use crate::transport::tcp::config::{LossDetection, PrrRules, RackBeside};

/// Recoveries for which a reordering window widened by D-SACKs persists.
// linux: include/net/tcp.h TCP_RACK_RECOVERY_THRESH (6.1).
pub(super) const RECOVERIES: u8 = 16;

/// Minimum reordering window of kernels that combine RACK with counting, in us.
// linux: net/ipv4/tcp_recovery.c tcp_rack_mark_lost (4.4).
const OLD_REO_WND_US: u32 = 1_000;

/// Most recent delivery, and the reordering window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rack {
    /// Transmission time in us and end of the most recently sent packet that was delivered.
    pub mstamp: u64,
    pub end_seq: u32,
    /// RTT of that packet in us.
    pub rtt_us: u32,
    /// Value of `delivered` at the last change of the reordering window.
    last_delivered: u32,
    /// Reordering window in quarters of the minimum RTT.
    pub reo_wnd_steps: u8,
    /// Recoveries until the window is reset to one quarter.
    pub reo_wnd_persist: u8,
    /// True if a D-SACK was received since the last change.
    pub dsack_seen: bool,
    /// True if a packet was delivered since the last loss detection.
    pub advanced: bool,
}

impl Default for Rack {
    fn default() -> Self {
        Self {
            mstamp: 0,
            end_seq: 0,
            rtt_us: 0,
            last_delivered: 0,
            reo_wnd_steps: 1,
            reo_wnd_persist: 0,
            dsack_seen: false,
            advanced: false,
        }
    }
}

impl Sender {
    /// Records the delivery of a packet.
    // linux: net/ipv4/tcp_recovery.c tcp_rack_advance (6.1) - ignores a retransmitted packet delivered faster
    // than the minimum RTT, since the ACK was for an earlier copy.
    #[inline]
    pub(super) fn rack_advance(&mut self, skb: &Skb) {
        let old = self.cfg.loss != LossDetection::RackTlp;
        let latest = &self.rack;
        // linux: same (4.4, 4.14) - considers only packets sent after the most recent known one.
        if old && !sent_after(skb.sent_us, latest.mstamp, skb.end, latest.end_seq) {
            return;
        }
        let rtt_us = self.since_us(skb.sent_us);
        if rtt_us < self.sk.min_rtt_us && skb.is(RETRANS | EVER_RETRANS) {
            return;
        }
        let rack = &mut self.rack;
        rack.advanced = true;
        rack.rtt_us = rtt_us;
        if sent_after(skb.sent_us, rack.mstamp, skb.end, rack.end_seq) {
            (rack.mstamp, rack.end_seq) = (skb.sent_us, skb.end);
        }
    }

    /// Returns true if RACK is used.
    #[inline]
    pub(super) fn rack_acts(&self) -> bool {
        self.cfg.loss == LossDetection::RackTlp || self.cfg.rack_beside != RackBeside::No
    }

    /// Returns the reordering window in us.
    // linux: net/ipv4/tcp_recovery.c tcp_rack_reo_wnd (6.1) - zero in or on entering recovery if no
    // reordering was seen; else quarters of the minimum RTT, at most the smoothed RTT.
    pub(super) fn reo_wnd_us(&self) -> u32 {
        let sk = &self.sk;
        if self.cfg.loss != LossDetection::RackTlp {
            return self.old_reo_wnd_us();
        }
        let enough = sk.sacked_out >= self.reordering && !self.cfg.rack_no_dupthresh;
        if !self.reord_seen && (sk.ca_state >= CaState::Recovery || enough) {
            return 0;
        }
        let steps = u32::from(self.rack.reo_wnd_steps);
        (sk.min_rtt_us >> 2).saturating_mul(steps).min(sk.srtt_us >> 3)
    }

    /// Reordering window of kernels that combine RACK with counting: a quarter of the minimum RTT if
    /// reordering was seen (since 4.11 also while nothing is lost), at least 1 ms.
    // linux: net/ipv4/tcp_recovery.c tcp_rack_mark_lost (4.4), tcp_rack_detect_loss (4.14).
    fn old_reo_wnd_us(&self) -> u32 {
        let sk = &self.sk;
        let wide = self.reord_seen || (self.cfg.rack_beside == RackBeside::Always && sk.lost_out == 0);
        let known = sk.min_rtt_us != u32::MAX;
        if wide && known { (sk.min_rtt_us >> 2).max(OLD_REO_WND_US) } else { OLD_REO_WND_US }
    }

    /// Returns the time in us until a packet counts as lost, based on the most recent delivery.
    // linux: net/ipv4/tcp_recovery.c tcp_rack_skb_timeout (6.1).
    #[inline]
    pub(super) fn rack_remaining_us(&self, skb: &Skb, reo_wnd_us: u32) -> i64 {
        i64::from(self.rack.rtt_us) + i64::from(reo_wnd_us) - i64::from(self.since_us(skb.sent_us))
    }

    /// Marks lost packets. Returns the time in us until all others in the reordering window would be lost.
    // linux: net/ipv4/tcp_recovery.c tcp_rack_detect_loss (6.1) - in order of transmission, up to the most
    // recent delivery; removes marked packets from the list until they are retransmitted.
    fn rack_detect(&mut self) -> u32 {
        let reo_wnd = self.reo_wnd_us();
        let mut wait = 0;
        let mut id = self.rtx.oldest();
        while id != NIL {
            let skb = *self.rtx.at(id);
            let next = self.rtx.sent_after(id);
            if !skb.is(LOST) || skb.is(RETRANS) {
                if !sent_after(self.rack.mstamp, skb.sent_us, self.rack.end_seq, skb.end) {
                    break;
                }
                let (remaining, least) = match (self.cfg.loss, self.cfg.rack_beside) {
                    (LossDetection::RackTlp, _) => (self.rack_remaining_us(&skb, reo_wnd), 1),
                    // linux: same (4.4) - compares transmission times, and sets no timer.
                    (_, RackBeside::InRecovery) => {
                        (i64::from(reo_wnd) - (self.rack.mstamp - skb.sent_us) as i64, 0)
                    }
                    _ => (self.rack_remaining_us(&skb, reo_wnd), 0),
                };
                if remaining < least {
                    self.mark_lost(id);
                    self.rtx.unlink(id);
                } else {
                    wait = wait.max(remaining as u32 + 1 - least as u32);
                }
            }
            id = next;
        }
        wait
    }

    /// Detects losses after an ACK. Returns true if a timer was set for packets within the reordering window.
    // linux: net/ipv4/tcp_recovery.c tcp_rack_mark_lost (6.1, 4.4).
    pub(super) fn rack_mark_lost(&mut self) -> bool {
        let recovers =
            self.cfg.loss != LossDetection::RackTlp && self.cfg.rack_beside == RackBeside::InRecovery;
        if (recovers && self.sk.ca_state < CaState::Recovery) || !core::mem::take(&mut self.rack.advanced) {
            return false;
        }
        let wait = if recovers {
            self.rack_detect();
            0
        } else {
            self.rack_detect()
        };
        if wait > 0 {
            self.arm(Due::Reordering, self.padded_ticks(wait).min(self.rtt.rto));
        }
        wait > 0
    }

    /// Handles an expired reordering timer.
    // linux: net/ipv4/tcp_recovery.c tcp_rack_reo_timeout (6.1).
    pub(super) fn reordering_timeout(&mut self, out: &mut impl super::Emit) {
        let in_flight = self.sk.in_flight();
        self.rack_detect();
        if self.sk.in_flight() != in_flight {
            if self.sk.ca_state != CaState::Recovery {
                self.enter_recovery(false);
                if !self.cc_controls {
                    // linux: same - counts as no progress, since there was no ACK.
                    self.reduce_cwnd(1, self.cfg.prr == PrrRules::Linux3_2);
                }
            }
            self.retransmit_lost(out);
        }
        if self.timer.what() != Some(Due::Retransmit) {
            self.rearm_rto();
        }
    }

    /// Widens the reordering window after D-SACKs, at most once per RTT.
    // linux: net/ipv4/tcp_recovery.c tcp_rack_update_reo_wnd (6.1).
    #[inline]
    pub(super) fn update_reo_wnd(&mut self, rs: &RateSample) {
        if rs.prior_delivered == 0 || self.cfg.rack_static_window {
            return;
        }
        let rack = &mut self.rack;
        if rack.dsack_seen && before(rs.prior_delivered, rack.last_delivered) {
            rack.dsack_seen = false;
        }
        if core::mem::take(&mut rack.dsack_seen) {
            rack.reo_wnd_steps = rack.reo_wnd_steps.saturating_add(1);
            rack.last_delivered = self.sk.delivered;
            rack.reo_wnd_persist = RECOVERIES;
        } else if rack.reo_wnd_persist == 0 {
            rack.reo_wnd_steps = 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    #[test]
    fn reordering_window() {
        let mut s = testing::established();
        s.sk.min_rtt_us = 20_000;
        s.sk.srtt_us = 24_000 << 3;
        // state, reordering seen, SACKed, steps, us
        let table = [
            (CaState::Open, false, 0, 1, 5_000),
            (CaState::Disorder, false, 2, 1, 5_000),
            (CaState::Disorder, false, 3, 1, 0),
            (CaState::Recovery, false, 1, 1, 0),
            (CaState::Recovery, true, 9, 1, 5_000),
            (CaState::Recovery, true, 9, 3, 15_000),
            (CaState::Recovery, true, 9, 5, 24_000),
            (CaState::Recovery, true, 9, 255, 24_000),
        ];
        for (state, seen, sacked, steps, us) in table {
            (s.sk.ca_state, s.reord_seen, s.sk.sacked_out, s.rack.reo_wnd_steps) =
                (state, seen, sacked, steps);
            assert_eq!(s.reo_wnd_us(), us, "{state:?} {seen} {sacked} {steps}");
        }
    }

    #[test]
    fn reordering_window_of_older_kernels() {
        let mut s = testing::established();
        s.cfg.loss = LossDetection::DupAck;
        s.sk.srtt_us = 24_000 << 3;
        // rule, minimum RTT in us, reordering seen, lost, us
        let table = [
            (RackBeside::InRecovery, 20_000, false, 0, 1_000),
            (RackBeside::InRecovery, 20_000, true, 0, 5_000),
            (RackBeside::InRecovery, 2_000, true, 0, 1_000),
            (RackBeside::Always, 20_000, false, 0, 5_000),
            (RackBeside::Always, 20_000, false, 1, 1_000),
            (RackBeside::Always, 20_000, true, 1, 5_000),
            (RackBeside::Always, u32::MAX, true, 1, 1_000),
        ];
        for (rule, min_rtt, seen, lost, us) in table {
            (s.cfg.rack_beside, s.sk.min_rtt_us) = (rule, min_rtt);
            (s.reord_seen, s.sk.lost_out) = (seen, lost);
            assert_eq!(s.reo_wnd_us(), us, "{rule:?} {min_rtt} {seen} {lost}");
        }
    }

    #[test]
    fn tcp_recovery_bits_fix_the_reordering_window() {
        let mut s = testing::established();
        (s.sk.min_rtt_us, s.sk.srtt_us, s.sk.sacked_out) = (20_000, 24_000 << 3, 3);
        assert_eq!(s.reo_wnd_us(), 0);
        s.cfg.rack_no_dupthresh = true;
        assert_eq!(s.reo_wnd_us(), 5_000);
        (s.cfg.rack_static_window, s.rack.dsack_seen) = (true, true);
        s.update_reo_wnd(&RateSample { prior_delivered: 90, ..RateSample::default() });
        assert_eq!(s.rack.reo_wnd_steps, 1);
    }

    #[test]
    fn dsacks_widen_the_window_once_per_rtt_for_sixteen_recoveries() {
        let mut s = testing::established();
        let rs = |prior_delivered| RateSample { prior_delivered, ..RateSample::default() };
        s.sk.delivered = 100;
        s.rack.dsack_seen = true;
        s.update_reo_wnd(&rs(90));
        assert_eq!((s.rack.reo_wnd_steps, s.rack.reo_wnd_persist), (2, RECOVERIES));
        // Sent before that change: still the same RTT.
        s.rack.dsack_seen = true;
        s.update_reo_wnd(&rs(99));
        assert_eq!((s.rack.reo_wnd_steps, s.rack.dsack_seen), (2, false));
        s.rack.dsack_seen = true;
        s.update_reo_wnd(&rs(100));
        assert_eq!(s.rack.reo_wnd_steps, 3);
        s.rack.reo_wnd_persist = 0;
        s.update_reo_wnd(&rs(101));
        assert_eq!(s.rack.reo_wnd_steps, 1);
    }
}
