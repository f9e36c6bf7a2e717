//! Undo of window reductions after spurious retransmissions.
// spec: rfc3522 3.2 - Eifel: the echoed timestamp is older than the retransmission. rfc3708 - by D-SACKs.

use super::Sender;
use super::queue::{EVER_RETRANS, LOST, RETRANS, Skb};
use super::rack::RECOVERIES;
use crate::transport::cc::{CaState, Controller};
use crate::transport::seq::before;

impl Sender {
    /// Starts tracking whether retransmissions were necessary.
    // linux: net/ipv4/tcp_input.c tcp_init_undo (6.1).
    pub(super) fn init_undo(&mut self) {
        self.rec.undo_marker = Some(self.sk.snd_una);
        // D-SACKs may report retransmissions already in flight.
        self.rec.undo_retrans = if self.sk.retrans_out > 0 { self.sk.retrans_out as i32 } else { -1 };
    }

    /// Returns true if the ACK is for a transmission before the first retransmission.
    // linux: net/ipv4/tcp_input.c tcp_packet_delayed (since 6.1.113) - also if nothing was retransmitted.
    pub(super) fn packet_delayed(&self) -> bool {
        match self.rec.retrans_stamp {
            Some(stamp) => self.echo_before(stamp),
            // Without SACK, the stamp is cleared once the whole recovery is acknowledged.
            None => self.sack || before(self.sk.snd_una, self.rec.high_seq),
        }
    }

    /// Returns true if the ACK was for a copy of this packet sent before its retransmission.
    // linux: net/ipv4/tcp_input.c tcp_skb_spurious_retrans (6.1).
    #[inline]
    pub(super) fn spurious_retrans(&self, skb: &Skb) -> bool {
        skb.is(RETRANS | EVER_RETRANS) && self.echo_before((skb.sent_us / 1_000) as u32)
    }

    // linux: net/ipv4/tcp_input.c tcp_may_undo (6.1).
    fn may_undo(&self) -> bool {
        self.rec.undo_marker.is_some() && (self.rec.undo_retrans == 0 || self.packet_delayed())
    }

    /// Returns true if a retransmission is outstanding, or if the first packet was ever retransmitted.
    // linux: net/ipv4/tcp_input.c tcp_any_retrans_done (6.1).
    pub(super) fn any_retrans_done(&self) -> bool {
        self.sk.retrans_out > 0 || self.rtx.head().is_some_and(|skb| skb.is(EVER_RETRANS))
    }

    /// Clears the retransmission stamp if no retransmission is outstanding.
    pub(super) fn forget_retrans_stamp(&mut self) {
        if !self.any_retrans_done() {
            self.rec.retrans_stamp = None;
        }
    }

    // linux: net/ipv4/tcp_input.c tcp_undo_cwnd_reduction (6.1).
    fn undo_cwnd_reduction(&mut self, unmark: bool) {
        if unmark {
            for i in 0..self.rtx.len() {
                let id = self.rtx.id(i);
                self.rtx.at_mut(id).flags &= !LOST;
            }
            self.sk.lost_out = 0;
            self.rexmit_hint = None;
        }
        if self.rec.prior_ssthresh > 0 {
            self.sk.snd_cwnd = self.cc.undo_cwnd(&mut self.sk);
            if self.rec.prior_ssthresh > self.sk.snd_ssthresh {
                self.sk.snd_ssthresh = self.rec.prior_ssthresh;
                self.ecn.queue_cwr = false;
            }
        }
        self.usage.stamp = self.sk.jiffies;
        self.rec.undo_marker = None;
        // Detect losses again.
        self.rack.advanced = true;
    }

    /// Without SACK: stays in recovery until data sent after its start is acknowledged, since duplicate ACKs
    /// for retransmissions would trigger another recovery.
    // linux: net/ipv4/tcp_input.c tcp_is_non_sack_preventing_reopen (6.1).
    // spec: rfc6582 3.2.
    fn stays_closed(&mut self) -> bool {
        let stays = !self.sack && self.sk.snd_una == self.rec.high_seq;
        if stays {
            self.forget_retrans_stamp();
        }
        stays
    }

    /// Ends recovery, undoing the reduction if possible. Returns true if the state is kept.
    // linux: net/ipv4/tcp_input.c tcp_try_undo_recovery (6.1).
    pub(super) fn try_undo_recovery(&mut self) -> bool {
        if self.may_undo() {
            self.undo_cwnd_reduction(false);
        } else {
            self.rack.reo_wnd_persist = self.rack.reo_wnd_persist.saturating_sub(1);
        }
        if self.stays_closed() {
            return true;
        }
        self.set_ca_state(CaState::Open);
        self.rec.reneging = false;
        false
    }

    /// Undoes the reduction if D-SACKs reported every retransmission.
    // linux: net/ipv4/tcp_input.c tcp_try_undo_dsack (6.1).
    pub(super) fn try_undo_dsack(&mut self) -> bool {
        if self.rec.undo_marker.is_none() || self.rec.undo_retrans != 0 {
            return false;
        }
        self.rack.reo_wnd_persist = (self.rack.reo_wnd_persist + 1).min(RECOVERIES);
        self.undo_cwnd_reduction(false);
        true
    }

    /// In Loss: undoes the reduction if the timeout was spurious. `frto` is true if F-RTO has proven that.
    // linux: net/ipv4/tcp_input.c tcp_try_undo_loss (6.1).
    pub(super) fn try_undo_loss(&mut self, frto: bool) -> bool {
        if !frto && !self.may_undo() {
            return false;
        }
        self.undo_cwnd_reduction(true);
        self.rec.retransmits = 0;
        if !self.stays_closed() && (frto || self.sack) {
            self.set_ca_state(CaState::Open);
            self.rec.reneging = false;
        }
        true
    }

    /// Processes a partial ACK in recovery. Returns `None` if nothing more is to be done, else whether to
    /// mark losses by counting.
    // linux: net/ipv4/tcp_input.c tcp_try_undo_partial (6.1) - if a delayed original filled the hole, the
    // reordering degree was underestimated: undoes the reduction if no retransmission is in flight, else
    // marks and retransmits nothing more.
    pub(super) fn try_undo_partial(&mut self, prior_una: u32, by_count: bool) -> Option<bool> {
        if self.rec.undo_marker.is_none() || !self.packet_delayed() {
            return Some(self.force_fast_retransmit());
        }
        self.check_sack_reordering(prior_una);
        if self.sk.retrans_out > 0 {
            return None;
        }
        self.forget_retrans_stamp();
        self.undo_cwnd_reduction(true);
        self.try_keep_open();
        Some(by_count)
    }
}
