//! TCP small queues (TSQ): the limit on what a socket may have in the queues below it.

use super::Sender;
use super::queue::Skb;
use crate::transport::tcp::config::{Exception, LimitOutput, SmallQueues};
use crate::types::Instant;

/// What a sender has in the queues below it, beside the charge itself.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HostQueue {
    /// Bytes that were charged for packets handed down and accepted.
    pub emitted: u32,
    /// Of them, those whose charge has ended.
    freed: u32,
    /// Bytes that were charged for packets that were refused, and whose charges have not ended: all at once,
    /// segment by segment of a split packet, unless a discipline keeps a part or takes what is older out for
    /// it.
    refused: u32,
    /// When that was.
    refused_at_ns: u64,
    /// Had to stop: the next charge that ends makes it go on.
    pub throttled: bool,
    /// Is about to go on.
    pub queued: bool,
}

/// Most bytes that may be charged before a packet of `truesize` is held back; `paced` if the socket is.
// linux: net/ipv4/tcp_output.c tcp_small_queue_check (6.1) - the larger of two packets and the data of one
// period at the pacing rate; the byte limit applies where the profile says so; doubled for a retransmission.
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
    /// A packet that is charged with so many bytes was refused.
    pub fn refuse(&mut self, truesize: u32, now_ns: u64) {
        self.keep_what_stayed(now_ns);
        self.refused += truesize;
        self.refused_at_ns = now_ns;
    }

    /// A part of what was refused is below all the same, if it has not ended within the instant.
    fn keep_what_stayed(&mut self, now_ns: u64) {
        if self.refused > 0 && self.refused_at_ns != now_ns {
            self.emitted = self.emitted.wrapping_add(core::mem::take(&mut self.refused));
        }
    }
}

impl Sender {
    /// Whether a packet of `truesize` has to wait for what is below; it is the `place`th of all that is not
    /// acknowledged, and goes out `again` or for the first time.
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

    /// Bytes that a packet charges its socket with below.
    // linux: net/ipv4/tcp_offload.c tcp_gso_segment (4.4) - each segment is charged with its own memory, the
    // sum replaces that of the whole.
    // deviation: from the beginning and not from the splitting on, which a discipline above the device
    // delays, so that its own limit of memory counts that much too; a last segment that is not full weighs as
    // much as a full one.
    #[inline]
    pub(super) fn charge(&self, skb: &Skb) -> u32 {
        let segs = u32::from(skb.segs);
        if segs > 1 && self.cfg.split_truesize > 0 { segs * self.cfg.split_truesize } else { skb.truesize }
    }

    /// A packet has left the queues below at `now`: its charge of `truesize` bytes ends. Returns true if the
    /// socket was throttled. The caller then calls [`Sender::push`] once after the whole batch.
    // linux: net/ipv4/tcp_output.c tcp_wfree (6.1).
    // deviation: a packet that the local queue refused wakes nobody - the kernel would try again at once
    // until something leaves, which takes time there and none here.
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

    /// Bytes charged for packets in the queues below (`sk_wmem_alloc` without its initial value).
    pub fn charged(&self) -> u32 {
        self.sk.wmem_alloc
    }

    /// What a packet of `segs` segments that was just handed down is found by in [`Sender::in_host_queue`]:
    /// the bytes that had been charged with it. Of one that was split only copies of its segments are below.
    // deviation: a packet that a discipline keeps whole counts as below until its segments have left.
    pub(super) fn place_below(&self, segs: u16) -> u32 {
        if segs > 1 && self.cfg.split_at_once { self.host.freed } else { self.host.emitted }
    }

    /// Whether a transmission is still in a queue below.
    // linux: net/ipv4/tcp_output.c skb_still_in_host_queue, include/linux/skbuff.h skb_fclone_busy (6.1) -
    // such a packet is not sent again; the socket goes on when something has left.
    // deviation: charges end in the order in which packets were handed down; which one ended is not looked at
    // - the queues below are first in, first out for a flow but for retries of the radio.
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
        // rule, byte limit, rate in Mbit/s, shift, paced, again, limit
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
    fn retransmissions_leave_freely_before_4_9() {
        for (limited, held) in [(true, true), (false, false)] {
            let mut s = testing::established();
            s.cfg.small_queues.exception = Exception::Never;
            s.cfg.small_queues.retransmissions = limited;
            s.sk.wmem_alloc = 1 << 24;
            assert_eq!((s.held_back(2_728, 5, true), s.held_back(2_728, 5, false)), (held, true));
        }
    }
    #[test]
    fn what_was_refused_wakes_nobody_also_in_parts() {
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
    fn what_stays_of_a_refused_packet_wakes_when_it_leaves() {
        let mut s = testing::established();
        // An older single packet was taken out for the first segment of a refused one; the rest is below.
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
