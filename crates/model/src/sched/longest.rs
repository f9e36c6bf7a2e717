//! Finds the longest of many queues without scanning all of them.
//!
//! A tournament tree of upper bounds: each queue has an entry with a bound on its length, and the greatest of
//! eight entries advances to the next round. A queue that grows past its entry raises the entry. A queue that
//! shrinks leaves its entry, so dequeues cost nothing here. A search lowers winning entries to the actual
//! lengths until the winner is exact. A round compares values within one cache line, which costs less than
//! the jumps of a heap.

use alloc::vec::Vec;

/// Entries of queues that hold packets, and of some that did.
#[derive(Clone, Debug)]
pub(crate) struct Longest {
    /// The final round is at 0; the winners of rounds 8n + 1 and following meet in round n; the first rounds
    /// start at `leaves`.
    rounds: Vec<Round>,
    leaves: usize,
    entries: usize,
    winner: Entry,
}

/// Eight entries; missing ones are [`Entry::NONE`].
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Round([Entry; ROUND]);

const ROUND: usize = 8;

impl Round {
    const EMPTY: Self = Self([Entry::NONE; ROUND]);

    #[inline]
    fn winner(&self) -> Entry {
        // In pairs, so that the comparisons do not depend on each other.
        let [a, b, c, d, e, f, g, h] = self.0;
        let greater = |x: Entry, y: Entry| if x > y { x } else { y };
        greater(greater(greater(a, b), greater(c, d)), greater(greater(e, f), greater(g, h)))
    }
}

/// Index of a queue's entry. The queue stores it next to the other fields that a packet changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place(u32);

impl Place {
    pub(crate) const NONE: Self = Self(u32::MAX);
}

pub(crate) trait Queues {
    /// Current length of a queue in bytes.
    fn bytes(&self, queue: usize) -> u64;
    /// Index of the queue's entry; [`Place::NONE`] initially.
    fn place(&mut self, queue: usize) -> &mut Place;
}

/// Bytes in the upper bits, the complement of the queue's number in the lower bits: among equally long
/// queues, the lowest number is the greatest entry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Entry(u64);

const NUMBER_BITS: u32 = 24;
const NUMBER_MASK: u64 = (1 << NUMBER_BITS) - 1;

impl Entry {
    /// Less than the entry of any queue that holds packets.
    const NONE: Self = Self(0);

    #[inline]
    fn new(queue: usize, bytes: u64) -> Self {
        debug_assert!(bytes >> (u64::BITS - NUMBER_BITS) == 0, "a queue of more than a terabyte");
        Self(bytes << NUMBER_BITS | (!(queue as u64) & NUMBER_MASK))
    }
    #[inline]
    fn queue(self) -> usize {
        (!self.0 & NUMBER_MASK) as usize
    }
}

impl Longest {
    /// Creates a tree without entries for up to `queues` queues. Panics if there are more than 2^24.
    pub(crate) fn new(queues: usize) -> Self {
        assert!(queues <= 1 << NUMBER_BITS, "too many queues");
        let mut leaves = 0;
        while (leaves * (ROUND - 1) + 1) * ROUND < queues {
            leaves = leaves * ROUND + 1;
        }
        let mut rounds = Vec::with_capacity(leaves + queues.div_ceil(ROUND).max(1));
        rounds.push(Round::EMPTY);
        Self { rounds, leaves: 0, entries: 0, winner: Entry::NONE }
    }

    /// Position of an entry: its first round, and its slot there.
    #[inline]
    fn leaf(&self, place: usize) -> (usize, usize) {
        (self.leaves + place / ROUND, place % ROUND)
    }

    /// Records that a queue has grown to `bytes`.
    #[inline]
    pub(crate) fn grown(&mut self, queue: usize, bytes: u64, place: &mut Place) {
        let entry = Entry::new(queue, bytes);
        if *place == Place::NONE {
            *place = self.add();
        }
        let (mut round, mut at) = self.leaf(place.0 as usize);
        loop {
            let here = &mut self.rounds[round].0[at];
            if *here >= entry {
                return;
            }
            *here = entry;
            if round == 0 {
                self.winner = self.winner.max(entry);
                return;
            }
            (round, at) = ((round - 1) / ROUND, (round - 1) % ROUND);
        }
    }

    fn add(&mut self) -> Place {
        let place = self.entries;
        if self.leaf(place).0 == self.rounds.len() {
            // The tree is full: `leaves` inner rounds have 7 * `leaves` + 1 first rounds below them.
            if place == (self.leaves * (ROUND - 1) + 1) * ROUND {
                self.deepen();
            }
            self.rounds.push(Round::EMPTY);
        }
        self.entries += 1;
        Place(place as u32)
    }

