//! Delivery rate samples, taken for each acknowledged packet.
// spec: draft-cheng-iccrg-delivery-rate-estimation - the lower of send rate and ACK rate.

use super::Sender;
use super::ack::Ack;
use super::queue::{APP_LIMITED, EVER_RETRANS, Id, RETRANS, SACKED, SAMPLED};
use crate::transport::cc::RateSample;
use crate::transport::seq::after;

/// Truesize of the smallest packet. A smaller charge means that lower layers are empty.
// linux: include/linux/skbuff.h SKB_TRUESIZE(1) (6.1).
const SMALLEST_SKB: u32 = 577;

/// Connection state for rate samples.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Delivery {
    /// Transmission time of the most recently delivered packet, in us.
    pub first_tx_mstamp: u64,
    /// Last valid sample: segments, interval in us, and whether the application limited it.
    rate_delivered: u32,
    rate_interval_us: u32,
    pub rate_app_limited: bool,
}

impl Delivery {
    /// Returns the rate of the last valid sample in bytes per second; 0 without one.
    // linux: net/ipv4/tcp.c tcp_compute_delivery_rate (6.1).
    pub fn rate(&self, mss: u32) -> u64 {
        match self.rate_interval_us {
            0 => 0,
            us => u64::from(self.rate_delivered) * u64::from(mss) * 1_000_000 / u64::from(us),
        }
    }

    /// Keeps a sample, unless the application limited it and it is slower than the last one.
    fn keep(&mut self, rs: &RateSample) {
        let slower = (rs.delivered as u64 * u64::from(self.rate_interval_us))
            < u64::from(self.rate_delivered) * rs.interval_us as u64;
        if !(rs.is_app_limited && slower) {
            *self = Self {
                rate_delivered: rs.delivered as u32,
                rate_interval_us: rs.interval_us as u32,
                rate_app_limited: rs.is_app_limited,
                ..*self
            };
        }
    }
}

/// Returns true if `a` was sent after `b`. Sequence numbers break ties.
// linux: include/net/tcp.h tcp_skb_sent_after (6.1).
#[inline]
pub(super) fn sent_after(a_us: u64, b_us: u64, a_end: u32, b_end: u32) -> bool {
    a_us > b_us || (a_us == b_us && after(a_end, b_end))
}

impl Sender {
    /// Stores the delivery state in a packet that was just sent.
    // linux: net/ipv4/tcp_rate.c tcp_rate_skb_sent (6.1) - restarts the interval when idle.
    #[inline]
    pub(super) fn stamp_delivery(&mut self, id: Id, sent_us: u64, idle: bool) {
        if idle {
            self.delivery.first_tx_mstamp = sent_us;
            self.sk.delivered_mstamp = sent_us;
        }
        let sk = &self.sk;
        let skb = self.rtx.at_mut(id);
        skb.first_tx_mstamp = self.delivery.first_tx_mstamp;
        skb.delivered_mstamp = sk.delivered_mstamp;
        skb.delivered = sk.delivered;
        skb.delivered_ce = sk.delivered_ce;
        skb.flags &= !(APP_LIMITED | SAMPLED);
        if sk.app_limited != 0 {
            skb.flags |= APP_LIMITED;
        }
    }

    /// Bases the sample on a delivered packet if it is the newest that this ACK delivers.
    // linux: net/ipv4/tcp_rate.c tcp_rate_skb_delivered (6.1).
    #[inline]
    pub(super) fn sample_delivery(&mut self, a: &mut Ack, id: Id) {
        let skb = self.rtx.at_mut(id);
        if skb.is(SAMPLED) {
            return;
        }
        if a.rs.prior_delivered == 0
            || sent_after(skb.sent_us, self.delivery.first_tx_mstamp, skb.end, a.last_end)
        {
            a.rs.prior_delivered = skb.delivered;
            a.prior_delivered_ce = skb.delivered_ce;
            a.prior_mstamp = Some(skb.delivered_mstamp);
            a.rs.is_app_limited = skb.is(APP_LIMITED);
            a.rs.is_retrans = skb.is(RETRANS | EVER_RETRANS);
            a.last_end = skb.end;
            self.delivery.first_tx_mstamp = skb.sent_us;
            a.rs.interval_us = skb.sent_us.saturating_sub(skb.first_tx_mstamp) as i64;
        }
        if skb.is(SACKED) {
            skb.flags |= SAMPLED;
        }
    }

    /// Completes the sample of an acknowledgement that delivered `delivered` segments and had `lost` marked
    /// lost.
    // linux: net/ipv4/tcp_rate.c tcp_rate_gen (6.1) - there is no rate without a delivered packet, nor after
    // SACK reneging, which may count packets twice.
    pub(super) fn finish_sample(&mut self, a: &mut Ack, delivered: u32, lost: u32) {
        (a.rs.acked_sacked, a.rs.losses) = (delivered, lost as i32);
        if delivered > 0 {
            self.sk.delivered_mstamp = self.sk.now_us;
        }
        self.end_app_limited();
        match a.prior_mstamp {
            Some(prior_us) if !self.rec.reneging => {
                self.measure(a, prior_us);
                if a.rs.interval_us >= 0 {
                    self.delivery.keep(&a.rs);
                }
            }
            _ => (a.rs.delivered, a.rs.interval_us) = (-1, -1),
        }
    }

    /// Ends the application-limited phase once the packets sent in it are delivered.
    // spec: draft-cheng-iccrg-delivery-rate-estimation - the application-limited bubble is over.
    fn end_app_limited(&mut self) {
        if self.sk.app_limited != 0 && after(self.sk.delivered, self.sk.app_limited) {
            self.sk.app_limited = 0;
        }
    }

    /// Sets the segments delivered since the sampled packet was sent, and the interval: the longer of the
    /// time to send them and the time to acknowledge them since `prior_us`. The interval is -1 if it is
    /// shorter than the minimum round-trip time.
    // spec: draft-cheng-iccrg-delivery-rate-estimation - send_elapsed, ack_elapsed, MinRTT.
    fn measure(&self, a: &mut Ack, prior_us: u64) {
        let sk = &self.sk;
        let send_us = a.rs.interval_us;
        let ack_us = sk.now_us.saturating_sub(prior_us) as i64;
        let longer_us = if ack_us > send_us { ack_us } else { send_us };
        let is_plausible = longer_us >= i64::from(sk.min_rtt_us);
        a.rs.interval_us = if is_plausible { longer_us } else { -1 };
        a.rs.snd_interval_us = send_us as u32;
        a.rs.rcv_interval_us = ack_us as u32;
        a.rs.delivered = sk.delivered.wrapping_sub(a.rs.prior_delivered) as i32;
        a.rs.delivered_ce = sk.delivered_ce.wrapping_sub(a.prior_delivered_ce) as i32;
    }

    /// The application writes: was it what limited the sender until now?
    // linux: net/ipv4/tcp_rate.c tcp_rate_check_app_limited (6.1) - less than a segment unsent, nothing in
    // the queues below, room in the window, and nothing lost that was not sent again.
    pub(super) fn check_app_limited(&mut self) {
        let sk = &mut self.sk;
        if sk.unsent < sk.mss_cache
            && sk.wmem_alloc < SMALLEST_SKB
            && sk.in_flight() < sk.snd_cwnd
            && sk.lost_out <= sk.retrans_out
        {
            sk.app_limited = sk.delivered.wrapping_add(sk.in_flight()).max(1);
        }
    }
}
