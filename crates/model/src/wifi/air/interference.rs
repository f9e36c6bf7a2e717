//! Non-Wi-Fi interference on a channel: activity of each source, and its power at each radio.
//!
//! A source does not defer. The medium is busy for a radio while the total power of active sources there
//! reaches the energy-detection threshold. Their power also adds to the noise of frames that the radio
//! receives.
// deviation: a source's power is constant while it is on, and spread evenly over the channel - a microwave
// oven sweeps, and a frequency hopper occupies a few subcarriers at a time.

use crate::types::{Duration, Instant, RandomStream};
use crate::wifi::timeline::Timeline;
use alloc::vec::Vec;
use libm::{log10, pow, round};

/// Activity of a source between its start and its stop.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// Always on.
    Always,
    /// Periodic: on for the first part of each period. The first period starts `phase` after the source.
    Cycle {
        /// Time on per period.
        on: Duration,
        /// Length of a period, longer than `on`.
        period: Duration,
        /// Delay from the source's start to the first period, less than `period`.
        phase: Duration,
    },
    /// Exponentially distributed times on and off.
    Random {
        /// Mean time on.
        on: Duration,
        /// Mean time off.
        off: Duration,
        /// Random stream of the times.
        stream: RandomStream,
    },
    /// On and off as recorded.
    Recorded(Timeline<bool>),
}

/// A source of interference.
#[derive(Clone, Debug)]
pub struct Source {
    pattern: Pattern,
    start: Instant,
    stop: Instant,
    on: bool,
    /// Next change, or next time to evaluate the pattern.
    next: Instant,
}

/// Lower limit of random times.
const SHORTEST: Duration = Duration::from_micros(1);

impl Source {
    /// Creates a source that is active from `start` to `stop`.
    pub fn new(pattern: Pattern, start: Instant, stop: Instant) -> Self {
        Self { pattern, start, stop, on: false, next: start }
    }

    /// Returns the next instant at which [`Self::turn`] is due.
    pub fn next(&self) -> Instant {
        self.next
    }

    /// Applies the change due at `now`. Returns true if the source is on from `now`.
    pub fn turn(&mut self, now: Instant) -> bool {
        if now >= self.stop {
            (self.on, self.next) = (false, Instant::NEVER);
            return false;
        }
        let begins = now == self.start;
        (self.on, self.next) = match &mut self.pattern {
            Pattern::Always => (true, Instant::NEVER),
            Pattern::Cycle { on, period, phase } => match (begins, self.on) {
                (true, _) if *phase > Duration::ZERO => (false, now + *phase),
                (_, true) => (false, now + (*period - *on)),
                (_, false) => (true, now + *on),
            },
            Pattern::Random { on, off, stream } => {
                // The times are memoryless, so the source may already be on at its start.
                let share = on.nanos() as f64 / (on.nanos() + off.nanos()) as f64;
                let is_on = if begins { stream.chance(share) } else { !self.on };
                let mean = if is_on { *on } else { *off };
                (is_on, now + stream.exponential(mean).max(SHORTEST))
            }
            Pattern::Recorded(timeline) => {
                let since = Instant::ZERO + (now - self.start);
                let is_on = *timeline.now(since);
                let next = timeline.next().map(|at| self.start + (at - Instant::ZERO));
                (is_on, next.unwrap_or(Instant::NEVER))
            }
        };
        self.next = self.next.min(self.stop);
        self.on
    }
}

/// Maximum number of sources per channel.
pub const MOST_SOURCES: usize = 4;
const SETS: usize = 1 << MOST_SOURCES;

/// Effect of the sources at one radio, by the set of active sources.
#[derive(Clone, Copy, PartialEq, Debug)]
struct At {
    /// Reduction of the signal-to-noise ratio, in thousandths of a dB.
    penalty: [i32; SETS],
    /// Bit n is set if set n makes the medium busy.
    busy: u16,
}

/// All sources of interference on a channel.
#[derive(Clone, Debug)]
pub struct Interference {
    sources: Vec<Source>,
    /// Bit n is set while source n is on.
    on: u8,
    /// Effects of the sources, by radio.
    at: Vec<At>,
    /// Past sets of active sources and their start, oldest first.
    past: Vec<(Instant, u8)>,
    /// Stretches returned by the last call of `stretches`.
    stretches: Vec<Stretch>,
}

