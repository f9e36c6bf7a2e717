//! Packet numbers received, as ranges.

use alloc::vec::Vec;

/// How long a receiver acknowledges received packet numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AckMemory {
    /// Until a STOP_WAITING frame covers them; up to 255 ranges.
    // spec: quic_framer.cc (Chromium 62) - encodes the number of blocks in one byte.
    StopWaiting,
    /// Until an ACK frame that covers them is acknowledged; up to `ranges` ranges.
    // spec: rfc9000 13.2.3, 13.2.4.
    Acknowledged {
        /// Maximum number of ranges.
        ranges: usize,
        /// Late packets within this distance of the newest number are still distinguished from duplicates
        /// after their range was dropped; at most 128. Older numbers are refused.
        late: u64,
    },
}

/// Classification of a received packet number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Came {
    /// Larger than every number so far.
    Newest,
    /// Fills a gap.
    Missing,
    /// A duplicate, or too old to be tracked.
    Before,
}

/// Packet numbers received, as ranges [first, end) in ascending order.
#[derive(Clone, Debug)]
pub struct Received {
    ranges: Vec<(u64, u64)>,
    /// Numbers below this are neither acknowledged nor missing.
    least: u64,
    memory: AckMemory,
    /// Bitmap of the last 128 numbers: bit n stands for `newest - n`.
    latest: u128,
    newest: u64,
}

impl Received {
    /// Creates an empty set.
    pub fn new(memory: AckMemory) -> Self {
        Self { ranges: Vec::new(), least: 0, memory, latest: 0, newest: 0 }
    }

    /// Drops the oldest range if there are too many.
    fn limit(&mut self) {
        match self.memory {
            AckMemory::StopWaiting => {
                if self.ranges.len() > 255 {
                    self.ranges.remove(0);
                }
            }
            AckMemory::Acknowledged { ranges, .. } => {
                if self.ranges.len() > ranges {
                    let (_, end) = self.ranges.remove(0);
                    self.least = self.least.max(end);
                }
            }
        }
    }

    /// Returns true if a number below `least` belongs to a late packet rather than a duplicate.
    fn is_late(&self, number: u64) -> bool {
        let AckMemory::Acknowledged { late, .. } = self.memory else { return false };
        let behind = self.newest - number;
        behind < late.min(128) && self.latest >> behind & 1 == 0
    }

    /// Records a packet number.
    pub fn insert(&mut self, number: u64) -> Came {
        if number < self.least && !self.is_late(number) {
            return Came::Before;
        }
        let came = self.add(number);
        if number > self.newest {
            let by = number - self.newest;
            self.latest = if by < 128 { self.latest << by } else { 0 };
            self.newest = number;
        }
        if self.newest - number < 128 {
            self.latest |= 1 << (self.newest - number);
        }
        came
    }

    fn add(&mut self, number: u64) -> Came {
        match self.ranges.last_mut() {
            None => {
                self.ranges.push((number, number + 1));
                return Came::Newest;
            }
            Some(last) if number == last.1 => {
                last.1 += 1;
                return Came::Newest;
            }
            Some(last) if number > last.1 => {
                self.ranges.push((number, number + 1));
                self.limit();
                return Came::Newest;
            }
            Some(_) => {}
        }
        let at = self.ranges.partition_point(|r| r.1 <= number);
        if self.ranges[at].0 <= number {
            return Came::Before;
        }
        let joins_next = self.ranges[at].0 == number + 1;
        let joins_previous = at > 0 && self.ranges[at - 1].1 == number;
        match (joins_previous, joins_next) {
            (true, true) => {
                self.ranges[at - 1].1 = self.ranges[at].1;
                self.ranges.remove(at);
            }
            (true, false) => self.ranges[at - 1].1 += 1,
            (false, true) => self.ranges[at].0 = number,
            (false, false) => {
                self.ranges.insert(at, (number, number + 1));
                self.limit();
            }
        }
        Came::Missing
    }

    /// Processes STOP_WAITING: numbers below `least` are neither missing nor acknowledged from now on.
    pub fn stop_waiting(&mut self, least: u64) {
        if least <= self.least {
            return;
        }
        self.least = least;
        self.ranges.retain_mut(|r| {
            r.0 = r.0.max(least);
            r.0 < r.1
        });
    }