    /// Returns the longest non-empty queue, the first among equals.
    #[inline]
    pub(crate) fn find(&mut self, queues: &mut impl Queues) -> Option<usize> {
        loop {
            let bound = self.winner;
            if bound == Entry::NONE {
                return None;
            }
            let queue = bound.queue();
            match queues.bytes(queue) {
                0 => self.remove(queue, queues),
                now => {
                    let entry = Entry::new(queue, now);
                    if entry == bound {
                        return Some(queue);
                    }
                    self.put(queues.place(queue).0 as usize, entry);
                }
            }
        }
    }

    /// Removes a queue's entry, and moves the last entry into its slot.
    fn remove(&mut self, queue: usize, queues: &mut impl Queues) {
        let place = core::mem::replace(queues.place(queue), Place::NONE);
        self.entries -= 1;
        let (round, at) = self.leaf(self.entries);
        let last = self.rounds[round].0[at];
        self.put(self.entries, Entry::NONE);
        if (place.0 as usize) < self.entries {
            *queues.place(last.queue()) = place;
            self.put(place.0 as usize, last);
        }
    }

    /// Replaces an entry and replays its rounds.
    #[inline]
    fn put(&mut self, place: usize, entry: Entry) {
        let (mut round, mut at) = self.leaf(place);
        let mut winner = entry;
        loop {
            let here = &mut self.rounds[round];
            here.0[at] = winner;
            winner = here.winner();
            if round == 0 {
                self.winner = winner;
                return;
            }
            (round, at) = ((round - 1) / ROUND, (round - 1) % ROUND);
        }
    }

    /// Adds a level to the tree.
    #[cold]
    fn deepen(&mut self) {
        let (old, new) = (self.leaves, self.leaves * ROUND + 1);
        let first = self.rounds.len() - old;
        self.rounds.resize(new + first, Round::EMPTY);
        self.rounds.copy_within(old..old + first, new);
        self.rounds[..new].fill(Round::EMPTY);
        self.leaves = new;
        for round in (1..self.rounds.len()).rev() {
            self.rounds[(round - 1) / ROUND].0[(round - 1) % ROUND] = self.rounds[round].winner();
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use proptest::prelude::*;

    use super::*;

    struct Plain {
        bytes: Vec<u64>,
        places: Vec<Place>,
    }

    impl Queues for Plain {
        fn bytes(&self, queue: usize) -> u64 {
            self.bytes[queue]
        }
        fn place(&mut self, queue: usize) -> &mut Place {
            &mut self.places[queue]
        }
    }

    proptest! {
        /// Same choice as a linear scan, however rarely the longest queue is requested.
        #[test]
        fn matches_a_linear_scan(
            queues in 1usize..90,
            ops in prop::collection::vec((0u8..8, 0usize..90, 1u64..4), 0..400),
        ) {
            let mut all = Plain { bytes: vec![0; queues], places: vec![Place::NONE; queues] };
            let mut longest = Longest::new(queues);
            let capacity = longest.rounds.capacity();
            for (op, queue, n) in ops {
                let queue = queue % queues;
                let Plain { bytes, places } = &mut all;
                match op {
                    // Few sizes, so that queues are often equally long.
                    0..3 => {
                        bytes[queue] += n;
                        longest.grown(queue, bytes[queue], &mut places[queue]);
                    }
                    3..5 => bytes[queue] = bytes[queue].saturating_sub(n),
                    5 => bytes[queue] = 0,
                    _ => {
                        let most = bytes.iter().copied().max().filter(|&most| most > 0);
                        let first = most.and_then(|most| bytes.iter().position(|&b| b == most));
                        prop_assert_eq!(longest.find(&mut all), first);
                    }
                }
                let (Longest { rounds, entries, .. }, Plain { bytes, places }) = (&longest, &all);
                let entry = |place: usize| {
                    let (round, at) = longest.leaf(place);
                    rounds[round].0[at]
                };
                for (queue, place) in places.iter().enumerate().filter(|(_, at)| **at != Place::NONE) {
                    prop_assert_eq!(entry(place.0 as usize).queue(), queue);
                    prop_assert!(entry(place.0 as usize) >= Entry::new(queue, bytes[queue]));
                }
                prop_assert_eq!(places.iter().filter(|&&at| at != Place::NONE).count(), *entries);
                let room = (rounds.len() - longest.leaves) * ROUND;
                prop_assert!((*entries..room).all(|place| entry(place) == Entry::NONE));
                let meets = |n: usize| rounds[(n - 1) / ROUND].0[(n - 1) % ROUND];
                prop_assert!((1..rounds.len()).all(|n| meets(n) == rounds[n].winner()));
                prop_assert_eq!(longest.winner, rounds[0].winner());
                prop_assert_eq!(capacity, rounds.capacity(), "allocated when it was built");
            }
        }
    }

    #[test]
    fn the_largest_sizes_and_numbers() {
        let last = (1 << NUMBER_BITS) - 1;
        let (short, long) = (Entry::new(0, 1), Entry::new(last, (1 << 40) - 1));
        assert!(long > short && Entry::new(0, 7) > Entry::new(last, 7));
        assert_eq!((short.queue(), long.queue()), (0, last));
    }
}
