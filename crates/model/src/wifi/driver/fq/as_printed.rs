//! Airtime fairness by deficits, as printed in Algorithm 3 of *Ending the Anomaly*: lists stations, where
//! ath9k lists TIDs.

use super::account::{deficits, quantum, representative};
use crate::sched::drr::{DeficitRoundRobin, Drr, EmptyNew, Member};
use crate::types::{Ac, Duration, Instant};
use crate::wifi::config::AirtimeParams;
use crate::wifi::stations::{AirtimeUse, DeviceView, StationScheduler};
use crate::wifi::tx::transmitter::{Attempt, TIDS, TidIndex};

/// A station that becomes active is new regardless of its deficit, and always moves through the old list. A
/// TID represents its station in each category.
#[derive(Debug)]
pub(super) struct AsPrinted {
    params: AirtimeParams,
    /// Deficits in nanoseconds.
    pool: Drr,
    rounds: [DeficitRoundRobin; 4],
}

impl AsPrinted {
    pub(super) fn new(params: AirtimeParams, peers: usize) -> Self {
        Self { params, pool: deficits(peers, quantum(&params)), rounds: Default::default() }
    }

    #[cfg(test)]
    pub(super) fn lists(&self) -> (&Drr, &[DeficitRoundRobin; 4]) {
        (&self.pool, &self.rounds)
    }
}

/// Returns a TID with frames of the station and category represented by `station`.
#[inline]
fn backlogged(station: TidIndex, view: &DeviceView<'_>) -> Option<TidIndex> {
    if view.has_frames(station) {
        return Some(station);
    }
    let others = (0..TIDS as u8).map(|t| TidIndex::new(station.peer(), t));
    others.filter(|t| t.ac() == station.ac()).find(|&t| view.has_frames(t))
}

impl StationScheduler for AsPrinted {
    // paper: ending-the-anomaly 3.2 - a station that becomes active is new.
    #[inline]
    fn schedule(&mut self, _now: Instant, tid: TidIndex) {
        let station = Member(representative(tid).0);
        self.pool.activate(&mut self.rounds[tid.ac().index()], station, self.params.sparse);
    }

    fn charge(&mut self, _now: Instant, tid: TidIndex, used: Duration, kind: AirtimeUse) {
        if kind.is_charged(&self.params) {
            self.pool.charge(Member(tid.0), used.nanos() as i64);
        }
    }

    fn start(&mut self, _ac: Ac) {}

    // paper: ending-the-anomaly alg3.
    #[inline]
    fn next(&mut self, _now: Instant, ac: Ac, view: &DeviceView<'_>) -> Option<TidIndex> {
        let rounds = &mut self.rounds[ac.index()];
        loop {
            let (station, _) = self.pool.next(rounds, quantum(&self.params))?;
            if let Some(tid) = backlogged(TidIndex(station.0), view) {
                return Some(tid);
            }
            self.pool.head_empty(rounds, EmptyNew::ToOld);
        }
    }

    #[inline]
    fn done(&mut self, _now: Instant, tid: TidIndex, attempt: Attempt, view: &DeviceView<'_>) -> bool {
        match attempt {
            Attempt::Sent => true,
            Attempt::Full => false,
            // CoDel dropped all frames, or the window is closed until frames in flight are acknowledged.
            Attempt::Nothing => backlogged(representative(tid), view).is_none(),
        }
    }
}
