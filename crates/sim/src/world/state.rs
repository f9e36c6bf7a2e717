//! State that air, network and hosts share: time, timers, packets and the trace.

use stillair_model::types::{Ctx, Instant, PacketKind, Packets, Pkt, QuicTrace, Sink, Step, TTL, TraceEvent};

use crate::engine::{Slot, Timers};

/// State of a simulation: time, timers, packets, and the sink of trace events.
#[derive(Debug)]
pub(super) struct SimState<S> {
    pub(super) now: Instant,
    /// Timers before this slot that were armed for `now` when the instant began have fired.
    pub(super) passed: u32,
    pub(super) timers: Timers,
    pub(super) packets: Packets,
    pub(super) trace: S,
}

impl<S: Sink> SimState<S> {
    /// A timer fires.
    #[inline(always)]
    pub(super) fn fires(&mut self, at: Instant, slot: Slot) {
        debug_assert!(at >= self.now, "time ran backwards");
        // One that was armed within the instant may be before others that have fired.
        self.passed = if at > self.now { slot.0 } else { self.passed.max(slot.0) };
        self.now = at;
    }

    /// It is `at` now, and no timer of that instant has fired.
    pub(super) fn wait_until(&mut self, at: Instant) {
        if at != self.now {
            (self.now, self.passed) = (at, 0);
        }
    }

    /// Packets and trace, for parts of the model that act on them.
    #[inline(always)]
    pub(super) fn ctx(&mut self) -> Ctx<'_, S> {
        Ctx { packets: &mut self.packets, trace: &mut self.trace }
    }

    /// Tells a reader that follows packets of a step; nothing otherwise.
    #[inline(always)]
    pub(super) fn step(&mut self, what: &Step<'_>) {
        if S::STEPS {
            self.trace.step(self.now, &self.packets, what);
        }
    }

    /// Tells the readers of the trace what happens now.
    #[inline(always)]
    pub(super) fn tell(&mut self, event: &TraceEvent) {
        self.trace.event(self.now, event);
    }
}

/// Reports a QUIC datagram as it is handed to the first device on its way, where a capture at its maker sees
/// it.
// linux: net/core/dev.c dev_hard_start_xmit (4.4) - taps are below the queueing discipline.
#[inline(never)]
pub(super) fn show_quic<S: Sink>(now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) {
    let hot = ctx.packets.get(p);
    if hot.kind == PacketKind::Quic && hot.ttl == TTL {
        let (flow, src) = (hot.flow, hot.src);
        let datagram = ctx.packets.quic(p);
        let what =
            QuicTrace::Sent { src, number: datagram.packet.number, len: datagram.len, long: datagram.long };
        ctx.trace.event(now, &TraceEvent::Quic { flow, what });
    }
}
