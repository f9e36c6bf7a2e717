//! Event queue: timers by slot, popped in a total order.
//!
//! Each component with a timer owns one slot. A slot is armed for one instant at a time; arming it again
//! replaces that instant. Events at the same instant are handled in slot order, so the order does not depend
//! on when timers were armed. Replaced entries stay in the queue and are skipped when they come first.

mod far;
mod keys;

use keys::Keys;
use stillair_model::types::Instant;

/// Timer of a component.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Slot(pub u32);

/// All timers of a world.
#[derive(Debug)]
pub struct Timers {
    /// Keys combine time and slot in one number, with the slot in the lower bits, so that one comparison
    /// orders both.
    keys: Keys,
    slot_bits: u32,
    armed: Vec<Instant>,
}

/// Armed timers of a world, set aside while other timers run ([`Timers::swap`]).
#[derive(Debug, Default)]
pub struct Pending(Keys);

impl Timers {
    /// Creates this many timers, none of them armed.
    pub fn new(slots: u32) -> Self {
        let slot_bits = u32::BITS - slots.leading_zeros();
        let armed = vec![Instant::NEVER; slots as usize];
        Self { keys: Keys::default(), slot_bits, armed }
    }

    /// Swaps the armed timers with those set aside. The two sets must not have a timer in common.
    pub fn swap(&mut self, pending: &mut Pending) {
        core::mem::swap(&mut self.keys, &mut pending.0);
    }

    /// Returns the horizon: no timer fires at or after this time, 11 days for 10,000 timers, less for more
    /// timers.
    pub fn horizon(&self) -> Instant {
        Instant::from_nanos(u64::MAX >> self.slot_bits)
    }

    /// Arms a timer for `at`, replacing the earlier time, or disarms it with `None`.
    ///
    /// Six of ten calls arm a timer for the time it already has; such a call costs only a comparison.
    #[inline(always)]
    pub fn set(&mut self, slot: Slot, at: Option<Instant>) {
        let at = at.unwrap_or(Instant::NEVER);
        if self.armed[slot.0 as usize] != at {
            self.arm(slot, at);
        }
    }

    #[inline(never)]
    fn arm(&mut self, slot: Slot, at: Instant) {
        self.armed[slot.0 as usize] = at;
        if at < self.horizon() {
            self.keys.add(at.nanos() << self.slot_bits | u64::from(slot.0));
        }
    }

    /// Arms a timer for `at`, unless it is armed for an earlier time.
    #[inline]
    pub fn hasten(&mut self, slot: Slot, at: Instant) {
        if at < self.armed[slot.0 as usize] {
            self.set(slot, Some(at));
        }
    }

    /// Returns time and slot of a key.
    #[inline(always)]
    fn parts(&self, key: u64) -> (Instant, Slot) {
        (Instant::from_nanos(key >> self.slot_bits), Slot((key & ((1 << self.slot_bits) - 1)) as u32))
    }

    /// Returns the time of the next timer, if any is armed, without disarming it.
    pub fn earliest(&mut self) -> Option<Instant> {
        loop {
            let key = self.keys.first()?;
            let (at, slot) = self.parts(key);
            if self.armed[slot.0 as usize] == at {
                return Some(at);
            }
            self.keys.drop_first();
        }
    }

    /// Disarms and returns the first timer due before `end`, which must not be after the horizon.
    #[inline]
    pub fn pop_before(&mut self, end: Instant) -> Option<(Instant, Slot)> {
        loop {
            let key = self.keys.first()?;
            let (at, slot) = self.parts(key);
            if at >= end {
                return None;
            }
            self.keys.drop_first();
            let armed = &mut self.armed[slot.0 as usize];
            if *armed == at {
                *armed = Instant::NEVER;
                return Some((at, slot));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
        t.hasten(Slot(3), Instant::from_nanos(6)); // later than the armed time
        t.hasten(Slot(0), Instant::from_nanos(2));
        let fired: Vec<_> = std::iter::from_fn(|| t.pop_before(end)).map(|(i, s)| (i.nanos(), s.0)).collect();
        assert_eq!(fired, vec![(2, 0), (5, 1), (5, 3), (7, 2)]);
    }

    proptest! {
        /// Behaves like a scan over all timers, however many are armed between two events.
        #[test]
        fn timers_equal_a_scan(
            slots in 1_u32..40,
            ops in prop::collection::vec((0_u8..10, 0_u32..40, 0_u64..30), 0..400),
        ) {
            let (mut timers, mut armed) = (Timers::new(slots), vec![Instant::NEVER; slots as usize]);
            let mut now = 0;
            for (op, slot, ahead) in ops {
                if op < 5 {
                    let (slot, at) = (slot % slots, if op == 0 { None } else { at(now + ahead) });
                    timers.set(Slot(slot), at);
                    armed[slot as usize] = at.unwrap_or(Instant::NEVER);
                } else if op > 7 {
                    let first = armed.iter().copied().min().filter(|&at| at < Instant::NEVER);
                    prop_assert_eq!(timers.earliest(), first);
                } else {
                    let end = Instant::from_nanos(now + ahead);
                    let first = armed.iter().copied().zip(0..).min().filter(|&(at, _)| at < end);
                    if let Some((at, slot)) = first {
                        armed[slot as usize] = Instant::NEVER;
                        now = at.nanos();
                    }
                    prop_assert_eq!(timers.pop_before(end), first.map(|(at, slot)| (at, Slot(slot))));
                }
            }
        }
    }

    #[test]
    fn nothing_fires_from_the_horizon_on() {
        for slots in [1, 7, 8, 10_000, 1 << 20] {
            let (mut t, last) = (Timers::new(slots), Slot(slots - 1));
            let horizon = t.horizon();
            assert!(horizon.nanos() > 1 << 42, "an hour and more for a million timers");
            t.set(last, Some(horizon));
            assert_eq!(t.pop_before(horizon), None);
            assert_eq!(t.earliest(), None);
            let before = Instant::from_nanos(horizon.nanos() - 1);
            t.set(last, Some(before));
            assert_eq!(t.earliest(), Some(before));
            assert_eq!((t.pop_before(horizon), t.pop_before(horizon)), (Some((before, last)), None));
        }
    }
}
