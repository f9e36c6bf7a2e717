//! Whose turn it is: for each access category a round of the traffic identifiers that have frames, as ath9k's driver before
//! the airtime scheduler and the firmware behind ath9k_htc go it, whatever the frames wait in.

use std::collections::VecDeque;

use crate::vocabulary::Ac;
use crate::wifi::config::WhenFull;
use crate::wifi::tx::transmitter::{Attempt, TidIndex};

/// Identifiers in their turn.
#[derive(Debug)]
pub(super) struct Turns {
    listed: Vec<bool>,
    turns: [VecDeque<TidIndex>; 4],
    when_full: WhenFull,
}

impl Turns {
    /// For a device with so many traffic identifiers.
    pub(super) fn new(tids: usize, when_full: WhenFull) -> Self {
        Self { listed: vec![false; tids], turns: Default::default(), when_full }
    }

    /// The traffic identifier has frames: it joins the round at its end, if it is not in it.
    pub(super) fn schedule(&mut self, tid: TidIndex) {
        if !core::mem::replace(&mut self.listed[tid.index()], true) {
            self.turns[tid.ac().index()].push_back(tid);
        }
    }

    /// Goes round the traffic identifiers until the hardware is full, or nothing was sent in a whole round. `serve` tries to
    /// send an aggregate, and says whether more is left that may be sent.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_txq_schedule (4.4, 4.10).
    #[inline]
    pub(super) fn go_round(&mut self, ac: Ac, mut serve: impl FnMut(TidIndex) -> (Attempt, bool)) {
        let mut last = self.turns[ac.index()].back().copied();
        let mut sent = false;
        while let Some(tid) = self.turns[ac.index()].pop_front() {
            self.listed[tid.index()] = false;
            let (attempt, more) = serve(tid);
            if attempt == Attempt::Full && self.when_full == WhenFull::KeepsTurn {
                self.listed[tid.index()] = true;
                self.turns[ac.index()].push_front(tid);
                break;
            }
            sent |= attempt == Attempt::Sent;
            if more {
                self.schedule(tid);
            }
            if attempt == Attempt::Full {
                break;
            }
            if Some(tid) == last {
                if !sent {
                    break;
                }
                sent = false;
                last = self.turns[ac.index()].back().copied();
            }
        }
    }

    /// The identifier whose turn it is.
    #[inline]
    pub(super) fn first(&self, ac: Ac) -> Option<TidIndex> {
        self.turns[ac.index()].front().copied()
    }

    /// Whether it is its turn still when it has found the hardware full; `more` says whether it has frames.
    #[inline]
    pub(super) fn first_stays(&self, ac: Ac, more: impl FnOnce() -> bool) -> bool {
        self.when_full == WhenFull::KeepsTurn || (self.turns[ac.index()].len() == 1 && more())
    }

    /// Identifiers in their turn.
    #[cfg(test)]
    pub(super) fn listed(&self, ac: Ac) -> impl Iterator<Item = TidIndex> {
        self.turns[ac.index()].iter().copied()
    }
}
