//! Airtime scheduler of Linux 5.14 to 5.19: stations with frames are ordered by their virtual clocks, which
//! advance with the airtime they use. A station may send while its clock is not ahead of the global clock of
//! its category.

use super::account::ACTIVE;
use crate::types::{Ac, Duration, Instant, PeerId};
use crate::wifi::config::{AIRTIME_WEIGHT, AirtimeParams};
use crate::wifi::stations::{AirtimeUse, DeviceView, StationScheduler};
use crate::wifi::tx::transmitter::{Attempt, TIDS, TidIndex};
use alloc::vec;
use alloc::vec::Vec;

/// Maximum lag of a station's clock in nanoseconds when it has frames again.
// linux: net/mac80211/ieee80211_i.h AIRTIME_MAX_BEHIND (5.15) - 20 ms.
const MAX_BEHIND: u64 = 20_000_000;

#[derive(Clone, Copy, Debug)]
struct Account {
    /// Airtime used, scaled to the default weight, in nanoseconds.
    clock: u64,
    /// Time at which it last had frames.
    active: Option<Instant>,
    weight: u32,
}

impl Account {
    fn is_active(&self, now: Instant) -> bool {
        self.active.is_some_and(|at| now.saturating_since(at) <= ACTIVE)
    }
}

#[derive(Clone, Debug, Default)]
struct Order {
    /// Global clock in nanoseconds: stations whose clock is later may not send.
    clock: u64,
    /// Sum of the weights of active stations, as of `counted`.
    weight: u64,
    counted: Instant,
    /// TIDs with frames, ordered by their stations' clocks.
    listed: Vec<TidIndex>,
}

/// Clocks of all stations, and of the device.
#[derive(Clone, Debug)]
pub(super) struct VirtualTime {
    params: AirtimeParams,
    accounts: Vec<Account>,
    orders: [Order; 4],
    is_listed: Vec<bool>,
    /// Position of the current pass in its category's list.
    at: Option<usize>,
}

impl VirtualTime {
    pub(super) fn new(params: AirtimeParams, peers: usize) -> Self {
        let account = Account { clock: 0, active: None, weight: AIRTIME_WEIGHT };
        let order = || Order { listed: Vec::with_capacity(peers * 2), ..Order::default() };
        Self {
            params,
            accounts: vec![account; peers * 4],
            orders: [order(), order(), order(), order()],
            is_listed: vec![false; peers * TIDS],
            at: None,
        }
    }

    /// Removes the TID at the current position, which has no frames left. The pass continues with the next
    /// one.
    // linux: net/mac80211/tx.c ieee80211_return_txq, __ieee80211_unschedule_txq (5.15).
    fn leave(&mut self, now: Instant, ac: Ac) {
        let Some(n) = self.at else { return };
        let tid = self.orders[ac.index()].listed.remove(n);
        self.is_listed[tid.index()] = false;
        self.accounts[place(tid)].active = Some(now);
        self.at = n.checked_sub(1);
    }

    /// Inserts a TID before others with an equal clock.
    fn insert(&mut self, tid: TidIndex) {
        let clock = self.accounts[place(tid)].clock;
        let listed = &mut self.orders[tid.ac().index()].listed;
        let n = listed.partition_point(|&t| self.accounts[place(t)].clock < clock);
        listed.insert(n, tid);
        self.is_listed[tid.index()] = true;
    }

    /// Updates the sum of the weights of active stations: with `force`, and if the last update is recent.
    // linux: net/mac80211/tx.c ieee80211_update_airtime_weight (5.15).
    fn count(&mut self, now: Instant, ac: Ac, force: bool) {
        let order = &mut self.orders[ac.index()];
        if force || now.saturating_since(order.counted) <= ACTIVE {
            let of = self.accounts.iter().skip(ac.index()).step_by(4);
            order.weight = of.filter(|a| a.is_active(now)).map(|a| u64::from(a.weight)).sum();
            order.counted = now;
        }
    }

    #[cfg(test)]
    pub(super) fn listed(&self, ac: Ac) -> impl Iterator<Item = TidIndex> {
        self.orders[ac.index()].listed.iter().copied()
    }

