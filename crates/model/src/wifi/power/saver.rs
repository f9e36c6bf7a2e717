//! A station that saves power: when it sleeps, what wakes it, and what it tells its access point.
//!
//! A station sleeps after a time in which it has sent and received nothing: a null frame with the power management bit says so, and once
//! that is acknowledged it hears beacons alone. One of them tells it that frames wait: it gets them awake, or one at a time.
// linux: net/mac80211/mlme.c ieee80211_dynamic_ps_enable_work, ieee80211_rx_mgmt_beacon (6.12) - both.
// deviation: waking takes no time; the clock of a chip and the bus to it have some.

use super::scan::{Scan, ScanParams};
use super::tim::Tim;
use crate::vocabulary::{Ac, Duration, Instant, PeerId};

/// Which beacons a sleeping station hears.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Listen {
    /// Those that are a DTIM.
    Dtim,
    /// Every so many.
    Every(u32),
}

/// How it gets what waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Retrieve {
    /// It wakes, which a null frame tells.
    Null,
    /// It asks for one frame after the other and sleeps on.
    PsPoll,
}

/// How a station saves power.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SaverParams {
    /// It sleeps when nothing was sent or received for so long; zero: it sleeps all the time, and sends all the same.
    pub timeout: Duration,
    /// Which beacons it hears.
    pub listen: Listen,
    /// How it gets what waits.
    pub retrieve: Retrieve,
    /// A bit for each category: frames of it go with U-APSD.
    pub uapsd: u8,
    /// Frames of a service period at most.
    pub max_sp: u32,
    /// It asks for a service period if nothing else did for so long.
    pub trigger_every: Option<Duration>,
}

/// What a station has to send for its power save.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Act {
    /// Nothing.
    Nothing,
    /// A null frame, which says whether it sleeps.
    Null {
        /// It does.
        pm: bool,
    },
    /// It asks for one frame.
    Poll,
    /// It asks for a service period.
    Trigger,
    /// Frames of the device stay where they are until it is back.
    Hold,
    /// They go.
    Release,
}

/// What a station does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// It hears everything.
    Awake,
    /// It has said that it is about to sleep.
    Entering,
    /// It hears beacons.
    Dozing,
    /// It has asked for a frame.
    Polling,
    /// A service period is under way.
    Served,
    /// It is about to leave its channel: what the hardware has is sent first.
    Flushing,
    /// It has said so.
    Leaving,
    /// It is on other channels.
    Away,
}

/// When it tries again to sleep.
// linux: net/mac80211/status.c ieee80211_tx_status_ext (6.12) - a null frame without an acknowledgement: the next one after 10 ms.
const AGAIN: Duration = Duration::from_millis(10);

/// What a station did, for its report.
#[derive(Clone, Copy, Debug, Default)]
pub struct SaverCounters {
    /// Time in which it heard beacons alone, and on other channels.
    pub dozed: Duration,
    /// See there.
    pub away: Duration,
    /// How often it fell asleep, and left its channel.
    pub sleeps: u64,
    /// See there.
    pub trips: u64,
    /// Frames that it asked for one by one, and service periods.
    pub polls: u64,
    /// See there.
    pub triggers: u64,
}

/// A station's power save.
#[derive(Debug)]
pub struct Saver {
    params: Option<SaverParams>,
    scan: Option<Scan>,
    state: State,
    /// Since when the state lasts.
    since: Instant,
    /// When it was last sent or received anything.
    idle_from: Instant,
    /// It does not try to sleep before.
    not_before: Instant,
    /// When it is back, while it is away.
    until: Instant,
    /// It has asked for something, and heard a beacon since.
    waited: bool,
    /// It gets frames to groups until the last of them.
    pub group: bool,
    counters: SaverCounters,
}

impl Saver {
    /// Awake, with power save, or scans, or both.
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

    /// What it does.
    #[inline]
    pub const fn state(&self) -> State {
        self.state
    }

    /// What it did until `now`.
    pub fn counters(&self, now: Instant) -> SaverCounters {
        let mut counters = self.counters;
        count(&mut counters, self.state, now - self.since);
        counters
    }

