//! The earliest of many instants, one for each radio; few of them change at a time.

use crate::types::Instant;
use alloc::vec;
use alloc::vec::Vec;

/// A tournament: below the radios' own instants, above each two the earlier one. [`Instant::NEVER`] is none.
#[derive(Debug)]
pub(super) struct Earliest {
    /// The winner at 1, below each node its two at twice its place; the last `leaves` are the radios', in
    /// order.
    nodes: Vec<Instant>,
    leaves: usize,
}

impl Earliest {
    /// None for any of this many radios.
    pub(super) fn new(radios: usize) -> Self {
        let leaves = radios.next_power_of_two();
        Self { nodes: vec![Instant::NEVER; 2 * leaves], leaves }
    }

    /// That of a radio is another; costs as many steps as there are winners that change by it.
    #[inline]
    pub(super) fn set(&mut self, radio: usize, at: Instant) {
        let (mut node, mut at) = (self.leaves + radio, at);
        while self.nodes[node] != at {
            self.nodes[node] = at;
            if node == 1 {
                return;
            }
            at = at.min(self.nodes[node ^ 1]);
            node /= 2;
        }
    }

    /// The earliest of all.
    #[inline]
    pub(super) fn first(&self) -> Instant {
        self.nodes[1]
    }

    /// The first radio from `from` on whose instant is not after `until`: by few steps, whoever is between.
    pub(super) fn next_due(&self, from: usize, until: Instant) -> Option<usize> {
        if from >= self.leaves {
            return None;
        }
        // Up while this subtree has none and to the right, then down to the first in it.
        let mut node = self.leaves + from;
        while self.nodes[node] > until {
            while node % 2 == 1 {
                node /= 2;
                if node <= 1 {
                    return None;
                }
            }
            node += 1;
        }
        while node < self.leaves {
            node *= 2;
            node += usize::from(self.nodes[node] > until);
        }
        Some(node - self.leaves)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The same as by a look at each.
        #[test]
        fn as_by_a_scan(radios in 1_usize..40, ops in prop::collection::vec((0_usize..40, 0_u64..12), 0..100)) {
            let (mut earliest, mut all) = (Earliest::new(radios), vec![Instant::NEVER; radios]);
            for (radio, at) in ops {
                let (radio, at) = (radio % radios, if at > 9 { Instant::NEVER } else { Instant::from_nanos(at) });
                earliest.set(radio, at);
                all[radio] = at;
                prop_assert_eq!(Some(earliest.first()), all.iter().copied().min());
                let until = Instant::from_nanos(5);
                let scanned: Vec<_> = (0..radios).filter(|&n| all[n] <= until).collect();
                let mut found = Vec::new();
                let mut from = 0;
                while let Some(radio) = earliest.next_due(from, until) {
                    found.push(radio);
                    from = radio + 1;
                }
                prop_assert_eq!(found, scanned);
            }
        }
    }
}
