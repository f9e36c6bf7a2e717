//! Proportional rate reduction: shrinks the window to the threshold.
// spec: rfc6937 3 - with the slow-start reduction bound, and the conservative bound while losses continue.

use super::Sender;
use super::ack::Ack;
use crate::transport::cc::{CaState, CcEvent, Controller, INFINITE_SSTHRESH};
use crate::transport::tcp::config::PrrRules;

/// Progress of a reduction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TcpPrr {
    /// Segments delivered since the start.
    pub delivered: u32,
    /// Segments sent since the start.
    pub out: u32,
}

impl TcpPrr {
    /// Returns the number of segments that may be sent now. This ACK delivered `acked` segments; `well` is
    /// true if it shows progress without losses.
    // linux: net/ipv4/tcp_input.c tcp_cwnd_reduction (6.1, 5.10, 4.4).
    pub fn quota(
        &mut self,
        rules: PrrRules,
        acked: u32,
        well: bool,
        in_flight: u32,
        ssthresh: u32,
        prior_cwnd: u32,
    ) -> u32 {
        self.delivered += acked;
        let (delivered, out) = (i64::from(self.delivered), i64::from(self.out));
        let room = i64::from(ssthresh) - i64::from(in_flight);
        let send = if room < 0 {
            let share = u64::from(ssthresh) * u64::from(self.delivered);
            share.div_ceil(u64::from(prior_cwnd)) as i64 - out
        } else {
            let acked = i64::from(acked);
            let strict = !well && rules != PrrRules::Linux5_19;
            let catch_up = if strict { acked } else { acked.max(delivered - out) };
            room.min(catch_up + i64::from(well))
        };
        // Always allow the first retransmission of a recovery.
        send.max(i64::from(self.out == 0)) as u32
    }
}

impl Sender {
    /// Starts a reduction.
    // linux: net/ipv4/tcp_input.c tcp_init_cwnd_reduction (6.1).
    pub(super) fn init_cwnd_reduction(&mut self) {
        self.rec.high_seq = self.sk.snd_nxt;
        self.tlp.high_seq = None;
        self.sk.snd_cwnd_cnt = 0;
        self.sk.prior_cwnd = self.sk.snd_cwnd;
        self.rec.prr = TcpPrr::default();
        self.sk.snd_ssthresh = self.cc.ssthresh(&mut self.sk);
        self.queue_cwr();
    }

    /// Requests CWR on the next new segment.
    pub(super) fn queue_cwr(&mut self) {
        self.ecn.queue_cwr |= self.ecn.ok;
    }

    /// Sets the window according to the segments delivered.
    pub(super) fn reduce_cwnd(&mut self, acked: u32, well: bool) {
        let sk = &mut self.sk;
        if acked == 0 || sk.prior_cwnd == 0 {
            return;
        }
        let in_flight = sk.in_flight();
        let send = self.rec.prr.quota(self.cfg.prr, acked, well, in_flight, sk.snd_ssthresh, sk.prior_cwnd);
        sk.snd_cwnd = in_flight + send;
    }

    /// Returns true if an ACK shows that recovery makes progress.
    fn repairs_well(&self, a: &Ack) -> bool {
        use super::ack::{LOST_RETRANS, RETRANS_DATA_ACKED, UNA_ADVANCED};
        match self.cfg.prr {
            PrrRules::Linux3_2 => true,
            PrrRules::Linux4_3 => a.has(RETRANS_DATA_ACKED) && !a.has(LOST_RETRANS),
            PrrRules::Linux5_11 | PrrRules::Linux5_19 => a.has(UNA_ADVANCED) && a.rs.losses == 0,
        }
    }

    /// Ends a reduction: sets the window to the threshold, unless the reduction was undone.
    // linux: net/ipv4/tcp_input.c tcp_end_cwnd_reduction (6.1).
    pub(super) fn end_cwnd_reduction(&mut self) {
        if self.cc_controls {
            return;
        }
        let sk = &mut self.sk;
        if sk.snd_ssthresh < INFINITE_SSTHRESH
            && (sk.ca_state == CaState::Cwr || self.rec.undo_marker.is_some())
        {
            sk.snd_cwnd = sk.snd_ssthresh;
            self.usage.stamp = sk.jiffies;
        }
        self.cc.cwnd_event(&mut self.sk, CcEvent::CompleteCwr);
    }

