//! Selective ACKs: scoreboard, D-SACKs, and reordering detection.
// spec: rfc2018, rfc2883.

use super::Sender;
use super::ack::{Ack, DATA_SACKED, DSACK_TLP, DSACKING, ORIG_SACK_ACKED};
use super::queue::{EVER_RETRANS, Id, JOINED, LOST, RETRANS, SACKED};
use crate::transport::cc::CaState;
use crate::transport::seq::{after, before, distance, latest};
use crate::types::MAX_SACK_BLOCKS;

impl Sender {
    /// Processes the SACK blocks of an ACK.
    // linux: net/ipv4/tcp_input.c tcp_sacktag_write_queue (6.1) - skips parts already in the last ACK.
    pub(super) fn take_sacks(&mut self, a: &mut Ack, wire: &[(u32, u32)]) {
        a.reord = self.sk.snd_nxt;
        if self.sk.sacked_out == 0 {
            self.highest_sack = self.sk.snd_una;
            self.sack_cached = 0;
        }
        let dsack = self.check_dsack(a, wire);
        if before(a.ack, a.prior_una.wrapping_sub(self.max_window)) || self.sk.packets_out == 0 {
            return;
        }
        let mut blocks = [(0, 0); MAX_SACK_BLOCKS];
        let mut n = 0;
        for (i, &(start, end)) in wire.iter().enumerate() {
            let dup = dsack && i == 0;
            if !self.valid_block(dup, start, end) || !after(end, a.prior_una) {
                continue;
            }
            if dup {
                self.tag_range(a, start, end, start, end, true);
                continue;
            }
            // Insertion sort: there are few blocks.
            let mut at = n;
            while at > 0 && after(blocks[at - 1].0, start) {
                blocks[at] = blocks[at - 1];
                at -= 1;
            }
            blocks[at] = (start, end);
            n += 1;
        }
        let (known, cached) = (self.sack_cache, usize::from(self.sack_cached));
        for &(start, end) in &blocks[..n] {
            let mut from = start;
            for &(k_start, k_end) in &known[..cached] {
                if !before(k_start, end) || !before(from, end) {
                    break;
                }
                if after(k_end, from) {
                    if after(k_start, from) {
                        self.tag_range(a, from, k_start, start, end, false);
                    }
                    from = latest(from, k_end);
                }
            }
            if before(from, end) {
                self.tag_range(a, from, end, start, end, false);
            }
        }
        (self.sack_cache, self.sack_cached) = (blocks, n as u8);
        if self.sk.ca_state != CaState::Loss || self.rec.undo_marker.is_some() {
            self.check_sack_reordering(a.reord);
        }
    }

    /// Tags packets in `[from, to)` covered by the block `[start, end)`.
    // linux: net/ipv4/tcp_input.c tcp_sacktag_walk, tcp_match_skb_to_sack (6.1) - splits TSO packets at block
    // boundaries, in whole segments.
    fn tag_range(&mut self, a: &mut Ack, from: u32, to: u32, start: u32, end: u32, dup: bool) {
        let mss = self.sk.mss_cache;
        let mut i = self.rtx.find(from);
        while i < self.rtx.len() {
            let id = self.rtx.id(i);
            let skb = *self.rtx.at(id);
            if !before(skb.seq, to) {
                break;
            }
            let from_head = !after(start, skb.seq);
            let mut covered = from_head && !before(end, skb.end);
            if !covered && skb.segs > 1 && after(skb.end, start) {
                let len = skb.len();
                let cut = if from_head {
                    // Only whole segments are covered.
                    distance(skb.seq, end) / mss * mss
                } else {
                    distance(skb.seq, start).next_multiple_of(mss)
                };
                if cut > 0 && cut < len {
                    self.split(i, cut);
                    covered = from_head;
                }
            }
            if covered {
                let resent = skb.flags & (LOST | RETRANS) == RETRANS;
                self.tag(a, id, dup);
                if !resent || dup {
                    self.join(i);
                }
            }
            i += 1;
        }
    }