/// End of a stretch of time, and the reduction of the signal-to-noise ratio during it in thousandths of a dB.
pub type Stretch = (Instant, i32);

/// Frames that are still evaluated started no longer ago than this.
// spec: ieee80211-2016 - the longest PPDU, 4095 bytes at 1 Mbit/s, takes 33 ms.
const PAST: Duration = Duration::from_millis(50);

impl Interference {
    /// Builds the interference at `radios` radios from at most [`MOST_SOURCES`] sources. `level(source,
    /// radio)` is the level of a source at a radio in 20 MHz, `noise` the noise level without the sources,
    /// and `busy_from` the level from which the medium is busy. All three are in thousandths of a dBm.
    // spec: ieee80211-2016 17.3.10.6, 19.3.19.5.2 and 21.3.18.5.2 - any signal of -62 dBm or more in the
    // primary 20 MHz makes the medium busy.
    pub fn new(
        sources: Vec<Source>,
        radios: usize,
        (noise, busy_from): (i32, i32),
        level: impl Fn(usize, usize) -> Option<i32>,
    ) -> Self {
        debug_assert!(sources.len() <= MOST_SOURCES);
        let milliwatts = |level: i32| pow(10.0, f64::from(level) / 10_000.0);
        let at = |radio: usize| {
            let mut at = At { penalty: [0; SETS], busy: 0 };
            for set in 1..SETS {
                let on = (0..sources.len()).filter(|n| set >> n & 1 == 1);
                let sum: f64 = on.filter_map(|n| level(n, radio)).map(milliwatts).sum();
                at.penalty[set] = round(10_000.0 * log10(1.0 + sum / milliwatts(noise))) as i32;
                // Adds 0.0005 dB, so that a level equal to the threshold reaches it despite rounding.
                let reaches = sum > 0.0 && 10_000.0 * log10(sum) + 0.5 >= f64::from(busy_from);
                at.busy |= u16::from(reaches) << set;
            }
            at
        };
        let at = (0..radios).map(at).collect();
        Self { sources, on: 0, at, past: Vec::new(), stretches: Vec::new() }
    }

    /// Returns the next instant at which a source turns on or off.
    pub fn next(&self) -> Option<Instant> {
        self.sources.iter().map(Source::next).min().filter(|at| *at != Instant::NEVER)
    }

    /// Applies the changes due at `now`. Returns true if the set of active sources has changed.
    pub fn turn(&mut self, now: Instant) -> bool {
        let before = self.on;
        for (n, source) in self.sources.iter_mut().enumerate() {
            // The next evaluation of a pattern may be due immediately.
            while source.next() <= now {
                self.on = self.on & !(1 << n) | u8::from(source.turn(now)) << n;
            }
        }
        if self.on != before {
            // The last of the old sets remains in effect at the start of the period of interest.
            let old = self.past.iter().take_while(|(at, _)| *at + PAST < now).count();
            self.past.drain(..old.saturating_sub(1));
            self.past.push((now, self.on));
        }
        self.on != before
    }

    /// Returns true if interference makes the medium busy for radio `radio`.
    pub fn is_busy(&self, radio: usize) -> bool {
        self.at[radio].busy >> self.on & 1 == 1
    }

