//! Station schedulers: the trait, and the built-in ones.
//!
//! A scheduler does not see packets or PPDUs. The driver reports which TIDs have frames
//! ([`StationScheduler::schedule`]) and how much airtime stations have used ([`StationScheduler::charge`]).
//! When there may be room in the hardware, the driver *looks* through the list: the scheduler names one TID
//! after the other, and the driver tries to send a PPDU of each.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Debug;

use crate::sched::flow_queues::{FlowQueues, TinId};
use crate::types::{Ac, Duration, Instant, PeerId, Rate};
use crate::wifi::air::ppdu::{Content, Ppdu};
use crate::wifi::air::radio::Radio;
use crate::wifi::phy::ppdu_duration_without_extension;
use crate::wifi::tx::transmitter::{Attempt, TidIndex, Transmitter};

/// Direction of the airtime that a station is charged with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AirtimeUse {
    /// Sent to the station.
    Tx,
    /// Sent by the station.
    Rx,
}

impl AirtimeUse {
    /// Whether these parameters charge stations for it.
    #[inline]
    pub(in crate::wifi) const fn is_charged(self, by: &AirtimeParams) -> bool {
        match self {
            Self::Tx => by.charge_tx,
            Self::Rx => by.charge_rx,
        }
    }
}

/// A scheduler's view of the device during a look.
#[derive(Clone, Copy, Debug)]
pub struct DeviceView<'a> {
    pub(in crate::wifi) queues: &'a FlowQueues,
    pub(in crate::wifi) tx: &'a Transmitter,
    pub(crate) radio: &'a Radio,
    pub(in crate::wifi) aql: Option<&'a AqlParams>,
    /// What the firmware has, where it has queues of its own: the host knows of its frames only what they
    /// count for.
    pub(in crate::wifi) below: Option<&'a AirtimeBelow>,
}

impl DeviceView<'_> {
    /// Returns true if a TID has frames that may be sent: frames for another try, or frames in its flow
    /// queues. The flow queues are stopped while a Block Ack session is negotiated.
    #[inline]
    pub fn has_frames(&self, tid: TidIndex) -> bool {
        let t = &self.tx.tids[tid.index()];
        let queued = self.queues.backlog(TinId(tid.0)).0 > 0 && !t.queue_is_stopped();
        if self.below.is_some() {
            return queued;
        }
        t.may_send() && (queued || t.has_waiting())
    }

    /// Whether a TID carries group-addressed frames, which are not charged.
    #[inline]
    pub fn is_group(&self, tid: TidIndex) -> bool {
        self.tx.group == Some(tid.peer())
    }

    /// Packets and bytes in the TID's flow queues, without frames that wait for another try.
    pub fn backlog(&self, tid: TidIndex) -> (u32, u64) {
        self.queues.backlog(TinId(tid.0))
    }

    /// Expected throughput to a peer by rate control.
    pub fn expected(&self, peer: PeerId) -> Rate {
        self.tx.peers[peer.index()].expected
    }

    /// Whether a frame of the TID with a sequence number inside the Block Ack window waits for room in the
    /// hardware.
    pub fn waits_for_room(&self, tid: TidIndex) -> bool {
        self.below.is_none() && self.tx.tids[tid.index()].has_waiting_inside()
    }

    /// Whether airtime queue limits allow the TID's station more in the hardware; true without limits.
    // linux: net/mac80211/tx.c ieee80211_txq_airtime_check (5.18) - frames to groups always may, unless they
    // have a limit of their own.
    #[inline]
    pub fn allows(&self, tid: TidIndex) -> bool {
        self.aql.is_none_or(|aql| {
            if self.is_group(tid) {
                return match aql.groups {
                    GroupsCount::Limited(most) => self.below_of_groups() < most,
                    GroupsCount::InAll | GroupsCount::Not => true,
                };
            }
            let (own, all) = self.below(tid);
            own < aql.low || (own < aql.high && all < aql.threshold)
        })
    }

    /// Airtime of the TID's station in the hardware, in the TID's access category, that is not charged yet.
    /// Zero without airtime queue limits, because it is not counted then.
    // linux: net/mac80211/tx.c ieee80211_sta_deficit (6.0).
    #[inline]
    pub fn pending(&self, tid: TidIndex) -> Duration {
        if self.aql.is_some() { self.below(tid).0 } else { Duration::ZERO }
    }

    /// Whether the total airtime below the queues in an access category has reached the limit for this many
    /// listed stations.
    // linux: net/mac80211/tx.c ieee80211_txq_schedule_airtime_check (6.0), commit 8e4bac067105.
    // deviation: only where the firmware has queues; two aggregates of a driver that makes them are less.
    pub(in crate::wifi) fn is_category_full(&self, ac: Ac, listed: impl FnOnce() -> usize) -> bool {
        let (Some(aql), Some(below)) = (self.aql, self.below) else { return false };
        let used = below.of_category(ac);
        let limit = |listed: usize| aql.high + aql.low * (listed.max(1) as u64 - 1) / 2;
        // How many are listed is asked only between the limits for one peer and for all.
        used >= aql.high && (used >= limit(self.tx.peers.len()) || used >= limit(listed()))
    }

    /// Airtime below the queues, of a station in one category and of all: what PPDUs there take at their
    /// first rate.
    // deviation: where the driver makes the PPDUs each is what it will be on the air; mac80211 reckons each
    // frame by itself.
    fn below(&self, tid: TidIndex) -> (Duration, Duration) {
        let in_all = self.aql.is_some_and(|aql| aql.groups == GroupsCount::InAll);
        if let Some(below) = self.below {
            let groups = if in_all { below.of_groups() } else { Duration::ZERO };
            return (below.of(tid), below.all() + groups);
        }
        let (mut own, mut all) = (Duration::ZERO, Duration::ZERO);
        let counts = |ppdu: &&Ppdu| {
            ppdu.header.dev == self.tx.dev && (in_all || ppdu.header.content != Content::Group)
        };
        for ppdu in self.radio.ppdus().filter(counts) {
            let takes = ppdu_duration_without_extension(ppdu.chain.entries()[0].rate, ppdu.bytes);
            all += takes;
            if (ppdu.header.peer, ppdu.header.ac) == (tid.peer(), tid.ac()) {
                own += takes;
            }
        }
        (own, all)
    }

    /// Airtime of frames to groups below the queues.
    fn below_of_groups(&self) -> Duration {
        if let Some(below) = self.below {
            return below.of_groups();
        }
        let of_group = |ppdu: &&Ppdu| ppdu.header.dev == self.tx.dev && ppdu.header.content == Content::Group;
        let takes = |ppdu: &Ppdu| ppdu_duration_without_extension(ppdu.chain.entries()[0].rate, ppdu.bytes);
        self.radio.ppdus().filter(of_group).map(takes).fold(Duration::ZERO, |sum, takes| sum + takes)
    }
}

