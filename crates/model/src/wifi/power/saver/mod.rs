//! Power save of a station: when it sleeps, what wakes it, and how it informs its access point.
//!
//! After an idle time the station announces its sleep in a Null frame with the Power Management bit. Once the
//! frame is acknowledged, the station listens to beacons only. If a beacon announces buffered frames, the
//! station wakes to receive them, or polls for one at a time.
// linux: net/mac80211/mlme.c ieee80211_dynamic_ps_enable_work, ieee80211_rx_mgmt_beacon (6.12) - idle timeout
// and wakeup.
// deviation: waking takes no time - real chips have to start their clock and bus.

use super::scan::{Scan, ScanParams};
use super::tim::Tim;
use crate::types::{Ac, Duration, Instant, PeerId};

/// Beacons that a sleeping station listens to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Listen {
    /// DTIM beacons.
    Dtim,
    /// Every n-th beacon (the listen interval).
    Every(u32),
}

/// Method by which a station retrieves buffered frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Retrieve {
    /// Wake up and announce it with a Null frame.
    Null,
    /// Send a PS-Poll for each frame and stay in power-save mode.
    PsPoll,
}

/// Power-save parameters of a station.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SaverParams {
    /// Idle time after which the station sleeps. Zero: always in power-save mode, waking only to transmit.
    pub timeout: Duration,
    /// Beacons that the station listens to.
    pub listen: Listen,
    /// Method by which the station retrieves buffered frames.
    pub retrieve: Retrieve,
    /// U-APSD access categories, one bit each.
    pub uapsd: u8,
    /// Maximum frames per service period.
    pub max_sp: u32,
    /// Interval after which the station triggers a service period if nothing else has.
    pub trigger_every: Option<Duration>,
}

/// Power-save action of a station.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Act {
    /// No action.
    Nothing,
    /// Send a Null frame with the Power Management bit `pm`.
    Null {
        /// True to announce sleep.
        pm: bool,
    },
    /// Send a PS-Poll for one frame.
    Poll,
    /// Send a trigger frame for a service period.
    Trigger,
    /// Hold the device's frames until the device is back on its channel.
    Hold,
    /// Release the held frames.
    Release,
}

/// Power-save state of a station.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Awake.
    Awake,
    /// The station has sent a Null frame to announce its sleep.
    Entering,
    /// Asleep, listening to beacons only.
    Dozing,
    /// The station has sent a PS-Poll.
    Polling,
    /// In a service period.
    Served,
    /// The station is about to leave its channel and first sends the frames in its hardware.
    Flushing,
    /// The station has announced that it leaves its channel.
    Leaving,
    /// The station is on another channel.
    Away,
}

/// Delay before the next attempt to sleep.
// linux: net/mac80211/status.c ieee80211_tx_status_ext (6.12) - repeats an unacknowledged Null frame after 10
// ms.
const AGAIN: Duration = Duration::from_millis(10);

/// Power-save counters of a station, for the report.
#[derive(Clone, Copy, Debug, Default)]
pub struct SaverCounters {
    /// Time asleep.
    pub dozed: Duration,
    /// Time on other channels.
    pub away: Duration,
    /// Number of times the station fell asleep.
    pub sleeps: u64,
    /// Number of times the station left its channel.
    pub trips: u64,
    /// PS-Polls sent.
    pub polls: u64,
    /// Service periods triggered.
    pub triggers: u64,
}

/// Power save of a station.
#[derive(Debug)]
pub struct Saver {
    params: Option<SaverParams>,
    scan: Option<Scan>,
    state: State,
    /// Start of the current state.
    since: Instant,
    /// Time of the last frame sent or received.
    idle_from: Instant,
    /// Earliest time of the next attempt to sleep.
    not_before: Instant,
    /// Time of the return, while away.
    until: Instant,
    /// A beacon has been received since the station requested frames.
    waited: bool,
    /// The station stays awake for group-addressed frames until the last one.
    pub group: bool,
    counters: SaverCounters,
}

impl Saver {
    /// Creates an awake station with power save, scans, or both.
    pub fn new(params: Option<SaverParams>, scan: Option<ScanParams>) -> Self {
        Self {
            params,
            scan: scan.map(Scan::new),
            state: State::Awake,
            since: Instant::ZERO,
            idle_from: Instant::ZERO,
            not_before: Instant::ZERO,
            until: Instant::NEVER,
            waited: false,
            group: false,
            counters: SaverCounters::default(),
        }
    }

    /// Returns the current state.
    #[inline]
    pub const fn state(&self) -> State {
        self.state
    }

    /// Returns the counters up to `now`.
    pub fn counters(&self, now: Instant) -> SaverCounters {
        let mut counters = self.counters;
        count(&mut counters, self.state, now - self.since);
        counters
    }

