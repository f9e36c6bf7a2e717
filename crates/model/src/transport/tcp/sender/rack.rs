//! RACK: a packet is lost if one sent sufficiently later was delivered.
// spec: rfc8985 6 - RACK.

use super::Sender;
use super::queue::{EVER_RETRANS, LOST, NIL, RETRANS, Skb};
use super::rate::sent_after;
use super::timer::Due;
use crate::transport::cc::{CaState, RateSample};
use crate::transport::tcp::seq::before;

/// Recoveries for which a reordering window that D-SACKs widened is kept.
// linux: include/net/tcp.h TCP_RACK_RECOVERY_THRESH (6.1).
pub(super) const RECOVERIES: u8 = 16;

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
    // linux: net/ipv4/tcp_recovery.c tcp_rack_advance (6.1) - if it was sent more than once and this is faster than any round
    // trip, it is the earlier copy that was delivered: nothing is learnt.
    #[inline]
    pub(super) fn rack_advance(&mut self, skb: &Skb) {
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

    /// The reordering window in us.
    // linux: net/ipv4/tcp_recovery.c tcp_rack_reo_wnd (6.1) - none in recovery, or on the brink of it, while reordering was never
    // seen; else quarters of the minimum round-trip time, a smoothed round-trip time at most.
    pub(super) fn reo_wnd_us(&self) -> u32 {
        let sk = &self.sk;
        if !self.reord_seen && (sk.ca_state >= CaState::Recovery || sk.sacked_out >= self.reordering) {
            return 0;
        }
        let steps = u32::from(self.rack.reo_wnd_steps);
        (sk.min_rtt_us >> 2).saturating_mul(steps).min(sk.srtt_us >> 3)
    }

    /// Microseconds until a packet is lost, seen from the latest delivery.
    // linux: net/ipv4/tcp_recovery.c tcp_rack_skb_timeout (6.1).
    #[inline]
    pub(super) fn rack_remaining_us(&self, skb: &Skb, reo_wnd_us: u32) -> i64 {
        i64::from(self.rack.rtt_us) + i64::from(reo_wnd_us) - i64::from(self.since_us(skb.sent_us))
    }

    /// Marks what is lost; returns the longest time in us after which a packet still within the window would be.
    // linux: net/ipv4/tcp_recovery.c tcp_rack_detect_loss (6.1) - in order of transmission, up to the latest delivered; one that
    // is marked leaves that order until it is sent again.
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
                let remaining = self.rack_remaining_us(&skb, reo_wnd);
                if remaining <= 0 {
                    self.mark_lost(id);
                    self.rtx.unlink(id);
                } else {
                    wait = wait.max(remaining as u32);
                }
            }
            id = next;
        }
        wait
    }

    /// Looks for losses after an acknowledgement; true if a timer was set for those that may be.
    // linux: net/ipv4/tcp_recovery.c tcp_rack_mark_lost (6.1).
    pub(super) fn rack_mark_lost(&mut self) -> bool {
        if !core::mem::take(&mut self.rack.advanced) {
            return false;
        }
        let wait = self.rack_detect();
        if wait > 0 {
            self.arm(Due::Reordering, self.padded_ticks(wait).min(self.rtt.rto));
        }
        wait > 0
    }

    /// The reordering window has passed.
    // linux: net/ipv4/tcp_recovery.c tcp_rack_reo_timeout (6.1).
    pub(super) fn reordering_timeout(&mut self, out: &mut impl super::Emit) {
        let (in_flight, lost) = (self.sk.in_flight(), self.sk.lost);
        self.rack_detect();
        if self.sk.in_flight() != in_flight {
            if self.sk.ca_state != CaState::Recovery {
                self.enter_recovery(false);
                if !self.cc_controls {
                    let lost = self.sk.lost.wrapping_sub(lost);
                    self.reduce_cwnd(1, lost, false);
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
        if rs.prior_delivered == 0 {
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
