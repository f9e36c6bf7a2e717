//! Congestion state machine (Open, Disorder, CWR, Recovery, Loss) and its reaction to dubious ACKs.

use super::Sender;
use super::ack::{Ack, DATA_SACKED, ECE, LOST_RETRANS, SACK_RENEGING, SET_XMIT_TIMER, UNA_ADVANCED};
use super::prr::TcpPrr;
use super::queue::{Id, LOST, RETRANS, SACKED};
use super::timer::Due;
use crate::transport::cc::CaState;
use crate::transport::seq::{after, before};
use crate::transport::tcp::config::LossDetection;
use crate::types::buffer_truesize;

/// Transmission due after ACK processing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Rexmit {
    /// New data as the window allows.
    #[default]
    None,
    /// Lost packets first.
    Lost,
    /// New data first, to check whether a timeout was spurious (F-RTO).
    New,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recovery {
    /// SND.NXT at the start.
    pub high_seq: u32,
    /// SND.UNA at the start, while the reduction can be undone.
    pub undo_marker: Option<u32>,
    /// Retransmissions not reported by a D-SACK; negative if there was none.
    pub undo_retrans: i32,
    /// Time of the first retransmission in ms.
    pub retrans_stamp: Option<u32>,
    /// Threshold before the reduction; 0 if it cannot be undone.
    pub prior_ssthresh: u32,
    pub prr: TcpPrr,
    /// Consecutive timeouts.
    pub retransmits: u32,
    /// F-RTO is active.
    pub frto: bool,
    /// The receiver discarded SACKed data.
    pub reneging: bool,
}

impl Sender {
    /// Marks a packet lost, or its retransmission if the packet is already marked.
    // linux: net/ipv4/tcp_input.c tcp_mark_skb_lost (6.1).
    pub(super) fn mark_lost(&mut self, id: Id) {
        let sk = &mut self.sk;
        let skb = self.rtx.at_mut(id);
        if skb.is(SACKED) {
            return;
        }
        let segs = u32::from(skb.segs);
        match self.rexmit_hint {
            None if sk.retrans_out >= sk.lost_out => self.rexmit_hint = Some(skb.seq),
            Some(hint) if before(skb.seq, hint) => self.rexmit_hint = Some(skb.seq),
            _ => {}
        }
        if !skb.is(LOST) {
            skb.flags |= LOST;
            sk.lost_out += segs;
        } else if skb.is(RETRANS) {
            skb.flags &= !RETRANS;
            sk.retrans_out -= segs;
        } else {
            return;
        }
        sk.lost = sk.lost.wrapping_add(segs);
    }

    fn rack(&self) -> bool {
        self.cfg.loss == LossDetection::RackTlp
    }

    /// Returns true if more than `reordering` segments lie between SND.UNA and the highest SACKed packet.
    // linux: net/ipv4/tcp_input.c tcp_force_fast_retransmit (6.1).
    pub(super) fn force_fast_retransmit(&self) -> bool {
        after(self.highest_sack_seq(), self.sk.snd_una.wrapping_add(self.reordering * self.sk.mss_cache))
    }

    /// Returns true if FACK is in use.
    // linux: include/net/tcp.h tcp_is_fack (4.4).
    fn fack(&self) -> bool {
        self.cfg.loss == LossDetection::Fack && self.sack && !self.fack_over
    }

    /// Segments up to the highest SACKed one.
    // linux: net/ipv4/tcp_input.c fackets_out (4.4).
    fn forward(&self) -> u32 {
        let high = self.highest_sack_seq();
        self.rtx.iter().take_while(|skb| before(skb.seq, high)).map(|skb| u32::from(skb.segs)).sum()
    }

    /// Returns true if the sender should enter Recovery.
    // linux: net/ipv4/tcp_input.c tcp_time_to_recover (6.1) - if a loss is known; without RACK also if more
    // than `reordering` segments arrived above a hole.
    // linux: net/ipv4/tcp_input.c tcp_dupack_heuristics (4.4) - FACK counts all up to the highest SACKed
    // segment.
    fn time_to_recover(&mut self, ece: bool) -> bool {
        let by_count = match self.cfg.loss {
            LossDetection::RackTlp => 0,
            LossDetection::Fack if self.fack() => self.forward(),
            LossDetection::Fack | LossDetection::DupAck => self.sk.sacked_out + 1,
        };
        self.sk.lost_out > 0 || by_count > self.reordering || self.recovers_early(ece)
    }

