//! The event queue: timers by slot, popped in a total order.
//!
//! Each component that can be woken owns one slot. A slot is armed for one instant at a time; arming it anew replaces
//! that. Events at the same instant come in the order of their slots, so the order does not depend on who was armed
//! first. Entries of replaced arms stay in the heap and are passed over when they surface.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use stillair_model::vocabulary::Instant;

/// A component's timer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Slot(pub u32);

/// Time and slot in one number, so that one comparison orders both.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Key(u128);

impl Key {
    #[inline]
    const fn new(at: Instant, slot: Slot) -> Self {
        Self((at.nanos() as u128) << 32 | slot.0 as u128)
    }
    #[inline]
    const fn at(self) -> Instant {
        Instant::from_nanos((self.0 >> 32) as u64)
    }
    #[inline]
    const fn slot(self) -> Slot {
        Slot(self.0 as u32)
    }
}

/// All timers of a world.
#[derive(Debug)]
pub struct Timers {
    heap: BinaryHeap<Reverse<Key>>,
    armed: Vec<Instant>,
}

impl Timers {
    /// So many timers, none of them armed.
    pub fn new(slots: u32) -> Self {
        Self { heap: BinaryHeap::new(), armed: vec![Instant::NEVER; slots as usize] }
    }

    /// Arms a timer for `at`, or disarms it with `None`; what it was armed for before is forgotten.
    #[inline]
    pub fn set(&mut self, slot: Slot, at: Option<Instant>) {
        let at = at.unwrap_or(Instant::NEVER);
        let armed = &mut self.armed[slot.0 as usize];
        if *armed != at {
            *armed = at;
            if at != Instant::NEVER {
                self.heap.push(Reverse(Key::new(at, slot)));
            }
        }
    }

    /// Arms a timer for `at` unless it will fire sooner anyway.
    #[inline]
    pub fn hasten(&mut self, slot: Slot, at: Instant) {
        if at < self.armed[slot.0 as usize] {
            self.set(slot, Some(at));
        }
    }

    /// Disarms and returns the timer that is due first, if it is due before `end`.
    #[inline]
    pub fn pop_before(&mut self, end: Instant) -> Option<(Instant, Slot)> {
        while let Some(&Reverse(key)) = self.heap.peek() {
            let (at, slot) = (key.at(), key.slot());
            if at >= end {
                return None;
            }
            self.heap.pop();
            let armed = &mut self.armed[slot.0 as usize];
            if *armed == at {
                *armed = Instant::NEVER;
                return Some((at, slot));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ns: u64) -> Option<Instant> {
        Some(Instant::from_nanos(ns))
    }

    #[test]
    fn order_is_by_time_then_slot_and_replaced_arms_do_not_fire() {
        let mut t = Timers::new(4);
        t.set(Slot(3), at(5));
        t.set(Slot(1), at(5));
        t.set(Slot(0), at(9));
        t.set(Slot(2), at(1));
        t.set(Slot(2), at(7)); // later
        t.set(Slot(0), at(2)); // earlier
        t.set(Slot(1), None);
        t.set(Slot(1), at(5)); // as before
        let end = Instant::from_nanos(9);
        t.hasten(Slot(3), Instant::from_nanos(6)); // later than it is armed for
        t.hasten(Slot(0), Instant::from_nanos(2));
        let fired: Vec<_> = std::iter::from_fn(|| t.pop_before(end)).map(|(i, s)| (i.nanos(), s.0)).collect();
        assert_eq!(fired, vec![(2, 0), (5, 1), (5, 3), (7, 2)]);
    }
}
