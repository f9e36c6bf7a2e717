//! EDCA functions waiting for the medium, ordered so that the cost of an exchange does not grow with their
//! number.
//!
//! While the medium is busy, all backoffs are frozen. While the medium is idle, the backoffs of all functions
//! with the same AIFSN count down together, so their order does not change. Each AIFSN is therefore a class
//! with a heap, ordered by the slot boundary of the class at which a backoff ends. An exchange changes only
//! the entries of the transmitters.

use alloc::vec::Vec;

/// Number of an EDCA function on its medium.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EdcafId(pub u16);

/// AIFSN is 0 to 15.
pub(super) const CLASSES: usize = 16;

const ABSENT: u32 = u32::MAX;

/// End of a backoff and number of its function, packed so that a single comparison orders both. The function
/// is in the lower bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Key(u64);

impl Key {
    #[inline]
    const fn new(expires: u64, EdcafId(f): EdcafId) -> Self {
        Self(expires << u16::BITS | f as u64)
    }
    #[inline]
    const fn expires(self) -> u64 {
        self.0 >> u16::BITS
    }
    #[inline]
    const fn function(self) -> EdcafId {
        EdcafId(self.0 as u16)
    }
}

#[derive(Debug, Default)]
pub(super) struct Contenders {
    /// Binary min-heaps.
    heaps: [Vec<Key>; CLASSES],
    /// Bit n is set if class n is not empty.
    waiting: u16,
    /// Index in the heap of its class, or [`ABSENT`], by function.
    places: Vec<u32>,
}

impl Contenders {
    /// Adds a function that does not wait.
    pub(super) fn add(&mut self) {
        self.places.push(ABSENT);
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    #[inline]
    pub(super) fn contains(&self, f: EdcafId) -> bool {
        self.places[usize::from(f.0)] != ABSENT
    }

    /// Returns the nonempty classes, each with the boundary at which its first backoff ends.
    #[inline]
    pub(super) fn firsts(&self) -> impl Iterator<Item = (u8, u64)> {
        let mut left = self.waiting;
        core::iter::from_fn(move || {
            let class = (left != 0).then(|| left.trailing_zeros() as u8)?;
            left &= left - 1;
            Some((class, self.heaps[usize::from(class)][0].expires()))
        })
    }

    /// Appends the functions of a class whose backoffs end at or before the boundary `until`.
    pub(super) fn due(&self, class: u8, until: u64, into: &mut Vec<EdcafId>) {
        self.gather(&self.heaps[usize::from(class)], 0, until, into);
    }

    fn gather(&self, heap: &[Key], at: usize, until: u64, into: &mut Vec<EdcafId>) {
        if let Some(key) = heap.get(at).filter(|key| key.expires() <= until) {
            into.push(key.function());
            self.gather(heap, 2 * at + 1, until, into);
            self.gather(heap, 2 * at + 2, until, into);
        }
    }

    /// Adds a waiting function whose backoff ends at boundary `expires` of its class.
    #[inline]
    pub(super) fn insert(&mut self, class: u8, f: EdcafId, expires: u64) {
        let heap = &mut self.heaps[usize::from(class)];
        let at = heap.len();
        heap.push(Key::new(expires, f));
        self.waiting |= 1 << class;
        self.settle(class, at);
    }

    /// Sets a new backoff for a waiting function.
    #[inline]
    pub(super) fn change(&mut self, class: u8, f: EdcafId, expires: u64) {
        let at = self.places[usize::from(f.0)] as usize;
        self.heaps[usize::from(class)][at] = Key::new(expires, f);
        self.settle(class, at);
    }

    /// Removes a waiting function.
    #[inline]
    pub(super) fn remove(&mut self, class: u8, f: EdcafId) {
        let heap = &mut self.heaps[usize::from(class)];
        let at = core::mem::replace(&mut self.places[usize::from(f.0)], ABSENT) as usize;
        heap.swap_remove(at);
        if heap.is_empty() {
            self.waiting &= !(1 << class);
        }
        if at < heap.len() {
            self.settle(class, at);
        }
    }

    /// Restores the heap order after the key at `at` has changed.
    #[inline]
    fn settle(&mut self, class: u8, mut at: usize) {
        let (heap, places) = (&mut self.heaps[usize::from(class)], &mut self.places);
        let key = heap[at];
        let mut put = |heap: &mut Vec<Key>, at: usize, key: Key| {
            heap[at] = key;
            places[usize::from(key.function().0)] = at as u32;
        };
        while at > 0 && key < heap[(at - 1) / 2] {
            let parent = heap[(at - 1) / 2];
            put(heap, at, parent);
            at = (at - 1) / 2;
        }
        while let Some(&left) = heap.get(2 * at + 1) {
            let right = heap.get(2 * at + 2).copied().unwrap_or(left);
            let (child, n) = if right < left { (right, 2) } else { (left, 1) };
            if key < child {
                break;
            }
            put(heap, at, child);
            at = 2 * at + n;
        }
        put(heap, at, key);
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Agrees with a scan of all functions.
        #[test]
        fn agrees_with_a_scan(ops in prop::collection::vec((0_u16..24, 0_u64..30, any::<bool>()), 0..300)) {
            let (mut contenders, mut expires) = (Contenders::default(), vec![None; 24]);
            (0..24).for_each(|_| contenders.add());
            let class = |f: u16| (f % 3) as u8;
            for (f, at, more) in ops {
                let own = &mut expires[usize::from(f)];
                match (own.is_some(), more) {
                    (true, true) => contenders.change(class(f), EdcafId(f), at),
                    (true, false) => contenders.remove(class(f), EdcafId(f)),
                    (false, _) => contenders.insert(class(f), EdcafId(f), at),
                }
                *own = (own.is_none() || more).then_some(at);
                let of = |c: u8| (0..24).filter(move |&f| class(f) == c).zip(expires.iter().skip(c.into()).step_by(3));
                let firsts: Vec<_> =
                    (0..3).filter_map(|c| Some((c, of(c).filter_map(|(_, e)| *e).min()?))).collect();
                prop_assert_eq!(contenders.firsts().collect::<Vec<_>>(), firsts);
                prop_assert_eq!(contenders.is_empty(), expires.iter().all(Option::is_none));
                for c in 0..3 {
                    let mut due = Vec::new();
                    contenders.due(c, at, &mut due);
                    due.sort_unstable_by_key(|f| f.0);
                    let want: Vec<_> =
                        of(c).filter(|(_, e)| e.is_some_and(|e| e <= at)).map(|(f, _)| EdcafId(f)).collect();
                    prop_assert_eq!(due, want);
                }
                for (f, e) in (0..).zip(&expires) {
                    prop_assert_eq!(contenders.contains(EdcafId(f)), e.is_some());
                }
            }
        }
    }
}
