//! Host jitter: the delay from an interrupt to the network stack, timer lateness, and clock drift. A host
//! without jitter reacts instantly, unlike a real one, and its periods can synchronize with those of a queue.

use crate::types::{Duration, Instant, RandomStream};

/// Distribution of a delay.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Spread {
    /// No delay.
    #[default]
    None,
    /// Uniform between two values.
    Uniform(Duration, Duration),
    /// Exponential with this mean, capped at the second value.
    Exponential(Duration, Duration),
}

impl Spread {
    /// Draws a delay. Uses no random number for `None`.
    #[inline]
    pub fn draw(self, stream: &mut RandomStream) -> Duration {
        match self {
            Self::None => Duration::ZERO,
            Self::Uniform(least, most) => stream.between(least, most),
            Self::Exponential(mean, most) => stream.exponential(mean).min(most),
        }
    }
}

/// Jitter of a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct JitterParams {
    /// Delay from a device's interrupt to the network stack. Packets that arrive in between are processed
    /// together with the first.
    pub softirq: Spread,
    /// Lateness of a process's timers (timer slack).
    pub timer_slack: Spread,
    /// Maximum clock error in parts per million, fast or slow. The error is drawn uniformly for each run.
    pub drift_ppm: u32,
}

impl JitterParams {
    /// No jitter.
    pub const NONE: Self = Self { softirq: Spread::None, timer_slack: Spread::None, drift_ppm: 0 };

    /// A Linux desktop with power management enabled.
    // linux: drivers/idle/intel_idle.c snb_cstates (4.4) - a Core i5 or i7 of 2011 takes 2 us to leave C1, 10
    // us to leave C1E, 104 us to leave C6; drivers/cpuidle/governors/menu.c menu_select - predicts the idle
    // time from recent ones and selects a state whose residency (20 us for C1E, 345 us for C6) fits: packets
    // of a busy link mostly find C1E.
    // linux: include/linux/init_task.h INIT_TASK (4.4) - timer_slack_ns is 50 us unless a process sets
    // another value; kernel/time/hrtimer.c hrtimer_start_range_ns, hrtimer_interrupt - a timer fires with the
    // first clock interrupt within its slack, at the latest at its end. With many other timers on the host,
    // the lateness is uniform over the slack.
    // spec: rfc5905 4 - PHI: disciplined oscillators stay within 15 ppm. Undisciplined clocks are worse: IEEE
    // 802.3 allows 100 ppm for the crystal of an Ethernet device.
    // deviation: the same for an idle and for a busy host - sleep states are not modelled.
    pub const DESKTOP: Self = Self {
        softirq: Spread::Exponential(Duration::from_micros(10), Duration::from_micros(104)),
        timer_slack: Spread::Uniform(Duration::ZERO, Duration::from_micros(50)),
        drift_ppm: 15,
    };
}

/// Delay from a device's interrupt to the network stack, drawn again for each interrupt.
#[derive(Clone, Debug)]
pub struct Softirq {
    spread: Spread,
    stream: RandomStream,
    /// Delay of the next interrupt.
    pub delay: Duration,
}

impl Softirq {
    /// Creates the delay of one device's interrupts. Returns `None` if there is no delay.
    pub fn new(spread: Spread, stream: RandomStream) -> Option<Self> {
        let mut softirq = Self { spread, stream, delay: Duration::ZERO };
        softirq.taken_in();
        (spread != Spread::None).then_some(softirq)
    }

    /// Draws the next delay, after the stack has processed the received packets.
    #[inline]
    pub fn taken_in(&mut self) {
        self.delay = self.spread.draw(&mut self.stream);
    }
}

/// Lateness of the timers of one process, drawn again for each timer.
#[derive(Clone, Debug)]
pub struct Slack {
    spread: Spread,
    stream: RandomStream,
    /// Lateness of the next timer.
    pub late: Duration,
}

impl Slack {
    /// Creates the timer lateness of one process. Returns `None` if its timers are exact.
    pub fn new(spread: Spread, stream: RandomStream) -> Option<Self> {
        let mut slack = Self { spread, stream, late: Duration::ZERO };
        slack.fired();
        (spread != Spread::None).then_some(slack)
    }

    /// Draws the next lateness, after a timer has fired.
    pub fn fired(&mut self) {
        self.late = self.spread.draw(&mut self.stream);
    }
}

/// The clock that an application uses for its timers.
#[derive(Clone, Debug)]
pub struct AppClock {
    /// Clock error relative to true time, in units of 2^-40; positive if fast.
    fast: i64,
    slack: Spread,
    stream: RandomStream,
    late: Duration,
}

impl AppClock {
    /// Creates the clock of an application. `host` is the same stream for all applications of a host;
    /// `stream` belongs to this one.
    pub fn new(params: &JitterParams, mut host: RandomStream, stream: RandomStream) -> Self {
        let ppm = (host.unit() * 2.0 - 1.0) * f64::from(params.drift_ppm);
        let fast = (ppm * (1_u64 << 40) as f64 / 1e6) as i64;
        let mut clock = Self { fast, slack: params.timer_slack, stream, late: Duration::ZERO };
        clock.fired();
        clock
    }

