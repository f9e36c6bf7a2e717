//! Wraps user-defined parts with their names, so that a panic can be attributed to a part.

use core::cell::Cell;
use core::{fmt, mem};

use stillair_model::aqm::algorithm::{AqmAlgorithm, Seen, Verdict};
use stillair_model::qdisc::custom::{Discipline, Room};
use stillair_model::qdisc::{Enqueue, NextSend, QdiscStats};
use stillair_model::transport::cc::{AckSample, CaState, CcEvent, CcSock, Controller, RateSample};
use stillair_model::types::{Ac, Duration, Instant, PeerId, Pkt};
use stillair_model::wifi::driver::{AirtimeUse, DeviceView, StationScheduler};
use stillair_model::wifi::tx::transmitter::{Attempt, TidIndex};

thread_local! {
    /// The part in which this thread panicked last.
    static LEFT: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// Takes the kind and name of the part in which this thread panicked, if any.
pub(crate) fn take_left() -> Option<&'static str> {
    LEFT.take()
}

/// A part, and its kind and name for messages.
#[derive(Clone)]
pub(super) struct Named<P> {
    pub(super) title: &'static str,
    pub(super) part: P,
}

impl<P: fmt::Debug> fmt::Debug for Named<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.part.fmt(f)
    }
}

/// Guard that is dropped only if the part panics.
struct Inside(&'static str);

impl Drop for Inside {
    fn drop(&mut self) {
        LEFT.set(Some(self.0));
    }
}

/// Calls the part. Free of cost unless the part panics.
macro_rules! inside {
    ($self:ident, $call:ident($($argument:expr),*)) => {{
        let inside = Inside($self.title);
        let came = $self.part.$call($($argument),*);
        mem::forget(inside);
        came
    }};
}

// Forward every function of each trait, including those with a default body; the wrapper would otherwise use
// the default instead of the part's own.

impl<D: Discipline> Discipline for Named<D> {
    fn enqueue(&mut self, now: Instant, p: Pkt, room: &mut dyn Room) -> Enqueue {
        inside!(self, enqueue(now, p, room))
    }
    fn dequeue(&mut self, now: Instant, room: &mut dyn Room) -> Option<Pkt> {
        inside!(self, dequeue(now, room))
    }
    fn next(&self, now: Instant) -> NextSend {
        inside!(self, next(now))
    }
    fn backlog(&self) -> (u32, u64) {
        inside!(self, backlog())
    }
    fn stats(&self) -> QdiscStats {
        inside!(self, stats())
    }
    fn counters(&self) -> Vec<(&'static str, u64)> {
        inside!(self, counters())
    }
}

impl<L: AqmAlgorithm> AqmAlgorithm for Named<L> {
    fn arrives(&mut self, seen: &Seen) -> Verdict {
        inside!(self, arrives(seen))
    }
    fn leaves(&mut self, seen: &Seen) -> Verdict {
        inside!(self, leaves(seen))
    }
    fn empty(&mut self, now: Instant) {
        inside!(self, empty(now));
    }
    fn overlimit(&mut self, now: Instant, packets: u32) {
        inside!(self, overlimit(now, packets));
    }
    fn counters(&self) -> Vec<(&'static str, u64)> {
        inside!(self, counters())
    }
}

impl<S: StationScheduler> StationScheduler for Named<S> {
    fn has_weights(&self) -> bool {
        inside!(self, has_weights())
    }
    fn weigh(&mut self, peer: PeerId, weight: u32) {
        inside!(self, weigh(peer, weight));
    }
    fn schedule(&mut self, now: Instant, tid: TidIndex) {
        inside!(self, schedule(now, tid));
    }
    fn charge(&mut self, now: Instant, tid: TidIndex, used: Duration, kind: AirtimeUse) {
        inside!(self, charge(now, tid, used, kind));
    }
    fn start(&mut self, ac: Ac) {
        inside!(self, start(ac));
    }
    fn next(&mut self, now: Instant, ac: Ac, view: &DeviceView<'_>) -> Option<TidIndex> {
        inside!(self, next(now, ac, view))
    }
    fn done(&mut self, now: Instant, tid: TidIndex, attempt: Attempt, view: &DeviceView<'_>) -> bool {
        inside!(self, done(now, tid, attempt, view))
    }
}

impl<C: Controller> Controller for Named<C> {
    fn init(&mut self, sk: &mut CcSock) {
        inside!(self, init(sk));
    }
    fn ssthresh(&mut self, sk: &mut CcSock) -> u32 {
        inside!(self, ssthresh(sk))
    }
    fn cong_avoid(&mut self, sk: &mut CcSock, ack: u32, acked: u32) {
        inside!(self, cong_avoid(sk, ack, acked));
    }
    fn cong_control(&mut self, sk: &mut CcSock, rs: &RateSample) -> bool {
        inside!(self, cong_control(sk, rs))
    }
    fn set_state(&mut self, sk: &mut CcSock, new: CaState) {
        inside!(self, set_state(sk, new));
    }
    fn cwnd_event(&mut self, sk: &mut CcSock, event: CcEvent) {
        inside!(self, cwnd_event(sk, event));
    }
    fn in_ack_event(&mut self, sk: &mut CcSock, ece: bool) {
        inside!(self, in_ack_event(sk, ece));
    }
    fn pkts_acked(&mut self, sk: &mut CcSock, sample: &AckSample) {
        inside!(self, pkts_acked(sk, sample));
    }
    fn undo_cwnd(&mut self, sk: &mut CcSock) -> u32 {
        inside!(self, undo_cwnd(sk))
    }
    fn sndbuf_expand(&self) -> u32 {
        inside!(self, sndbuf_expand())
    }
    fn min_tso_segs(&self, sk: &CcSock, default: u32) -> u32 {
        inside!(self, min_tso_segs(sk, default))
    }
    fn needs_ecn(&self) -> bool {
        inside!(self, needs_ecn())
    }
}
