//! The earliest of many deadlines.
//!
//! Stores a lower bound of each part's deadline. Moving a deadline later costs nothing until its bound is the
//! earliest, so the cost per event does not grow with the number of parts.

use alloc::collections::BinaryHeap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::types::Instant;

/// Deadlines of parts numbered from 0.
#[derive(Debug)]
pub struct Deadlines {
    heap: BinaryHeap<Reverse<(Instant, u32)>>,
    /// Time of the valid heap entry of each part, or [`Instant::NEVER`]. Other entries of the part are stale.
    bounds: Vec<Instant>,
}

impl Deadlines {
    /// Creates the structure without deadlines.
    pub fn new(parts: usize) -> Self {
        Self { heap: BinaryHeap::with_capacity(parts), bounds: vec![Instant::NEVER; parts] }
    }

    /// Sets a part's deadline to `at`. Required if the deadline is new or earlier, harmless if it is later.
    #[inline]
    pub fn note(&mut self, part: usize, at: Instant) {
        if at < self.bounds[part] {
            self.bounds[part] = at;
            self.heap.push(Reverse((at, part as u32)));
        }
    }

    /// Returns the earliest deadline and its part; among equal deadlines, the part with the lowest number.
    /// `deadline` returns a part's current deadline.
    #[inline]
    pub fn first(&mut self, deadline: impl Fn(usize) -> Option<Instant>) -> Option<(Instant, usize)> {
        loop {
            let &Reverse((bound, number)) = self.heap.peek()?;
            let part = number as usize;
            let counts = self.bounds[part] == bound;
            let at = if counts { deadline(part) } else { None };
            if at == Some(bound) {
                return Some((bound, part));
            }
            self.heap.pop();
            if counts {
                self.bounds[part] = Instant::NEVER;
                at.into_iter().for_each(|at| self.note(part, at));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// `first` agrees with a scan of all parts, even if called rarely.
        #[test]
        fn agrees_with_a_scan(ops in prop::collection::vec((0usize..6, 0u64..30, any::<bool>()), 0..300)) {
            let (mut deadlines, mut all) = (Deadlines::new(6), [None; 6]);
            for (part, at, ask) in ops {
                // One operation in three cancels the deadline, the others set it or move it in either
                // direction.
                all[part] = (at % 3 != 0).then_some(Instant::from_nanos(at));
                all[part].into_iter().for_each(|at| deadlines.note(part, at));
                if ask {
                    let first = (0..6).filter_map(|p| Some((all[p]?, p))).min();
                    prop_assert_eq!(deadlines.first(|p| all[p]), first);
                }
            }
        }
    }
}
