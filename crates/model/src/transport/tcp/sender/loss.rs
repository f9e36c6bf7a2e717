//! Retransmission timeout: everything counts as lost, until F-RTO or a timestamp echo shows it to be
//! spurious.

use super::ack::{Ack, DATA_SACKED, ORIG_SACK_ACKED, UNA_ADVANCED};
use super::output::Refusal;
use super::queue::SACKED;
use super::recovery::Rexmit;
use super::timer::Due;
use super::{Emit, RTO_MAX_S, Sender};
use crate::transport::cc::{CaState, CcEvent, Controller};
use crate::transport::seq::{after, before};
use crate::transport::tcp::config::LossDetection;

impl Sender {
    /// Handles an expired retransmission timer.
    // linux: net/ipv4/tcp_timer.c tcp_retransmit_timer (6.1) - retransmits the first packet regardless of the
    // window; if the local queue refuses it, retries after half a second without backoff.
    pub(super) fn retransmission_timeout(&mut self, out: &mut impl Emit) {
        if self.sk.packets_out == 0 {
            return;
        }
        self.count.timeouts += 1;
        if self.snd_wnd == 0 {
            // The peer closed its window with data in flight: this retransmission probes it.
            self.enter_loss();
            let _ = self.retransmit(0, 1, out);
        } else {
            self.enter_loss();
            self.rec.retransmits += 1;
            if matches!(self.retransmit(0, 1, out), Err(Refusal::Queue)) {
                self.arm(Due::Retransmit, self.cfg.hz / 2);
                return;
            }
            self.rtt.backoff += 1;
        }
        self.rtt.rto = (self.rtt.rto << 1).min(RTO_MAX_S * self.cfg.hz);
        self.arm(Due::Retransmit, self.rtt.rto);
    }

    /// Enters the Loss state.
    // linux: net/ipv4/tcp_input.c tcp_enter_loss (6.1).
    fn enter_loss(&mut self) {
        let new_recovery = self.sk.ca_state < CaState::Recovery;
        self.mark_all_lost();
        let disorder = self.sk.ca_state <= CaState::Disorder;
        if disorder
            || !after(self.rec.high_seq, self.sk.snd_una)
            || (self.sk.ca_state == CaState::Loss && self.rec.retransmits == 0)
        {
            self.rec.prior_ssthresh = self.current_ssthresh();
            self.sk.prior_cwnd = self.sk.snd_cwnd;
            self.sk.snd_ssthresh = self.cc.ssthresh(&mut self.sk);
            self.cc.cwnd_event(&mut self.sk, CcEvent::Loss);
            self.init_undo();
        }
        self.sk.snd_cwnd = self.sk.in_flight() + 1;
        self.sk.snd_cwnd_cnt = 0;
        self.usage.stamp = self.sk.jiffies;
        // A timeout despite many duplicates: the reordering degree was overestimated.
        if disorder && self.sk.sacked_out >= self.cfg.reordering {
            self.reordering = self.reordering.min(self.cfg.reordering);
        }
        self.set_ca_state(CaState::Loss);
        self.rec.high_seq = self.sk.snd_nxt;
        self.tlp.high_seq = None;
        self.queue_cwr();
        self.rec.frto = self.cfg.frto && (new_recovery || self.rec.retransmits > 0);
    }

    /// Marks packets lost on a timeout, except those that RACK considers too recent.
    // linux: net/ipv4/tcp_input.c tcp_timeout_mark_lost (6.1).
    fn mark_all_lost(&mut self) {
        let reneging = self.rtx.head().is_some_and(|skb| skb.is(SACKED));
        if reneging {
            self.sk.sacked_out = 0;
            self.rec.reneging = true;
            self.sack_cached = 0;
        } else if !self.sack {
            self.sk.sacked_out = 0;
        }
        let rack = self.cfg.loss == LossDetection::RackTlp && self.sack;
        for i in 0..self.rtx.len() {
            let id = self.rtx.id(i);
            if reneging {
                self.rtx.at_mut(id).flags &= !SACKED;
            } else if rack && i > 0 && self.rack_remaining_us(self.rtx.at(id), 0) > 0 {
                continue;
            }
            self.mark_lost(id);
        }
        self.rexmit_hint = None;
    }

    /// Processes an ACK in Loss.
    // linux: net/ipv4/tcp_input.c tcp_process_loss (6.1).
    // spec: rfc5682 3.1 - F-RTO with SACK: sends new data once the first retransmission is acknowledged; an
    // ACK for data that was never retransmitted shows that the timeout was spurious.
    pub(super) fn process_loss(&mut self, a: &Ack, dupacks: u32) {
        let advanced = a.has(UNA_ADVANCED);
        let recovered = !before(self.sk.snd_una, self.rec.high_seq);
        if advanced && self.try_undo_loss(false) {
            return;
        }
        if self.rec.frto {
            if a.has(ORIG_SACK_ACKED) && self.try_undo_loss(true) {
                return;
            }
            if after(self.sk.snd_nxt, self.rec.high_seq) {
                if a.has(DATA_SACKED) || dupacks > 0 {
                    self.rec.frto = false;
                }
            } else if advanced && !recovered {
                self.rec.high_seq = self.sk.snd_nxt;
                if !self.unsent.is_empty() && after(self.wnd_end(), self.sk.snd_nxt) {
                    self.rexmit = Rexmit::New;
                    return;
                }
                self.rec.frto = false;
            }
        }
        if recovered {
            self.try_undo_recovery();
            return;
        }
        if !self.sack {
            if after(self.sk.snd_nxt, self.rec.high_seq) && dupacks > 0 {
                self.add_duplicates(a, dupacks);
            } else if advanced {
                self.sk.sacked_out = 0;
            }
        }
        self.rexmit = Rexmit::Lost;
    }
}
