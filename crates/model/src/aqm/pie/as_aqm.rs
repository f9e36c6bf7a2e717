//! PIE behind the trait of user-defined AQMs ([`crate::aqm::algorithm`]).

use super::{PieParams, PieState};
use crate::aqm::algorithm::{AqmAlgorithm, Seen, Verdict};
use crate::types::{Duration, Instant, RandomStream};
use alloc::vec;
use alloc::vec::Vec;

/// PIE on one queue.
#[derive(Clone, Debug)]
pub struct PieAqm {
    params: PieParams,
    tupdate: Duration,
    state: PieState,
    update_at: Instant,
    stream: RandomStream,
}

impl PieAqm {
    /// Creates PIE in its initial state. The probability is updated every `tupdate`; `stream` decides which
    /// packets are dropped or marked. Panics if `tupdate` is zero.
    pub fn new(params: PieParams, tupdate: Duration, stream: RandomStream) -> Self {
        assert!(tupdate > Duration::ZERO, "impossible pie");
        Self { params, tupdate, state: PieState::default(), update_at: Instant::ZERO + tupdate, stream }
    }

    /// Performs the probability updates that were due while `backlog` bytes were queued.
    // As in `crate::qdisc::pie`.
    fn update(&mut self, now: Instant, backlog: u64) {
        while self.update_at <= now {
            let before = self.state.clone();
            self.state.update(&self.params, backlog);
            self.update_at += self.tupdate;
            if self.state == before {
                let periods = now.saturating_since(self.update_at).nanos() / self.tupdate.nanos();
                self.update_at += self.tupdate * periods;
            }
        }
    }
}

impl AqmAlgorithm for PieAqm {
    fn arrives(&mut self, seen: &Seen) -> Verdict {
        self.update(seen.now, seen.queued_bytes);
        let Self { params, state, stream, .. } = self;
        if !state.drop_early(params, seen.queued_bytes, seen.bytes, || stream.bits()) {
            return Verdict::Pass;
        }
        if params.ecn && state.marks() && seen.ecn {
            return Verdict::Mark;
        }
        state.dropped();
        Verdict::Drop
    }

    fn leaves(&mut self, seen: &Seen) -> Verdict {
        self.update(seen.now, seen.queued_bytes + u64::from(seen.bytes));
        let came = seen.now - seen.sojourn;
        self.state.dequeued(&self.params, seen.now, came, seen.queued_bytes, seen.bytes);
        Verdict::Pass
    }

    fn overlimit(&mut self, _now: Instant, _packets: u32) {
        self.state.dropped();
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("prob", self.state.prob() << 8), ("delay_us", self.state.qdelay().nanos() / 1000)]
    }
}