    /// Merges the data of the `i`th, SACKed packet with SACKed neighbours, which frees the overhead of all
    /// but one sk_buff. A full send buffer can thus accept data during recovery.
    // linux: net/ipv4/tcp_input.c tcp_shift_skb_data (6.1) - neighbours of the same segment size with data in
    // page fragments.
    // deviation: merges only the memory, not the records, and without the limit of 512 KiB.
    fn join(&mut self, i: usize) {
        let joined = i > 0 && self.join_to_previous(i);
        if joined && i + 1 < self.rtx.len() {
            self.join_to_previous(i + 1);
        }
    }

    fn join_to_previous(&mut self, i: usize) -> bool {
        const TAGS: u16 = SACKED | LOST | RETRANS;
        let (first, second) = (*self.rtx.at(self.rtx.id(i - 1)), *self.rtx.at(self.rtx.id(i)));
        let mss = self.sk.mss_cache;
        let joins = self.cfg.scatter_gather
            && first.flags & TAGS == SACKED
            && second.flags & TAGS == SACKED
            && !second.is(JOINED)
            && first.len().min(mss) == second.len().min(mss);
        if joins {
            let head = self.skb_cost();
            let skb = self.rtx.at_mut(self.rtx.id(i));
            skb.flags |= JOINED;
            skb.truesize -= head;
            self.buf.wmem_queued -= head;
        }
        joins
    }

    // linux: net/ipv4/tcp_input.c tcp_sacktag_one (6.1).
    fn tag(&mut self, a: &mut Ack, id: Id, dup: bool) {
        let skb = *self.rtx.at(id);
        let segs = u32::from(skb.segs);
        if dup && skb.is(RETRANS | EVER_RETRANS) {
            if self.rec.undo_retrans > 0 && self.rec.undo_marker.is_some_and(|marker| after(skb.end, marker))
            {
                self.rec.undo_retrans = (self.rec.undo_retrans - segs as i32).max(0);
            }
            if skb.is(SACKED) && before(skb.seq, a.reord) {
                a.reord = skb.seq;
            }
        }
        if !skb.is(SACKED) {
            self.rack_advance(&skb);
            let mut flags = skb.flags;
            if flags & RETRANS != 0 {
                // Not marked lost: the retransmission is assumed to be still in flight.
                if flags & LOST != 0 {
                    flags &= !(LOST | RETRANS);
                    self.sk.lost_out -= segs;
                    self.sk.retrans_out -= segs;
                }
            } else {
                if flags & EVER_RETRANS == 0 {
                    // Never retransmitted, and in a hole: reordering.
                    if before(skb.seq, self.highest_sack_seq()) && before(skb.seq, a.reord) {
                        a.reord = skb.seq;
                    }
                    if !after(skb.end, self.rec.high_seq) {
                        a.set(ORIG_SACK_ACKED);
                    }
                    a.first_sack_us.get_or_insert(skb.sent_us);
                    a.last_sack_us = skb.sent_us;
                }
                if flags & LOST != 0 {
                    flags &= !LOST;
                    self.sk.lost_out -= segs;
                }
            }
            self.rtx.at_mut(id).flags = flags | SACKED;
            a.set(DATA_SACKED);
            self.sk.sacked_out += segs;
            a.sack_delivered += segs;
        }
        if dup && self.rtx.at(id).is(RETRANS) {
            self.rtx.at_mut(id).flags &= !RETRANS;
            self.sk.retrans_out -= segs;
        }
        self.sample_delivery(a, id);
        self.rtx.unlink(id);
        if !before(skb.seq, self.highest_sack) {
            self.highest_sack = skb.end;
        }
    }

    // linux: net/ipv4/tcp_input.c tcp_is_sackblock_valid (6.1) - inside the outstanding data; D-SACKs also
    // below it, down to the start of recovery or one window before it.
    fn valid_block(&self, dup: bool, start: u32, end: u32) -> bool {
        let (una, nxt) = (self.sk.snd_una, self.sk.snd_nxt);
        if after(end, nxt) || !before(start, end) || !before(start, nxt) {
            return false;
        }
        if after(start, una) {
            return true;
        }
        let Some(marker) = self.rec.undo_marker.filter(|_| dup && !after(end, una)) else { return false };
        !before(start, marker) || (after(end, marker) && !before(start, end.wrapping_sub(self.max_window)))
    }