    /// Returns true if the station cannot receive frames. Beacons are handled separately.
    #[inline]
    pub const fn is_deaf(&self) -> bool {
        matches!(self.state, State::Dozing | State::Away)
    }

    /// Returns the Power Management bit of the station's frames.
    #[inline]
    pub const fn pm(&self) -> bool {
        match self.state {
            State::Awake | State::Entering | State::Flushing => false,
            State::Dozing | State::Polling | State::Served | State::Leaving | State::Away => true,
        }
    }

    /// Returns true if the station's own frames wait until it is back on its channel.
    pub const fn holds(&self) -> bool {
        matches!(self.state, State::Flushing | State::Leaving | State::Away)
    }

    fn go(&mut self, now: Instant, state: State) {
        count(&mut self.counters, self.state, now - self.since);
        (self.state, self.since, self.waited) = (state, now, false);
        match state {
            State::Dozing => self.counters.sleeps += 1,
            State::Away => self.counters.trips += 1,
            State::Polling => self.counters.polls += 1,
            _ => {}
        }
    }

    /// Returns true if the station's own frames of an access category are trigger frames.
    #[inline]
    pub const fn triggers(&self, ac: Ac) -> bool {
        match &self.params {
            Some(params) => params.uapsd >> ac.index() & 1 == 1,
            None => false,
        }
    }

    /// True if the station is always in power-save mode.
    const fn is_static(&self) -> bool {
        match &self.params {
            Some(params) => params.timeout.nanos() == 0,
            None => false,
        }
    }

    /// Returns when to call [`Saver::on_timer`].
    #[inline]
    pub fn next_timer(&self) -> Option<Instant> {
        let leaves = self.scan.map_or(Instant::NEVER, |scan| scan.next());
        let own = match (self.state, &self.params) {
            (State::Away, _) => return Some(self.until),
            (State::Flushing | State::Leaving, _) => return None,
            (State::Awake, Some(params)) => (self.idle_from + params.timeout).max(self.not_before),
            (State::Dozing, Some(SaverParams { trigger_every: Some(every), .. })) => {
                self.idle_from.max(self.since) + *every
            }
            _ => Instant::NEVER,
        };
        Some(own.min(leaves)).filter(|at| *at < Instant::NEVER)
    }

    /// Handles a timer. `busy`: the station has frames to send. `sending`: the hardware has frames to send.
    pub fn on_timer(&mut self, now: Instant, busy: bool, sending: bool) -> Act {
        if self.next_timer().is_none_or(|at| at > now) {
            return Act::Nothing;
        }
        if self.state == State::Away {
            self.go(now, State::Awake);
            self.idle_from = now;
            if let Some(scan) = &mut self.scan {
                scan.back(now, busy);
            }
            return Act::Release;
        }
        if self.scan.is_some_and(|scan| scan.next() <= now) {
            // linux: net/mac80211/offchannel.c ieee80211_offchannel_ps_enable (6.12) - sends a Null frame,
            // unless the station already sleeps.
            let asleep = matches!(self.state, State::Dozing | State::Polling | State::Served);
            self.go(now, State::Flushing);
            if asleep && !sending {
                self.leave(now);
            }
            return Act::Hold;
        }
        match (self.state, &self.params) {
            // linux: net/mac80211/mlme.c ieee80211_dynamic_ps_enable_work (6.12) - tries again later if
            // frames are in flight.
            (State::Awake, Some(_)) if busy => {
                (self.idle_from, self.not_before) = (now, now + AGAIN);
                Act::Nothing
            }
            (State::Awake, Some(_)) => {
                self.go(now, State::Entering);
                Act::Null { pm: true }
            }
            (State::Dozing, Some(_)) => self.trigger(now),
            _ => Act::Nothing,
        }
    }

    fn trigger(&mut self, now: Instant) -> Act {
        self.go(now, State::Served);
        self.counters.triggers += 1;
        self.idle_from = now;
        Act::Trigger
    }

    /// Continues after the hardware has sent all frames that the station waited for.
    pub fn flushed(&mut self, now: Instant) -> Act {
        if self.state != State::Flushing {
            return Act::Nothing;
        }
        self.go(now, State::Leaving);
        Act::Null { pm: true }
    }

    fn leave(&mut self, now: Instant) {
        let Some(scan) = &mut self.scan else { return };
        self.until = now + scan.leave();
        self.group = false;
        self.go(now, State::Away);
    }

