//! One aggregate for each TID in turn, however long it takes: ath9k without airtime fairness, in two
//! versions.

use crate::types::{Ac, Duration, Instant};
use crate::wifi::config::WhenFull;
use crate::wifi::driver::active_tids::{ActiveTids, Look};
use crate::wifi::stations::{AirtimeUse, DeviceView, StationScheduler};
use crate::wifi::tx::transmitter::{Attempt, TIDS, TidIndex};

/// A station that sent an aggregate goes to the end of the round; one that finds the hardware full keeps its
/// turn.
// linux: drivers/net/wireless/ath/ath9k/xmit.c ath_txq_schedule (4.11) - without airtime fairness the head
// goes to the end after each aggregate.
#[derive(Debug)]
pub(super) struct RoundRobin {
    turns: ActiveTids,
}

impl RoundRobin {
    /// For a device with so many peers.
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
            // deviation: ath9k of 4.11 stops here always; after CoDel has dropped all there was the next has
            // its turn, since nothing else might wake the driver.
            Attempt::Nothing => !view.has_frames(tid),
        }
    }
}

/// Who finds the hardware full has had its turn, too.
// linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_sched_aggr (4.10) - queues in the MAC below the round
// of the older driver; the hardware is full only for who has a frame that would go there, which waits in
// retry_q from then on.
// deviation: a TID whose last frame is sent in a burst of two leaves at once, not at its next turn; a look
// that finds the hardware full does not turn the frames that are to be sent again round by one, so that only
// their order differs.
#[derive(Debug)]
pub(super) struct InTurn {
    turns: ActiveTids,
    look: Look,
}

impl InTurn {
    /// For a device with so many peers.
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
        // CoDel may have left nothing to hold, and what is held may lie beyond a closed window.
        let full = attempt == Attempt::Full && view.waits_for_room(tid);
        let attempt = if attempt == Attempt::Full && !full { Attempt::Nothing } else { attempt };
        self.turns.done(&mut self.look, tid, attempt, view.has_frames(tid))
    }
}
