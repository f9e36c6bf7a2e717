//! TCP small queues (TSQ): limits a socket's packets in lower layers.

use super::Sender;
use super::queue::Skb;
use crate::transport::tcp::config::{Exception, LimitOutput, SmallQueues};
use crate::types::Instant;

/// Packets of a sender in lower layers, in addition to the charge.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HostQueue {
    /// Bytes charged for packets accepted by the lower layer, as a running counter.
    pub emitted: u32,
    /// Bytes of them that were uncharged.
    freed: u32,
    /// Bytes charged for refused packets and not yet uncharged. Normally all are uncharged at once, unless a
    /// qdisc keeps part of a split packet or drops older packets in its favour.
    refused: u32,
    refused_at_ns: u64,
    /// True if the limit stopped the socket, which resumes when a packet leaves.
    pub throttled: bool,
    /// True if the socket is scheduled to resume.
    pub queued: bool,
}

/// Returns the maximum charge, in bytes, at which a packet of `truesize` may still be sent. `paced` is true
/// for a paced socket, `again` for a retransmission.
// linux: net/ipv4/tcp_output.c tcp_small_queue_check (6.1) - the larger of two packets and one period at the
// pacing rate, with the sysctl limit as configured; doubled for retransmissions.
#[inline(always)]
pub(super) fn limit(
    rule: &SmallQueues,
    limit_output: u32,
    pacing_rate: u64,
    shift: u8,
    paced: bool,
    truesize: u32,
    again: bool,
) -> u64 {
    let packets = u64::from(rule.min_packets) * u64::from(truesize);
    let period = if rule.by_rate { (pacing_rate >> shift) * u64::from(rule.rate_multiple) } else { 0 };
    let bytes = u64::from(limit_output);
    let limit = match rule.cap {
        LimitOutput::Fixed => bytes,
        LimitOutput::AtLeast => packets.max(period).max(bytes),
        LimitOutput::AtMostUnlessPaced if paced => packets.max(period),
        LimitOutput::AtMost | LimitOutput::AtMostUnlessPaced => packets.max(period).min(bytes),
    };
    limit << u32::from(again)
}

impl HostQueue {
    /// Records the refusal of a packet charged with `truesize` bytes.
    pub fn refuse(&mut self, truesize: u32, now_ns: u64) {
        self.keep_what_stayed(now_ns);
        self.refused += truesize;
        self.refused_at_ns = now_ns;
    }

    /// Treats refused bytes as accepted if they were not uncharged at the time of the refusal.
    fn keep_what_stayed(&mut self, now_ns: u64) {
        if self.refused > 0 && self.refused_at_ns != now_ns {
            self.emitted = self.emitted.wrapping_add(core::mem::take(&mut self.refused));
        }
    }
}

impl Sender {
    /// Returns true if a packet of `truesize` must wait for lower layers. `place` is its index among the
    /// unacknowledged packets; `again` is true for a retransmission.
    #[inline]
    pub(super) fn held_back(&mut self, truesize: u32, place: usize, again: bool) -> bool {
        let rule = &self.cfg.small_queues;
        if rule.off || (again && !rule.retransmissions) {
            return false;
        }
        let charge = u64::from(self.sk.wmem_alloc) + u64::from(rule.initial_charge);
        let limit = limit(
            rule,
            self.cfg.limit_output_bytes,
            self.sk.pacing_rate,
            self.sk.pacing_shift,
            self.sk.needs_pacing,
            truesize,
            again,
        );
        if charge <= limit {
            return false;
        }
        let anyway = match rule.exception {
            Exception::Never => false,
            Exception::FirstOfWriteQueue => place <= 1,
            Exception::EmptyRtxQueue => self.rtx.is_empty(),
            Exception::AtMostOneInRtxQueue => self.rtx.len() <= 1,
        };
        if anyway {
            return false;
        }
        self.host.throttled = true;
        true
    }

    /// Returns the bytes that a packet is charged with.
    // linux: net/ipv4/tcp_offload.c tcp_gso_segment (4.4) - charges each segment's own memory instead of the
    // packet's.
    // deviation: applies this charge from the start instead of from the split, which a qdisc above the device
    // delays - its memory limit counts the larger value too; charges a partial last segment like a full one.
    #[inline]
    pub(super) fn charge(&self, skb: &Skb) -> u32 {
        let segs = u32::from(skb.segs);
        if segs > 1 && self.cfg.split_truesize > 0 { segs * self.cfg.split_truesize } else { skb.truesize }
    }

    /// Uncharges a packet of `truesize` bytes that left the lower layers at `now`. Returns true if the socket
    /// was throttled; the caller then calls [`Sender::push`] once after the whole batch.
    // linux: net/ipv4/tcp_output.c tcp_wfree (6.1).
    // deviation: a packet refused by the local queue does not wake the socket - the kernel would retry until
    // a packet leaves, which takes time there but none here.
    #[inline]
    pub fn uncharge(&mut self, now: Instant, truesize: u32) -> bool {
        if truesize == 0 {
            return false;
        }
        debug_assert!(self.sk.wmem_alloc >= truesize, "more uncharged than charged");
        self.sk.wmem_alloc -= truesize;
        self.host.keep_what_stayed(now.nanos());
        let refused = self.host.refused.min(truesize);
        self.host.refused -= refused;
        self.host.freed = self.host.freed.wrapping_add(truesize - refused);
        let below = self.host.emitted.wrapping_sub(self.host.freed).wrapping_add(self.host.refused);
        debug_assert_eq!(below, self.sk.wmem_alloc, "what was handed down and has not ended");
        if refused > 0 {
            return false;
        }
        let wake = self.host.throttled && !self.host.queued;
        if wake {
            (self.host.throttled, self.host.queued) = (false, true);
        }
        wake
    }

