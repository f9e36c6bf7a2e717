//! Airtime fairness by deficits, Algorithm 3 of *Ending the Anomaly*, as in ath9k from 4.11 to 5.0: lists
//! TIDs, while deficits belong to stations.

use super::account::{deficits, quantum};
use crate::sched::drr::{DeficitRoundRobin, Drr, EmptyNew, Member};
use crate::types::{Ac, Duration, Instant};
use crate::wifi::config::AirtimeParams;
use crate::wifi::stations::{AirtimeUse, DeviceView, StationScheduler};
use crate::wifi::tx::transmitter::{Attempt, TidIndex};

/// The head of the list sends until its deficit is used up; then it gets a quantum and moves to the end.
#[derive(Debug)]
pub(super) struct Deficit {
    params: AirtimeParams,
    /// Deficits in nanoseconds.
    pool: Drr,
    rounds: [DeficitRoundRobin; 4],
}

impl Deficit {
    pub(super) fn new(params: AirtimeParams, peers: usize) -> Self {
        Self { params, pool: deficits(peers, quantum(&params)), rounds: Default::default() }
    }

    #[cfg(test)]
    pub(super) fn lists(&self) -> (&Drr, &[DeficitRoundRobin; 4]) {
        (&self.pool, &self.rounds)
    }
}

impl StationScheduler for Deficit {
    // linux: drivers/net/wireless/ath/ath9k/xmit.c __ath_tx_queue_tid (4.11) - new only with a positive
    // deficit.
    #[inline]
    fn schedule(&mut self, _now: Instant, tid: TidIndex) {
        let member = Member(tid.0);
        let to_new = self.params.sparse && self.pool.deficit(member) > 0;
        self.pool.activate(&mut self.rounds[tid.ac().index()], member, to_new);
    }

    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_count_airtime, recv.c ath_rx_count_airtime (4.11) -
    // lists a station that has used up its deficit, with or without frames, so that later rounds pay the
    // debt.
    fn charge(&mut self, _now: Instant, tid: TidIndex, used: Duration, kind: AirtimeUse) {
        if !kind.is_charged(&self.params) {
            return;
        }
        let member = Member(tid.0);
        self.pool.charge(member, used.nanos() as i64);
        if self.pool.deficit(member) <= 0 {
            self.pool.activate(&mut self.rounds[tid.ac().index()], member, false);
        }
    }

    fn start(&mut self, _ac: Ac) {}

    // paper: ending-the-anomaly alg3.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_txq_schedule (4.11) - keeps the head until its deficit
    // is used up.
    #[inline]
    fn next(&mut self, _now: Instant, ac: Ac, view: &DeviceView<'_>) -> Option<TidIndex> {
        let rounds = &mut self.rounds[ac.index()];
        loop {
            let (member, _) = self.pool.next(rounds, quantum(&self.params))?;
            let tid = TidIndex(member.0);
            if view.has_frames(tid) {
                return Some(tid);
            }
            self.pool.head_empty(rounds, EmptyNew::ToOldUnlessAlone);
        }
    }

    #[inline]
    fn done(&mut self, _now: Instant, tid: TidIndex, attempt: Attempt, view: &DeviceView<'_>) -> bool {
        match attempt {
            Attempt::Sent => true,
            Attempt::Full => false,
            // deviation: continues with the next station after CoDel has dropped all frames, since nothing
            // else might wake the driver - ath9k of 4.11 always stops here.
            Attempt::Nothing => !view.has_frames(tid),
        }
    }
}
