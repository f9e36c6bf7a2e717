//! Values that change at given times, read from a trace.

use crate::types::{Duration, Instant};
use alloc::vec::Vec;

/// Values in order of time. Queries must not go back in time, so no search is needed.
#[derive(Clone, PartialEq, Debug)]
pub struct Timeline<T> {
    steps: Vec<(Duration, T)>,
    /// Period after which the values repeat. `None`: the last value holds forever.
    length: Option<Duration>,
    /// Index of the current value.
    at: usize,
    /// Start of the current period.
    began: Instant,
}

impl<T> Timeline<T> {
    /// Builds the timeline. Each value holds from its time on, the first from 0. With `length`, the values
    /// repeat with that period. Returns `None` if there is no value at 0, if the times are not in order, or
    /// if `length` is not after the last time.
    pub fn new(steps: Vec<(Duration, T)>, length: Option<Duration>) -> Option<Self> {
        let first = steps.first()?.0;
        let last = steps.last()?.0;
        let ordered = steps.is_sorted_by(|(a, _), (b, _)| a < b);
        let fits = first == Duration::ZERO && ordered && length.is_none_or(|length| length > last);
        fits.then_some(Self { steps, length, at: 0, began: Instant::ZERO })
    }

    /// Returns the time of the next value, if any.
    pub fn next(&self) -> Option<Instant> {
        match self.steps.get(self.at + 1) {
            Some(&(at, _)) => Some(self.began + at),
            None => self.length.map(|length| self.began + length),
        }
    }

    /// Returns the value at `now`.
    #[inline]
    pub fn now(&mut self, now: Instant) -> &T {
        while let Some(next) = self.next()
            && next <= now
        {
            self.at += 1;
            if self.at == self.steps.len() {
                (self.at, self.began) = (0, next);
            }
        }
        &self.steps[self.at].1
    }

    /// Returns the value returned last.
    #[inline]
    pub fn last(&self) -> &T {
        &self.steps[self.at].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn values_change_and_repeat() {
        let steps = vec![(ms(0), 'a'), (ms(10), 'b'), (ms(15), 'c')];
        // Time in ms, the value without a period, and the value with a period of 20 ms.
        let table = [
            (0, 'a', 'a'),
            (9, 'a', 'a'),
            (10, 'b', 'b'),
            (15, 'c', 'c'),
            (19, 'c', 'c'),
            (20, 'c', 'a'),
            (31, 'c', 'b'),
            (55, 'c', 'c'),
            (60, 'c', 'a'),
            (1_000_015, 'c', 'c'),
        ];
        let mut good = Timeline::new(steps.clone(), None).unwrap();
        let mut anew = Timeline::new(steps, Some(ms(20))).unwrap();
        for (at, held, again) in table {
            let now = Instant::ZERO + ms(at);
            assert_eq!((*good.now(now), *anew.now(now)), (held, again), "{at} ms");
            assert_eq!((*good.last(), *anew.last()), (held, again), "{at} ms");
        }
    }

    #[test]
    fn invalid_timelines() {
        let steps = |times: &[u64]| times.iter().map(|&n| (ms(n), n)).collect::<Vec<_>>();
        for (times, length) in [(&[][..], None), (&[1], None), (&[0, 5, 5], None), (&[0, 5], Some(5))] {
            assert!(Timeline::new(steps(times), length.map(ms)).is_none(), "{times:?} {length:?}");
        }
        assert!(Timeline::new(steps(&[0]), Some(ms(1))).is_some());
    }
}
