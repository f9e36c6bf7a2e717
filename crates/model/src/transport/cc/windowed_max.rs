//! Maximum over a sliding time window, from three candidates instead of all samples.
// linux: lib/win_minmax.c minmax_running_max (6.1) - keeps the best sample and two later runners-up.

/// A value and its time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Seen {
    at: u32,
    value: u32,
}

/// A windowed maximum. Time is any counter that may wrap.
#[derive(Clone, Copy, Debug, Default)]
pub struct WindowedMax {
    /// Candidates by age: the maximum, the maximum since then, and the maximum since that.
    best: [Seen; 3],
}

impl WindowedMax {
    /// Resets the filter to this value.
    pub fn reset(&mut self, at: u32, value: u32) {
        self.best = [Seen { at, value }; 3];
    }

    /// Returns the current maximum.
    #[inline]
    pub fn get(&self) -> u32 {
        self.best[0].value
    }

    /// Adds `value` at time `at`, discards values older than `window`, and returns the maximum.
    pub fn update(&mut self, window: u32, at: u32, value: u32) -> u32 {
        let new = Seen { at, value };
        let age = |seen: Seen| at.wrapping_sub(seen.at);
        let [first, second, third] = self.best;
        if value >= first.value || age(third) > window {
            self.reset(at, value);
            return value;
        }
        self.best = match () {
            () if value >= second.value => [first, new, new],
            () if value >= third.value => [first, second, new],
            () => self.best,
        };
        let [first, second, third] = self.best;
        let old = age(first);
        self.best = if old > window {
            // The maximum has left the window: move the later candidates up, possibly by two.
            if age(second) > window { [third, new, new] } else { [second, third, new] }
        } else if second.at == first.at && old > window / 4 {
            // A quarter of the window passed without a second candidate: use this sample.
            [first, new, new]
        } else if third.at == second.at && old > window / 2 {
            [first, second, new]
        } else {
            self.best
        };
        self.get()
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_peak_lives_as_long_as_the_window() {
        let mut max = WindowedMax::default();
        max.reset(0, 0);
        let seen: Vec<u32> = (1..=25).map(|t| max.update(10, t, if t == 3 { 100 } else { 50 - t })).collect();
        assert_eq!(seen[..2], [49, 49]);
        assert!(seen[2..13].iter().all(|&m| m == 100), "{seen:?}");
        // Runners-up cover only part of the window, so the result never exceeds the true maximum.
        for (t, &m) in (14..).zip(&seen[13..]) {
            assert!((50 - t..=50 - (t - 10)).contains(&m), "{t}: {m}");
        }
    }

    proptest! {
        #[test]
        fn between_the_newest_and_the_true_maximum(values in prop::collection::vec(0_u32..1_000, 1..200), start: u32) {
            let mut max = WindowedMax::default();
            max.reset(start, values[0]);
            for (i, &value) in values.iter().enumerate() {
                let got = max.update(10, start.wrapping_add(i as u32), value);
                let window = &values[i.saturating_sub(10)..=i];
                prop_assert!(got >= value);
                prop_assert!(window.contains(&got), "{} is not of {:?}", got, window);
            }
        }

        /// With one sample per tick, the filter never misses a maximum in the newest quarter of the window.
        #[test]
        fn a_rising_value_is_followed(values in prop::collection::vec(0_u32..1_000, 1..200)) {
            let mut max = WindowedMax::default();
            max.reset(0, 0);
            let mut sum = 0;
            for (i, value) in values.into_iter().enumerate() {
                sum += value;
                prop_assert_eq!(max.update(10, i as u32, sum), sum);
            }
        }
    }
}