    /// Called when an ACK frame with this largest number was acknowledged. Drops the ranges that it covers,
    /// but keeps the largest number, from which later ACKs start.
    pub fn ack_was_received(&mut self, largest: u64) {
        if matches!(self.memory, AckMemory::Acknowledged { .. }) {
            self.stop_waiting(largest);
        }
    }

    /// Returns the length of the contiguous run up to the newest packet, or `None` without a gap below it.
    pub fn since_gap(&self) -> Option<u64> {
        let &(first, end) = self.ranges.last()?;
        let complete = self.ranges.len() == 1 && first <= self.least.max(1);
        (!complete).then_some(end - first)
    }

    /// Returns the largest packet number received.
    pub fn largest(&self) -> Option<u64> {
        self.ranges.last().map(|r| r.1 - 1)
    }

    /// Iterates over the ranges, newest first.
    pub fn newest_first(&self) -> impl ExactSizeIterator<Item = (u64, u64)> {
        self.ranges.iter().rev().copied()
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn gaps_open_and_close() {
        let mut r = Received::new(AckMemory::StopWaiting);
        let came = [1, 2, 5, 4, 4, 3, 7].map(|n| r.insert(n));
        use Came::{Before, Missing, Newest};
        assert_eq!(came, [Newest, Newest, Newest, Missing, Before, Missing, Newest]);
        assert_eq!(r.newest_first().collect::<Vec<_>>(), [(7, 8), (1, 6)]);
        assert_eq!((r.since_gap(), r.largest()), (Some(1), Some(7)));
        r.stop_waiting(7);
        assert_eq!((r.since_gap(), r.insert(6)), (None, Before));
    }

    #[test]
    fn acknowledged_ranges_are_forgotten() {
        let mut r = Received::new(AckMemory::Acknowledged { ranges: 3, late: 0 });
        for n in [1, 3, 5] {
            r.insert(n);
        }
        r.ack_was_received(3);
        assert_eq!(r.newest_first().collect::<Vec<_>>(), [(5, 6), (3, 4)]);
        assert_eq!((r.insert(2), r.insert(4)), (Came::Before, Came::Missing));
        // Two of five ranges are dropped. Their numbers and lower ones are no longer accepted.
        for n in [8, 10, 12, 14] {
            r.insert(n);
        }
        assert_eq!(r.newest_first().collect::<Vec<_>>(), [(14, 15), (12, 13), (10, 11)]);
        assert_eq!(
            [7, 8, 9, 11].map(|n| r.insert(n)),
            [Came::Before, Came::Before, Came::Missing, Came::Missing]
        );
        // Late packets are accepted once.
        let mut r = Received::new(AckMemory::Acknowledged { ranges: 3, late: 128 });
        for n in [1, 3, 200, 202] {
            r.insert(n);
        }
        r.ack_was_received(202);
        assert_eq!(r.newest_first().collect::<Vec<_>>(), [(202, 203)]);
        assert_eq!([200, 201, 201, 75, 74, 2].map(|n| r.insert(n)), {
            use Came::{Before, Missing};
            [Before, Missing, Before, Missing, Before, Before]
        });
        assert_eq!(r.newest_first().collect::<Vec<_>>(), [(201, 203), (75, 76)]);
        // With STOP_WAITING, an acknowledged ACK frame has no effect.
        let mut r = Received::new(AckMemory::StopWaiting);
        for n in [1, 3] {
            r.insert(n);
        }
        r.ack_was_received(3);
        assert_eq!(r.newest_first().collect::<Vec<_>>(), [(3, 4), (1, 2)]);
    }

    proptest! {
        /// Behaves like a set.
        #[test]
        fn as_a_set(numbers in prop::collection::vec(1_u64..120, 0..150), least in 1_u64..60) {
            let (mut r, mut set) = (Received::new(AckMemory::StopWaiting), BTreeSet::new());
            for (i, &n) in numbers.iter().enumerate() {
                if i == numbers.len() / 2 {
                    r.stop_waiting(least);
                    set.retain(|&n| n >= least);
                }
                let old = i >= numbers.len() / 2 && n < least;
                let came = r.insert(n);
                prop_assert_eq!(came == Came::Before, old || set.contains(&n));
                if !old {
                    set.insert(n);
                }
            }
            let all: Vec<u64> = r.ranges.iter().flat_map(|r| r.0..r.1).collect();
            prop_assert_eq!(all, set.into_iter().collect::<Vec<_>>());
            prop_assert!(r.ranges.windows(2).all(|w| w[0].1 < w[1].0));
        }
    }
}
