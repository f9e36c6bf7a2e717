//! Station schedulers: the trait and the types that schedulers share.
//!
//! A scheduler does not see packets or PPDUs. The driver reports TIDs with frames
//! ([`StationScheduler::schedule`]) and airtime used by stations ([`StationScheduler::charge`]). When the
//! hardware may have room, the driver starts a *scheduling pass*: the scheduler names one TID after the
//! other, and the driver tries to send a PPDU of each.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Debug;

use crate::sched::flow_queues::{FlowQueues, TinId};
use crate::types::{Ac, Duration, Instant, PeerId, Rate};
use crate::wifi::air::ppdu::{Content, Ppdu};
use crate::wifi::air::radio::Radio;
use crate::wifi::phy::ppdu_duration_without_extension;
use crate::wifi::tx::transmitter::{Attempt, TidIndex, Transmitter};

/// Direction of the airtime charged to a station.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AirtimeUse {
    /// Sent to the station.
    Tx,
    /// Sent by the station.
    Rx,
}

impl AirtimeUse {
    /// Returns true if `by` charges stations for this direction.
    #[inline]
    pub(in crate::wifi) const fn is_charged(self, by: &AirtimeParams) -> bool {
        match self {
            Self::Tx => by.charge_tx,
            Self::Rx => by.charge_rx,
        }
    }
}

/// A scheduler's view of the device during a scheduling pass.
#[derive(Clone, Copy, Debug)]
pub struct DeviceView<'a> {
    pub(in crate::wifi) queues: &'a FlowQueues,
    pub(in crate::wifi) tx: &'a Transmitter,
    pub(crate) radio: &'a Radio,
    pub(in crate::wifi) aql: Option<&'a AqlParams>,
    /// Airtime below the queues, if the firmware has queues of its own. The host then knows the frames there
    /// only by their estimated airtime.
    pub(in crate::wifi) below: Option<&'a AirtimeBelow>,
}

impl DeviceView<'_> {
    /// Returns true if a TID has frames that may be sent: retries or frames in its flow queues. The flow
    /// queues are stopped while a Block Ack session is negotiated.
    #[inline]
    pub fn has_frames(&self, tid: TidIndex) -> bool {
        let t = &self.tx.tids[tid.index()];
        let queued = self.queues.backlog(TinId(tid.0)).0 > 0 && !t.queue_is_stopped();
        if self.below.is_some() {
            return queued;
        }
        t.may_send() && (queued || t.has_waiting())
    }

    /// Returns true if a TID carries group-addressed frames, which are not charged.
    #[inline]
    pub fn is_group(&self, tid: TidIndex) -> bool {
        self.tx.group == Some(tid.peer())
    }

    /// Returns the packets and bytes in the TID's flow queues, without retries.
    pub fn backlog(&self, tid: TidIndex) -> (u32, u64) {
        self.queues.backlog(TinId(tid.0))
    }

    /// Returns the throughput to a peer that rate control expects.
    pub fn expected(&self, peer: PeerId) -> Rate {
        self.tx.peers[peer.index()].expected
    }

    /// Returns true if a frame of the TID inside the Block Ack window waits for room in the hardware.
    pub fn waits_for_room(&self, tid: TidIndex) -> bool {
        self.below.is_none() && self.tx.tids[tid.index()].has_waiting_inside()
    }

    /// Returns true if the airtime queue limits allow the TID's station more frames in the hardware, or if
    /// there are no limits.
    // linux: net/mac80211/tx.c ieee80211_txq_airtime_check (5.18) - always allows group-addressed frames,
    // unless they have a limit of their own.
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

    /// Returns the uncharged airtime of the TID's station in the hardware, in the TID's access category. Zero
    /// without airtime queue limits, as it is counted only for them.
    // linux: net/mac80211/tx.c ieee80211_sta_deficit (6.0).
    #[inline]
    pub fn pending(&self, tid: TidIndex) -> Duration {
        if self.aql.is_some() { self.below(tid).0 } else { Duration::ZERO }
    }

    /// Returns true if the airtime below the queues in an access category has reached the limit for `listed`
    /// stations.
    // linux: net/mac80211/tx.c ieee80211_txq_schedule_airtime_check (6.0), commit 8e4bac067105.
    // deviation: applies only if the firmware has queues - two aggregates of a driver that builds them stay
    // below the limit.
    pub(in crate::wifi) fn is_category_full(&self, ac: Ac, listed: impl FnOnce() -> usize) -> bool {
        let (Some(aql), Some(below)) = (self.aql, self.below) else { return false };
        let used = below.of_category(ac);
        let limit = |listed: usize| aql.high + aql.low * (listed.max(1) as u64 - 1) / 2;
        // Counts the listed stations only if the result depends on their number.
        used >= aql.high && (used >= limit(self.tx.peers.len()) || used >= limit(listed()))
    }

    /// Airtime below the queues, of the TID's station in its category and of all stations: the duration of
    /// PPDUs there at their first rate.
    // deviation: if the driver builds the PPDUs, uses their duration on the air - mac80211 estimates each
    // frame separately.
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

    /// Airtime of group-addressed frames below the queues.
    fn below_of_groups(&self) -> Duration {
        if let Some(below) = self.below {
            return below.of_groups();
        }
        let of_group = |ppdu: &&Ppdu| ppdu.header.dev == self.tx.dev && ppdu.header.content == Content::Group;
        let takes = |ppdu: &Ppdu| ppdu_duration_without_extension(ppdu.chain.entries()[0].rate, ppdu.bytes);
        self.radio.ppdus().filter(of_group).map(takes).fold(Duration::ZERO, |sum, takes| sum + takes)
    }
}

