//! An access point's side: who sleeps, what waits for them, and who is being served although asleep.

use super::group::Group;
use super::scan::ScanParams;
use super::tim::Tim;
use super::trips::Trips;
use crate::types::{Ac, Ctx, Duration, Instant, PeerId, Pkt, PktList, PlaceId, Reason, Sink};
use alloc::vec::Vec;

/// Maximum number of frames buffered for a sleeping station per access category.
// linux: net/mac80211/sta_info.h STA_MAX_TX_BUFFER (6.12).
pub const STATION_LIMIT: u32 = 64;

/// Maximum number of frames buffered for all sleeping stations.
// linux: net/mac80211/ieee80211_i.h TOTAL_MAX_TX_BUFFER (6.12).
pub const TOTAL_LIMIT: u32 = 512;

/// Minimum time before a buffered frame expires.
// linux: net/mac80211/sta_info.c sta_info_buffer_expired, STA_TX_BUFFER_EXPIRE (6.12) - twice the listen
// interval, and 10 s at least.
pub const EXPIRY: Duration = Duration::from_secs(10);

/// Interval between searches for expired frames, while frames are buffered.
// linux: net/mac80211/sta_info.h STA_INFO_CLEANUP_INTERVAL, sta_info.c sta_info_cleanup (6.12) - so that a
// frame waits for up to twice that.
// deviation: in Linux at whole seconds.
pub const LOOK_EVERY: Duration = Duration::from_secs(10);

/// What an access point knows about a station that may sleep.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Habits {
    /// U-APSD access categories, one bit each: their frames are delivered when the station sends a trigger
    /// frame.
    pub uapsd: u8,
    /// Maximum number of frames in a service period.
    pub max_sp: u32,
    /// Listen interval, in beacons.
    pub listen: u32,
}

/// A station as its access point sees it.
#[derive(Debug, Default)]
struct Sleeper {
    asleep: bool,
    /// What it has asked for is on its way.
    served: bool,
    habits: Habits,
    /// Frames that came while it slept, by category.
    waiting: [PktList; 4],
}

/// An access point's buffer and state of stations that may sleep.
#[derive(Debug)]
pub struct Sleepers {
    stations: Vec<Sleeper>,
    /// Frames in the lists of all of them.
    total: u32,
    asleep: u32,
    /// When old frames are looked for.
    look_at: Option<Instant>,
    beacon_interval: Duration,
    beacons: u64,
    /// TIM of the current beacon, or of the one sent last.
    pub tim: Tim,
    /// The host keeps frames for sleepers; otherwise they go down as ever, to a firmware that keeps them.
    host_keeps: bool,
    /// Buffered group-addressed frames.
    pub group: Group,
    /// The access point's own scans, if it has any.
    pub trips: Option<Trips>,
    place: PlaceId,
}

impl Sleepers {
    /// State for an access point with awake stations only. Drops are recorded at `place`.
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

    /// The same with scans by the access point.
    #[must_use]
    pub fn with_scan(self, scan: Option<ScanParams>) -> Self {
        Self { trips: scan.map(Trips::new), ..self }
    }

    /// Whether the access point is on other channels, or about to leave.
    pub fn holds(&self) -> bool {
        self.trips.as_ref().is_some_and(Trips::holds)
    }

    /// Whether a station sleeps.
    #[inline]
    pub fn is_asleep(&self, peer: PeerId) -> bool {
        self.stations.get(peer.index()).is_some_and(|station| station.asleep)
    }

    /// Whether any station sleeps.
    #[inline]
    pub const fn any_asleep(&self) -> bool {
        self.asleep > 0
    }

    /// Whether the host (and not the firmware) buffers frames.
    #[inline]
    pub const fn host_keeps(&self) -> bool {
        self.host_keeps
    }

    /// What the access point knows about a station.
    pub fn habits(&self, peer: PeerId) -> Habits {
        self.stations[peer.index()].habits
    }

    /// Records that a station fell asleep or woke. Returns whether this is a change.
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

    /// Records whether an answer to a station's request is under way. Returns the previous value.
    pub fn set_served(&mut self, peer: PeerId, served: bool) -> bool {
        core::mem::replace(&mut self.stations[peer.index()].served, served)
    }

    /// Buffers a frame for a sleeping station.
    // linux: net/mac80211/tx.c ieee80211_tx_h_unicast_ps_buf (6.12) - in all first, then of the station's
    // category: the oldest goes.
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

    /// Time of the next search for expired frames, if there may be any.
    #[inline]
    pub const fn next_timer(&self) -> Option<Instant> {
        self.look_at
    }

    /// The host buffers frames for a station from now on, so a search for expired frames is needed.
    pub fn look_later(&mut self, now: Instant) {
        if self.host_keeps {
            self.look_at.get_or_insert(now + LOOK_EVERY);
        }
    }

    /// The search for expired frames is done. `left` says whether frames remain.
    pub fn looked(&mut self, now: Instant, left: bool) {
        self.look_at = left.then(|| now + LOOK_EVERY);
    }

    /// Time after which a frame for the station expires.
    // linux: net/mac80211/sta_info.c sta_info_buffer_expired (6.12) - in whole seconds.
    pub fn expiry(&self, peer: PeerId) -> Duration {
        let listened = self.beacon_interval * (2 * u64::from(self.stations[peer.index()].habits.listen));
        Duration::from_secs(listened.nanos() / 1_000_000_000).max(EXPIRY)
    }

    /// Drops expired frames. Returns whether others remain.
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
    /// otherwise.
    // linux: net/mac80211/tx.c ieee80211_tx_h_multicast_ps_buf (6.12).
    pub fn keep_for_group<S: Sink>(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) -> bool {
        let keeps = self.host_keeps && (self.asleep > 0 || self.group.waits());
        if keeps {
            self.group.keep(now, p, self.place, ctx);
        }
        keeps
    }

    /// One old frame of each station, and of the group's, makes room.
    // linux: net/mac80211/tx.c purge_old_ps_buffers (6.12) - of a station's categories the lowest that has
    // any.
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

    /// Whether frames are buffered for a station in an access category.
    #[inline]
    pub fn waits(&self, peer: PeerId, ac: Ac) -> bool {
        !self.stations[peer.index()].waiting[ac.index()].is_empty()
    }

    /// Prepares the next beacon. `waits(peer, categories)` says whether frames of these categories (one bit
    /// each) wait for a peer outside this buffer. `below` is the number of group-addressed frames that the
    /// firmware buffers.
    // linux: net/mac80211/sta_info.c __sta_info_recalc_tim (6.12) - categories with U-APSD do not count,
    // unless all have it.
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

    /// Number of buffered packets.
    pub fn packets(&self) -> u64 {
        u64::from(self.total) + self.group.packets()
    }

    /// Bytes of the buffered packets, with Ethernet headers.
    pub fn bytes(&self) -> u64 {
        let lists = self.stations.iter().flat_map(|station| &station.waiting);
        lists.map(PktList::bytes).sum::<u64>() + self.group.bytes()
    }
}

/// The access categories that the TIM announces, one bit each, given the U-APSD categories.
pub const fn told(uapsd: u8) -> u8 {
    if uapsd == 0b1111 { 0b1111 } else { !uapsd & 0b1111 }
}

#[cfg(test)]
mod tests;