    /// Detects losses with RACK if available, or by duplicate ACKs without SACK.
    // linux: net/ipv4/tcp_input.c tcp_identify_packet_loss, net/ipv4/tcp_recovery.c tcp_newreno_mark_lost
    // (6.1), net/ipv4/tcp_input.c tcp_fastretrans_alert (4.4), tcp_rack_identify_loss (4.14).
    fn identify_losses(&mut self, a: &mut Ack) {
        let Some(head) = self.rtx.first() else { return };
        if !self.sack {
            let state = self.sk.ca_state;
            if (state < CaState::Recovery && self.sk.sacked_out >= self.reordering)
                || (state == CaState::Recovery && a.has(UNA_ADVANCED))
            {
                let skb = *self.rtx.at(head);
                if !skb.is(LOST) {
                    if skb.segs > 1 && skb.len() > self.sk.mss_cache {
                        self.split(0, self.sk.mss_cache);
                    }
                    self.mark_lost(head);
                }
            }
        } else if self.rack_acts() {
            let retrans = self.sk.retrans_out;
            if self.rack_mark_lost() {
                a.clear(SET_XMIT_TIMER);
            }
            if retrans > self.sk.retrans_out {
                a.set(LOST_RETRANS);
            }
        }
    }

    /// Without RACK: marks packets with more than `reordering` SACKed segments above them (with FACK:
    /// segments of any kind).
    // linux: net/ipv4/tcp_input.c tcp_update_scoreboard, tcp_mark_head_lost (6.1, 4.4).
    // spec: rfc6675 4 IsLost.
    pub(super) fn update_scoreboard(&mut self, first: bool) {
        if !self.sack {
            return;
        }
        let fack = self.fack();
        let above = if fack { self.forward() } else { self.sk.sacked_out };
        let (limit, head_only) = match above.checked_sub(self.reordering) {
            Some(limit) if fack => (limit.max(1), false),
            Some(limit) => (limit, false),
            None if fack => (1, false),
            None if first => (1, true),
            None => return,
        };
        let high = self.highest_sack_seq();
        let mut seen = 0;
        for i in 0..self.rtx.len() {
            let id = self.rtx.id(i);
            let skb = *self.rtx.at(id);
            if !head_only && !before(skb.seq, high) {
                break;
            }
            if fack || skb.is(SACKED) {
                seen += u32::from(skb.segs);
            }
            if seen > limit {
                break;
            }
            if !skb.is(LOST) {
                self.mark_lost(id);
            }
            if head_only {
                break;
            }
        }
    }

    // linux: net/ipv4/tcp_input.c tcp_enter_recovery (6.1).
    pub(super) fn enter_recovery(&mut self, ece: bool) {
        self.rec.prior_ssthresh = 0;
        self.init_undo();
        if !self.in_cwnd_reduction() {
            if !ece {
                self.rec.prior_ssthresh = self.current_ssthresh();
            }
            self.init_cwnd_reduction();
        }
        self.set_ca_state(CaState::Recovery);
    }

    /// Sets the state to Open, or to Disorder if data is missing.
    // linux: net/ipv4/tcp_input.c tcp_try_keep_open (6.1).
    pub(super) fn try_keep_open(&mut self) {
        let dubious = self.sk.sacked_out + self.sk.lost_out > 0 || self.any_retrans_done();
        let state = if dubious { CaState::Disorder } else { CaState::Open };
        if self.sk.ca_state != state {
            self.set_ca_state(state);
            self.rec.high_seq = self.sk.snd_nxt;
        }
    }

    // linux: net/ipv4/tcp_input.c tcp_try_to_open (6.1).
    fn try_to_open(&mut self, a: &Ack) {
        self.forget_retrans_stamp();
        if a.has(ECE) {
            self.enter_cwr();
        }
        if self.sk.ca_state != CaState::Cwr {
            self.try_keep_open();
        }
    }

    /// Runs the state machine for a dubious ACK with `dupacks` duplicates.
    // linux: net/ipv4/tcp_input.c tcp_fastretrans_alert (6.1).
    pub(super) fn alert(&mut self, a: &mut Ack, dupacks: u32) {
        let mut by_count = dupacks > 0 || (a.has(DATA_SACKED) && self.force_fast_retransmit());
        let mut first = false;
        if self.sk.packets_out == 0 {
            self.sk.sacked_out = 0;
        }
        if a.has(ECE) {
            self.rec.prior_ssthresh = 0;
        }
        if self.reneging(a) || self.leaves_state() {
            return;
        }
        match self.sk.ca_state {
            CaState::Recovery => {
                if !a.has(UNA_ADVANCED) {
                    self.add_duplicates(a, dupacks);
                } else {
                    match self.try_undo_partial(a.prior_una, by_count) {
                        Some(mark) => by_count = mark,
                        None => return,
                    }
                }
                if self.try_undo_dsack() {
                    self.try_keep_open();
                }
                self.identify_losses(a);
                if self.sk.ca_state != CaState::Recovery {
                    if !self.time_to_recover(a.has(ECE)) {
                        return;
                    }
                    self.enter_recovery(a.has(ECE));
                }
            }
            state => {
                if state == CaState::Loss {
                    self.process_loss(a, dupacks);
                    self.identify_losses(a);
                    if self.sk.ca_state != CaState::Open && !a.has(LOST_RETRANS) {
                        return;
                    }
                }
                if a.has(UNA_ADVANCED) && !self.sack {
                    self.sk.sacked_out = 0;
                }
                self.add_duplicates(a, dupacks);
                if self.sk.ca_state <= CaState::Disorder {
                    self.try_undo_dsack();
                }
                self.identify_losses(a);
                if !self.time_to_recover(a.has(ECE)) {
                    self.try_to_open(a);
                    return;
                }
                self.enter_recovery(a.has(ECE));
                first = true;
            }
        }
        if !self.rack() && by_count {
            self.update_scoreboard(first);
        }
        self.rexmit = Rexmit::Lost;
    }