    /// True time at which a timer set for `at` on this clock fires. The clock is exact at the start of the
    /// run.
    #[inline]
    pub fn fires(&self, at: Instant) -> Instant {
        if at == Instant::NEVER {
            return at;
        }
        let ahead = (i128::from(at.nanos()) * i128::from(self.fast)) >> 40;
        Instant::from_nanos((i128::from(at.nanos()) - ahead) as u64) + self.late
    }

    /// Like [`AppClock::fires`], without clock drift, for a one-shot timer.
    #[inline]
    pub fn fires_once(&self, at: Instant) -> Instant {
        if at == Instant::NEVER { at } else { at + self.late }
    }

    /// Draws the next lateness, after a timer has fired.
    #[inline(never)]
    pub fn fired(&mut self) {
        self.late = self.slack.draw(&mut self.stream);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Seed;
    use alloc::vec::Vec;

    fn stream(name: &str) -> RandomStream {
        Seed { seed: 1, run: 0 }.stream(name)
    }

    fn us(n: u64) -> Duration {
        Duration::from_micros(n)
    }

    #[test]
    fn delays_keep_their_bounds_and_means() {
        let n = 100_000_u64;
        let mut s = stream("delays");
        #[rustfmt::skip]
        let table: &[(Spread, u64, u64, u64)] = &[
            // min, mean and max in ns
            (Spread::None,                        0,     0,      0),
            (Spread::Uniform(us(20), us(50)),     20_000, 35_000, 50_000),
            // The cap reduces the mean by mean * exp(-cap / mean).
            (Spread::Exponential(us(10), us(20)), 0,     8_647,  20_000),
            (JitterParams::DESKTOP.softirq,       0,     10_000, 104_000),
        ];
        for &(spread, least, mean, most) in table {
            let all: Vec<u64> = (0..n).map(|_| spread.draw(&mut s).nanos()).collect();
            assert!(all.iter().all(|d| (least..=most).contains(d)), "{spread:?}");
            let got = all.iter().sum::<u64>() / n;
            assert!(got.abs_diff(mean) <= mean / 100, "{spread:?}: {got}");
        }
        let mut untouched = stream("delays");
        let before = untouched.clone().bits();
        assert_eq!((Spread::None.draw(&mut untouched), untouched.bits()), (Duration::ZERO, before));
    }

    #[test]
    fn no_delay_means_no_softirq() {
        assert!(Softirq::new(Spread::None, stream("a")).is_none());
        let mut some = Softirq::new(Spread::Uniform(us(1), us(2)), stream("a")).expect("a delay");
        let first = some.delay;
        assert!((us(1)..=us(2)).contains(&first), "the first interrupt takes time too");
        some.taken_in();
        assert_ne!(some.delay, first);
    }

    #[test]
    fn clocks_of_a_host_agree_and_never_go_backwards() {
        let params = JitterParams { drift_ppm: 100, ..JitterParams::NONE };
        let clock = |host: &str, app: &str| AppClock::new(&params, stream(host), stream(app));
        let at = |s: u64| Instant::from_nanos(s * 1_000_000_000);
        let (a, same, other) = (clock("x", "1"), clock("x", "2"), clock("y", "1"));
        assert_eq!(a.fires(at(30)), same.fires(at(30)));
        assert_ne!(a.fires(at(30)), other.fires(at(30)));
        // 100 ppm of 30 s are 3 ms.
        for clock in [&a, &other] {
            assert!(clock.fires(at(30)).nanos().abs_diff(at(30).nanos()) <= 3_000_000);
            assert!(clock.fires(at(30)) < clock.fires(at(31)));
            assert_eq!((clock.fires(at(0)), clock.fires_once(at(30))), (at(0), at(30)));
            assert_eq!(clock.fires(Instant::NEVER), Instant::NEVER);
        }
        let exact = AppClock::new(&JitterParams::NONE, stream("x"), stream("1"));
        assert_eq!(exact.fires(at(1_000)), at(1_000));
    }

    #[test]
    fn each_timer_is_late_by_its_own_slack() {
        let params = JitterParams { timer_slack: Spread::Uniform(us(0), us(50)), ..JitterParams::NONE };
        let mut clock = AppClock::new(&params, stream("x"), stream("1"));
        let at = Instant::from_nanos(1_000_000);
        let late: Vec<u64> = (0..1_000)
            .map(|_| {
                let late = clock.fires(at) - at;
                // A second call returns the same time.
                assert_eq!(clock.fires(at) - at, late);
                clock.fired();
                late.nanos()
            })
            .collect();
        assert!(late.iter().all(|ns| *ns <= 50_000));
        let mean = late.iter().sum::<u64>() / 1_000;
        assert!((24_000..26_000).contains(&mean), "{mean}");
    }
}
