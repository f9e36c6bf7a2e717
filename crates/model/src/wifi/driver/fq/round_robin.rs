//! One aggregate per TID in turn, regardless of its airtime: ath9k without airtime fairness, in two versions.

use crate::types::{Ac, Duration, Instant};
use crate::wifi::config::WhenFull;
use crate::wifi::driver::active_tids::{ActiveTids, Look};
use crate::wifi::stations::{AirtimeUse, DeviceView, StationScheduler};
use crate::wifi::tx::transmitter::{Attempt, TIDS, TidIndex};

/// Moves a TID to the end of the round after an aggregate. A TID that finds the hardware full keeps its turn.
// linux: drivers/net/wireless/ath/ath9k/xmit.c ath_txq_schedule (4.11) - without airtime fairness, moves the
// head to the end after each aggregate.
#[derive(Debug)]
pub(super) struct RoundRobin {
    turns: ActiveTids,
}

impl RoundRobin {
    pub(super) fn new(peers: usize) -> Self {
        Self { turns: ActiveTids::new(peers * TIDS, WhenFull::KeepsTurn) }
    }

    #[cfg(test)]
    pub(super) fn listed(&self, ac: Ac) -> impl Iterator<Item = TidIndex> {
        self.turns.listed(ac)
    }
}

impl StationScheduler for RoundRobin {
    #[inline]
    fn schedule(&mut self, _now: Instant, tid: TidIndex) {
        self.turns.schedule(tid);
    }

    fn charge(&mut self, _now: Instant, _tid: TidIndex, _used: Duration, _direction: AirtimeUse) {}

    fn start(&mut self, _ac: Ac) {}

    #[inline]
    fn next(&mut self, _now: Instant, ac: Ac, view: &DeviceView<'_>) -> Option<TidIndex> {
        loop {
            let tid = self.turns.first(ac)?;
            if view.has_frames(tid) {
                return Some(tid);
            }
            self.turns.take(ac);
        }
    }

    #[inline]
    fn done(&mut self, _now: Instant, tid: TidIndex, attempt: Attempt, view: &DeviceView<'_>) -> bool {
        match attempt {
            Attempt::Sent => {
                self.turns.rotate(tid.ac());
                true
            }
            Attempt::Full => false,
            // deviation: continues with the next station after CoDel has dropped all frames, since nothing
            // else might wake the driver - ath9k of 4.11 always stops here.
            Attempt::Nothing => !view.has_frames(tid),
        }
    }
}

/// Variant in which a TID that finds the hardware full loses its turn.
// linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_sched_aggr (4.10) - MAC queues below the round of the
// older driver; the hardware is full only for a TID with a frame for it, which then waits in retry_q.
// deviation: a TID whose last frame is sent in a burst of two leaves immediately instead of at its next turn;
// a pass that finds the hardware full does not rotate the retries - only their order differs.
#[derive(Debug)]
pub(super) struct InTurn {
    turns: ActiveTids,
    look: Look,
}

impl InTurn {
    pub(super) fn new(peers: usize) -> Self {
        Self { turns: ActiveTids::new(peers * TIDS, WhenFull::LosesTurn), look: Look::default() }
    }

    #[cfg(test)]
    pub(super) fn listed(&self, ac: Ac) -> impl Iterator<Item = TidIndex> {
        self.turns.listed(ac)
    }
}

impl StationScheduler for InTurn {
    #[inline]
    fn schedule(&mut self, _now: Instant, tid: TidIndex) {
        self.turns.schedule(tid);
    }

    fn charge(&mut self, _now: Instant, _tid: TidIndex, _used: Duration, _direction: AirtimeUse) {}

    #[inline]
    fn start(&mut self, ac: Ac) {
        self.look = self.turns.look(ac);
    }

    #[inline]
    fn next(&mut self, _now: Instant, ac: Ac, view: &DeviceView<'_>) -> Option<TidIndex> {
        loop {
            let tid = self.turns.take(ac)?;
            if view.has_frames(tid) {
                return Some(tid);
            }
            if !self.turns.done(&mut self.look, tid, Attempt::Nothing, false) {
                return None;
            }
        }
    }

    #[inline]
    fn done(&mut self, _now: Instant, tid: TidIndex, attempt: Attempt, view: &DeviceView<'_>) -> bool {
        // CoDel may have dropped all frames, and a held frame may lie beyond a closed window.
        let full = attempt == Attempt::Full && view.waits_for_room(tid);
        let attempt = if attempt == Attempt::Full && !full { Attempt::Nothing } else { attempt };
        self.turns.done(&mut self.look, tid, attempt, view.has_frames(tid))
    }
}
