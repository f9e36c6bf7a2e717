//! ath9k before Linux 4.10: a FIFO per station and TID, served round robin, and a frame count per access
//! category that stops the qdisc above.

use super::tid_fifos::TidFifos;
use crate::types::{Ac, Ctx, Instant, Pkt, Sink};
use crate::wifi::config::{LegacyParams, WhenFull};
use crate::wifi::tx::transmitter::{Hardware, TidIndex, Transmitter};

/// Transmit path of ath9k before Linux 4.10.
#[derive(Debug)]
pub struct LegacyDriver {
    params: LegacyParams,
    round: TidFifos,
    /// Frames taken from the qdisc and not completed.
    pending: [u32; 4],
    stopped: [bool; 4],
}

impl LegacyDriver {
    /// Creates a driver for a device with `tids` TIDs.
    pub fn new(params: LegacyParams, tids: usize) -> Self {
        let round = TidFifos::new(tids, WhenFull::LosesTurn);
        Self { params, round, pending: [0; 4], stopped: [false; 4] }
    }

    /// Takes a frame from the qdisc. Always accepts the frame. At the limit, stops the queue above.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_start (4.4) - increments the count before the
    // comparison.
    #[inline(always)]
    pub fn push<S: Sink>(&mut self, p: Pkt, tid: TidIndex, ctx: &mut Ctx<'_, S>) {
        let ac = tid.ac().index();
        self.pending[ac] += 1;
        if self.pending[ac] > self.params.qlen {
            self.stopped[ac] = true;
        }
        self.round.push(p, tid, ctx);
    }

    /// Handles the completion of a frame, sent or dropped. Returns true if the queue above is woken.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_txq_skb_done (4.4) - no hysteresis.
    pub fn completed(&mut self, ac: Ac) -> bool {
        let ac = ac.index();
        self.pending[ac] -= 1;
        let woken = self.stopped[ac] && self.pending[ac] < self.params.qlen;
        if woken {
            self.stopped[ac] = false;
        }
        woken
    }

    /// Returns the number of packets of a TID.
    pub fn backlog(&self, tid: TidIndex) -> u32 {
        self.round.backlog(tid)
    }

    /// Takes the next packet of a TID.
    pub fn pull<S: Sink>(&mut self, tid: TidIndex, ctx: &mut Ctx<'_, S>) -> Option<Pkt> {
        self.round.pull(tid, ctx)
    }

    /// Returns true if the queue above is stopped for this access category.
    #[inline]
    pub fn is_stopped(&self, ac: Ac) -> bool {
        self.stopped[ac.index()]
    }

    /// Appends a TID with frames to the round, unless it is listed.
    pub fn schedule(&mut self, tid: TidIndex) {
        self.round.schedule(tid);
    }

    /// Serves the TIDs in turn, one aggregate each, until the hardware is full.
    ///
    /// A TID that finds the hardware full still moves to the end of the round, as in ath9k.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_txq_schedule (4.4).
    #[inline(always)]
    pub fn fill<S: Sink>(
        &mut self,
        now: Instant,
        ac: Ac,
        tx: &mut Transmitter,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) {
        self.round.fill(now, ac, false, tx, hw, ctx);
    }

    /// Returns the number of packets in the driver's queues.
    pub fn queued(&self) -> u64 {
        self.round.queued()
    }

    /// Returns the bytes of these packets, with Ethernet headers.
    pub fn queued_bytes(&self) -> u64 {
        self.round.queued_bytes()
    }

    /// Returns the number of frames taken from the qdisc and not completed.
    pub fn pending(&self, ac: Ac) -> u32 {
        self.pending[ac.index()]
    }
}

#[cfg(test)]
mod tests;
