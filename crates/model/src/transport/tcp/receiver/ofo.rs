//! The out-of-order queue: ranges of sequence numbers with their truesize.

use crate::transport::seq::{after, before, distance};
use alloc::vec::Vec;

use super::sack::Sacks;

/// Received bytes [start, end), with the truesize of their packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// First sequence number.
    pub start: u32,
    /// Sequence number after the last byte.
    pub end: u32,
    /// Truesize in bytes.
    pub truesize: u32,
}

/// The out-of-order queue: sorted, disjoint and non-adjacent ranges.
// deviation: merges adjacent ranges and adds their truesize; Linux merges packets only if their buffers allow
// it, and then counts less - SACK blocks are the same.
#[derive(Clone, Debug, Default)]
pub struct OutOfOrder {
    ranges: Vec<Range>,
}

impl OutOfOrder {
    /// Returns the number of bytes from `rcv_nxt` to the highest received byte; 0 if the queue is empty.
    #[inline]
    pub fn beyond(&self, rcv_nxt: u32) -> u32 {
        self.ranges.last().map_or(0, |last| distance(rcv_nxt, last.end))
    }

    /// Returns true if the queue is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Inserts a range and reports duplicate parts to `sacks`. Returns whether any part is new, and the
    /// truesize of the ranges it replaces.
    // linux: net/ipv4/tcp_input.c tcp_data_queue_ofo (6.1) - drops a segment covered by another, and segments
    // that the new one covers; keeps partial overlaps with both neighbours twice.
    pub fn insert(&mut self, new: Range, sacks: &mut Sacks) -> (bool, u32) {
        // Fast path: at or behind the last range.
        let at = match self.ranges.last() {
            Some(last) if after(last.start, new.start) => {
                self.ranges.partition_point(|r| !after(r.start, new.start))
            }
            _ => self.ranges.len(),
        };
        let (mut new, mut first) = (new, at);
        if let Some(previous) = at.checked_sub(1).map(|i| self.ranges[i]) {
            if before(new.start, previous.end) {
                if !after(new.end, previous.end) {
                    sacks.duplicate(new.start, new.end);
                    return (false, 0);
                }
                sacks.duplicate(new.start, previous.end);
            }
            if !after(new.start, previous.end) {
                first -= 1;
                (new.start, new.truesize) = (previous.start, previous.truesize + new.truesize);
            }
        }
        let (mut last, mut freed) = (at, 0);
        while let Some(&next) = self.ranges.get(last) {
            if before(new.end, next.start) {
                break;
            }
            if before(new.end, next.end) {
                if after(new.end, next.start) {
                    sacks.duplicate_also(next.start, new.end);
                }
                (new.end, new.truesize) = (next.end, new.truesize + next.truesize);
                last += 1;
                break;
            }
            if next.start != next.end && after(new.end, next.start) {
                sacks.duplicate_also(next.start, next.end);
            }
            freed += next.truesize;
            last += 1;
        }
        if first == last {
            self.ranges.insert(first, new);
        } else {
            self.ranges[first] = new;
            self.ranges.drain(first + 1..last);
        }
        (true, freed)
    }

    /// Removes the first range if it starts at or before `rcv_nxt`.
    // linux: net/ipv4/tcp_input.c tcp_ofo_queue (6.1).
    pub fn pop_in_order(&mut self, rcv_nxt: u32) -> Option<Range> {
        match self.ranges.first() {
            Some(first) if !after(first.start, rcv_nxt) => Some(self.ranges.remove(0)),
            _ => None,
        }
    }

    /// Drops the last range to free memory. Returns its truesize.
    // linux: net/ipv4/tcp_input.c tcp_prune_ofo_queue (6.1) - prunes from the end.
    pub fn prune(&mut self) -> Option<u32> {
        self.ranges.pop().map(|r| r.truesize)
    }

    /// Drops all ranges. Returns their truesize.
    pub fn clear(&mut self) -> u32 {
        self.ranges.drain(..).map(|r| r.truesize).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{SockId, TcpHeader};

    /// Ranges after an insertion, duplicate reported, return value.
    type After = (&'static [(u32, u32, u32)], Option<(u32, u32)>, (bool, u32));

    #[test]
    fn ranges_merge_and_duplicates_are_reported() {
        let table: [((u32, u32), After); 9] = [
            ((100, 200), (&[(100, 200, 1)], None, (true, 0))),
            ((300, 400), (&[(100, 200, 1), (300, 400, 1)], None, (true, 0))),
            ((400, 500), (&[(100, 200, 1), (300, 500, 2)], None, (true, 0))),
            ((320, 450), (&[(100, 200, 1), (300, 500, 2)], Some((320, 450)), (false, 0))),
            ((50, 120), (&[(50, 200, 2), (300, 500, 2)], Some((100, 120)), (true, 0))),
            ((150, 260), (&[(50, 260, 3), (300, 500, 2)], Some((150, 200)), (true, 0))),
            ((280, 600), (&[(50, 260, 3), (280, 600, 1)], Some((300, 500)), (true, 2))),
            ((260, 280), (&[(50, 600, 5)], None, (true, 0))),
            ((700, 800), (&[(50, 600, 5), (700, 800, 1)], None, (true, 0))),
        ];
        let mut ofo = OutOfOrder::default();
        for ((start, end), (ranges, duplicate, answer)) in table {
            let mut sacks = Sacks::default();
            assert_eq!(ofo.insert(Range { start, end, truesize: 1 }, &mut sacks), answer, "{start}");
            let held: Vec<_> = ofo.ranges.iter().map(|r| (r.start, r.end, r.truesize)).collect();
            assert_eq!(held, ranges, "{start}");
            let mut header = TcpHeader::blank(SockId(0));
            sacks.write(&mut header, 3);
            assert_eq!(header.sack_blocks().first().copied(), duplicate, "{start}");
        }
        assert_eq!(ofo.pop_in_order(49), None);
        assert_eq!(ofo.pop_in_order(60).map(|r| r.end), Some(600));
        assert_eq!((ofo.prune(), ofo.prune()), (Some(1), None));
    }
}
