//! Early retransmit: with few packets in flight, three duplicate ACKs cannot arrive, so fewer suffice. Only
//! kernels before 4.11 have it.
// spec: rfc5827 - with a short delay, in which reordering can resolve.

use super::timer::Due;
use super::{Emit, Sender};
use crate::transport::tcp::config::EarlyRetransmit;

/// Packets in flight for which three duplicate ACKs can arrive.
const ENOUGH: u32 = 4;
/// Initial reordering degree required for the rule.
// linux: include/net/tcp.h tcp_enable_early_retrans (4.4).
const PLAIN_REORDERING: u32 = 3;
/// Minimum delay in us.
const LEAST_WAIT_US: u32 = 2_000;

impl Sender {
    /// Returns true if recovery starts with few segments SACKed above a hole. A delay sets the timer instead.
    // linux: net/ipv4/tcp_input.c tcp_time_to_recover (4.4) - not while new data may be sent, which would
    // produce more duplicates.
    pub(super) fn recovers_early(&mut self, ece: bool) -> bool {
        if self.cfg.early_retransmit == EarlyRetransmit::Gone {
            return false;
        }
        let (out, sacked) = (self.sk.packets_out, self.sk.sacked_out);
        if out <= self.reordering && sacked >= (out / 2).max(self.cfg.reordering) && !self.may_send_now() {
            return true;
        }
        self.retransmits_early()
            && self.sk.retrans_out == 0
            && sacked > 0
            && out > sacked
            && out < ENOUGH
            && !self.may_send_now()
            && !self.waits_for_reordering(ece)
    }

    /// Returns true if the rule is enabled and no reordering was seen.
    // linux: include/net/tcp.h tcp_enable_early_retrans, tcp_disable_early_retrans (4.4).
    fn retransmits_early(&self) -> bool {
        matches!(self.cfg.early_retransmit, EarlyRetransmit::AtOnce | EarlyRetransmit::Delayed)
            && self.cfg.reordering == PLAIN_REORDERING
            && !self.reord_seen
    }

    // linux: include/net/tcp.h tcp_may_send_now, net/ipv4/tcp_output.c tcp_snd_test (4.4).
    fn may_send_now(&self) -> bool {
        self.unsent.head().is_some_and(|head| {
            let waits =
                head.last && !self.unsent.fin && head.len < self.sk.mss_cache && self.nagle_waits(false);
            !waits && self.sk.snd_cwnd > self.sk.in_flight() && self.window_allows(head.len)
        })
    }

    /// Sets the timer to a quarter of the RTT, unless the retransmission timeout expires first.
    // linux: net/ipv4/tcp_input.c tcp_pause_early_retransmit (4.4).
    fn waits_for_reordering(&mut self, ece: bool) -> bool {
        if self.cfg.early_retransmit != EarlyRetransmit::Delayed || ece || self.sk.srtt_us == 0 {
            return false;
        }
        let wait = self.srtt_ticks(5).max(self.us_to_ticks(LEAST_WAIT_US));
        if !self.timer.expires_after(self.sk.jiffies + wait) {
            return false;
        }
        self.arm(Due::EarlyRetransmit, wait);
        true
    }

    /// Retransmits after the delay expired without an ACK.
    // linux: net/ipv4/tcp_input.c tcp_resume_early_retransmit (4.4).
    pub(super) fn early_retransmit(&mut self, out: &mut impl Emit) {
        self.rearm_rto();
        if self.retransmits_early() {
            self.enter_recovery(false);
            self.update_scoreboard(true);
            self.retransmit_lost(out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{self, LATER, Sink, ack, at_us};
    use super::*;
    use crate::transport::cc::CaState;
    use crate::transport::tcp::config::{LossDetection, RackBeside};
    use alloc::vec;

    const MSS: u32 = 1_448;
    const START: u32 = 1_000;

    /// A sender as in Linux 4.4 that sent `packets` packets at 100 ms and has no more data.
    fn sent(packets: u32, rule: EarlyRetransmit) -> (Sender, Sink) {
        let mut s = testing::established();
        (s.cfg.loss, s.cfg.rack_beside) = (LossDetection::Fack, RackBeside::No);
        (s.cfg.early_retransmit, s.cfg.small_queues.off) = (rule, true);
        // With an RTT of 16 ms, a quarter is one tick of 4 ms.
        s.sk.srtt_us = 16_000 << 3;
        // The first ACK after the handshake updates the window.
        ack(&mut s, at_us(50_000), START, 50, &[]);
        let mut out = Sink::default();
        s.write(at_us(100_000), u64::from(packets * MSS), &mut out);
        assert_eq!(out.sent.len(), packets as usize);
        for _ in 0..packets {
            s.uncharge(LATER, 2_728);
        }
        out.sent.clear();
        (s, out)
    }

    /// The first packet is lost, and one ACK at 116 ms SACKs the others; then the timer fires.
    #[test]
    fn by_rule_and_packets_out() {
        use EarlyRetransmit::{AtOnce, Delayed, Gone, Off};
        // rule, packets; retransmitted immediately, by the timer
        let table = [
            (AtOnce, 2, true, false),
            (AtOnce, 3, true, false),
            (Delayed, 2, false, true),
            (Delayed, 3, false, true),
            (Off, 3, false, false),
            (Gone, 3, false, false),
            // FACK counts four packets, which is enough.
            (Gone, 4, true, false),
        ];
        for (rule, packets, at_once, later) in table {
            let (mut s, mut out) = sent(packets, rule);
            ack(&mut s, at_us(116_000), START, 100, &[(START + MSS, START + packets * MSS)]);
            s.push(at_us(116_000), &mut out);
            assert_eq!(out.numbers(), if at_once { vec![0] } else { vec![] }, "{rule:?} {packets}");
            let early = s.timer.what() == Some(Due::EarlyRetransmit);
            assert_eq!(early, later, "{rule:?} {packets}");
            if later {
                assert_eq!(s.sk.ca_state, CaState::Disorder);
                let at = s.next_timer().expect("it is set");
                assert_eq!(at, at_us(124_000));
                s.on_timer(at, &mut out);
                assert_eq!((out.numbers(), s.sk.ca_state), (vec![0], CaState::Recovery));
            }
        }
    }

    #[test]
    fn an_ack_cancels_the_delayed_retransmit() {
        let (mut s, mut out) = sent(3, EarlyRetransmit::Delayed);
        ack(&mut s, at_us(116_000), START, 100, &[(START + MSS, START + 3 * MSS)]);
        s.push(at_us(116_000), &mut out);
        // The packet was late, not lost.
        ack(&mut s, at_us(117_000), START + 3 * MSS, 100, &[]);
        s.push(at_us(117_000), &mut out);
        assert_eq!((s.timer.what(), out.sent.len(), s.sk.ca_state), (None, 0, CaState::Open));
        // Reordering was seen, which disables the rule.
        assert!(s.reord_seen && !s.retransmits_early());
    }
}
