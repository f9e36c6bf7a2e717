//! Access point side of power save: sleeping stations, frames buffered for them, and service in progress.

use super::group::Group;
use super::scan::ScanParams;
use super::tim::Tim;
use super::trips::Trips;
use crate::types::{Ac, Ctx, Duration, Instant, PeerId, Pkt, PktList, PlaceId, Reason, Sink};
use alloc::vec::Vec;

/// Maximum frames buffered per sleeping station and access category.
// linux: net/mac80211/sta_info.h STA_MAX_TX_BUFFER (6.12).
pub const STATION_LIMIT: u32 = 64;

/// Maximum frames buffered for all sleeping stations.
// linux: net/mac80211/ieee80211_i.h TOTAL_MAX_TX_BUFFER (6.12).
pub const TOTAL_LIMIT: u32 = 512;

/// Minimum time before a buffered frame expires.
// linux: net/mac80211/sta_info.c sta_info_buffer_expired, STA_TX_BUFFER_EXPIRE (6.12) - twice the listen
// interval, at least 10 s.
pub const EXPIRY: Duration = Duration::from_secs(10);

/// Interval between checks for expired frames, while frames are buffered.
// linux: net/mac80211/sta_info.h STA_INFO_CLEANUP_INTERVAL, sta_info.c sta_info_cleanup (6.12) - a frame may
// wait for up to twice that.
// deviation: checks are not aligned - Linux rounds them to whole seconds.
pub const LOOK_EVERY: Duration = Duration::from_secs(10);

/// Power-save parameters of a station as known to the access point.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Habits {
    /// U-APSD access categories, one bit each. Their frames are delivered after a trigger frame.
    pub uapsd: u8,
    /// Maximum frames per service period.
    pub max_sp: u32,
    /// Listen interval, in beacons.
    pub listen: u32,
}

/// A station as seen by its access point.
#[derive(Debug, Default)]
struct Sleeper {
    asleep: bool,
    /// A response to the station's request is in progress.
    served: bool,
    habits: Habits,
    /// Frames that arrived during its sleep, by access category.
    waiting: [PktList; 4],
}

/// Buffers and states of an access point's stations.
#[derive(Debug)]
pub struct Sleepers {
    stations: Vec<Sleeper>,
    /// Frames in all station buffers together.
    total: u32,
    asleep: u32,
    /// Next check for expired frames.
    look_at: Option<Instant>,
    beacon_interval: Duration,
    beacons: u64,
    /// TIM of the current beacon, or of the last one sent.
    pub tim: Tim,
    /// Buffer frames in the host. If false, frames pass to a firmware that buffers them.
    host_keeps: bool,
    /// Buffered group-addressed frames.
    pub group: Group,
    /// The access point's own scans, if any.
    pub trips: Option<Trips>,
    place: PlaceId,
}

impl Sleepers {
    /// Creates the state with all stations awake. Drops are recorded at `place`.
    pub fn new(
        habits: Vec<Habits>,
        dtim_period: u32,
        beacon_interval: Duration,
        host_keeps: bool,
        place: PlaceId,
    ) -> Self {
        let tim = Tim::new(dtim_period, habits.len());
        let one = |habits| Sleeper { habits, ..Sleeper::default() };
        Self {
            stations: habits.into_iter().map(one).collect(),
            total: 0,
            asleep: 0,
            look_at: None,
            beacon_interval,
            beacons: 0,
            tim,
            host_keeps,
            group: Group::default(),
            trips: None,
            place,
        }
    }

    /// Adds scans by the access point.
    #[must_use]
    pub fn with_scan(self, scan: Option<ScanParams>) -> Self {
        Self { trips: scan.map(Trips::new), ..self }
    }

    /// Returns true if the access point is on another channel, or about to leave its own.
    pub fn holds(&self) -> bool {
        self.trips.as_ref().is_some_and(Trips::holds)
    }

    /// Returns true if a station sleeps.
    #[inline]
    pub fn is_asleep(&self, peer: PeerId) -> bool {
        self.stations.get(peer.index()).is_some_and(|station| station.asleep)
    }

    /// Returns true if any station sleeps.
    #[inline]
    pub const fn any_asleep(&self) -> bool {
        self.asleep > 0
    }

    /// Returns true if the host (and not the firmware) buffers frames.
    #[inline]
    pub const fn host_keeps(&self) -> bool {
        self.host_keeps
    }

    /// Returns the power-save parameters of a station.
    pub fn habits(&self, peer: PeerId) -> Habits {
        self.stations[peer.index()].habits
    }

    /// Records that a station fell asleep or woke. Returns true if its state has changed.
    pub fn set_asleep(&mut self, peer: PeerId, asleep: bool) -> bool {
        let station = &mut self.stations[peer.index()];
        if station.asleep == asleep {
            return false;
        }
        (station.asleep, station.served) = (asleep, false);
        if asleep {
            self.asleep += 1
        } else {
            self.asleep -= 1
        }
        true
    }

    /// Sets whether a response to a station's request is in progress. Returns the previous value.
    pub fn set_served(&mut self, peer: PeerId, served: bool) -> bool {
        core::mem::replace(&mut self.stations[peer.index()].served, served)
    }

    /// Buffers a frame for a sleeping station.
    // linux: net/mac80211/tx.c ieee80211_tx_h_unicast_ps_buf (6.12) - checks the total first, then the
    // station's category, and drops the oldest frame.
    pub fn keep<S: Sink>(&mut self, now: Instant, p: Pkt, (peer, ac): (PeerId, Ac), ctx: &mut Ctx<'_, S>) {
        if self.total >= TOTAL_LIMIT {
            self.purge(now, ctx);
        }
        let list = &mut self.stations[peer.index()].waiting[ac.index()];
        if list.packets() >= STATION_LIMIT
            && let Some(oldest) = list.pop(ctx.packets)
        {
            self.total -= 1;
            ctx.drop(now, oldest, Reason::Overlimit, self.place);
        }
        ctx.packets.get_mut(p).t_enqueue = now;
        list.push(ctx.packets, p);
        self.total += 1;
        self.look_later(now);
    }

