//! Ordered set of keys: the least keys in a sorted list, the others in a heap.
//!
//! Timers armed by an event are usually due before most others. In a list sorted with the least key last,
//! such a key passes one or two others, and the least key is removed without touching the rest. The list is
//! short: keys that do not fit go to the heap, and return when the list is empty.

use super::far::Far;

/// Capacity of the list.
const NEAR: usize = 32;
/// Number of keys that stay in a full list, and that move from the heap to an empty list.
const HALF: usize = NEAR / 2;

#[derive(Debug)]
pub(super) struct Keys {
    /// Sorted list, greatest key first.
    near: [u64; NEAR],
    len: usize,
    /// Greater than all keys of the list, and at most the least key of the heap.
    bound: u64,
    far: Far,
}

impl Default for Keys {
    fn default() -> Self {
        Self { near: [0; NEAR], len: 0, bound: u64::MAX, far: Far::default() }
    }
}

impl Keys {
    /// Returns the least key.
    #[inline(always)]
    pub(super) fn first(&mut self) -> Option<u64> {
        if self.len == 0 {
            self.refill();
        }
        self.near.get(self.len.wrapping_sub(1)).copied()
    }

    /// Removes the least key, which [`Keys::first`] has just returned.
    #[inline(always)]
    pub(super) fn drop_first(&mut self) {
        debug_assert!(self.len > 0, "a key that was given");
        self.len -= 1;
    }

    /// Adds a key, which must be less than `u64::MAX`.
    #[inline(always)]
    pub(super) fn add(&mut self, key: u64) {
        if self.len == NEAR {
            self.spill();
        }
        if key >= self.bound {
            return self.far.add(key);
        }
        // From the end, moves each lesser key up by one place.
        let Some(places) = self.near.get_mut(..=self.len) else { return };
        let mut places = places.iter_mut().rev();
        let Some(mut free) = places.next() else { return };
        self.len += 1;
        for place in places {
            if *place >= key {
                break;
            }
            *free = *place;
            free = place;
        }
        *free = key;
    }

    /// Refills the empty list from the heap.
    #[cold]
    #[inline(never)]
    fn refill(&mut self) {
        self.len = self.far.len().min(HALF);
        for place in self.near[..self.len].iter_mut().rev() {
            *place = self.far.pop();
        }
        self.bound = self.far.first();
    }

    /// Moves keys from the full list to the heap.
    #[cold]
    #[inline(never)]
    fn spill(&mut self) {
        self.near[..HALF].iter().for_each(|&key| self.far.add(key));
        self.bound = self.near[HALF - 1];
        self.near.copy_within(HALF.., 0);
        self.len = HALF;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Behaves like a single sorted list, with more keys than the list holds.
        #[test]
        fn keys_equal_a_sorted_list(ops in prop::collection::vec((any::<bool>(), 0_u64..1_000), 0..600), soon in 1_u64..1_000) {
            let (mut keys, mut all) = (Keys::default(), Vec::new());
            let mut now = 0;
            for (adds, ahead) in ops {
                if adds || ahead < 400 {
                    let key = now + ahead % soon;
                    keys.add(key);
                    all.push(key);
                } else {
                    all.sort_unstable_by(|a, b| b.cmp(a));
                    prop_assert_eq!(keys.first(), all.last().copied());
                    if let Some(key) = all.pop() {
                        keys.drop_first();
                        now = key;
                    }
                }
            }
        }
    }
}