    /// Whether what is sent to it now is not heard. Beacons are another matter.
    #[inline]
    pub const fn is_deaf(&self) -> bool {
        matches!(self.state, State::Dozing | State::Away)
    }

    /// What its frames say of it.
    #[inline]
    pub const fn pm(&self) -> bool {
        match self.state {
            State::Awake | State::Entering | State::Flushing => false,
            State::Dozing | State::Polling | State::Served | State::Leaving | State::Away => true,
        }
    }

    /// Whether what it would send waits until it is back.
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

    /// Its own frames of a category ask for a service period.
    #[inline]
    pub const fn triggers(&self, ac: Ac) -> bool {
        match &self.params {
            Some(params) => params.uapsd >> ac.index() & 1 == 1,
            None => false,
        }
    }

    /// It sleeps all the time.
    const fn is_static(&self) -> bool {
        match &self.params {
            Some(params) => params.timeout.nanos() == 0,
            None => false,
        }
    }

    /// When [`Saver::on_timer`] is to be called.
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

    /// A time is over. `busy`: it has something to send. `sending`: the hardware has.
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
            // linux: net/mac80211/offchannel.c ieee80211_offchannel_ps_enable (6.12) - a null frame, unless it sleeps already.
            let asleep = matches!(self.state, State::Dozing | State::Polling | State::Served);
            self.go(now, State::Flushing);
            if asleep && !sending {
                self.leave(now);
            }
            return Act::Hold;
        }
        match (self.state, &self.params) {
            // linux: net/mac80211/mlme.c ieee80211_dynamic_ps_enable_work (6.12) - with frames on their way it is looked at again.
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

    /// The hardware has nothing left that it waited for.
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

    /// A null frame is done with, after all its tries.
    pub fn null_done(&mut self, now: Instant, pm: bool, acknowledged: bool) -> Act {
        match (self.state, pm) {
            // linux: net/mac80211/offchannel.c ieee80211_offchannel_ps_enable (6.12) - it leaves whether that was heard or not.
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
            // It woke meanwhile, and its access point may think that it sleeps.
            (State::Awake, true) => Act::Null { pm: false },
            _ => Act::Nothing,
        }
    }

    /// A frame is to be sent: it wakes, unless it need not.
    // linux: net/mac80211/tx.c ieee80211_tx_h_dynamic_ps (6.12) - voice with U-APSD does not wake it.
    // deviation: every category that has U-APSD does not - Linux says so of voice alone, firmwares of all.
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

    /// Something of a category was sent, or came: it is not idle. What goes with U-APSD needs nobody awake.
    // deviation: what comes counts as what is sent - mac80211's timer is set anew by all that comes, voice too.
    #[inline]
    pub fn used(&mut self, now: Instant, ac: Ac) {
        if !self.triggers(ac) {
            self.idle_from = now;
        }
    }

    /// A frame to it has come; `more`: others wait, `eosp`: the service period is over.
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

    /// Whether it hears this beacon.
    // linux: drivers/net/wireless/ath/ath9k/common-beacon.c ath9k_cmn_beacon_config_sta (6.12) - each beacon, where the interval is 100 ms
    // or more; drivers/net/wireless/intel/iwlwifi/mvm/power.c (6.12) - each DTIM.
    // deviation: one that was not understood is as if it had not been sent - stations stay awake for the next then.
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

    /// A beacon of its access point that it hears.
    pub fn on_beacon(&mut self, now: Instant, own: PeerId, tim: &Tim) -> Act {
        self.group = tim.group;
        let Some(params) = &self.params else { return Act::Nothing };
        match self.state {
            State::Dozing | State::Polling | State::Served => {}
            // It has said that it is awake, and was not heard.
            State::Awake if tim.has(own) => return Act::Null { pm: false },
            _ => return Act::Nothing,
        }
        // What was asked for just before may still be on its way.
        if self.state != State::Dozing && !core::mem::replace(&mut self.waited, true) {
            return Act::Nothing;
        }
        if !tim.has(own) {
            // It has not come, and there is nothing more.
            if self.state != State::Dozing {
                self.go(now, State::Dozing);
            }
            return Act::Nothing;
        }
        // spec: ieee80211-2016 11.2.3.6 - all categories are delivery-enabled: what waits comes with a service period.
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
