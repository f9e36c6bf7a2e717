//! The earliest of many instants, one per radio. Few of them change at a time.

use crate::types::Instant;
use alloc::vec;
use alloc::vec::Vec;

/// Tournament tree: the leaves are the radios' instants, each inner node is the earlier of its two children.
/// [`Instant::NEVER`] means no instant.
#[derive(Debug)]
pub(super) struct Earliest {
    /// Root at 1, children of `n` at `2n` and `2n + 1`; the last `leaves` nodes are the radios in order.
    nodes: Vec<Instant>,
    leaves: usize,
}

impl Earliest {
    pub(super) fn new(radios: usize) -> Self {
        let leaves = radios.next_power_of_two();
        Self { nodes: vec![Instant::NEVER; 2 * leaves], leaves }
    }

    /// Sets a radio's instant. Updates only the ancestors whose minimum changes.
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

    #[inline]
    pub(super) fn first(&self) -> Instant {
        self.nodes[1]
    }

    /// Returns the first radio at or after `from` whose instant is not after `until`, in logarithmic time.
    pub(super) fn next_due(&self, from: usize, until: Instant) -> Option<usize> {
        if from >= self.leaves {
            return None;
        }
        // Climb while this subtree has no due instant, moving right, then descend to the first one in the
        // subtree.
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
        /// Agrees with a scan of all radios.
        #[test]
        fn agrees_with_a_scan(radios in 1_usize..40, ops in prop::collection::vec((0_usize..40, 0_u64..12), 0..100)) {
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
