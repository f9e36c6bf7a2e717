//! The three lists of a tin's queues, each of them on one at most.
//!
//! Unlike deficit rounds elsewhere, a queue may leave from the middle: one that decays is new again when a
//! packet comes.

use super::QUEUES;
use alloc::boxed::Box;

/// A list of queues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Chain {
    /// Queues in their first round.
    New,
    /// Queues that go round.
    Old,
    /// Empty queues whose AQM still remembers something.
    Decaying,
}

/// Rings through a node for each queue and one for each list.
#[derive(Debug)]
pub(super) struct Chains {
    /// The neighbours before and behind.
    nodes: Box<[(u16, u16)]>,
}

impl Chains {
    /// All lists empty.
    pub(super) fn new() -> Self {
        Self { nodes: (0..QUEUES as u16 + 3).map(|n| (n, n)).collect() }
    }

    const fn ring(chain: Chain) -> u16 {
        QUEUES as u16 + chain as u16
    }

    /// The first queue of a list.
    #[inline]
    pub(super) fn first(&self, chain: Chain) -> Option<usize> {
        let first = self.nodes[usize::from(Self::ring(chain))].1;
        (usize::from(first) < QUEUES).then_some(usize::from(first))
    }

    /// Takes the queue off its list, if it is on one.
    #[inline]
    pub(super) fn remove(&mut self, queue: usize) {
        let (before, behind) = self.nodes[queue];
        self.nodes[usize::from(before)].1 = behind;
        self.nodes[usize::from(behind)].0 = before;
        self.nodes[queue] = (queue as u16, queue as u16);
    }

    /// Moves the queue to the end of a list, from wherever it was.
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
        /// The same order as lists that are written down.
        #[test]
        fn as_written_down(ops in prop::collection::vec((0usize..4, 0usize..6), 0..100)) {
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
            // Taking one after the other shows what is behind the first.
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
