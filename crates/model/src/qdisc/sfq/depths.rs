//! Finds the longest slot and an empty slot.
//!
//! Keeps a list of slots for each queue length. A slot moves by one list at a time, so no operation searches.
//! The slot added last is first in its list.

use alloc::vec;
use alloc::vec::Vec;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Link {
    before: u32,
    after: u32,
    depth: u32,
}

#[derive(Debug)]
pub(super) struct Depths {
    links: Vec<Link>,
    first: Vec<u32>,
    deepest: u32,
}

impl Depths {
    /// Creates `slots` empty slots with a maximum length of `depth`.
    pub(super) fn new(slots: u32, depth: u32) -> Self {
        let link = Link { before: NONE, after: NONE, depth: 0 };
        let (links, first) = (vec![link; slots as usize], vec![NONE; depth as usize + 1]);
        let mut depths = Self { links, first, deepest: 0 };
        (0..slots).for_each(|slot| depths.link(slot, 0));
        depths
    }

    fn link(&mut self, slot: u32, depth: u32) {
        let after = core::mem::replace(&mut self.first[depth as usize], slot);
        self.links[slot as usize] = Link { before: NONE, after, depth };
        if after != NONE {
            self.links[after as usize].before = slot;
        }
    }

    fn unlink(&mut self, slot: u32) -> u32 {
        let Link { before, after, depth } = self.links[slot as usize];
        match before {
            NONE => self.first[depth as usize] = after,
            before => self.links[before as usize].after = after,
        }
        if after != NONE {
            self.links[after as usize].before = before;
        }
        depth
    }

    #[inline]
    pub(super) fn deeper(&mut self, slot: u32) {
        let depth = self.unlink(slot) + 1;
        self.link(slot, depth);
        self.deepest = self.deepest.max(depth);
    }

    #[inline]
    pub(super) fn shallower(&mut self, slot: u32) {
        let depth = self.unlink(slot);
        // The slot itself is now one below.
        if depth == self.deepest && self.first[depth as usize] == NONE {
            self.deepest -= 1;
        }
        self.link(slot, depth - 1);
    }

    /// The slot that ran empty last, if any.
    #[inline]
    pub(super) fn free(&self) -> Option<u32> {
        Some(self.first[0]).filter(|&slot| slot != NONE)
    }

    /// The longest slot; among equals, the one that reached that length last.
    #[inline]
    pub(super) fn deepest(&self) -> Option<u32> {
        (self.deepest > 0).then(|| self.first[self.deepest as usize])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Longest and free slot match a linear scan.
        #[test]
        fn matches_a_linear_scan(ops in prop::collection::vec((any::<bool>(), 0u32..6), 0..200)) {
            let (mut depths, mut model) = (Depths::new(6, 5), vec![(0u32, 0usize); 6]);
            for slot in 0..6 {
                model[slot as usize].1 = slot as usize;
            }
            for (n, (more, slot)) in ops.into_iter().enumerate() {
                let (depth, moved) = &mut model[slot as usize];
                if more && *depth < 5 {
                    depths.deeper(slot);
                    *depth += 1;
                } else if !more && *depth > 0 {
                    depths.shallower(slot);
                    *depth -= 1;
                } else {
                    continue;
                }
                *moved = n + 6;
                let most = model.iter().map(|m| m.0).max();
                let last = |depth| (0..6u32).filter(|&s| Some(model[s as usize].0) == depth)
                    .max_by_key(|&s| model[s as usize].1);
                prop_assert_eq!(depths.free(), last(Some(0)));
                prop_assert_eq!(depths.deepest(), last(most.filter(|&d| d > 0)));
            }
        }
    }
}
