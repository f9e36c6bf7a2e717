//! Which of many queues is longest, without looking at all of them.
//!
//! A heap over bounds: each queue's entry says how long it is at most. A queue that grows past its entry raises it; one
//! that shrinks leaves it alone, so that taking packets costs nothing here. Only when the longest is asked for are the
//! entries at the top lowered to what is true, until the top one is.

/// Entries for queues that hold something, and perhaps for some that did.
#[derive(Clone, Debug)]
pub(crate) struct Longest {
    /// A heap of [`ARITY`] branches, greatest entry first.
    heap: Vec<Entry>,
    /// By queue: where its entry is, or [`ABSENT`].
    place: Vec<u32>,
}

/// Few levels, and the entries compared on one of them lie together.
const ARITY: usize = 4;
const ABSENT: u32 = u32::MAX;

/// Bytes in the upper bits, the complement of the queue's number in the lower ones: of equally long queues the one with
/// the lowest number is the greatest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Entry(u64);

const NUMBER_BITS: u32 = 24;
const NUMBER_MASK: u64 = (1 << NUMBER_BITS) - 1;

impl Entry {
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
        Self { heap: Vec::with_capacity(queues), place: vec![ABSENT; queues] }
    }

    /// A queue has grown to so many bytes.
    #[inline]
    pub(crate) fn grown(&mut self, queue: usize, bytes: u64) {
        let entry = Entry::new(queue, bytes);
        let mut at = self.place[queue] as usize;
        if at == ABSENT as usize {
            at = self.heap.len();
            self.heap.push(entry);
        } else if self.heap[at] >= entry {
            return;
        }
        self.rise(at, entry);
    }

    /// The longest queue that holds anything, and of equally long ones the first; `bytes` tells how long one is now.
    #[inline]
    pub(crate) fn find(&mut self, bytes: impl Fn(usize) -> u64) -> Option<usize> {
        loop {
            let bound = *self.heap.first()?;
            let queue = bound.queue();
            let entry = match bytes(queue) {
                0 => {
                    self.place[queue] = ABSENT;
                    let last = self.heap.pop()?;
                    if self.heap.is_empty() {
                        return None;
                    }
                    last
                }
                now => Entry::new(queue, now),
            };
            if entry == bound {
                return Some(queue);
            }
            self.sink(entry);
        }
    }

    #[inline]
    fn put(&mut self, at: usize, entry: Entry) {
        self.heap[at] = entry;
        self.place[entry.queue()] = at as u32;
    }

    /// Puts an entry at `at` or above it, where it belongs.
    #[inline]
    fn rise(&mut self, mut at: usize, entry: Entry) {
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if self.heap[parent] > entry {
                break;
            }
            self.put(at, self.heap[parent]);
            at = parent;
        }
        self.put(at, entry);
    }

    /// Puts an entry at the top or below it, where it belongs.
    #[inline]
    fn sink(&mut self, entry: Entry) {
        let mut at = 0;
        loop {
            let first = at * ARITY + 1;
            let children = self.heap.get(first..self.heap.len().min(first + ARITY)).unwrap_or_default();
            let Some((n, &child)) = children.iter().enumerate().max_by_key(|(_, child)| **child) else {
                break;
            };
            if child < entry {
                break;
            }
            self.put(at, child);
            at = first + n;
        }
        self.put(at, entry);
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
                for (at, entry) in longest.heap.iter().enumerate() {
                    prop_assert_eq!(longest.place[entry.queue()] as usize, at);
                    prop_assert!(at == 0 || longest.heap[(at - 1) / ARITY] > *entry);
                }
                prop_assert_eq!(longest.place.iter().filter(|&&p| p != ABSENT).count(), longest.heap.len());
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
