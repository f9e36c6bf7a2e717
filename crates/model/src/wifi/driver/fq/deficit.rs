//! Airtime fairness by deficits, Algorithm 3 of *Ending the Anomaly*, as ath9k ran it from 4.11 to 5.0: it
//! lists TIDs, while deficits are of stations.

use super::account::{deficits, quantum};
use crate::sched::drr::{DeficitRoundRobin, Drr, EmptyNew, Member};
use crate::types::{Ac, Duration, Instant};
use crate::wifi::config::AirtimeParams;
use crate::wifi::stations::{AirtimeUse, DeviceView, StationScheduler};
use crate::wifi::tx::transmitter::{Attempt, TidIndex};

/// The head of the list sends until its deficit is used up; then it gets a quantum and goes to the end.
#[derive(Debug)]
pub(super) struct Deficit {
    params: AirtimeParams,
    /// Deficits in nanoseconds.
    pool: Drr,
    rounds: [DeficitRoundRobin; 4],
}

impl Deficit {
    /// For a device with so many peers.
    pub(super) fn new(params: AirtimeParams, peers: usize) -> Self {
        Self { params, pool: deficits(peers, quantum(&params)), rounds: Default::default() }
    }

    #[cfg(test)]
    pub(super) fn lists(&self) -> (&Drr, &[DeficitRoundRobin; 4]) {
        (&self.pool, &self.rounds)
    }
}

impl StationScheduler for Deficit {
    // linux: drivers/net/wireless/ath/ath9k/xmit.c __ath_tx_queue_tid (4.11) - new only with some deficit
    // left.
    #[inline]
    fn schedule(&mut self, _now: Instant, tid: TidIndex) {
        let member = Member(tid.0);
        let to_new = self.params.sparse && self.pool.deficit(member) > 0;
        self.pool.activate(&mut self.rounds[tid.ac().index()], member, to_new);
    }

    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_count_airtime, recv.c ath_rx_count_airtime (4.11) -
    // who has used up its deficit is listed, with or without frames, so that it is paid off as the rounds go
    // on.
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

    // paper: ending-the-anomaly alg3; linux: drivers/net/wireless/ath/ath9k/xmit.c ath_txq_schedule (4.11) -
    // the head stays until its deficit is used up.
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
            // deviation: ath9k of 4.11 stops here always; after CoDel has dropped all there was the next has
            // its turn, since nothing else might wake the driver.
            Attempt::Nothing => !view.has_frames(tid),
        }
    }
}
