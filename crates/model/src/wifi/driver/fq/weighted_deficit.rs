//! Airtime fairness by deficits, as in mac80211 from 5.1 to 5.13 and since 6.0: a single list, weights, and
//! airtime queue limits.

use super::account::{ACTIVE, deficits, quantum, representative};
use crate::sched::drr::{DeficitRoundRobin, Drr, EmptyNew, Member};
use crate::types::{Ac, Duration, Instant, PeerId};
use crate::wifi::config::{AIRTIME_WEIGHT, AirtimeParams};
use crate::wifi::stations::{AirtimeUse, DeviceView, StationScheduler};
use crate::wifi::tx::transmitter::{Attempt, TIDS, TidIndex};
use alloc::vec;
use alloc::vec::Vec;

/// Minimum quantum in nanoseconds, regardless of the weight.
// deviation: at least 10 us - less would only cost rounds.
const LEAST_SHARE: i64 = 10_000;

/// Puts a station that becomes active at the head of the list; stations without frames are not listed.
#[derive(Debug)]
pub(super) struct WeightedDeficit {
    params: AirtimeParams,
    /// Deficits in nanoseconds.
    pool: Drr,
    /// Newly active stations are on the new list, others on the old one; together they form Linux's single
    /// list.
    rounds: [DeficitRoundRobin; 4],
    /// Weights by peer.
    weights: Vec<u32>,
    /// Number of the pass in which each TID was last served, and of the current pass.
    served: Vec<u32>,
    look: u32,
    /// First TID held back by airtime queue limits since a PPDU was last sent in this pass.
    held_back: Option<TidIndex>,
    /// True until the current pass has named a TID.
    first: bool,
    /// Since 6.0: time at which a station and category, by its representative TID, was last listed with
    /// frames.
    active: Option<Vec<Option<Instant>>>,
}

impl WeightedDeficit {
    /// Creates the scheduler with the rules of 5.1 to 5.13, for a device with `peers` peers.
    pub(super) fn new(params: AirtimeParams, peers: usize) -> Self {
        Self {
            params,
            pool: deficits(peers, quantum(&params)),
            rounds: Default::default(),
            weights: vec![AIRTIME_WEIGHT; peers],
            served: vec![0; peers * TIDS],
            look: 0,
            held_back: None,
            first: false,
            active: None,
        }
    }

    /// Creates the scheduler with the rules since 6.0: pending airtime counts as used, and long-idle stations
    /// are not charged.
    pub(super) fn with_pending(params: AirtimeParams, peers: usize) -> Self {
        Self { active: Some(vec![None; peers * TIDS]), ..Self::new(params, peers) }
    }

    /// Marks a TID's station as active, because the TID was listed, or has frames left after its turn.
    // linux: net/mac80211/tx.c ieee80211_txq_set_active (6.0).
    #[inline]
    fn stays_active(&mut self, now: Instant, tid: TidIndex, view: &DeviceView<'_>) {
        if let Some(active) = &mut self.active
            && view.has_frames(tid)
        {
            active[representative(tid).index()] = Some(now);
        }
    }

    /// Moves the head to the end after its turn if no airtime flags are set (`airtime_flags` 0), as in plain
    /// round robin. Returns true if so.
    #[inline]
    fn rotates(&mut self, ac: Ac) -> bool {
        let rotates = !self.params.charges();
        if rotates {
            self.pool.rotate_head(&mut self.rounds[ac.index()]);
        }
        rotates
    }

    /// Returns true if no TID is listed in a category, and its limit is not reached.
    #[inline]
    pub(super) fn is_idle(&self, ac: Ac, view: &DeviceView<'_>) -> bool {
        let is_full = || self.active.is_some() && view.is_category_full(ac, || 1);
        self.rounds[ac.index()].is_empty() && !is_full()
    }

    /// Updates a deficit as if the TID had been listed alone, had sent its only frame, and had left: two
    /// visits may have added quanta.
    #[inline]
    pub(super) fn passed(&mut self, now: Instant, tid: TidIndex, view: &DeviceView<'_>) {
        if let Some(active) = &mut self.active {
            active[representative(tid).index()] = Some(now);
        }
        let used = if self.active.is_some() { view.pending(tid).nanos() as i64 } else { 0 };
        if self.pool.deficit(Member(tid.0)) <= used {
            let share = share_of(&self.params, self.weights[tid.peer().index()]);
            let lacking = used - self.pool.deficit(Member(tid.0));
            self.pool.charge(Member(tid.0), -(lacking / share + 1) * share);
        }
    }

    #[cfg(test)]
    pub(super) fn lists(&self) -> (&Drr, &[DeficitRoundRobin; 4]) {
        (&self.pool, &self.rounds)
    }
}

/// Quantum of a station with this weight, in nanoseconds.
#[inline]
fn share_of(params: &AirtimeParams, weight: u32) -> i64 {
    (quantum(params) * i64::from(weight) / i64::from(AIRTIME_WEIGHT)).max(LEAST_SHARE)
}