    /// Returns the reduction of the signal-to-noise ratio at a radio between two past instants, as
    /// consecutive stretches. Empty if there was no reduction.
    pub fn stretches(&mut self, radio: usize, from: Instant, until: Instant) -> &[Stretch] {
        self.stretches.clear();
        let At { penalty, .. } = &self.at[radio];
        let mut disturbed = 0;
        for (n, &(at, set)) in self.past.iter().enumerate() {
            let end = self.past.get(n + 1).map_or(until, |&(next, _)| next.min(until));
            if at >= until || end <= from {
                continue;
            }
            if at > from && self.stretches.is_empty() {
                self.stretches.push((at, 0));
            }
            let lower = penalty[usize::from(set)];
            disturbed |= lower;
            self.stretches.push((end, lower));
        }
        if disturbed == 0 {
            self.stretches.clear();
        }
        &self.stretches
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Seed;
    use alloc::vec;

    fn us(n: u64) -> Instant {
        Instant::from_nanos(1_000 * n)
    }
    const fn d(us: u64) -> Duration {
        Duration::from_micros(us)
    }

    /// Changes of a source in us, up to `end`.
    fn edges(mut source: Source, end: u64) -> Vec<(u64, bool)> {
        let (mut seen, mut was) = (Vec::new(), false);
        while source.next() < us(end) {
            let now = source.next();
            let on = source.turn(now);
            if on != was {
                seen.push((now.nanos() / 1_000, on));
            }
            was = on;
        }
        seen
    }

    #[test]
    fn patterns() {
        let source = |pattern, start, stop| Source::new(pattern, us(start), us(stop));
        assert_eq!(edges(source(Pattern::Always, 5, 90), 100), [(5, true), (90, false)]);
        let cycle = |phase| Pattern::Cycle { on: d(8), period: d(20), phase: d(phase) };
        assert_eq!(
            edges(source(cycle(0), 0, 1_000), 45),
            [(0, true), (8, false), (20, true), (28, false), (40, true)]
        );
        assert_eq!(edges(source(cycle(3), 10, 35), 100), [(13, true), (21, false), (33, true), (35, false)]);
        let steps = vec![(d(0), false), (d(4), true), (d(9), false)];
        let record = |length| Pattern::Recorded(Timeline::new(steps.clone(), length).unwrap());
        assert_eq!(edges(source(record(None), 100, 1_000), 500), [(104, true), (109, false)]);
        let again = [(104, true), (109, false), (114, true), (119, false)];
        assert_eq!(edges(source(record(Some(d(10))), 100, 1_000), 122), again);
    }

    #[test]
    fn random_times_have_their_means() {
        let stream = Seed { seed: 1, run: 0 }.stream("oven");
        let pattern = Pattern::Random { on: d(300), off: d(700), stream };
        let seen = edges(Source::new(pattern, us(0), Instant::NEVER), 10_000_000);
        let on: u64 = seen.windows(2).filter(|w| w[0].1).map(|w| w[1].0 - w[0].0).sum();
        assert!((2_900_000..3_100_000).contains(&on), "{on}");
        assert!((19_000..21_000).contains(&seen.len()), "{}", seen.len());
    }

    #[test]
    fn powers_add_up() {
        // Two sources of -65 dBm add up to -62. The second radio receives only the first source, at the level
        // of the noise.
        let sources = (0..2).map(|n| Source::new(Pattern::Always, us(10 * n), us(100))).collect();
        let level = |source, radio| match (source, radio) {
            (_, 0) => Some(-65_000),
            (0, _) => Some(-95_000),
            _ => None,
        };
        let mut all = Interference::new(sources, 2, (-95_000, -62_000), level);
        let seen = |all: &Interference| {
            [0, 1].map(|radio| (all.is_busy(radio), all.at[radio].penalty[usize::from(all.on)]))
        };
        assert_eq!((seen(&all), all.next()), ([(false, 0), (false, 0)], Some(us(0))));
        assert!(all.turn(us(0)));
        assert_eq!(seen(&all), [(false, 30_004), (false, 3_010)]);
        assert!(all.turn(us(10)));
        assert_eq!(seen(&all), [(true, 33_012), (false, 3_010)]);
        assert_eq!(all.stretches(0, us(5), us(20)), [(us(10), 30_004), (us(20), 33_012)]);
        assert_eq!(all.stretches(1, us(12), us(20)), [(us(20), 3_010)]);
        assert!(all.turn(us(100)));
        assert_eq!(all.stretches(0, us(95), us(120)), [(us(100), 33_012), (us(120), 0)]);
        // Empty after the sources have stopped.
        assert!(all.stretches(0, us(100), us(120)).is_empty());
        assert_eq!(all.next(), None);
        let alone = Source::new(Pattern::Always, us(10), us(100));
        let mut loud = Interference::new(vec![alone], 1, (-95_000, -62_000), |_, _| Some(-62_000));
        assert!(loud.turn(us(10)) && loud.is_busy(0) && !loud.turn(us(20)));
        assert_eq!(loud.stretches(0, us(5), us(20)), [(us(10), 0), (us(20), 33_002)]);
    }
}
