//! A FIFO for each TID, and round robin over the TIDs with frames for each access category: shared by ath9k
//! before 4.10 and ath9k_htc's firmware.

use super::active_tids::ActiveTids;
use crate::types::{Ac, Ctx, Instant, Pkt, PktList, Sink};
use crate::wifi::config::WhenFull;
use crate::wifi::tx::tid::BlockAckSession;
use crate::wifi::tx::transmitter::{Attempt, Hardware, TidIndex, Transmitter};
use alloc::vec::Vec;

/// Queues by TID and whose turn it is.
#[derive(Debug)]
pub(super) struct TidFifos {
    queues: Vec<PktList>,
    turns: ActiveTids,
}

impl TidFifos {
    /// A round for a device with so many TIDs.
    pub(super) fn new(tids: usize, when_full: WhenFull) -> Self {
        let queues = (0..tids).map(|_| PktList::default()).collect();
        Self { queues, turns: ActiveTids::new(tids, when_full) }
    }

    /// Queues a frame; its TID joins the round at its end, if it is not in it.
    #[inline(always)]
    pub(super) fn push<S: Sink>(&mut self, p: Pkt, tid: TidIndex, ctx: &mut Ctx<'_, S>) {
        self.queues[tid.index()].push(ctx.packets, p);
        self.schedule(tid);
    }

    /// The TID has frames: it joins the round at its end, if it is not in it.
    #[inline]
    pub(super) fn schedule(&mut self, tid: TidIndex) {
        self.turns.schedule(tid);
    }

    /// Goes round the TIDs, one aggregate each, until the hardware is full. `extended`: the PPDU queued last
    /// has just taken what it could.
    #[inline(always)]
    pub(super) fn fill<S: Sink>(
        &mut self,
        now: Instant,
        ac: Ac,
        extended: bool,
        tx: &mut Transmitter,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) {
        if !self.finds_no_room(ac, extended, tx, hw) {
            self.go_round(now, ac, tx, hw, ctx);
        }
    }

    #[inline(never)]
    fn go_round<S: Sink>(
        &mut self,
        now: Instant,
        ac: Ac,
        tx: &mut Transmitter,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) {
        let Self { queues, turns } = self;
        turns.go_round(ac, |tid| {
            if !tx.tids[tid.index()].may_send() {
                return (Attempt::Nothing, false);
            }
            let queue = &mut queues[tid.index()];
            let attempt = tx.attempt(now, tid, hw, ctx, |ctx| queue.pop(ctx.packets));
            let t = &tx.tids[tid.index()];
            (attempt, t.may_send() && (t.has_waiting() || !queue.is_empty()))
        });
    }

    /// Goes round the TIDs until the hardware is full; each sends until `may` says no, which is asked again
    /// when all others have been.
    pub(super) fn fill_by<S: Sink>(
        &mut self,
        mut may: impl FnMut(TidIndex) -> bool,
        now: Instant,
        ac: Ac,
        tx: &mut Transmitter,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) {
        let mut unsent = None;
        while let Some(tid) = self.turns.first(ac) {
            let t = &tx.tids[tid.index()];
            let queue = &mut self.queues[tid.index()];
            if !t.may_send() || (!t.has_waiting() && queue.is_empty()) {
                self.turns.take(ac);
            } else if !hw.radio.room(ac, t.session == BlockAckSession::Open) {
                break;
            } else if !may(tid) {
                self.turns.rotate(ac);
            } else {
                match tx.attempt(now, tid, hw, ctx, |ctx| queue.pop(ctx.packets)) {
                    Attempt::Sent => unsent = None,
                    Attempt::Full => break,
                    Attempt::Nothing if unsent == Some(tid) => break,
                    Attempt::Nothing => {
                        unsent.get_or_insert(tid);
                        self.turns.rotate(ac);
                    }
                }
            }
        }
    }

    /// The PPDU queued last takes what has come for it, if it is not on the air yet. Whether it was asked.
    #[inline]
    pub(super) fn extend<S: Sink>(
        &mut self,
        now: Instant,
        ac: Ac,
        tx: &mut Transmitter,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) -> bool {
        let Some(header) = hw.radio.last(ac).filter(|header| header.dev == tx.dev && header.in_session)
        else {
            return false;
        };
        let tid = TidIndex::new(header.peer, header.tid);
        let queue = &mut self.queues[tid.index()];
        let asks = !queue.is_empty() && tx.tids[tid.index()].may_send() && !hw.radio.room(ac, true);
        if asks {
            let _ = tx.attempt(now, tid, hw, ctx, |ctx| queue.pop(ctx.packets));
        }
        asks
    }

    /// Whether going round ends with the first TID, which finds the hardware full, or there is none: what
    /// most new frames find. It has had its turn then. Where PPDUs stay open its frames may go with the one
    /// queued last, unless that has been `extended`.
    #[inline(always)]
    fn finds_no_room(&mut self, ac: Ac, extended: bool, tx: &Transmitter, hw: &Hardware<'_>) -> bool {
        let Some(first) = self.turns.first(ac) else { return true };
        let t = &tx.tids[first.index()];
        let has_frames = || t.has_waiting() || !self.queues[first.index()].is_empty();
        if !t.may_send()
            || hw.radio.room(ac, t.session == BlockAckSession::Open)
            || (hw.radio.stays_open() && !extended && has_frames())
        {
            return false;
        }
        self.turns.found_full(ac, has_frames);
        true
    }

    /// Packets of a TID.
    pub(super) fn backlog(&self, tid: TidIndex) -> u32 {
        self.queues[tid.index()].packets()
    }

    /// Takes the next of them.
    pub(super) fn pull<S: Sink>(&mut self, tid: TidIndex, ctx: &mut Ctx<'_, S>) -> Option<Pkt> {
        self.queues[tid.index()].pop(ctx.packets)
    }

    /// Packets in all queues.
    pub(super) fn queued(&self) -> u64 {
        self.queues.iter().map(|q| u64::from(q.packets())).sum()
    }

    /// Their bytes, with Ethernet headers.
    pub(super) fn queued_bytes(&self) -> u64 {
        self.queues.iter().map(PktList::bytes).sum()
    }

    /// TIDs in their turn.
    #[cfg(test)]
    pub(super) fn turns(&self, ac: Ac) -> impl Iterator<Item = TidIndex> {
        self.turns.listed(ac)
    }
}
