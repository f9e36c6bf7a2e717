//! Deadlines of many parts; only the earliest matters.
//!
//! For each part a lower bound of its deadline is kept. A deadline that moves later costs nothing until it is
//! the earliest, so the cost of an event does not grow with the number of parts.

use alloc::collections::BinaryHeap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::types::Instant;

/// The deadlines of parts that are numbered from 0.
#[derive(Debug)]
pub struct Deadlines {
    heap: BinaryHeap<Reverse<(Instant, u32)>>,
    /// By part: the time of the entry that counts, or [`Instant::NEVER`]. Others of the part are left over.
    bounds: Vec<Instant>,
}

impl Deadlines {
    /// No deadlines yet.
    pub fn new(parts: usize) -> Self {
        Self { heap: BinaryHeap::with_capacity(parts), bounds: vec![Instant::NEVER; parts] }
    }

    /// Sets a part's deadline to `at`. Needed when the deadline is new or earlier. Harmless otherwise.
    #[inline]
    pub fn note(&mut self, part: usize, at: Instant) {
        if at < self.bounds[part] {
            self.bounds[part] = at;
            self.heap.push(Reverse((at, part as u32)));
        }
    }

    /// The earliest deadline and its part. Of several parts with the same deadline, the one with the lowest
    /// number. `deadline` returns the current deadline of a part.
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
        /// The same answer as by a look at every part, however rarely it is asked for.
        #[test]
        fn as_by_a_scan(ops in prop::collection::vec((0usize..6, 0u64..30, any::<bool>()), 0..300)) {
            let (mut deadlines, mut all) = (Deadlines::new(6), [None; 6]);
            for (part, at, ask) in ops {
                // One in three is called off, the others are set or moved, either way.
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
