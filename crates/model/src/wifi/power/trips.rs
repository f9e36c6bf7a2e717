//! Scans by an access point. It stops its beacons and queues, sends the frames in its hardware, and receives
//! nothing on its channel until it is back.
// linux: net/mac80211/offchannel.c ieee80211_offchannel_stop_vifs, ieee80211_offchannel_return (6.12) -
// without an announcement: stations keep sending in vain.

use super::saver::{Act, SaverCounters};
use super::scan::{Scan, ScanParams};
use crate::types::Instant;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Home,
    Flushing,
    Away,
}

/// Absences of an access point from its channel.
#[derive(Debug)]
pub struct Trips {
    scan: Scan,
    state: State,
    /// Start of the absence.
    since: Instant,
    /// Time of the return, while away.
    until: Instant,
    counters: SaverCounters,
}

impl Trips {
    /// Creates an access point on its channel.
    pub fn new(scan: ScanParams) -> Self {
        Self {
            scan: Scan::new(scan),
            state: State::Home,
            since: Instant::ZERO,
            until: Instant::NEVER,
            counters: SaverCounters::default(),
        }
    }

    /// Returns true if frames wait until the access point is back: it is away, or about to leave.
    #[inline]
    pub fn holds(&self) -> bool {
        self.state != State::Home
    }

    /// Returns when to call [`Trips::on_timer`].
    #[inline]
    pub fn next_timer(&self) -> Option<Instant> {
        match self.state {
            State::Home => Some(self.scan.next()).filter(|at| *at < Instant::NEVER),
            State::Flushing => None,
            State::Away => Some(self.until),
        }
    }

    /// Handles a timer. Returns whether to hold or release frames. `busy`: frames wait.
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

    /// Continues after the hardware has sent all frames. Returns true if the access point leaves now.
    pub fn flushed(&mut self, now: Instant) -> bool {
        let leaves = self.state == State::Flushing;
        if leaves {
            (self.state, self.since, self.until) = (State::Away, now, now + self.scan.leave());
            self.counters.trips += 1;
        }
        leaves
    }

    /// Returns the counters up to `now`.
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
    fn leaves_when_the_hardware_is_empty() {
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
        // All channels in one absence, which starts on leaving.
        assert!(trips.flushed(at(107)));
        assert_eq!(trips.next_timer(), Some(at(107 + 2 * 60 + 111)));
        assert_eq!(trips.counters(at(127)).away, ms(20));
        assert_eq!((trips.on_timer(at(338), true), trips.holds()), (Act::Release, false));
        let counters = trips.counters(at(500));
        assert_eq!((counters.away, counters.trips, trips.next_timer()), (ms(231), 1, None));
    }
}