    /// Returns the time of the next check for expired frames, if frames may be buffered.
    #[inline]
    pub const fn next_timer(&self) -> Option<Instant> {
        self.look_at
    }

    /// Schedules a check for expired frames, because the host now buffers frames for a station.
    pub fn look_later(&mut self, now: Instant) {
        if self.host_keeps {
            self.look_at.get_or_insert(now + LOOK_EVERY);
        }
    }

    /// Completes a check for expired frames. `left` is true if frames remain.
    pub fn looked(&mut self, now: Instant, left: bool) {
        self.look_at = left.then(|| now + LOOK_EVERY);
    }

    /// Returns the time after which a frame for the station expires.
    // linux: net/mac80211/sta_info.c sta_info_buffer_expired (6.12) - in whole seconds.
    pub fn expiry(&self, peer: PeerId) -> Duration {
        let listened = self.beacon_interval * (2 * u64::from(self.stations[peer.index()].habits.listen));
        Duration::from_secs(listened.nanos() / 1_000_000_000).max(EXPIRY)
    }

    /// Drops expired frames. Returns true if others remain.
    pub fn give_up_old<S: Sink>(&mut self, now: Instant, ctx: &mut Ctx<'_, S>) -> bool {
        for n in 0..self.stations.len() {
            let expiry = self.expiry(PeerId::from_index(n));
            for list in &mut self.stations[n].waiting {
                while let Some(oldest) = list.head()
                    && now.saturating_since(ctx.packets.get(oldest).t_enqueue) > expiry
                    && let Some(oldest) = list.pop(ctx.packets)
                {
                    self.total -= 1;
                    ctx.drop(now, oldest, Reason::Expired, self.place);
                }
            }
        }
        self.total > 0
    }

    /// Buffers a group-addressed frame if a station sleeps or other such frames are buffered. Returns false
    /// if the frame was not buffered.
    // linux: net/mac80211/tx.c ieee80211_tx_h_multicast_ps_buf (6.12).
    pub fn keep_for_group<S: Sink>(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) -> bool {
        let keeps = self.host_keeps && (self.asleep > 0 || self.group.waits());
        if keeps {
            self.group.keep(now, p, self.place, ctx);
        }
        keeps
    }

    /// Makes room by dropping one old frame of each station and one group-addressed frame.
    // linux: net/mac80211/tx.c purge_old_ps_buffers (6.12) - from each station's lowest nonempty category.
    fn purge<S: Sink>(&mut self, now: Instant, ctx: &mut Ctx<'_, S>) {
        for station in &mut self.stations {
            let oldest = station.waiting.iter_mut().rev().find_map(|list| list.pop(ctx.packets));
            if let Some(oldest) = oldest {
                self.total -= 1;
                ctx.drop(now, oldest, Reason::Overlimit, self.place);
            }
        }
        self.group.drop_oldest(now, self.place, ctx);
    }

    /// Takes the oldest frame buffered for a station in an access category.
    pub fn take<S: Sink>(&mut self, peer: PeerId, ac: Ac, ctx: &mut Ctx<'_, S>) -> Option<Pkt> {
        let taken = self.stations[peer.index()].waiting[ac.index()].pop(ctx.packets);
        self.total -= u32::from(taken.is_some());
        taken
    }

    /// Returns true if frames are buffered for a station in an access category.
    #[inline]
    pub fn waits(&self, peer: PeerId, ac: Ac) -> bool {
        !self.stations[peer.index()].waiting[ac.index()].is_empty()
    }

    /// Prepares the next beacon. `waits(peer, categories)` returns true if frames of these categories (one
    /// bit each) wait for a peer outside this buffer. `below` is the number of group-addressed frames
    /// buffered in the firmware.
    // linux: net/mac80211/sta_info.c __sta_info_recalc_tim (6.12) - ignores U-APSD categories, unless all
    // categories use U-APSD.
    pub fn beacon(&mut self, below: u32, waits: impl Fn(PeerId, u8) -> bool) {
        self.tim.next(self.beacons);
        self.beacons += 1;
        for (n, station) in self.stations.iter().enumerate() {
            if !station.asleep {
                continue;
            }
            let peer = PeerId::from_index(n);
            let counted = told(station.habits.uapsd);
            let kept = Ac::ALL
                .iter()
                .any(|ac| counted >> ac.index() & 1 == 1 && !station.waiting[ac.index()].is_empty());
            if kept || waits(peer, counted) {
                self.tim.set(peer);
            }
        }
        self.tim.group = self.group.announce(self.tim.count == 0, below);
    }

    /// Returns the number of buffered packets.
    pub fn packets(&self) -> u64 {
        u64::from(self.total) + self.group.packets()
    }

    /// Returns the bytes of the buffered packets, with Ethernet headers.
    pub fn bytes(&self) -> u64 {
        let lists = self.stations.iter().flat_map(|station| &station.waiting);
        lists.map(PktList::bytes).sum::<u64>() + self.group.bytes()
    }
}

/// Returns the access categories that the TIM announces, one bit each, given the U-APSD categories.
pub const fn told(uapsd: u8) -> u8 {
    if uapsd == 0b1111 { 0b1111 } else { !uapsd & 0b1111 }
}

#[cfg(test)]
mod tests;
