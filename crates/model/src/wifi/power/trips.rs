//! An access point's own scans. It stops its beacons and its queues, sends what the hardware has, and is deaf
//! on its channel until it is back.
// linux: net/mac80211/offchannel.c ieee80211_offchannel_stop_vifs, ieee80211_offchannel_return (6.12) -
// nobody is told: stations send on, in vain.

use super::saver::{Act, SaverCounters};
use super::scan::{Scan, ScanParams};
use crate::types::Instant;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Home,
    /// What the hardware has is sent.
    Flushing,
    Away,
}

/// When an access point leaves its channel, and for how long.
#[derive(Debug)]
pub struct Trips {
    scan: Scan,
    state: State,
    /// Since when the state lasts.
    since: Instant,
    /// When it is back, while it is away.
    until: Instant,
    counters: SaverCounters,
}

impl Trips {
    /// An access point on its channel.
    pub fn new(scan: ScanParams) -> Self {
        Self {
            scan: Scan::new(scan),
            state: State::Home,
            since: Instant::ZERO,
            until: Instant::NEVER,
            counters: SaverCounters::default(),
        }
    }

    /// Whether frames wait until the access point is back: it is away, or about to leave.
    #[inline]
    pub fn holds(&self) -> bool {
        self.state != State::Home
    }

    /// When [`Trips::on_timer`] is to be called.
    #[inline]
    pub fn next_timer(&self) -> Option<Instant> {
        match self.state {
            State::Home => Some(self.scan.next()).filter(|at| *at < Instant::NEVER),
            State::Flushing => None,
            State::Away => Some(self.until),
        }
    }

    /// A timer has expired. Returns whether frames are to be held or released. `busy`: frames wait.
    pub fn on_timer(&mut self, now: Instant, busy: bool) -> Act {
        if self.next_timer().is_none_or(|at| at > now) {
            return Act::Nothing;
        }
        if self.state == State::Home {
            self.state = State::Flushing;
            return Act::Hold;
        }
        self.counters.away += now - self.since;
        self.state = State::Home;
        self.scan.back(now, busy);
        Act::Release
    }

    /// The hardware has sent all frames. Returns whether the access point leaves now.
    pub fn flushed(&mut self, now: Instant) -> bool {
        let leaves = self.state == State::Flushing;
        if leaves {
            (self.state, self.since, self.until) = (State::Away, now, now + self.scan.leave());
            self.counters.trips += 1;
        }
        leaves
    }

    /// The counters up to `now`.
    pub fn counters(&self, now: Instant) -> SaverCounters {
        let mut counters = self.counters;
        if self.state == State::Away {
            counters.away += now - self.since;
        }
        counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Duration;

    #[test]
    fn it_leaves_when_the_hardware_is_empty() {
        let ms = Duration::from_millis;
        let at = |n| Instant::ZERO + ms(n);
        let scan = ScanParams {
            start: ms(100),
            interval: None,
            active: (2, ms(60)),
            passive: (1, ms(111)),
            max_off_channel: ms(10_000),
            home_dwell: ms(200),
            home_dwell_busy: ms(200),
            leave_delay: ms(0),
        };
        let mut trips = Trips::new(scan);
        assert_eq!((trips.on_timer(at(99), false), trips.holds()), (Act::Nothing, false));
        assert!(!trips.flushed(at(99)));
        assert_eq!((trips.on_timer(at(100), false), trips.holds()), (Act::Hold, true));
        // All channels at once, from when it has left.
        assert!(trips.flushed(at(107)));
        assert_eq!(trips.next_timer(), Some(at(107 + 2 * 60 + 111)));
        assert_eq!(trips.counters(at(127)).away, ms(20));
        assert_eq!((trips.on_timer(at(338), true), trips.holds()), (Act::Release, false));
        let counters = trips.counters(at(500));
        assert_eq!((counters.away, counters.trips, trips.next_timer()), (ms(231), 1, None));
    }
}
