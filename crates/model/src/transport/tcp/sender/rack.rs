//! RACK: a packet is lost if one sent sufficiently later was delivered.
// spec: rfc8985 6 - RACK.

use super::Sender;
use super::queue::{EVER_RETRANS, LOST, NIL, RETRANS, Skb};
use super::rate::sent_after;
use super::timer::Due;
use crate::transport::cc::{CaState, RateSample};
use crate::transport::seq::before;
use crate::transport::tcp::config::{LossDetection, PrrRules, RackBeside};

/// Recoveries for which a reordering window that D-SACKs widened is kept.
// linux: include/net/tcp.h TCP_RACK_RECOVERY_THRESH (6.1).
pub(super) const RECOVERIES: u8 = 16;

/// Least reordering window of kernels that count beside RACK, in us.
// linux: net/ipv4/tcp_recovery.c tcp_rack_mark_lost (4.4).
const OLD_REO_WND_US: u32 = 1_000;

/// What was delivered of late, and how much reordering is allowed for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rack {
    /// When the latest-sent of the delivered packets had been sent, in us, and where it ends.
    pub mstamp: u64,
    pub end_seq: u32,
    /// Its round-trip time in us.
    pub rtt_us: u32,
    /// Value of `delivered` at the last change of the reordering window.
    last_delivered: u32,
    /// The reordering window in quarters of the minimum round-trip time.
    pub reo_wnd_steps: u8,
    /// Recoveries until it is one again.
    pub reo_wnd_persist: u8,
    /// A D-SACK has come since.
    pub dsack_seen: bool,
    /// Something was delivered since losses were last looked for.
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
    /// A packet sent at `sent_us` was delivered.
    // linux: net/ipv4/tcp_recovery.c tcp_rack_advance (6.1) - if it was sent more than once and this is
    // faster than any round trip, it is the earlier copy that was delivered: nothing is learnt.
    #[inline]
    pub(super) fn rack_advance(&mut self, skb: &Skb) {
        let old = self.cfg.loss != LossDetection::RackTlp;
        let latest = &self.rack;
        // linux: same (4.4, 4.14) - only a packet that left later than the last one known tells anything.
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

    /// Whether RACK looks for losses at all.
    #[inline]
    pub(super) fn rack_acts(&self) -> bool {
        self.cfg.loss == LossDetection::RackTlp || self.cfg.rack_beside != RackBeside::No
    }

    /// The reordering window in us.
    // linux: net/ipv4/tcp_recovery.c tcp_rack_reo_wnd (6.1) - none in recovery, or on the brink of it, while
    // reordering was never seen; else quarters of the minimum round-trip time, a smoothed round-trip time at
    // most.
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

    /// The window of kernels that count beside RACK: a quarter of the minimum round-trip time if reordering
    /// was seen (from 4.11 on also while nothing is lost), never less than 1 ms.
    // linux: net/ipv4/tcp_recovery.c tcp_rack_mark_lost (4.4), tcp_rack_detect_loss (4.14).
    fn old_reo_wnd_us(&self) -> u32 {
        let sk = &self.sk;
        let wide = self.reord_seen || (self.cfg.rack_beside == RackBeside::Always && sk.lost_out == 0);
        let known = sk.min_rtt_us != u32::MAX;
        if wide && known { (sk.min_rtt_us >> 2).max(OLD_REO_WND_US) } else { OLD_REO_WND_US }
    }

    /// Microseconds until a packet is lost, seen from the latest delivery.
    // linux: net/ipv4/tcp_recovery.c tcp_rack_skb_timeout (6.1).
    #[inline]
    pub(super) fn rack_remaining_us(&self, skb: &Skb, reo_wnd_us: u32) -> i64 {
        i64::from(self.rack.rtt_us) + i64::from(reo_wnd_us) - i64::from(self.since_us(skb.sent_us))
    }

    /// Marks what is lost; returns the longest time in us after which a packet still within the window would
    /// be.
    // linux: net/ipv4/tcp_recovery.c tcp_rack_detect_loss (6.1) - in order of transmission, up to the latest
    // delivered; one that is marked leaves that order until it is sent again.
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
                    // linux: same (4.4) - the times at which they left are compared, and no timer is set.
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

    /// Looks for losses after an acknowledgement; true if a timer was set for those that may be.
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

    /// The reordering window has passed.
    // linux: net/ipv4/tcp_recovery.c tcp_rack_reo_timeout (6.1).
    pub(super) fn reordering_timeout(&mut self, out: &mut impl super::Emit) {
        let in_flight = self.sk.in_flight();
        self.rack_detect();
        if self.sk.in_flight() != in_flight {
            if self.sk.ca_state != CaState::Recovery {
                self.enter_recovery(false);
                if !self.cc_controls {
                    // linux: same - this is no acknowledgement, so it shows no progress.
                    self.reduce_cwnd(1, self.cfg.prr == PrrRules::Linux3_2);
                }
            }
            self.retransmit_lost(out);
        }
        if self.timer.what() != Some(Due::Retransmit) {
            self.rearm_rto();
        }
    }

    /// D-SACKs widen the reordering window, at most once a round trip.
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
        // rule, least round trip in us, reordering seen, lost, us
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
    fn bits_of_tcp_recovery_hold_the_window() {
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
    fn dsacks_widen_it_once_a_round_trip_for_sixteen_recoveries() {
        let mut s = testing::established();
        let rs = |prior_delivered| RateSample { prior_delivered, ..RateSample::default() };
        s.sk.delivered = 100;
        s.rack.dsack_seen = true;
        s.update_reo_wnd(&rs(90));
        assert_eq!((s.rack.reo_wnd_steps, s.rack.reo_wnd_persist), (2, RECOVERIES));
        // Sent before that change: not a new round trip.
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
