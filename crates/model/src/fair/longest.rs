//! Which of many queues is longest, without looking at all of them.
//!
//! A tournament of bounds: each queue's entry says how long it is at most, and the greater of two entries goes on to the
//! next round. A queue that grows past its entry raises it; one that shrinks leaves it alone, so that taking packets
//! costs nothing here. Only when the longest is asked for are the entries that win lowered to what is true, until one is.
//! A round is a choice between two values, which costs less than the jumps of a heap.

/// Entries for queues that hold something, and perhaps for some that did.
#[derive(Clone, Debug)]
pub(crate) struct Longest {
    /// The winner of all at 1, of those at 2n and 2n + 1 at n; entries begin at `width`. At 0 nothing.
    tree: Vec<Entry>,
    /// Places for entries, a power of two; those from `entries` on are [`Entry::NONE`].
    width: usize,
    entries: usize,
    /// By queue: which entry is its, or [`ABSENT`].
    place: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;

/// Bytes in the upper bits, the complement of the queue's number in the lower ones: of equally long queues the one with
/// the lowest number is the greatest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Entry(u64);

const NUMBER_BITS: u32 = 24;
const NUMBER_MASK: u64 = (1 << NUMBER_BITS) - 1;

impl Entry {
    /// Less than that of any queue that holds something.
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
    /// No entries yet for so many queues. Panics if they are more than 2^24.
    pub(crate) fn new(queues: usize) -> Self {
        assert!(queues <= 1 << NUMBER_BITS, "too many queues");
        let tree = vec![Entry::NONE; 2 * queues.next_power_of_two()];
        Self { tree, width: 1, entries: 0, place: vec![ABSENT; queues] }
    }

    /// A queue has grown to so many bytes.
    #[inline]
    pub(crate) fn grown(&mut self, queue: usize, bytes: u64) {
        let entry = Entry::new(queue, bytes);
        if self.place[queue] == ABSENT {
            if self.entries == self.width {
                self.widen();
            }
            self.place[queue] = self.entries as u32;
            self.entries += 1;
        }
        let mut at = self.width + self.place[queue] as usize;
        while at > 0 && self.tree[at] < entry {
            self.tree[at] = entry;
            at /= 2;
        }
    }

    /// The longest queue that holds anything, and of equally long ones the first; `bytes` tells how long one is now.
    #[inline]
    pub(crate) fn find(&mut self, bytes: impl Fn(usize) -> u64) -> Option<usize> {
        loop {
            let bound = self.tree[1];
            if bound == Entry::NONE {
                return None;
            }
            let queue = bound.queue();
            let place = self.place[queue] as usize;
            match bytes(queue) {
                0 => self.remove(queue, place),
                now => {
                    let entry = Entry::new(queue, now);
                    if entry == bound {
                        return Some(queue);
                    }
                    self.put(place, entry);
                }
            }
        }
    }

    /// Takes a queue's entry out; the last one takes its place.
    fn remove(&mut self, queue: usize, place: usize) {
        self.place[queue] = ABSENT;
        self.entries -= 1;
        let last = self.tree[self.width + self.entries];
        self.put(self.entries, Entry::NONE);
        if place < self.entries {
            self.place[last.queue()] = place as u32;
            self.put(place, last);
        }
    }

    /// Changes an entry and plays its rounds again.
    #[inline]
    fn put(&mut self, place: usize, entry: Entry) {
        let (mut at, mut winner) = (self.width + place, entry);
        self.tree[at] = entry;
        while at > 1 {
            winner = winner.max(self.tree[at ^ 1]);
            at /= 2;
            self.tree[at] = winner;
        }
    }

    /// Twice as many places.
    #[cold]
    fn widen(&mut self) {
        let (old, new) = (self.width, 2 * self.width);
        self.tree.copy_within(old..new, new);
        self.tree[new + old..2 * new].fill(Entry::NONE);
        self.width = new;
        for at in (1..new).rev() {
            self.tree[at] = self.tree[2 * at].max(self.tree[2 * at + 1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The same choice as by a look at every queue, however rarely it is asked for.
        #[test]
        fn as_by_a_scan(
            queues in 1usize..40,
            ops in prop::collection::vec((0u8..8, 0usize..40, 1u64..4), 0..400),
        ) {
            let (mut longest, mut bytes) = (Longest::new(queues), vec![0u64; queues]);
            for (op, queue, n) in ops {
                let queue = queue % queues;
                match op {
                    // Few sizes, so that queues are often equally long.
                    0..3 => {
                        bytes[queue] += n;
                        longest.grown(queue, bytes[queue]);
                    }
                    3..5 => bytes[queue] = bytes[queue].saturating_sub(n),
                    5 => bytes[queue] = 0,
                    _ => {
                        let most = bytes.iter().copied().max().filter(|&most| most > 0);
                        let first = most.and_then(|most| bytes.iter().position(|&b| b == most));
                        prop_assert_eq!(longest.find(|i| bytes[i]), first);
                    }
                }
                let Longest { tree, width, entries, place } = &longest;
                for (queue, &at) in place.iter().enumerate().filter(|(_, at)| **at != ABSENT) {
                    prop_assert_eq!(tree[width + at as usize].queue(), queue);
                    prop_assert!(tree[width + at as usize] >= Entry::new(queue, bytes[queue]));
                }
                prop_assert_eq!(place.iter().filter(|&&at| at != ABSENT).count(), *entries);
                prop_assert!(tree[width + entries..2 * width].iter().all(|&e| e == Entry::NONE));
                prop_assert!((1..*width).all(|n| tree[n] == tree[2 * n].max(tree[2 * n + 1])));
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