/// Airtime pending below mac80211's queues. As in mac80211, each frame counts in units of 4 us until the
/// driver reports it.
// linux: net/mac80211/sta_info.c ieee80211_sta_update_pending_airtime (6.12) - counts per station and
// category, per category, and in total.
#[derive(Clone, Debug)]
pub struct AirtimeBelow {
    /// Pending airtime by peer and access category.
    stations: Vec<[u32; 4]>,
    categories: [u32; 4],
    /// Group-addressed frames, which count neither in `stations` nor in `categories`.
    groups: u32,
}

impl AirtimeBelow {
    /// Unit of the counts.
    const UNIT: Duration = Duration::from_micros(4);

    /// Creates the counts of a device with `peers` peers.
    pub(in crate::wifi) fn new(peers: usize) -> Self {
        Self { stations: vec![[0; 4]; peers], categories: [0; 4], groups: 0 }
    }

    /// Adds a frame that leaves its queue.
    #[inline]
    pub(in crate::wifi) fn add(&mut self, tid: TidIndex, units: u16) {
        let ac = tid.ac().index();
        self.stations[tid.peer().index()][ac] += u32::from(units);
        self.categories[ac] += u32::from(units);
    }

    /// Removes a frame reported by the driver.
    #[inline]
    pub(in crate::wifi) fn remove(&mut self, tid: TidIndex, units: u16) {
        let ac = tid.ac().index();
        self.stations[tid.peer().index()][ac] -= u32::from(units);
        self.categories[ac] -= u32::from(units);
    }

    /// Adds a group-addressed frame that leaves its queue.
    pub(in crate::wifi) fn add_to_groups(&mut self, units: u16) {
        self.groups += u32::from(units);
    }

    /// Removes a group-addressed frame reported by the driver.
    pub(in crate::wifi) fn remove_of_groups(&mut self, units: u16) {
        self.groups -= u32::from(units);
    }

    /// Returns the pending airtime of group-addressed frames.
    #[inline]
    pub fn of_groups(&self) -> Duration {
        Self::UNIT * u64::from(self.groups)
    }

    /// Returns the pending airtime of a TID's station in the TID's access category.
    #[inline]
    pub fn of(&self, tid: TidIndex) -> Duration {
        Self::UNIT * u64::from(self.stations[tid.peer().index()][tid.ac().index()])
    }

    /// Returns the pending airtime of all stations in an access category.
    #[inline]
    pub fn of_category(&self, ac: Ac) -> Duration {
        Self::UNIT * u64::from(self.categories[ac.index()])
    }

    /// Returns the pending airtime of all stations.
    #[inline]
    pub fn all(&self) -> Duration {
        Self::UNIT * u64::from(self.categories.iter().sum::<u32>())
    }
}