    /// Leaves a state once all data sent before its start is acknowledged. Returns true to stop ACK
    /// processing.
    fn leaves_state(&mut self) -> bool {
        let done = !before(self.sk.snd_una, self.rec.high_seq);
        match self.sk.ca_state {
            CaState::Open => self.rec.retrans_stamp = None,
            // The receiver must see CWR, so require an ACK for data beyond the start.
            CaState::Cwr if done && self.sk.snd_una != self.rec.high_seq => {
                self.end_cwnd_reduction();
                self.set_ca_state(CaState::Open);
            }
            CaState::Recovery if done => {
                if !self.sack {
                    self.sk.sacked_out = 0;
                }
                if self.try_undo_recovery() {
                    return true;
                }
                self.end_cwnd_reduction();
            }
            _ => {}
        }
        false
    }

    /// Handles reneging: the first unacknowledged packet is SACKed, so the receiver has discarded it. A short
    /// timeout will retransmit everything.
    // linux: net/ipv4/tcp_input.c tcp_check_sack_reneging (6.1).
    fn reneging(&mut self, a: &mut Ack) -> bool {
        let renegs = a.has(SACK_RENEGING) && a.has(UNA_ADVANCED);
        if renegs {
            let wait = self.srtt_ticks(4).max(self.us_to_ticks(10_000));
            self.arm(Due::Retransmit, wait);
            a.clear(SET_XMIT_TIMER);
        }
        renegs
    }

    /// Without SACK: counts each duplicate ACK as a delivered segment.
    // linux: net/ipv4/tcp_input.c tcp_add_reno_sack (6.1).
    pub(super) fn add_duplicates(&mut self, a: &Ack, dupacks: u32) {
        if self.sack || dupacks == 0 {
            return;
        }
        let prior = self.sk.sacked_out;
        self.sk.sacked_out += dupacks;
        self.check_reno_reordering(0);
        let arrived = self.sk.sacked_out.saturating_sub(prior);
        self.count_delivered(arrived, a.has(ECE));
    }

    /// Without SACK: uncounts duplicates after `acked` segments left the queue, one of which filled the hole.
    // linux: net/ipv4/tcp_input.c tcp_remove_reno_sacks (6.1).
    pub(super) fn remove_duplicates(&mut self, acked: u32, ece: bool) {
        if acked > 0 {
            self.count_delivered(acked.saturating_sub(self.sk.sacked_out).max(1), ece);
            self.sk.sacked_out = self.sk.sacked_out.saturating_sub(acked - 1);
        }
        self.check_reno_reordering(acked);
    }

    /// Without SACK: infers reordering from more duplicates than segments.
    // linux: net/ipv4/tcp_input.c tcp_check_reno_reordering, tcp_limit_reno_sacked (6.1).
    fn check_reno_reordering(&mut self, acked: u32) {
        let sk = &mut self.sk;
        let holes = sk.lost_out.max(1).min(sk.packets_out);
        if sk.sacked_out + holes > sk.packets_out {
            sk.sacked_out = sk.packets_out - holes;
            self.reordering = (sk.packets_out + acked).min(self.cfg.max_reordering);
            self.reord_seen = true;
            self.count.reord_seen += 1;
        }
    }

    /// Splits the `i`th unacknowledged packet after `bytes`. The second packet takes over the pages of its
    /// data, or has its own linear buffer.
    // linux: net/ipv4/tcp_output.c tcp_fragment (4.4).
    pub(super) fn split(&mut self, i: usize, bytes: u32) {
        let room = self.cfg.max_header;
        let cost = match (self.cfg.scatter_gather, self.cfg.truesize_least) {
            (false, _) => buffer_truesize(room + self.rtx.at(self.rtx.id(i)).len() - bytes),
            (true, 0) => self.skb_cost(),
            (true, _) => buffer_truesize(room),
        };
        self.rtx.split(i, bytes, self.sk.mss_cache, cost, self.cfg.scatter_gather);
        self.buf.wmem_queued += cost;
    }
}