/// Number of stations that are listed in a category, or were recently.
// linux: net/mac80211/tx.c ieee80211_txq_keep_active (6.0).
// deviation: counts all TIDs of a station in a category as one.
#[cold]
fn recent(active: &[Option<Instant>], ac: Ac, now: Instant) -> usize {
    let of = |n: &usize| TidIndex(*n as u32).ac() == ac;
    let is_active = |n: usize| active[n].is_some_and(|at| now.saturating_since(at) <= ACTIVE);
    (0..active.len()).filter(of).filter(|n| is_active(*n)).count()
}

impl StationScheduler for WeightedDeficit {
    fn weigh(&mut self, peer: PeerId, weight: u32) {
        self.weights[peer.index()] = weight;
    }

    /// Lists a TID. The station is active from then on, and again when its turn ends with frames left, but
    /// not with each frame.
    // linux: net/mac80211/tx.c __ieee80211_schedule_txq (5.4) - puts the TID at the head, and moves it to the
    // end at its first visit if its deficit is used up; __ieee80211_schedule_txq, ieee80211_txq_set_active
    // (6.0).
    #[inline]
    fn schedule(&mut self, now: Instant, tid: TidIndex) {
        let (member, rounds) = (Member(tid.0), &mut self.rounds[tid.ac().index()]);
        let is_new = if self.params.charges() {
            self.pool.activate_first(rounds, member)
        } else {
            self.pool.activate(rounds, member, false)
        };
        if let Some(active) = &mut self.active
            && is_new
        {
            active[representative(tid).index()] = Some(now);
        }
    }

    // linux: net/mac80211/sta_info.c ieee80211_sta_register_airtime (6.0) - does not charge stations that
    // were inactive for 100 ms.
    fn charge(&mut self, now: Instant, tid: TidIndex, used: Duration, kind: AirtimeUse) {
        let is_active = |at: &[Option<Instant>]| {
            at[representative(tid).index()].is_some_and(|at| now.saturating_since(at) <= ACTIVE)
        };
        if kind.is_charged(&self.params) && self.active.as_deref().is_none_or(is_active) {
            self.pool.charge(Member(tid.0), used.nanos() as i64);
        }
    }

    #[inline]
    fn start(&mut self, _ac: Ac) {
        self.held_back = None;
        self.first = true;
        self.look = self.look.wrapping_add(1);
    }

    #[inline]
    fn next(&mut self, now: Instant, ac: Ac, view: &DeviceView<'_>) -> Option<TidIndex> {
        if core::mem::take(&mut self.first)
            && let Some(active) = &self.active
            && view.is_category_full(ac, || recent(active, ac, now))
        {
            return None;
        }
        let Self { params, pool, weights, .. } = self;
        let rounds = &mut self.rounds[ac.index()];
        let has_pending = self.active.is_some();
        let share = |m: Member| share_of(params, weights[TidIndex(m.0).peer().index()]);
        // linux: net/mac80211/tx.c ieee80211_sta_deficit (6.0).
        let pending = |m: Member| if has_pending { view.pending(TidIndex(m.0)).nanos() as i64 } else { 0 };
        loop {
            let (member, _) = pool.next_by(rounds, share, pending)?;
            let tid = TidIndex(member.0);
            if !view.has_frames(tid) {
                pool.head_empty(rounds, EmptyNew::Leaves);
                continue;
            }
            // linux: net/mac80211/tx.c ieee80211_next_txq, ieee80211_txq_airtime_check (5.18) - moves a TID
            // with too much airtime below the queues to the end; the round ends when no other TID is left.
            if !view.allows(tid) {
                if self.held_back == Some(tid) {
                    return None;
                }
                self.held_back.get_or_insert(tid);
                pool.rotate_head(rounds);
                continue;
            }
            // linux: net/mac80211/tx.c ieee80211_next_txq (5.1), schedule_round - one turn each per pass.
            let served = core::mem::replace(&mut self.served[tid.index()], self.look) == self.look;
            return (!served).then_some(tid);
        }
    }

    #[inline]
    fn done(&mut self, now: Instant, tid: TidIndex, attempt: Attempt, view: &DeviceView<'_>) -> bool {
        // linux: net/mac80211/tx.c __ieee80211_schedule_txq (6.0) - puts a queue without a station at the
        // end.
        if view.is_group(tid) && attempt != Attempt::Nothing && self.params.charges() {
            self.pool.rotate_head(&mut self.rounds[tid.ac().index()]);
        }
        match attempt {
            Attempt::Sent => {
                self.held_back = None;
                self.stays_active(now, tid, view);
                self.rotates(tid.ac());
                true
            }
            Attempt::Full => {
                self.stays_active(now, tid, view);
                self.rotates(tid.ac())
            }
            // CoDel dropped all frames, or the window is closed until frames in flight are acknowledged.
            Attempt::Nothing => !view.has_frames(tid) || self.rotates(tid.ac()),
        }
    }
}