/// Chooses the station to serve next: owns the list of stations, the order of service and the airtime
/// accounting.
///
/// Calls identify TIDs ([`TidIndex`]: eight per peer of the device, numbered without gaps), as in Linux. A
/// scheduler may list stations instead, and name any of their TIDs. The four access categories are
/// independent: a scheduling pass concerns one category and never names a TID of another.
///
/// # Order of calls
///
/// [`schedule`](Self::schedule), [`charge`](Self::charge) and [`weigh`](Self::weigh) may be called in any
/// order, but not during a scheduling pass. A pass is one call of [`start`](Self::start), followed by
/// alternating calls of [`next`](Self::next) and [`done`](Self::done) until `next` returns `None` or `done`
/// returns false. `now` never decreases.
///
/// # Requirements
///
/// - `next` names only TIDs of the category for which [`DeviceView::has_frames`] is true.
/// - A TID with frames stays listed. The driver calls `schedule` for each packet and when the TID may send
///   again, not for each pass; a TID that the scheduler forgets may wait forever.
/// - A pass ends: if nothing can be sent, `next` returns `None` after each TID was tried.
/// - The scheduler is deterministic: it uses no random numbers, reads no clock, and allocates only when
///   built.
///
/// [`crate::conformance::scheduler`] checks these requirements for a user-defined scheduler.
pub trait StationScheduler: Debug {
    /// Returns true if the scheduler uses airtime weights. If false, weights in a scenario are an error.
    fn has_weights(&self) -> bool {
        false
    }

    /// Sets a station's airtime weight; the default is 256. Schedulers without weights ignore the call.
    fn weigh(&mut self, _peer: PeerId, _weight: u32) {}

    /// Lists a TID that has frames or may retry frames. The TID may already be listed, and may have no frames
    /// after all.
    fn schedule(&mut self, now: Instant, tid: TidIndex);

    /// Charges airtime to the TID's station: `Tx` after a PPDU to the station, for all its tries together;
    /// `Rx` for each PPDU from the station, with each received frame counted as if sent alone. The station
    /// may be unlisted and without frames.
    fn charge(&mut self, now: Instant, tid: TidIndex, used: Duration, kind: AirtimeUse);

    /// Starts a scheduling pass of an access category.
    fn start(&mut self, ac: Ac);

    /// Returns the next TID, or `None` if no other TID may send now.
    fn next(&mut self, now: Instant, ac: Ac, view: &DeviceView<'_>) -> Option<TidIndex>;

    /// Reports the result of the TID named last. [`Attempt::Full`]: the hardware had no room, and a dequeued
    /// frame waits. [`Attempt::Nothing`]: the AQM dropped all frames, or the Block Ack window is closed.
    /// Returns true to continue the pass.
    fn done(&mut self, now: Instant, tid: TidIndex, attempt: Attempt, view: &DeviceView<'_>) -> bool;
}

/// Parameters of the airtime scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AirtimeParams {
    /// Airtime that a station may use per round.
    pub quantum: Duration,
    /// Serve newly active stations first, for one round.
    pub sparse: bool,
    /// Charge stations for frames sent to them.
    pub charge_tx: bool,
    /// Charge stations for frames received from them.
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
    /// Limit per station and access category, regardless of other stations (`aql_txq_limit`, low).
    pub low: Duration,
    /// Limit per station and access category while the device total is below `threshold` (`aql_txq_limit`,
    /// high).
    pub high: Duration,
    /// Threshold of the device total (`aql_threshold`).
    pub threshold: Duration,
    /// Accounting of group-addressed frames.
    pub groups: GroupsCount,
}

/// Accounting of group-addressed frames against airtime queue limits. Their airtime is computed at the lowest
/// basic rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GroupsCount {
    /// They count in the device total and are never held back.
    // linux: net/mac80211/sta_info.c ieee80211_sta_update_pending_airtime (5.5) - without a station, counts
    // only in the device total.
    InAll,
    /// They do not count.
    // linux: net/mac80211/tx.c ieee80211_tx_dequeue (6.0, commit 51d3cfaf992f of July 2022) - does not count
    // frames without a station.
    Not,
    /// They are held back while this much of their airtime is below the queues, and do not count against
    /// other limits.
    // linux: net/mac80211/tx.c ieee80211_txq_airtime_check (commit 836c1addd3bf of July 2026, for the release
    // after 7.2) - 50 ms; in OpenWrt since February 2024.
    Limited(Duration),
}

impl GroupsCount {
    /// Airtime limit of group-addressed frames in a patched kernel.
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