    /// Handles the completion of a Null frame, acknowledged or after all its tries.
    pub fn null_done(&mut self, now: Instant, pm: bool, acknowledged: bool) -> Act {
        match (self.state, pm) {
            // linux: net/mac80211/offchannel.c ieee80211_offchannel_ps_enable (6.12) - leaves even without an
            // acknowledgement.
            (State::Leaving, true) => {
                self.leave(now);
                Act::Nothing
            }
            (State::Entering, true) if acknowledged => {
                self.go(now, State::Dozing);
                Act::Nothing
            }
            (State::Entering, true) => {
                self.go(now, State::Awake);
                self.not_before = now + AGAIN;
                Act::Nothing
            }
            // The station woke meanwhile, and its access point may consider it asleep.
            (State::Awake, true) => Act::Null { pm: false },
            _ => Act::Nothing,
        }
    }

    /// Handles a new frame to send. The station wakes, unless it may send while asleep.
    // linux: net/mac80211/tx.c ieee80211_tx_h_dynamic_ps (6.12) - voice frames with U-APSD do not wake the
    // station.
    // deviation: no category with U-APSD wakes the station, as in firmware - Linux exempts only voice.
    pub fn on_push(&mut self, now: Instant, ac: Ac) {
        self.used(now, ac);
        match self.state {
            State::Dozing | State::Served | State::Polling if self.triggers(ac) => {
                self.idle_from = now;
                if self.state == State::Dozing {
                    self.go(now, State::Served);
                }
                self.counters.triggers += 1;
            }
            State::Entering | State::Dozing | State::Polling | State::Served if !self.is_static() => {
                self.go(now, State::Awake);
            }
            _ => {}
        }
    }

    /// Handles a frame of the access category, sent or received: the station is not idle. U-APSD categories
    /// do not keep the station awake.
    // deviation: received frames count like sent ones - in mac80211, all received frames restart the timer,
    // including voice.
    #[inline]
    pub fn used(&mut self, now: Instant, ac: Ac) {
        if !self.triggers(ac) {
            self.idle_from = now;
        }
    }

    /// Handles a received frame with the More Data bit `more` and the EOSP bit `eosp`.
    pub fn received(&mut self, now: Instant, ac: Ac, more: bool, eosp: bool) -> Act {
        match self.state {
            State::Awake | State::Entering => {
                self.used(now, ac);
                Act::Nothing
            }
            State::Polling if more => {
                self.counters.polls += 1;
                Act::Poll
            }
            State::Polling => {
                self.go(now, State::Dozing);
                Act::Nothing
            }
            State::Served if eosp => {
                self.go(now, State::Dozing);
                Act::Nothing
            }
            _ => Act::Nothing,
        }
    }

    /// Returns true if the station listens to this beacon.
    // linux: drivers/net/wireless/ath/ath9k/common-beacon.c ath9k_cmn_beacon_config_sta (6.12) - listens to
    // every beacon if the interval is at least 100 ms; drivers/net/wireless/intel/iwlwifi/mvm/power.c (6.12)
    // - listens to every DTIM.
    // deviation: a lost beacon has no effect - real stations then stay awake for the next one.
    pub fn hears(&self, tim: &Tim) -> bool {
        match (self.state, &self.params) {
            (State::Away, _) => false,
            (State::Dozing | State::Polling | State::Served, Some(params)) => match params.listen {
                Listen::Dtim => tim.count == 0,
                Listen::Every(n) => tim.number.is_multiple_of(u64::from(n)),
            },
            _ => true,
        }
    }

    /// Handles a beacon from the station's access point.
    pub fn on_beacon(&mut self, now: Instant, own: PeerId, tim: &Tim) -> Act {
        self.group = tim.group;
        let Some(params) = &self.params else { return Act::Nothing };
        match self.state {
            State::Dozing | State::Polling | State::Served => {}
            // The access point missed that the station is awake.
            State::Awake if tim.has(own) => return Act::Null { pm: false },
            _ => return Act::Nothing,
        }
        // Frames requested just before may still be in flight.
        if self.state != State::Dozing && !core::mem::replace(&mut self.waited, true) {
            return Act::Nothing;
        }
        if !tim.has(own) {
            // They did not arrive, and nothing is buffered any more.
            if self.state != State::Dozing {
                self.go(now, State::Dozing);
            }
            return Act::Nothing;
        }
        // spec: ieee80211-2016 11.2.3.6 - all categories are delivery-enabled, so buffered frames are sent in
        // a service period.
        if params.uapsd == 0b1111 {
            return self.trigger(now);
        }
        match params.retrieve {
            Retrieve::Null => {
                self.go(now, State::Awake);
                self.idle_from = now;
                Act::Null { pm: false }
            }
            Retrieve::PsPoll => {
                self.go(now, State::Polling);
                Act::Poll
            }
        }
    }
}

fn count(counters: &mut SaverCounters, state: State, lasted: Duration) {
    match state {
        State::Dozing => counters.dozed += lasted,
        State::Away => counters.away += lasted,
        _ => {}
    }
}

#[cfg(test)]
mod tests;
