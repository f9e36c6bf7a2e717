//! Round robin over the TIDs with frames, per access category: the order of ath9k before the airtime
//! scheduler, and of the ath9k_htc firmware.

use alloc::vec;
use alloc::vec::Vec;

use crate::types::{Ac, Fifo};
use crate::wifi::config::WhenFull;
use crate::wifi::tx::transmitter::{Attempt, TidIndex};

/// TIDs in round-robin order.
#[derive(Debug)]
pub(super) struct ActiveTids {
    listed: Vec<bool>,
    turns: [Fifo<TidIndex>; 4],
    when_full: WhenFull,
}

/// A scheduling pass: the TID that ends the round, and whether anything was sent in it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Look {
    last: Option<TidIndex>,
    sent: bool,
}

impl ActiveTids {
    pub(super) fn new(tids: usize, when_full: WhenFull) -> Self {
        Self { listed: vec![false; tids], turns: Default::default(), when_full }
    }

    /// Appends a TID with frames to the round, unless it is listed.
    #[inline]
    pub(super) fn schedule(&mut self, tid: TidIndex) {
        if !core::mem::replace(&mut self.listed[tid.index()], true) {
            self.turns[tid.ac().index()].push(tid);
        }
    }

    /// Serves the TIDs until the hardware is full, or nothing was sent in a whole round. `serve` tries to
    /// send an aggregate, and returns true if more frames may be sent.
    #[inline]
    pub(super) fn go_round(&mut self, ac: Ac, mut serve: impl FnMut(TidIndex) -> (Attempt, bool)) {
        let mut look = self.look(ac);
        while let Some(tid) = self.take(ac) {
            let (attempt, more) = serve(tid);
            if !self.done(&mut look, tid, attempt, more) {
                break;
            }
        }
    }

    #[inline]
    pub(super) fn look(&self, ac: Ac) -> Look {
        Look { last: self.turns[ac.index()].last(), sent: false }
    }

    /// Removes the TID whose turn it is from the round.
    #[inline]
    pub(super) fn take(&mut self, ac: Ac) -> Option<TidIndex> {
        let tid = self.turns[ac.index()].pop()?;
        self.listed[tid.index()] = false;
        Some(tid)
    }

    /// Handles the result of a removed TID's turn; the TID rejoins the round if it has more frames. Returns
    /// false at the end of the pass: the hardware is full, or nothing was sent in a whole round.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_txq_schedule (4.4, 4.10).
    #[inline(always)]
    pub(super) fn done(&mut self, look: &mut Look, tid: TidIndex, attempt: Attempt, more: bool) -> bool {
        let turns = &mut self.turns[tid.ac().index()];
        if attempt == Attempt::Full && self.when_full == WhenFull::KeepsTurn {
            self.listed[tid.index()] = true;
            turns.push_first(tid);
            return false;
        }
        look.sent |= attempt == Attempt::Sent;
        if more {
            self.schedule(tid);
        }
        if attempt == Attempt::Full {
            return false;
        }
        if Some(tid) == look.last {
            if !look.sent {
                return false;
            }
            *look = self.look(tid.ac());
        }
        true
    }

    /// Moves the TID whose turn it was to the end of the round.
    #[inline]
    pub(super) fn rotate(&mut self, ac: Ac) {
        let turns = &mut self.turns[ac.index()];
        if turns.len() > 1
            && let Some(first) = turns.pop()
        {
            turns.push(first);
        }
    }

    #[inline]
    pub(super) fn first(&self, ac: Ac) -> Option<TidIndex> {
        self.turns[ac.index()].first()
    }

    /// Handles a full hardware queue at the turn of a TID that may send. `more` returns true if the TID has
    /// frames.
    #[inline]
    pub(super) fn found_full(&mut self, ac: Ac, more: impl FnOnce() -> bool) {
        if self.when_full == WhenFull::KeepsTurn {
            return;
        }
        if more() {
            self.rotate(ac);
        } else {
            self.take(ac);
        }
    }

    #[cfg(test)]
    pub(super) fn listed(&self, ac: Ac) -> impl Iterator<Item = TidIndex> {
        self.turns[ac.index()].iter()
    }
}
