//! One FIFO per TID, and round robin over the TIDs with frames per access category. Shared by ath9k before
//! 4.10 and the ath9k_htc firmware.

use super::active_tids::ActiveTids;
use crate::types::{Ac, Ctx, Instant, Pkt, PktList, Sink};
use crate::wifi::config::WhenFull;
use crate::wifi::tx::tid::BlockAckSession;
use crate::wifi::tx::transmitter::{Attempt, Hardware, TidIndex, Transmitter};
use alloc::vec::Vec;

/// Queues by TID and the round of TIDs with frames.
#[derive(Debug)]
pub(super) struct TidFifos {
    queues: Vec<PktList>,
    turns: ActiveTids,
}

impl TidFifos {
    pub(super) fn new(tids: usize, when_full: WhenFull) -> Self {
        let queues = (0..tids).map(|_| PktList::default()).collect();
        Self { queues, turns: ActiveTids::new(tids, when_full) }
    }

    /// Queues a frame. Appends its TID to the round, unless it is listed.
    #[inline(always)]
    pub(super) fn push<S: Sink>(&mut self, p: Pkt, tid: TidIndex, ctx: &mut Ctx<'_, S>) {
        self.queues[tid.index()].push(ctx.packets, p);
        self.schedule(tid);
    }

    #[inline]
    pub(super) fn schedule(&mut self, tid: TidIndex) {
        self.turns.schedule(tid);
    }

    /// Serves the TIDs, one aggregate each, until the hardware is full. `extended`: the PPDU queued last has
    /// just taken all frames that it could.
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

    /// Serves the TIDs until the hardware is full. Each TID sends until `may` returns false; `may` is called
    /// again for it after all other TIDs had a turn.
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

    /// Adds new frames to the PPDU queued last, if it is not on the air yet. Returns true if an attempt was
    /// made.
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

    /// Fast path for most new frames. Returns true if a round would end at the first TID, because the
    /// hardware is full or no TID is listed; the TID has then had its turn. If PPDUs stay open, the TID's
    /// frames may still join the one queued last, unless that has been `extended`.
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

    pub(super) fn backlog(&self, tid: TidIndex) -> u32 {
        self.queues[tid.index()].packets()
    }

    pub(super) fn pull<S: Sink>(&mut self, tid: TidIndex, ctx: &mut Ctx<'_, S>) -> Option<Pkt> {
        self.queues[tid.index()].pop(ctx.packets)
    }

    pub(super) fn queued(&self) -> u64 {
        self.queues.iter().map(|q| u64::from(q.packets())).sum()
    }

    pub(super) fn queued_bytes(&self) -> u64 {
        self.queues.iter().map(PktList::bytes).sum()
    }

    #[cfg(test)]
    pub(super) fn turns(&self, ac: Ac) -> impl Iterator<Item = TidIndex> {
        self.turns.listed(ac)
    }
}