    /// Reduces the window for an ECN mark or local congestion, without a loss.
    // linux: net/ipv4/tcp_input.c tcp_enter_cwr (6.1).
    pub(super) fn enter_cwr(&mut self) {
        self.rec.prior_ssthresh = 0;
        if self.sk.ca_state < CaState::Cwr {
            self.rec.undo_marker = None;
            self.init_cwnd_reduction();
            self.set_ca_state(CaState::Cwr);
        }
    }

    /// Updates window and pacing rate at the end of ACK processing.
    // linux: net/ipv4/tcp_input.c tcp_cong_control, tcp_may_raise_cwnd (6.1).
    #[inline]
    pub(super) fn cong_control(&mut self, a: &Ack, acked: u32) {
        self.cc_controls = self.cc.cong_control(&mut self.sk, &a.rs);
        if self.cc_controls {
            return;
        }
        if self.in_cwnd_reduction() {
            self.reduce_cwnd(acked, self.repairs_well(a));
        } else if self.may_raise_cwnd(a) {
            self.sk.is_cwnd_limited = self.may_grow(a.rs.prior_in_flight);
            self.cc.cong_avoid(&mut self.sk, a.ack, acked);
            self.usage.stamp = self.sk.jiffies;
        }
        self.update_pacing_rate();
    }

    /// Returns true if an ACK may raise the window: in-order delivery, or any delivery with a high reordering
    /// degree.
    #[inline]
    fn may_raise_cwnd(&self, a: &Ack) -> bool {
        use super::ack::{ACKED, DATA_ACKED, DATA_SACKED};
        a.has(if self.reordering > self.cfg.reordering { ACKED | DATA_SACKED } else { DATA_ACKED })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// First example of RFC 6937, section 4: the first of twenty segments is lost, and the window is halved.
    // spec: rfc6937 4 - PRR sends on every other ACK. The RFC's sender has sent and counted two segments by
    // limited transmit; Linux with RACK has not, so it reaches the threshold one ACK earlier.
    #[test]
    fn halving_sends_on_every_other_acknowledgement() {
        let mut prr = TcpPrr::default();
        let mut in_flight = 20 - 1 - 2;
        let mut sent = vec![];
        for _ in 3..=18 {
            in_flight -= 1;
            let quota = prr.quota(PrrRules::Linux5_19, 1, false, in_flight, 10, 20);
            in_flight += quota;
            prr.out += quota;
            sent.push(quota);
        }
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1, 1]);
        assert_eq!(in_flight, 10);
    }

    #[test]
    fn prr_catches_up_or_conserves_below_the_threshold() {
        use PrrRules::{Linux3_2, Linux4_3, Linux5_11, Linux5_19};
        let all = [Linux3_2, Linux4_3, Linux5_11, Linux5_19];
        // delivered and sent before, acked, progress, in flight | segments by each rule
        let table = [
            // no progress: as many as were delivered; the 3.2 rule always assumes progress
            ((4, 4), 1, false, 4, [2, 1, 1, 1]),
            // progress: one more, as in slow start
            ((4, 4), 1, true, 4, [2, 2, 2, 2]),
            // catching up with delivered segments; the middle two rules do so only with progress
            ((9, 4), 1, true, 3, [7, 7, 7, 7]),
            ((9, 4), 1, false, 3, [7, 1, 1, 6]),
            // never beyond the threshold
            ((9, 4), 1, true, 8, [2, 2, 2, 2]),
            ((9, 4), 3, true, 10, [0, 0, 0, 0]),
            // nothing sent yet
            ((0, 0), 1, false, 15, [1, 1, 1, 1]),
        ];
        for ((delivered, out), acked, well, in_flight, want) in table {
            let quotas = all.map(|rules| {
                let well = well || rules == Linux3_2;
                TcpPrr { delivered, out }.quota(rules, acked, well, in_flight, 10, 20)
            });
            assert_eq!(quotas, want, "{delivered} {out} {acked} {well} {in_flight}");
        }
    }
}
