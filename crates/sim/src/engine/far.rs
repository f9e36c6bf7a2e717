//! A heap of keys.

/// Few levels, and the keys compared on one of them lie together.
const ARITY: usize = 4;
/// Greater than any key.
const NONE: u64 = u64::MAX;

/// Keys that are due later.
#[derive(Debug)]
pub(super) struct Far {
    /// A heap of [`ARITY`] branches, least key first, and after it [`ARITY`] of [`NONE`] at least: branches
    /// are always read in fours.
    heap: Vec<u64>,
    len: usize,
}

impl Default for Far {
    /// No keys.
    fn default() -> Self {
        Self { heap: vec![NONE; ARITY], len: 0 }
    }
}

impl Far {
    /// Number of keys.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The least key; the greatest number if there is none.
    pub(super) fn first(&self) -> u64 {
        self.heap[0]
    }

    /// Takes the least key; there must be one.
    pub(super) fn pop(&mut self) -> u64 {
        let first = self.heap[0];
        self.len -= 1;
        let last = core::mem::replace(&mut self.heap[self.len], NONE);
        if self.len > 0 {
            self.sink(last);
        }
        first
    }

    /// Puts a key at the end or above it, where it belongs.
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

    /// Puts a key at the top, whose own is gone, or below it, where it belongs.
    fn sink(&mut self, key: u64) {
        let mut at = 0;
        while at * ARITY + 1 < self.len
            && let Some(&[a, b, c, d]) = self.heap[at * ARITY + 1..].first_chunk()
        {
            // Choices of values, not jumps: which branch it is could hardly be foreseen.
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