/// Airtime pending below mac80211's queues. As in mac80211, it is counted per frame in units of 4 us until
/// the driver reports the frame.
// linux: net/mac80211/sta_info.c ieee80211_sta_update_pending_airtime (6.12) - by station and category, by
// category, and in all.
#[derive(Clone, Debug)]
pub struct AirtimeBelow {
    /// By peer and category.
    stations: Vec<[u32; 4]>,
    categories: [u32; 4],
    /// Of frames to groups, which are neither in those of stations nor in those of categories.
    groups: u32,
}

impl AirtimeBelow {
    /// A unit of the count.
    const UNIT: Duration = Duration::from_micros(4);

    /// Of a device with so many peers.
    pub(in crate::wifi) fn new(peers: usize) -> Self {
        Self { stations: vec![[0; 4]; peers], categories: [0; 4], groups: 0 }
    }

    /// A frame has left its queue.
    #[inline]
    pub(in crate::wifi) fn add(&mut self, tid: TidIndex, units: u16) {
        let ac = tid.ac().index();
        self.stations[tid.peer().index()][ac] += u32::from(units);
        self.categories[ac] += u32::from(units);
    }

    /// Its driver has reported it.
    #[inline]
    pub(in crate::wifi) fn remove(&mut self, tid: TidIndex, units: u16) {
        let ac = tid.ac().index();
        self.stations[tid.peer().index()][ac] -= u32::from(units);
        self.categories[ac] -= u32::from(units);
    }

    /// A frame to a group has left its queue.
    pub(in crate::wifi) fn add_to_groups(&mut self, units: u16) {
        self.groups += u32::from(units);
    }

    /// Its driver has reported it.
    pub(in crate::wifi) fn remove_of_groups(&mut self, units: u16) {
        self.groups -= u32::from(units);
    }

    /// Pending airtime of group-addressed frames.
    #[inline]
    pub fn of_groups(&self) -> Duration {
        Self::UNIT * u64::from(self.groups)
    }

    /// Pending airtime of a TID's station in the TID's access category.
    #[inline]
    pub fn of(&self, tid: TidIndex) -> Duration {
        Self::UNIT * u64::from(self.stations[tid.peer().index()][tid.ac().index()])
    }

    /// Pending airtime of all stations in an access category.
    #[inline]
    pub fn of_category(&self, ac: Ac) -> Duration {
        Self::UNIT * u64::from(self.categories[ac.index()])
    }

    /// Pending airtime of all stations.
    #[inline]
    pub fn all(&self) -> Duration {
        Self::UNIT * u64::from(self.categories.iter().sum::<u32>())
    }
}

