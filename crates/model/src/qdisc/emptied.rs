//! Discards the packets of a qdisc that is replaced.

use super::{NextSend, Qdisc};
use crate::types::{Ctx, Duration, FrameView, Instant, Packets, PlaceId, Reason, Sink, Step, TraceEvent};

/// A sink that reports events of later times at `now`.
struct Now<'a, S> {
    now: Instant,
    sink: &'a mut S,
}

impl<S: Sink> Sink for Now<'_, S> {
    const FRAMES: bool = S::FRAMES;
    const STEPS: bool = S::STEPS;

    fn event(&mut self, _: Instant, what: &TraceEvent) {
        self.sink.event(self.now, what);
    }
    fn frame(&mut self, _: Instant, what: &FrameView<'_>) {
        self.sink.frame(self.now, what);
    }
    fn step(&mut self, _: Instant, packets: &Packets, what: &Step<'_>) {
        self.sink.step(self.now, packets, what);
    }
}

/// Drops all packets of a qdisc that is replaced, and records them at `place`. Packets that the qdisc's own
/// algorithm drops in the process keep that algorithm's reason.
// linux: net/sched/sch_generic.c qdisc_reset, sch_api.c qdisc_graft (6.12) - frees the queued packets.
pub fn empty<S: Sink>(old: &mut Qdisc, now: Instant, place: PlaceId, ctx: &mut Ctx<'_, S>) {
    // Step forward if the qdisc has packets but no later wake-up time.
    const LATER: Duration = Duration::from_millis(1);
    let mut then = now;
    while old.backlog().0 > 0 {
        let taken = {
            let mut trace = Now { now, sink: &mut *ctx.trace };
            old.dequeue(then, &mut Ctx { packets: ctx.packets, trace: &mut trace })
        };
        match taken {
            Some(p) => ctx.drop(now, p, Reason::Replaced, place),
            None => match old.next(then) {
                NextSend::At(at) if at > then => then = at,
                NextSend::At(_) | NextSend::Now => then += LATER,
                // A user-defined qdisc that keeps its packets; the ledger reports them.
                NextSend::Never => return,
            },
        }
    }
}
