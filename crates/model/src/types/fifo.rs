//! A first-in-first-out queue of small values, for the per-packet path.

use alloc::vec::Vec;

/// A ring buffer of plain values, with a power-of-two size.
///
/// Unlike `VecDeque`, it finds a slot without a comparison, and `pop` returns a copy. Its functions are short
/// enough to be inlined everywhere.
#[derive(Clone, Debug)]
pub struct Fifo<T> {
    slots: Vec<T>,
    /// Values taken out and put in so far; the lower bits are positions in the ring.
    taken: usize,
    put: usize,
}

impl<T> Default for Fifo<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), taken: 0, put: 0 }
    }
}

impl<T: Copy> Fifo<T> {
    /// Slots of a ring after its first push.
    const LEAST: usize = 4;

    /// Number of values.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.put.wrapping_sub(self.taken)
    }

    /// Returns true if the queue is empty.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.put == self.taken
    }

    /// Slot of the `n`th value since the start.
    #[inline(always)]
    fn place(&self, n: usize) -> usize {
        n & self.slots.len().wrapping_sub(1)
    }

    /// Appends a value.
    #[inline(always)]
    pub fn push(&mut self, value: T) {
        if self.len() == self.slots.len() {
            self.widen(value);
        }
        let at = self.place(self.put);
        self.slots[at] = value;
        self.put = self.put.wrapping_add(1);
    }

    /// Prepends a value.
    #[inline]
    pub fn push_first(&mut self, value: T) {
        if self.len() == self.slots.len() {
            self.widen(value);
        }
        self.taken = self.taken.wrapping_sub(1);
        let at = self.place(self.taken);
        self.slots[at] = value;
    }

    /// Doubles the ring, and moves the first value to slot 0. Unused slots hold `filler`.
    #[cold]
    #[inline(never)]
    fn widen(&mut self, filler: T) {
        let (len, first) = (self.slots.len(), self.place(self.taken));
        self.slots.rotate_left(first);
        self.slots.resize((2 * len).max(Self::LEAST), filler);
        (self.taken, self.put) = (0, len);
    }

    /// Removes and returns the first value.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<T> {
        let value = self.first()?;
        self.taken = self.taken.wrapping_add(1);
        Some(value)
    }

    /// Removes the first value, if any.
    #[inline(always)]
    pub fn drop_first(&mut self) {
        self.taken = self.taken.wrapping_add(usize::from(!self.is_empty()));
    }

    /// The first value.
    #[inline(always)]
    pub fn first(&self) -> Option<T> {
        if self.is_empty() { None } else { Some(self.slots[self.place(self.taken)]) }
    }

    /// The last value.
    #[inline(always)]
    pub fn last(&self) -> Option<T> {
        if self.is_empty() { None } else { Some(self.slots[self.place(self.put.wrapping_sub(1))]) }
    }

    /// The last value, mutable.
    #[inline(always)]
    pub fn last_mut(&mut self) -> Option<&mut T> {
        if self.is_empty() {
            return None;
        }
        let at = self.place(self.put.wrapping_sub(1));
        Some(&mut self.slots[at])
    }

    /// The value at index `n`.
    #[inline(always)]
    pub fn nth(&self, n: usize) -> Option<T> {
        if n < self.len() { Some(self.slots[self.place(self.taken.wrapping_add(n))]) } else { None }
    }

    /// The value at index `n`, mutable.
    pub fn nth_mut(&mut self, n: usize) -> Option<&mut T> {
        if n >= self.len() {
            return None;
        }
        let at = self.place(self.taken.wrapping_add(n));
        Some(&mut self.slots[at])
    }

    /// Inserts a value at index `n`, and shifts the values behind it.
    pub fn insert(&mut self, n: usize, value: T) {
        let mut free = self.len();
        self.push(value);
        while free > n {
            let (to, from) = (self.taken.wrapping_add(free), self.taken.wrapping_add(free - 1));
            let (to, from) = (self.place(to), self.place(from));
            self.slots.swap(to, from);
            free -= 1;
        }
    }

    /// Index of the first value for which `is_before` is false. The queue must be partitioned by `is_before`,
    /// as for `slice::partition_point`.
    pub fn partition_point(&self, is_before: impl Fn(T) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.nth(middle).is_some_and(&is_before) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Iterates over all values, first to last.
    pub fn iter(&self) -> impl Iterator<Item = T> {
        (0..self.len()).filter_map(|n| self.nth(n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::VecDeque;
    use proptest::prelude::*;

    proptest! {
        /// Behaves like `VecDeque`.
        #[test]
        fn behaves_like_a_deque(ops in prop::collection::vec(0_u32..100, 0..300)) {
            let (mut fifo, mut deque) = (Fifo::default(), VecDeque::new());
            for op in ops {
                match op {
                    0..30 => prop_assert_eq!(fifo.pop(), deque.pop_front()),
                    30..35 => {
                        fifo.drop_first();
                        deque.pop_front();
                    }
                    40..50 => {
                        fifo.push_first(op);
                        deque.push_front(op);
                    }
                    50..53 if !deque.is_empty() => {
                        let n = op as usize % (deque.len() + 1);
                        fifo.insert(n, op);
                        deque.insert(n, op);
                    }
                    35..40 => {
                        fifo.last_mut().into_iter().for_each(|last| *last += 1);
                        deque.back_mut().into_iter().for_each(|last| *last += 1);
                    }
                    53..56 => {
                        fifo.nth_mut(op as usize % 4).into_iter().for_each(|value| *value += 1);
                        deque.get_mut(op as usize % 4).into_iter().for_each(|value| *value += 1);
                    }
                    _ => {
                        fifo.push(op);
                        deque.push_back(op);
                    }
                }
                prop_assert_eq!((fifo.len(), fifo.is_empty()), (deque.len(), deque.is_empty()));
                prop_assert_eq!((fifo.first(), fifo.last()), (deque.front().copied(), deque.back().copied()));
                prop_assert_eq!(fifo.nth(op as usize / 8), deque.get(op as usize / 8).copied());
                prop_assert!(fifo.iter().eq(deque.iter().copied()));
            }
        }

        /// `partition_point` agrees with `VecDeque`.
        #[test]
        fn partitions_like_a_deque(mut values in prop::collection::vec(0_u32..50, 0..40), skip in 0_usize..5, bound in 0_u32..60) {
            values.sort_unstable();
            let (mut fifo, mut deque) = (Fifo::default(), VecDeque::from(values.clone()));
            values.into_iter().for_each(|value| fifo.push(value));
            (0..skip).for_each(|_| _ = (fifo.pop(), deque.pop_front()));
            prop_assert_eq!(fifo.partition_point(|v| v < bound), deque.partition_point(|&v| v < bound));
        }
    }
}