/// Decides which station is served next: its list, the order of turns, and the effect of charges.
///
/// Calls refer to TIDs ([`TidIndex`]: eight for each peer of the device, numbered without gaps), as in Linux.
/// A scheduler may list stations instead, and name any of their TIDs. The four access categories are
/// independent: a look concerns one category and never names a TID of another.
///
/// # Order of calls
///
/// [`schedule`](Self::schedule), [`charge`](Self::charge) and [`weigh`](Self::weigh) come in any order, but
/// not during a look. A look is one call of [`start`](Self::start), then [`next`](Self::next) and
/// [`done`](Self::done) in turn, until `next` returns `None` or `done` returns false. `now` never decreases.
///
/// # Requirements
///
/// - `next` names only TIDs of the category for which [`DeviceView::has_frames`] is true.
/// - A TID with frames stays listed. `schedule` is called with each of its packets and when it may send
///   again, not with each look: a forgotten TID may wait for ever.
/// - A look ends: if nothing can be sent, `next` returns `None` after each TID was tried.
/// - It uses no random numbers, reads no clock, and allocates only when it is built: the same calls give the
///   same answers.
///
/// [`crate::conformance::scheduler`] checks all of this for a user-defined scheduler.
pub trait StationScheduler: Debug {
    /// Whether it uses airtime weights; if not, weights in a scenario are an error.
    fn has_weights(&self) -> bool {
        false
    }

    /// Sets a station's airtime weight; the default is 256. Schedulers without weights ignore it.
    fn weigh(&mut self, _peer: PeerId, _weight: u32) {}

    /// The TID has frames, or may send its frames again. It may already be listed, and it may have no frames
    /// after all.
    fn schedule(&mut self, now: Instant, tid: TidIndex);

    /// The TID's station has used airtime: `Tx` after a PPDU to it, for all its tries together; `Rx` for each
    /// PPDU from it, with each received frame counted as if sent alone. The station may be unlisted and
    /// without frames.
    fn charge(&mut self, now: Instant, tid: TidIndex, used: Duration, kind: AirtimeUse);

    /// A look through the list of a category begins.
    fn start(&mut self, ac: Ac);

    /// The next TID, or `None` if no other may send now.
    fn next(&mut self, now: Instant, ac: Ac, view: &DeviceView<'_>) -> Option<TidIndex>;

    /// The result of the last named TID's turn. [`Attempt::Full`]: there was no room, and a frame has left
    /// its queue and waits.
    /// [`Attempt::Nothing`]: CoDel, or another AQM, has dropped all frames, or the Block Ack window is
    /// closed. Returns whether the look continues.
    fn done(&mut self, now: Instant, tid: TidIndex, attempt: Attempt, view: &DeviceView<'_>) -> bool;
}

/// Parameters of the airtime scheduler; each part can be switched off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AirtimeParams {
    /// Airtime a station may use in a round.
    pub quantum: Duration,
    /// Newly active stations go first, for one round.
    pub sparse: bool,
    /// Charge stations for airtime of frames to them.
    pub charge_tx: bool,
    /// Charge stations for airtime of frames from them.
    pub charge_rx: bool,
}

impl Default for AirtimeParams {
    // linux: drivers/net/wireless/ath/ath9k/ath9k.h ATH_AIRTIME_QUANTUM (4.14) - 300 us.
    fn default() -> Self {
        Self { quantum: Duration::from_micros(300), sparse: true, charge_tx: true, charge_rx: true }
    }
}

/// Airtime queue limits (AQL): limits of the airtime below mac80211's queues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AqlParams {
    /// Limit of a station in one access category, regardless of other stations (`aql_txq_limit`, low).
    pub low: Duration,
    /// Limit of a station while the device's total is below `threshold` (`aql_txq_limit`, high).
    pub high: Duration,
    /// Threshold of the airtime of all stations together (`aql_threshold`).
    pub threshold: Duration,
    /// How group-addressed frames count.
    pub groups: GroupsCount,
}

/// How group-addressed frames count against airtime queue limits. Their airtime is computed at the lowest
/// basic rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GroupsCount {
    /// They count in the total of all stations and are never held back.
    // linux: net/mac80211/sta_info.c ieee80211_sta_update_pending_airtime (5.5) - without a station for the
    // device's alone.
    InAll,
    /// They do not count.
    // linux: net/mac80211/tx.c ieee80211_tx_dequeue (6.0, commit 51d3cfaf992f of July 2022) - frames without
    // a station are not counted.
    Not,
    /// They are held back while this much of their airtime is below the queues, and do not count otherwise.
    // linux: net/mac80211/tx.c ieee80211_txq_airtime_check (commit 836c1addd3bf of July 2026, for what
    // follows 7.2) - 50 ms; OpenWrt has had it since February 2024.
    Limited(Duration),
}

impl GroupsCount {
    /// Limit of airtime for group-addressed frames in a patched kernel.
    // linux: include/net/cfg80211.h IEEE80211_DEFAULT_AQL_TXQ_LIMIT_MC (the same commit).
    pub const PATCHED: Self = Self::Limited(Duration::from_millis(50));
}

impl Default for AqlParams {
    // linux: include/net/mac80211.h, net/mac80211/main.c IEEE80211_DEFAULT_AQL_TXQ_LIMIT_L, _H,
    // IEEE80211_AQL_THRESHOLD (5.5).
    fn default() -> Self {
        let us = Duration::from_micros;
        Self { low: us(5_000), high: us(12_000), threshold: us(24_000), groups: GroupsCount::InAll }
    }
}
