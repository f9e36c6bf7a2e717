//! What waits in a discipline when another takes its place.

use super::{NextSend, Qdisc};
use crate::types::{Ctx, Duration, FrameView, Instant, Packets, PlaceId, Reason, Sink, Step, TraceEvent};

/// Told what a discipline does at later instants as if it were now.
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

/// Drops all packets of a qdisc that is replaced. Drops are recorded at `place`. Packets that the qdisc's own
/// algorithm drops meanwhile have that algorithm's reason.
// linux: net/sched/sch_generic.c qdisc_reset, sch_api.c qdisc_graft (6.12) - what waits in a discipline that
// is replaced is freed.
pub fn empty<S: Sink>(old: &mut Qdisc, now: Instant, place: PlaceId, ctx: &mut Ctx<'_, S>) {
    // How far one that has something looks ahead where it does not say.
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
                // A user-defined one that keeps what it has; the ledger will say so.
                NextSend::Never => return,
            },
        }
    }
}
