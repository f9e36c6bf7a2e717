//! Double-ended packet queues over a shared pool of nodes.
//!
//! [`PktList`](crate::types::PktList) is singly linked. sfq also drops from the tail, which would need a scan
//! of the list.

use crate::types::Pkt;
use alloc::vec::Vec;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Place {
    p: Option<Pkt>,
    before: u32,
    after: u32,
}

/// One queue. Its nodes belong to the pool that it is used with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deque {
    head: u32,
    tail: u32,
    packets: u32,
}

impl Deque {
    pub(super) const EMPTY: Self = Self { head: NONE, tail: NONE, packets: 0 };

    #[inline]
    pub(super) const fn packets(&self) -> u32 {
        self.packets
    }
}

/// Nodes for the packets of all queues.
#[derive(Debug)]
pub(super) struct Pool {
    places: Vec<Place>,
    free: u32,
}

impl Pool {
    pub(super) fn new(packets: u32) -> Self {
        let place = |n| Place { p: None, before: NONE, after: if n + 1 < packets { n + 1 } else { NONE } };
        Self { places: (0..packets).map(place).collect(), free: 0 }
    }

    fn at(&mut self, n: u32) -> &mut Place {
        &mut self.places[n as usize]
    }

    /// Appends a packet. Panics if the pool is full.
    #[inline]
    pub(super) fn push(&mut self, d: &mut Deque, p: Pkt) {
        let n = self.free;
        let place = &mut self.places[n as usize];
        self.free = place.after;
        *place = Place { p: Some(p), before: d.tail, after: NONE };
        match d.tail {
            NONE => d.head = n,
            tail => self.at(tail).after = n,
        }
        d.tail = n;
        d.packets += 1;
    }

    #[inline]
    pub(super) fn pop(&mut self, d: &mut Deque) -> Option<Pkt> {
        let n = d.head;
        let place = *self.places.get(n as usize)?;
        d.head = place.after;
        match d.head {
            NONE => d.tail = NONE,
            head => self.at(head).before = NONE,
        }
        self.release(d, n)
    }

    #[inline]
    pub(super) fn pop_last(&mut self, d: &mut Deque) -> Option<Pkt> {
        let n = d.tail;
        let place = *self.places.get(n as usize)?;
        d.tail = place.before;
        match d.tail {
            NONE => d.head = NONE,
            tail => self.at(tail).after = NONE,
        }
        self.release(d, n)
    }

    #[inline]
    fn release(&mut self, d: &mut Deque, n: u32) -> Option<Pkt> {
        let free = self.free;
        let place = self.at(n);
        let p = place.p.take()?;
        place.after = free;
        self.free = n;
        d.packets -= 1;
        Some(p)
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;
    use crate::sched::testing::Bench;

    proptest! {
        /// Several queues over one pool behave like `VecDeque`s.
        #[test]
        fn behaves_like_a_deque(ops in prop::collection::vec((0u8..5, 0usize..3), 0..200)) {
            const ROOM: u32 = 9;
            let (mut b, mut pool) = (Bench::new(), Pool::new(ROOM));
            let mut deques = [Deque::EMPTY; 3];
            let mut model: [VecDeque<Pkt>; 3] = Default::default();
            for (op, which) in ops {
                let (d, m) = (&mut deques[which], &mut model[which]);
                match op {
                    0..3 => {
                        if model.iter().map(VecDeque::len).sum::<usize>() < ROOM as usize {
                            let p = b.packet(0, 100);
                            pool.push(d, p);
                            model[which].push_back(p);
                        }
                    }
                    3 => prop_assert_eq!(pool.pop(d), m.pop_front()),
                    _ => prop_assert_eq!(pool.pop_last(d), m.pop_back()),
                }
                for (d, m) in deques.iter().zip(&model) {
                    prop_assert_eq!(d.packets as usize, m.len());
                }
            }
        }
    }
}
