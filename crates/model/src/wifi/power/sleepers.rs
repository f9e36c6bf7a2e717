//! An access point's side: who sleeps, what waits for them, and who is being served although asleep.

use super::group::Group;
use super::scan::ScanParams;
use super::tim::Tim;
use super::trips::Trips;
use crate::vocabulary::{Ac, Ctx, Duration, Instant, PeerId, Pkt, PktList, PlaceId, Reason, Sink};
use alloc::vec::Vec;

/// Frames that wait for a sleeping station in a category at most.
// linux: net/mac80211/sta_info.h STA_MAX_TX_BUFFER (6.12).
pub const STATION_LIMIT: u32 = 64;

/// Frames that wait for all of them at most.
// linux: net/mac80211/ieee80211_i.h TOTAL_MAX_TX_BUFFER (6.12).
pub const TOTAL_LIMIT: u32 = 512;

/// How long a frame waits at least before it is given up.
// linux: net/mac80211/sta_info.c sta_info_buffer_expired, STA_TX_BUFFER_EXPIRE (6.12) - twice the listen interval, and 10 s at least.
pub const EXPIRY: Duration = Duration::from_secs(10);

/// How often old frames are looked for, as long as there are any at all.
// linux: net/mac80211/sta_info.h STA_INFO_CLEANUP_INTERVAL, sta_info.c sta_info_cleanup (6.12) - so that a frame waits for up to twice that.
// deviation: in Linux at whole seconds.
pub const LOOK_EVERY: Duration = Duration::from_secs(10);

/// What an access point knows of a station that may sleep.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Habits {
    /// A bit for each category: it is sent when the station asks by one of its own.
    pub uapsd: u8,
    /// Frames of a service period at most.
    pub max_sp: u32,
    /// Beacons from one that it hears to the next.
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

/// Stations that may sleep.
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
    /// What the beacon that is sent, or was sent last, says.
    pub tim: Tim,
    /// The host keeps frames for sleepers; otherwise they go down as ever, to a firmware that keeps them.
    host_keeps: bool,
    /// Frames to groups.
    pub group: Group,
    /// When the access point itself leaves its channel.
    pub trips: Option<Trips>,
    place: PlaceId,
}

impl Sleepers {
    /// Of an access point with so many stations, all of them awake. Drops are booked at `place`.
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

    /// The same access point, which scans.
    #[must_use]
    pub fn with_scan(self, scan: Option<ScanParams>) -> Self {
        Self { trips: scan.map(Trips::new), ..self }
    }

    /// Whether it is on other channels, or about to leave.
    pub fn holds(&self) -> bool {
        self.trips.as_ref().is_some_and(Trips::holds)
    }

    /// Whether a station sleeps.
    #[inline]
    pub fn is_asleep(&self, peer: PeerId) -> bool {
        self.stations.get(peer.index()).is_some_and(|station| station.asleep)
    }

    /// Whether anybody does.
    #[inline]
    pub const fn any_asleep(&self) -> bool {
        self.asleep > 0
    }

    /// Whether the host keeps frames.
    #[inline]
    pub const fn host_keeps(&self) -> bool {
        self.host_keeps
    }

    /// What is known of a station.
    pub fn habits(&self, peer: PeerId) -> Habits {
        self.stations[peer.index()].habits
    }

    /// A station fell asleep, or woke. True if that is news.
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

    /// What a station has asked for is on its way, or not any more. Whether it was before.
    pub fn set_served(&mut self, peer: PeerId, served: bool) -> bool {
        core::mem::replace(&mut self.stations[peer.index()].served, served)
    }

    /// Keeps a frame for a sleeping station.
    // linux: net/mac80211/tx.c ieee80211_tx_h_unicast_ps_buf (6.12) - in all first, then of the station's category: the oldest goes.
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

    /// When old frames are looked for, if there may be any.
    #[inline]
    pub const fn next_timer(&self) -> Option<Instant> {
        self.look_at
    }

    /// Frames for a station are kept by the host from now on: they may grow old.
    pub fn look_later(&mut self, now: Instant) {
        if self.host_keeps {
            self.look_at.get_or_insert(now + LOOK_EVERY);
        }
    }

    /// Old frames have been looked for; others are `left`, which will be.
    pub fn looked(&mut self, now: Instant, left: bool) {
        self.look_at = left.then(|| now + LOOK_EVERY);
    }

    /// How long a frame waits for a station before it is given up.
    // linux: net/mac80211/sta_info.c sta_info_buffer_expired (6.12) - in whole seconds.
    pub fn expiry(&self, peer: PeerId) -> Duration {
        let listened = self.beacon_interval * (2 * u64::from(self.stations[peer.index()].habits.listen));
        Duration::from_secs(listened.nanos() / 1_000_000_000).max(EXPIRY)
    }

    /// Frames that have waited for too long are given up; whether others are left.
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

    /// Keeps a frame to a group, if anybody sleeps or others are kept; false otherwise.
    // linux: net/mac80211/tx.c ieee80211_tx_h_multicast_ps_buf (6.12).
    pub fn keep_for_group<S: Sink>(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) -> bool {
        let keeps = self.host_keeps && (self.asleep > 0 || self.group.waits());
        if keeps {
            self.group.keep(now, p, self.place, ctx);
        }
        keeps
    }

    /// One old frame of each station, and of the group's, makes room.
    // linux: net/mac80211/tx.c purge_old_ps_buffers (6.12) - of a station's categories the lowest that has any.
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

    /// Takes the oldest frame kept for a station in a category.
    pub fn take<S: Sink>(&mut self, peer: PeerId, ac: Ac, ctx: &mut Ctx<'_, S>) -> Option<Pkt> {
        let taken = self.stations[peer.index()].waiting[ac.index()].pop(ctx.packets);
        self.total -= u32::from(taken.is_some());
        taken
    }

    /// Frames kept for a station in a category.
    #[inline]
    pub fn waits(&self, peer: PeerId, ac: Ac) -> bool {
        !self.stations[peer.index()].waiting[ac.index()].is_empty()
    }

    /// The next beacon is made. `waits` says for whom frames wait, of these categories (a bit for each), beside those that are kept
    /// here; `below`: frames to groups that a firmware keeps.
    // linux: net/mac80211/sta_info.c __sta_info_recalc_tim (6.12) - categories with U-APSD do not count, unless all have it.
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

    /// Packets that are kept.
    pub fn packets(&self) -> u64 {
        u64::from(self.total) + self.group.packets()
    }

    /// Their bytes, with Ethernet headers.
    pub fn bytes(&self) -> u64 {
        let lists = self.stations.iter().flat_map(|station| &station.waiting);
        lists.map(PktList::bytes).sum::<u64>() + self.group.bytes()
    }
}

/// The categories that beacons tell of, where these have U-APSD.
pub const fn told(uapsd: u8) -> u8 {
    if uapsd == 0b1111 { 0b1111 } else { !uapsd & 0b1111 }
}

#[cfg(test)]
mod tests;