    /// Returns true if the first block is a D-SACK: below the ACK number, or inside the second block.
    // linux: net/ipv4/tcp_input.c tcp_check_dsack (6.1).
    fn check_dsack(&mut self, a: &mut Ack, wire: &[(u32, u32)]) -> bool {
        let Some(&(start, end)) = wire.first() else { return false };
        let inside = |&(s, e): &(u32, u32)| !after(end, e) && !before(start, s);
        if !before(start, a.ack) && !wire.get(1).is_some_and(inside) {
            return false;
        }
        let Some(segs) = self.dsack_seen(a, start, end) else { return false };
        // Count D-SACKs for data that is no longer tracked.
        if self.rec.undo_retrans > 0
            && !after(end, a.prior_una)
            && self.rec.undo_marker.is_some_and(|marker| after(end, marker))
        {
            self.rec.undo_retrans = (self.rec.undo_retrans - segs as i32).max(0);
        }
        true
    }

    /// Returns the number of segments reported by a D-SACK, or `None` if it is implausible.
    // linux: net/ipv4/tcp_input.c tcp_dsack_seen (6.1) - rejects more D-SACKs than retransmissions; RACK
    // widens its window only if reordering was seen, and not for a probe.
    fn dsack_seen(&mut self, a: &mut Ack, start: u32, end: u32) -> Option<u32> {
        if !before(start, end) || distance(start, end) > self.max_window {
            return None;
        }
        let mut segs = 1;
        if distance(start, end) > self.sk.mss_cache {
            segs = distance(start, end).div_ceil(self.sk.mss_cache);
        } else if self.tlp.high_seq == Some(end) {
            a.set(DSACK_TLP);
        }
        self.count.dsack_dups += segs;
        if self.count.dsack_dups > self.count.retrans {
            return None;
        }
        if self.reord_seen && !a.has(DSACK_TLP) {
            self.rack.dsack_seen = true;
        }
        a.set(DSACKING);
        a.sack_delivered += segs;
        Some(segs)
    }

    /// Records reordering: an original packet at `low` arrived below the highest SACKed one.
    // linux: net/ipv4/tcp_input.c tcp_check_sack_reordering (6.1), tcp_update_reordering, tcp_disable_fack
    // (4.4) - disables FACK, which relies on order, once a packet is later than the expected degree.
    pub(super) fn check_sack_reordering(&mut self, low: u32) {
        let high = self.highest_sack_seq();
        if !before(low, high) {
            return;
        }
        let segments = distance(low, high).div_ceil(self.sk.mss_cache);
        if segments > self.reordering {
            self.reordering = segments.min(self.cfg.max_reordering);
            self.fack_over = true;
        }
        self.reord_seen = true;
        self.count.reord_seen += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Sink, ack, at_us, established};
    use super::*;
    use crate::transport::tcp::config::LossDetection;

    const MSS: u32 = 1_448;

    /// Sequence number of the `n`th segment.
    fn seq(n: u32) -> u32 {
        1_000 + n * MSS
    }

    // linux: net/ipv4/tcp_input.c tcp_update_reordering, tcp_disable_fack (4.4).
    #[test]
    fn reordering_disables_fack() {
        // The packet that overtakes the first three times; resulting reordering degree, FACK disabled.
        for (early, reordering, over) in [(2, 3, false), (3, 3, false), (4, 4, true), (8, 8, true)] {
            let mut s = established();
            (s.cfg.small_queues.off, s.cfg.loss) = (true, LossDetection::Fack);
            (s.sk.snd_cwnd, s.buf.sndbuf) = (40, 1 << 24);
            s.write(at_us(100_000), u64::from(40 * MSS), &mut Sink::default());
            ack(&mut s, at_us(110_000), seq(1), 100, &[(seq(early), seq(early + 1))]);
            ack(&mut s, at_us(110_100), seq(early + 1), 100, &[]);
            assert_eq!((s.reordering, s.fack_over), (reordering, over), "{early}");
            // One SACKed segment far ahead: FACK considers all segments below it lost.
            let una = early + 1;
            s.sk.ca_state = CaState::Open;
            let far = una + reordering;
            ack(&mut s, at_us(110_200), seq(una), 100, &[(seq(far), seq(far + 1))]);
            assert_eq!(s.sk.ca_state == CaState::Recovery, !over, "{early}");
        }
    }
}
