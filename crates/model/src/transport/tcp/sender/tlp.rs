//! Tail-loss probes: the last packet of a flight may be lost with nobody behind it to tell.
// spec: rfc8985 7 - TLP.

use super::ack::{Ack, DATA_SACKED, DSACK_TLP, NOT_DUP, UNA_ADVANCED};
use super::output::Amount;
use super::timer::Due;
use super::{Emit, Sender, TIMEOUT_INIT_S};
use crate::transport::cc::CaState;
use crate::transport::tcp::seq::{after, before};

/// A probe that is out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LossProbe {
    /// What had been sent with it.
    pub high_seq: Option<u32>,
    /// It was a retransmission.
    retrans: bool,
}

impl Sender {
    /// Sets the timer for a probe; false if none is due. `advancing` if the retransmission timeout starts anew now.
    // linux: net/ipv4/tcp_output.c tcp_schedule_loss_probe (6.1) - two round trips after the last packet, longer for a single one
    // whose acknowledgement may be delayed, never later than the retransmission timeout.
    pub(super) fn schedule_loss_probe(&mut self, advancing: bool) -> bool {
        if !self.cfg.tail_loss_probe
            || self.sk.packets_out == 0
            || !self.sack
            || !matches!(self.sk.ca_state, CaState::Open | CaState::Cwr)
        {
            return false;
        }
        let hz = self.cfg.hz;
        let mut ticks = match self.sk.srtt_us {
            0 => TIMEOUT_INIT_S * hz,
            srtt8 if self.sk.packets_out > 1 => self.padded_ticks(srtt8 >> 2),
            srtt8 if self.cfg.timeouts_in_us => self.us_to_ticks((srtt8 >> 2) + self.rto_min_us),
            srtt8 => self.us_to_ticks(srtt8 >> 2) + self.us_to_ticks(self.rto_min_us),
        };
        if advancing {
            ticks = ticks.min(self.rtt.rto);
        } else {
            let left = self.rto_delta_us();
            if left > 0 {
                ticks = ticks.min(self.us_to_ticks(left as u32));
            }
        }
        self.arm_paced(Due::LossProbe, ticks);
        true
    }

    /// Sends a probe: new data if there is any and the receiver has room, else the last segment again.
    // linux: net/ipv4/tcp_output.c tcp_send_loss_probe (6.1).
    pub(super) fn send_loss_probe(&mut self, out: &mut impl Emit) {
        if self.tlp.high_seq.is_none() && self.probe_tail(out) {
            self.count.tlp_probes += 1;
            self.tlp.high_seq = Some(self.sk.snd_nxt);
            // The timeout starts anew from the probe.
            self.timer.clear();
        }
        self.rearm_rto();
    }

    fn probe_tail(&mut self, out: &mut impl Emit) -> bool {
        self.tlp.retrans = false;
        if self.unsent.head().is_some_and(|head| self.window_allows(head.len)) {
            let before = self.sk.packets_out;
            self.write_xmit(out, true, Amount::Probe);
            return self.sk.packets_out > before;
        }
        let Some(last) = self.rtx.len().checked_sub(1) else { return false };
        let skb = *self.rtx.at(self.rtx.id(last));
        if self.in_host_queue(skb.ordinal) {
            return false;
        }
        let mss = self.sk.mss_cache;
        let front = (u32::from(skb.segs) - 1) * mss;
        let mut i = last;
        if skb.segs > 1 && skb.len() > front {
            self.rtx.split(last, front, mss, self.skb_cost());
            self.buf.wmem_queued += self.skb_cost();
            i += 1;
        }
        self.tlp.retrans = self.resend(i, 1, out).is_ok();
        self.tlp.retrans
    }

    /// What an acknowledgement says about the probe that is out.
    // linux: net/ipv4/tcp_input.c tcp_process_tlp_ack (6.1) - a probe that repaired a loss hides it from the congestion control,
    // so the window is reduced for it.
    pub(super) fn process_tlp_ack(&mut self, a: &Ack) {
        let Some(high) = self.tlp.high_seq else { return };
        if before(a.ack, high) {
            return;
        }
        if !self.tlp.retrans || a.has(DSACK_TLP) {
            self.tlp.high_seq = None;
        } else if after(a.ack, high) {
            self.init_cwnd_reduction();
            self.set_ca_state(CaState::Cwr);
            self.end_cwnd_reduction();
            self.try_keep_open();
        } else if !a.has(UNA_ADVANCED | NOT_DUP | DATA_SACKED) {
            self.tlp.high_seq = None;
        }
    }
}
