//! CoDel through the trait of user-defined AQMs ([`crate::aqm::algorithm`]): the same decisions, packet by
//! packet.

use super::{CodelParams, CodelState};
use crate::aqm::algorithm::{AqmAlgorithm, Seen, Verdict};
use crate::types::Instant;
use alloc::vec;
use alloc::vec::Vec;

/// What the AQM said of the packet before, at the same instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Before {
    /// It dropped it, and so began to act.
    Began,
    /// It dropped it, as it does from time to time while it acts.
    Dropped,
}

/// CoDel on one queue.
#[derive(Clone, Debug)]
pub struct CodelAqm {
    params: CodelParams,
    slow: CodelParams,
    state: CodelState,
    before: Option<Before>,
}

impl CodelAqm {
    /// CoDel in its initial state, with these parameters.
    pub fn new(params: CodelParams) -> Self {
        Self { params, slow: params, state: CodelState::default(), before: None }
    }

    /// The same with other parameters for queues of slow stations.
    #[must_use]
    pub fn with_slow(self, slow: CodelParams) -> Self {
        Self { slow, ..self }
    }

    /// The verdict on a packet that the AQM acts on.
    fn act(&mut self, params: &CodelParams, seen: &Seen, before: Before) -> Verdict {
        if params.ecn && seen.ecn {
            return Verdict::Mark;
        }
        self.before = Some(before);
        Verdict::Drop
    }
}

impl AqmAlgorithm for CodelAqm {
    // As `super::dequeue`, cut where a packet is taken.
    fn leaves(&mut self, seen: &Seen) -> Verdict {
        let params = if seen.slow { self.slow } else { self.params };
        let (now, state) = (seen.now, &mut self.state);
        let above = state.is_above(&params, now, seen.sojourn, || seen.queued_bytes);
        match self.before.take() {
            Some(Before::Began) => return Verdict::Pass,
            Some(Before::Dropped) => {
                state.dropping = above;
                if above {
                    state.schedule(state.drop_next, params.interval);
                }
            }
            None if state.dropping => state.dropping = above,
            None if above => {
                state.begin(&params, now);
                return self.act(&params, seen, Before::Began);
            }
            None => return Verdict::Pass,
        }
        if !state.dropping || now < state.drop_next {
            return Verdict::Pass;
        }
        state.count = state.count.wrapping_add(1);
        state.step_root();
        let verdict = self.act(&params, seen, Before::Dropped);
        if verdict == Verdict::Mark {
            self.state.schedule(self.state.drop_next, params.interval);
        }
        verdict
    }

    fn empty(&mut self, _now: Instant) {
        match self.before.take() {
            None => self.state.dropping = false,
            Some(before) => {
                self.state.first_above_time = Instant::NEVER;
                self.state.dropping &= before == Before::Began;
            }
        }
    }

    fn overlimit(&mut self, _now: Instant, packets: u32) {
        self.state.strengthen(packets);
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let state = &self.state;
        vec![("count", state.count.into()), ("lastcount", state.lastcount.into())]
    }
}