    /// Returns the bytes charged for packets in lower layers (`sk_wmem_alloc` without its initial value).
    pub fn charged(&self) -> u32 {
        self.sk.wmem_alloc
    }

    /// Returns the charge counter of a packet of `segs` segments that was just sent, for
    /// [`Sender::in_host_queue`]. For a split packet only copies of its segments are in lower layers.
    // deviation: a packet that a qdisc keeps unsplit counts as queued until its segments have left.
    pub(super) fn place_below(&self, segs: u16) -> u32 {
        if segs > 1 && self.cfg.split_at_once { self.host.freed } else { self.host.emitted }
    }

    /// Returns true if a transmission is still queued in a lower layer.
    // linux: net/ipv4/tcp_output.c skb_still_in_host_queue, include/linux/skbuff.h skb_fclone_busy (6.1) -
    // does not retransmit such a packet; the socket resumes when a packet leaves.
    // deviation: assumes that packets are uncharged in order of transmission - lower layers are FIFO per
    // flow, except for Wi-Fi retries.
    pub(super) fn in_host_queue(&mut self, charged: u32) -> bool {
        let inside = (charged.wrapping_sub(self.host.freed) as i32) > 0;
        self.host.throttled |= inside;
        inside
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    #[test]
    fn limits_by_kernel() {
        let linux_6_1 = testing::config().small_queues;
        let by = |cap, min_packets, by_rate| SmallQueues { cap, min_packets, by_rate, ..linux_6_1 };
        // rule, sysctl limit, rate in Mbit/s, shift, paced, retransmission, limit
        let table = [
            (linux_6_1, 1 << 20, 10, 10, false, false, 5_456),
            (linux_6_1, 1 << 20, 100, 10, false, false, 12_207),
            (linux_6_1, 1 << 20, 1_000, 10, false, false, 122_070),
            (linux_6_1, 1 << 20, 1_000, 7, false, false, 976_562),
            (linux_6_1, 1 << 20, 10_000, 10, false, false, 1 << 20),
            (linux_6_1, 1 << 20, 10_000, 10, true, false, 1_220_703),
            (linux_6_1, 1 << 20, 10, 10, false, true, 10_912),
            (by(LimitOutput::AtMost, 2, true), 131_072, 10_000, 10, true, false, 131_072),
            (by(LimitOutput::Fixed, 0, false), 131_072, 10, 10, false, false, 131_072),
            (by(LimitOutput::AtLeast, 1, true), 131_072, 10, 10, false, false, 131_072),
            (by(LimitOutput::AtLeast, 1, true), 131_072, 10_000, 10, false, false, 1_220_703),
        ];
        for (rule, bytes, mbps, shift, paced, again, want) in table {
            assert_eq!(
                limit(&rule, bytes, mbps * 125_000, shift, paced, 2_728, again),
                want,
                "{rule:?} {mbps} {shift} {paced} {again}"
            );
        }
    }

    #[test]
    fn small_queues_ignore_retransmissions_before_4_9() {
        for (limited, held) in [(true, true), (false, false)] {
            let mut s = testing::established();
            s.cfg.small_queues.exception = Exception::Never;
            s.cfg.small_queues.retransmissions = limited;
            s.sk.wmem_alloc = 1 << 24;
            assert_eq!((s.held_back(2_728, 5, true), s.held_back(2_728, 5, false)), (held, true));
        }
    }
    #[test]
    fn refused_packets_do_not_wake_the_socket() {
        let mut s = testing::established();
        let now = Instant::from_nanos(7);
        s.sk.wmem_alloc = 3 * 4_352;
        s.host.emitted = 4_352;
        s.host.refuse(2 * 4_352, 7);
        s.host.throttled = true;
        assert_eq!([0; 3].map(|_| s.uncharge(now, 4_352)), [false, false, true]);
        assert_eq!((s.charged(), s.host.freed), (0, 4_352));
    }

    #[test]
    fn queued_parts_of_refused_packets_wake_the_socket() {
        let mut s = testing::established();
        // The qdisc dropped an older packet for the first segment of a refused one, and queued the rest.
        s.sk.wmem_alloc = 2_728 + 2 * 4_352;
        s.host.emitted = 2_728;
        s.host.refuse(2 * 4_352, 7);
        s.host.throttled = true;
        assert!(!s.uncharge(Instant::from_nanos(7), 2_728));
        assert!(s.uncharge(Instant::from_nanos(8), 4_352));
        assert!(!s.in_host_queue(s.host.emitted - 4_352) && s.in_host_queue(s.host.emitted));
        s.uncharge(Instant::from_nanos(9), 4_352);
        assert!(!s.in_host_queue(s.host.emitted));
    }
}
