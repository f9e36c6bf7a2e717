//! The kernel's tick clock and its timer wheel.

use crate::types::{Duration, Instant};

const NANOS: u64 = 1_000_000_000;

/// The kernel's clock (`jiffies`): CONFIG_HZ ticks per second, counted from the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticks {
    hz: u32,
}

impl Ticks {
    /// Creates a clock with `hz` ticks per second.
    pub const fn new(hz: u32) -> Self {
        Self { hz }
    }

    /// Returns the number of ticks elapsed at `now`.
    #[inline]
    pub const fn at(self, now: Instant) -> u32 {
        (now.nanos() * self.hz as u64 / NANOS) as u32
    }

    /// Converts a duration to ticks, rounding up.
    // linux: kernel/time/time.c usecs_to_jiffies (6.1) - rounds up.
    #[inline]
    pub const fn cover(self, d: Duration) -> u32 {
        (d.nanos() * self.hz as u64).div_ceil(NANOS) as u32
    }

    /// Returns the time of a tick.
    #[inline]
    pub const fn instant(self, tick: u32) -> Instant {
        Instant::from_nanos((tick as u64 * NANOS).div_ceil(self.hz as u64))
    }

    /// Returns the time at which a timer set at `now` for tick `expires` fires.
    // linux: kernel/time/timer.c calc_wheel_index (6.1) - uses a slot of the wheel level for the delay,
    // always the one after the expiry, so that a timer never fires early: at most one tick late below 63
    // ticks, eight below 504, 64 below 4,032, and so on.
    pub const fn fires(self, now: Instant, expires: u32) -> Instant {
        let delay = expires.saturating_sub(self.at(now));
        let mut shift = 0;
        while shift < 24 && delay >= 63 << shift {
            shift += 3;
        }
        self.instant(((expires >> shift) + 1) << shift)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_fire_in_the_slot_after_their_time() {
        let ticks = Ticks::new(250);
        // set at (us), expires after (ticks), fires at (us)
        let table = [
            (0, 10, 44_000),
            (3_999, 10, 44_000),
            (4_000, 10, 48_000),
            (0, 62, 252_000),
            (0, 63, 256_000), // tick 63 is in slot 7 of eight ticks each: the next starts at 64
            (4_000, 63, 288_000),
            (0, 504, 2_048_000),
        ];
        for (set, after, fires) in table {
            let now = Instant::from_nanos(set * 1000);
            assert_eq!(
                ticks.fires(now, ticks.at(now) + after).nanos(),
                fires * 1000,
                "{set} us, {after} ticks"
            );
        }
    }

    #[test]
    fn ticks_and_instants_agree() {
        for hz in [100, 250, 300, 1000] {
            let ticks = Ticks::new(hz);
            for tick in [0, 1, 7, 299, 300, 1_000_003] {
                assert_eq!(ticks.at(ticks.instant(tick)), tick, "{hz}");
                if tick > 0 {
                    let before = ticks.instant(tick) - Duration::from_nanos(1);
                    assert_eq!(ticks.at(before), tick - 1, "{hz}");
                }
            }
        }
        assert_eq!(Ticks::new(250).cover(Duration::from_micros(200_001)), 51);
    }
}
