//! The three queue lists of a tin. A queue is on at most one of them.
//!
//! Unlike in plain DRR, a queue may leave from the middle of a list: a decaying queue becomes new again when
//! a packet arrives.

use super::QUEUES;
use alloc::boxed::Box;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Chain {
    /// Queues in their first round (sparse flows).
    New,
    /// Queues in later rounds (bulk flows).
    Old,
    /// Empty queues whose AQM state has not decayed yet.
    Decaying,
}

/// Circular lists over one node per queue and one per list.
#[derive(Debug)]
pub(super) struct Chains {
    nodes: Box<[(u16, u16)]>,
}

impl Chains {
    pub(super) fn new() -> Self {
        Self { nodes: (0..QUEUES as u16 + 3).map(|n| (n, n)).collect() }
    }

    const fn ring(chain: Chain) -> u16 {
        QUEUES as u16 + chain as u16
    }

    #[inline]
    pub(super) fn first(&self, chain: Chain) -> Option<usize> {
        let first = self.nodes[usize::from(Self::ring(chain))].1;
        (usize::from(first) < QUEUES).then_some(usize::from(first))
    }

    /// Removes the queue from its list, if it is on one.
    #[inline]
    pub(super) fn remove(&mut self, queue: usize) {
        let (before, behind) = self.nodes[queue];
        self.nodes[usize::from(before)].1 = behind;
        self.nodes[usize::from(behind)].0 = before;
        self.nodes[queue] = (queue as u16, queue as u16);
    }

    /// Moves the queue to the end of a list.
    #[inline]
    pub(super) fn append(&mut self, chain: Chain, queue: usize) {
        self.remove(queue);
        let ring = Self::ring(chain);
        let last = self.nodes[usize::from(ring)].0;
        self.nodes[queue] = (last, ring);
        self.nodes[usize::from(last)].1 = queue as u16;
        self.nodes[usize::from(ring)].0 = queue as u16;
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Same order as in plain vectors.
        #[test]
        fn behaves_like_plain_vectors(ops in prop::collection::vec((0usize..4, 0usize..6), 0..100)) {
            let chains = [Chain::New, Chain::Old, Chain::Decaying];
            let (mut rings, mut lists) = (Chains::new(), [const { Vec::new() }; 3]);
            for (op, queue) in ops {
                lists.iter_mut().for_each(|list: &mut Vec<usize>| list.retain(|&q| q != queue));
                match chains.get(op) {
                    Some(&chain) => {
                        rings.append(chain, queue);
                        lists[op].push(queue);
                    }
                    None => rings.remove(queue),
                }
                for (list, chain) in lists.iter().zip(chains) {
                    prop_assert_eq!(rings.first(chain), list.first().copied());
                }
            }
            // Removing one queue after another reveals the next.
            for (list, chain) in lists.iter().zip(chains) {
                for &queue in list {
                    prop_assert_eq!(rings.first(chain), Some(queue));
                    rings.remove(queue);
                }
                prop_assert_eq!(rings.first(chain), None);
            }
        }
    }
}