    /// Stations in order with their clocks, and the global clock, in us.
    #[cfg(test)]
    pub(super) fn state(&self, ac: Ac) -> alloc::string::String {
        let order = &self.orders[ac.index()];
        let one = |t: &TidIndex| alloc::format!("{}:{} ", t.peer().0, self.accounts[place(*t)].clock / 1000);
        alloc::format!(
            "{}| {}",
            order.listed.iter().map(one).collect::<alloc::string::String>(),
            order.clock / 1000
        )
    }
}

impl StationScheduler for VirtualTime {
    fn weigh(&mut self, peer: PeerId, weight: u32) {
        let first = peer.index() * 4;
        self.accounts[first..first + 4].iter_mut().for_each(|a| a.weight = weight);
    }

    /// Lists a TID. A station that was idle for long, or is far behind, starts at the global clock.
    // linux: net/mac80211/tx.c ieee80211_schedule_txq (5.15).
    // deviation: the lag limit does not wrap around in the first 20 ms.
    fn schedule(&mut self, now: Instant, tid: TidIndex) {
        let clock = self.orders[tid.ac().index()].clock;
        let account = &mut self.accounts[place(tid)];
        let was_active = account.is_active(now);
        account.active = Some(now);
        if self.is_listed[tid.index()] {
            return;
        }
        if account.clock < clock && (!was_active || account.clock + MAX_BEHIND < clock) {
            account.clock = clock;
        }
        self.count(now, tid.ac(), !was_active);
        self.insert(tid);
    }

    /// Advances the station's clock by its airtime, and the global clock by that airtime divided among the
    /// active stations.
    // linux: net/mac80211/sta_info.c ieee80211_register_airtime (5.15) - rounds.
    // deviation: uses nanoseconds and divisions - mac80211 uses microseconds and precomputed reciprocals.
    fn charge(&mut self, _now: Instant, tid: TidIndex, airtime: Duration, kind: AirtimeUse) {
        if !kind.is_charged(&self.params) {
            return;
        }
        let order = &mut self.orders[tid.ac().index()];
        let account = &mut self.accounts[place(tid)];
        let used = airtime.nanos() * u64::from(AIRTIME_WEIGHT);
        let own = u64::from(account.weight);
        let all = if order.weight == 0 { own } else { order.weight };
        order.clock += (used + all / 2) / all;
        account.clock += (used + own / 2) / own;
        if self.is_listed[tid.index()] {
            let n = order.listed.iter().position(|&t| t == tid).expect("it is listed");
            order.listed.remove(n);
            self.insert(tid);
        }
    }

    fn start(&mut self, _ac: Ac) {
        self.at = None;
    }

    /// Moves the global clock to the first station's if that is ahead. Others wait until the clock reaches
    /// theirs.
    // linux: net/mac80211/tx.c ieee80211_next_txq (5.15).
    fn next(&mut self, now: Instant, ac: Ac, view: &DeviceView<'_>) -> Option<TidIndex> {
        loop {
            let order = &mut self.orders[ac.index()];
            let n = self.at.map_or(0, |n| n + 1);
            let tid = *order.listed.get(n)?;
            let clock = self.accounts[place(tid)].clock;
            if clock > order.clock {
                if n > 0 {
                    return None;
                }
                order.clock = clock;
            }
            self.at = Some(n);
            if !view.allows(tid) {
                continue;
            }
            if view.has_frames(tid) {
                return Some(tid);
            }
            self.leave(now, ac);
        }
    }

    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_txq_schedule (5.15) - one aggregate per TID that
    // mac80211 names.
    fn done(&mut self, now: Instant, tid: TidIndex, attempt: Attempt, view: &DeviceView<'_>) -> bool {
        if attempt == Attempt::Full {
            return false;
        }
        if !view.has_frames(tid) {
            self.leave(now, tid.ac());
        }
        true
    }
}

const fn place(tid: TidIndex) -> usize {
    tid.peer().0 as usize * 4 + tid.ac().index()
}
