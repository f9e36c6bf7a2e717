//! Heap of keys.

/// A wide heap has few levels, and the keys compared at one level are adjacent.
const ARITY: usize = 4;
/// Greater than any key.
const NONE: u64 = u64::MAX;

/// Keys of later timers.
#[derive(Debug)]
pub(super) struct Far {
    /// Heap with [`ARITY`] branches, least key first, followed by at least [`ARITY`] times [`NONE`], because
    /// all branches of a node are always read.
    heap: Vec<u64>,
    len: usize,
}

impl Default for Far {
    fn default() -> Self {
        Self { heap: vec![NONE; ARITY], len: 0 }
    }
}

impl Far {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns the least key, or [`NONE`] if the heap is empty.
    pub(super) fn first(&self) -> u64 {
        self.heap[0]
    }

    /// Removes and returns the least key. The heap must not be empty.
    pub(super) fn pop(&mut self) -> u64 {
        let first = self.heap[0];
        self.len -= 1;
        let last = core::mem::replace(&mut self.heap[self.len], NONE);
        if self.len > 0 {
            self.sink(last);
        }
        first
    }

    /// Adds a key and restores the heap order upwards.
    #[inline(never)]
    pub(super) fn add(&mut self, key: u64) {
        let mut at = self.len;
        self.len += 1;
        if self.heap.len() < self.len + ARITY {
            self.heap.push(NONE);
        }
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if self.heap[parent] <= key {
                break;
            }
            self.heap[at] = self.heap[parent];
            at = parent;
        }
        self.heap[at] = key;
    }

    /// Replaces the key at the top and restores the heap order downwards.
    fn sink(&mut self, key: u64) {
        let mut at = 0;
        while at * ARITY + 1 < self.len
            && let Some(&[a, b, c, d]) = self.heap[at * ARITY + 1..].first_chunk()
        {
            // Selections instead of branches, because the branch predictor could not predict them.
            let (left, n) = if b < a { (b, 2) } else { (a, 1) };
            let (right, m) = if d < c { (d, 4) } else { (c, 3) };
            let (child, n) = if right < left { (right, m) } else { (left, n) };
            if key <= child {
                break;
            }
            self.heap[at] = child;
            at = at * ARITY + n;
        }
        self.heap[at] = key;
    }
}
