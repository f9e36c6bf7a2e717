//! Tail loss probes (TLP, RFC 8985): losing the last packets of a flight triggers no SACK, so the sender
//! probes.
// spec: rfc8985 7 - TLP.

use super::ack::{Ack, DATA_SACKED, DSACK_TLP, NOT_DUP, UNA_ADVANCED};
use super::output::Amount;
use super::timer::Due;
use super::{Emit, Sender, TIMEOUT_INIT_S};
use crate::transport::cc::CaState;
use crate::transport::seq::{after, before};
use crate::transport::tcp::config::TlpRules;

/// Minimum probe timeout of the 3.10 rule, in us.
// linux: net/ipv4/tcp_output.c tcp_schedule_loss_probe (4.4).
const LEAST_OLD_PROBE_US: u32 = 10_000;

/// State of an outstanding probe.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LossProbe {
    /// SND.NXT when the probe was sent; `None` without a probe.
    pub high_seq: Option<u32>,
    /// True if the probe was a retransmission.
    retrans: bool,
}

impl Sender {
    /// Sets the timer for a probe. Returns false if none is due. `advancing` is true if the retransmission
    /// timeout restarts now.
    // linux: net/ipv4/tcp_output.c tcp_schedule_loss_probe (6.1, 4.14, 4.4) - two RTTs after the last packet,
    // longer for a single packet whose ACK may be delayed, and never after the retransmission timeout.
    pub(super) fn schedule_loss_probe(&mut self, advancing: bool) -> bool {
        if !self.cfg.tail_loss_probe
            || self.sk.packets_out == 0
            || !self.sack
            || !matches!(self.sk.ca_state, CaState::Open | CaState::Cwr)
        {
            return false;
        }
        let more_may_leave = self.sk.snd_cwnd > self.sk.in_flight() && !self.unsent.is_empty();
        if self.cfg.tlp != TlpRules::Linux4_16 && (self.sk.ca_state == CaState::Cwr || more_may_leave) {
            return false;
        }
        let hz = self.cfg.hz;
        let mut ticks = match self.sk.srtt_us {
            _ if self.cfg.tlp == TlpRules::Linux3_10 => self.old_probe_ticks(),
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

    /// Returns the probe timeout of the 3.10 rule, which computes in ticks.
    // linux: net/ipv4/tcp_output.c tcp_schedule_loss_probe (4.4).
    fn old_probe_ticks(&self) -> u32 {
        let rtt = self.srtt_ticks(3);
        let mut ticks = if rtt == 0 { TIMEOUT_INIT_S * self.cfg.hz } else { 2 * rtt };
        if self.sk.packets_out == 1 {
            let delayed = self.us_to_ticks((self.cfg.delack_max.nanos() / 1_000) as u32);
            ticks = ticks.max(rtt + (rtt >> 1) + delayed);
        }
        ticks.max(self.us_to_ticks(LEAST_OLD_PROBE_US))
    }

    /// Sends a probe: new data if there is any and the receive window has room, else the last segment.
    // linux: net/ipv4/tcp_output.c tcp_send_loss_probe (6.1).
    pub(super) fn send_loss_probe(&mut self, out: &mut impl Emit) {
        if self.tlp.high_seq.is_none() && self.probe_tail(out) {
            self.count.tlp_probes += 1;
            self.tlp.high_seq = Some(self.sk.snd_nxt);
            // The timeout restarts at the probe.
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
        if self.in_host_queue(skb.charged) {
            return false;
        }
        let mss = self.sk.mss_cache;
        let front = (u32::from(skb.segs) - 1) * mss;
        let mut i = last;
        if skb.segs > 1 && skb.len() > front {
            self.split(last, front);
            i += 1;
        }
        self.tlp.retrans = self.resend(i, 1, out).is_ok();
        self.tlp.retrans
    }

    /// Evaluates an ACK with respect to the outstanding probe.
    // linux: net/ipv4/tcp_input.c tcp_process_tlp_ack (6.1) - reduces the window if the probe repaired a
    // loss, which congestion control would otherwise miss.
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

#[cfg(test)]
mod tests {
    use super::super::testing::{self, Sink, at_us};
    use super::*;

    #[test]
    fn waits_by_kernel() {
        // rule, RTT in us, packets in flight, ticks of 4 ms; the timer fires one tick later
        let table = [
            (TlpRules::Linux4_16, 10_000, 2, 7),
            (TlpRules::Linux4_16, 10_000, 1, 55),
            (TlpRules::Linux4_14, 10_000, 2, 7),
            (TlpRules::Linux4_14, 10_000, 1, 55),
            // 10 ms are three ticks, a delayed acknowledgement fifty.
            (TlpRules::Linux3_10, 10_000, 2, 6),
            (TlpRules::Linux3_10, 10_000, 1, 54),
            (TlpRules::Linux3_10, 1_000, 2, 3),
            (TlpRules::Linux3_10, 1_000, 1, 51),
            (TlpRules::Linux3_10, 300_000, 1, 162),
            (TlpRules::Linux3_10, 0, 2, 250),
        ];
        for (rule, rtt, packets, ticks) in table {
            let mut s = testing::established();
            s.cfg.timeouts_in_us = false;
            s.cfg.tlp = rule;
            s.write(at_us(20_000), 1_448, &mut Sink::default());
            (s.sk.packets_out, s.sk.srtt_us, s.rtt.rto) = (packets, rtt << 3, 1_000);
            s.schedule_loss_probe(true);
            assert_eq!(
                s.timer.fires(),
                Some(at_us(20_000 + (ticks + 1) * 4_000)),
                "{rule:?} {rtt} {packets}"
            );
        }
    }

    #[test]
    fn older_kernels_probe_only_in_open_with_a_full_window() {
        // rule, state, window, probe is due
        let table = [
            (TlpRules::Linux3_10, CaState::Open, 1, true),
            (TlpRules::Linux3_10, CaState::Open, 2, false),
            (TlpRules::Linux4_14, CaState::Open, 2, false),
            (TlpRules::Linux4_14, CaState::Cwr, 1, false),
            (TlpRules::Linux4_16, CaState::Open, 2, true),
            (TlpRules::Linux4_16, CaState::Cwr, 1, true),
            (TlpRules::Linux4_16, CaState::Recovery, 1, false),
        ];
        for (rule, state, window, due) in table {
            let mut s = testing::established();
            s.sk.snd_cwnd = 1;
            s.write(at_us(20_000), 4 * 1_448, &mut Sink::default());
            assert_eq!(s.sk.packets_out, 1);
            (s.cfg.tlp, s.sk.ca_state, s.sk.snd_cwnd) = (rule, state, window);
            assert_eq!(s.schedule_loss_probe(true), due, "{rule:?} {state:?} {window}");
        }
    }
}
