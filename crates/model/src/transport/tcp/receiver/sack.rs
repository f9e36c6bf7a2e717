//! Blocks of the SACK option: out-of-order data, latest first, and duplicates (D-SACK).

use crate::transport::seq::{after, before, latest};
use crate::types::{MAX_SACK_BLOCKS, TcpHeader};

type Block = (u32, u32);

/// Number of leading blocks that fit every ACK. Later blocks may be left out.
// linux: net/ipv4/tcp_input.c TCP_SACK_BLOCKS_EXPECTED (6.1).
const EXPECTED: usize = 2;

/// SACK blocks of the next ACK.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sacks {
    blocks: [Block; MAX_SACK_BLOCKS],
    used: usize,
    duplicate: Option<Block>,
}

/// Extends `block` by [start, end) if they touch or overlap.
// linux: net/ipv4/tcp_input.c tcp_sack_extend (6.1).
#[inline]
fn extend(block: &mut Block, start: u32, end: u32) -> bool {
    if after(start, block.1) || after(block.0, end) {
        return false;
    }
    if before(start, block.0) {
        block.0 = start;
    }
    block.1 = latest(block.1, end);
    true
}

impl Sacks {
    /// Returns true if the next ACK has no SACK option.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.used == 0 && self.duplicate.is_none()
    }

    fn position(&self, start: u32, end: u32) -> Option<usize> {
        self.blocks[..self.used].iter().position(|&block| extend(&mut { block }, start, end))
    }

    /// Returns true if [start, end) would reorder blocks, so that a compressed ACK must be sent first.
    // linux: net/ipv4/tcp_input.c tcp_sack_new_ofo_skb (6.1).
    pub fn would_reorder(&self, start: u32, end: u32) -> bool {
        self.position(start, end).unwrap_or(self.used) >= EXPECTED
    }

    /// Records [start, end) as received out of order. Its block moves to the front.
    // spec: rfc2018 4 - the first block holds the segment that triggered the ACK.
    // linux: net/ipv4/tcp_input.c tcp_sack_new_ofo_skb, tcp_sack_maybe_coalesce (6.1) - drops the oldest if
    // full.
    pub fn arrived(&mut self, start: u32, end: u32) {
        match self.position(start, end) {
            Some(at) => {
                extend(&mut self.blocks[at], start, end);
                self.blocks[..=at].rotate_right(1);
                self.join();
            }
            None => {
                self.used = (self.used + 1).min(MAX_SACK_BLOCKS);
                self.blocks[..self.used].rotate_right(1);
                self.blocks[0] = (start, end);
            }
        }
    }

    /// Merges blocks that touch the first one into it.
    fn join(&mut self) {
        let mut at = 1;
        while at < self.used {
            let (start, end) = self.blocks[at];
            if extend(&mut self.blocks[0], start, end) {
                self.blocks[at..self.used].rotate_left(1);
                self.used -= 1;
            } else {
                at += 1;
            }
        }
    }

    /// Removes blocks below `rcv_nxt`.
    // linux: net/ipv4/tcp_input.c tcp_sack_remove (6.1).
    pub fn in_order(&mut self, rcv_nxt: u32) {
        let mut kept = 0;
        for at in 0..self.used {
            if before(rcv_nxt, self.blocks[at].0) {
                self.blocks[kept] = self.blocks[at];
                kept += 1;
            }
        }
        self.used = kept;
    }

    /// Drops all blocks after the out-of-order data was discarded.
    pub fn forget(&mut self) {
        self.used = 0;
    }

    /// Records [start, end) as a duplicate.
    // spec: rfc2883 4 - reported once, in the first block.
    pub fn duplicate(&mut self, start: u32, end: u32) {
        self.duplicate = Some((start, end));
    }

    /// Records [start, end) as a duplicate, merged with one from the same segment.
    // linux: net/ipv4/tcp_input.c tcp_dsack_extend (6.1).
    pub fn duplicate_also(&mut self, start: u32, end: u32) {
        match &mut self.duplicate {
            Some(block) => {
                extend(block, start, end);
            }
            None => self.duplicate(start, end),
        }
    }

    /// Clears the recorded duplicate.
    #[inline]
    pub fn no_duplicate(&mut self) {
        self.duplicate = None;
    }

    /// Writes at most `room` SACK blocks into a header.
    // linux: net/ipv4/tcp_output.c tcp_options_write (6.1) - puts a duplicate first, and reports it once.
    #[inline]
    pub fn write(&mut self, header: &mut TcpHeader, room: usize) {
        if self.is_empty() {
            return;
        }
        let all = self.duplicate.take().into_iter().chain(self.blocks[..self.used].iter().copied());
        let mut n = 0;
        for (slot, block) in header.sack[..room].iter_mut().zip(all) {
            *slot = block;
            n += 1;
        }
        header.sacks = n;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::SockId;
    use alloc::vec::Vec;

    fn told(sacks: &mut Sacks) -> Vec<Block> {
        let mut header = TcpHeader::blank(SockId(0));
        sacks.write(&mut header, 3);
        header.sack_blocks().to_vec()
    }

    #[test]
    fn latest_block_comes_first_and_adjacent_blocks_merge() {
        let mut sacks = Sacks::default();
        let table: [(Block, &[Block]); 7] = [
            ((10, 20), &[(10, 20)]),
            ((30, 40), &[(30, 40), (10, 20)]),
            ((50, 60), &[(50, 60), (30, 40), (10, 20)]),
            ((70, 80), &[(70, 80), (50, 60), (30, 40)]),
            ((90, 99), &[(90, 99), (70, 80), (50, 60)]), // (10, 20) was the fifth and is dropped
            ((60, 70), &[(50, 80), (90, 99), (30, 40)]),
            ((40, 50), &[(30, 80), (90, 99)]),
        ];
        for ((start, end), expected) in table {
            sacks.arrived(start, end);
            assert_eq!(told(&mut sacks), expected, "{start}");
        }
        sacks.in_order(80);
        assert_eq!(told(&mut sacks), [(90, 99)]);
    }

    #[test]
    fn dsack_is_sent_once_and_first() {
        // spec: rfc2883 4.2.1 - a segment of 500 bytes is duplicated while two blocks are open.
        let mut sacks = Sacks::default();
        sacks.arrived(4500, 5000);
        sacks.duplicate(3000, 3500);
        sacks.duplicate_also(3500, 4000);
        assert_eq!(told(&mut sacks), [(3000, 4000), (4500, 5000)]);
        assert_eq!(told(&mut sacks), [(4500, 5000)]);
    }

    #[test]
    fn reordering_of_trailing_blocks_is_detected() {
        let mut sacks = Sacks::default();
        assert!(!sacks.would_reorder(10, 20));
        sacks.arrived(10, 20);
        sacks.arrived(30, 40);
        assert!(!sacks.would_reorder(40, 50) && !sacks.would_reorder(20, 25));
        assert!(sacks.would_reorder(50, 60));
    }
}
