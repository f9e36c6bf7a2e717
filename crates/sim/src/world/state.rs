//! State shared by air, network and hosts: time, timers, packets and the trace.

use stillair_model::types::{Ctx, Instant, PacketKind, Packets, Pkt, QuicTrace, Sink, Step, TTL, TraceEvent};

use crate::engine::{Slot, Timers};

/// Time, timers, packets and trace sink of a simulation.
#[derive(Debug)]
pub(super) struct SimState<S> {
    pub(super) now: Instant,
    /// Timer slots below this one that were due at `now` when the instant began have fired.
    pub(super) passed: u32,
    pub(super) timers: Timers,
    pub(super) packets: Packets,
    pub(super) trace: S,
}

impl<S: Sink> SimState<S> {
    /// Advances the time to a firing timer.
    #[inline(always)]
    pub(super) fn fires(&mut self, at: Instant, slot: Slot) {
        debug_assert!(at >= self.now, "time ran backwards");
        // A timer armed within this instant may have a lower slot than others that have fired.
        self.passed = if at > self.now { slot.0 } else { self.passed.max(slot.0) };
        self.now = at;
    }

    /// Advances the time to `at`, before any timer of that instant fires.
    pub(super) fn wait_until(&mut self, at: Instant) {
        if at != self.now {
            (self.now, self.passed) = (at, 0);
        }
    }

    /// Returns packets and trace, for parts of the model that act on them.
    #[inline(always)]
    pub(super) fn ctx(&mut self) -> Ctx<'_, S> {
        Ctx { packets: &mut self.packets, trace: &mut self.trace }
    }

    /// Reports a step to a trace that follows packets.
    #[inline(always)]
    pub(super) fn step(&mut self, what: &Step<'_>) {
        if S::STEPS {
            self.trace.step(self.now, &self.packets, what);
        }
    }

    /// Reports an event to the trace at the current time.
    #[inline(always)]
    pub(super) fn tell(&mut self, event: &TraceEvent) {
        self.trace.event(self.now, event);
    }
}

/// Captures a QUIC datagram at the first device on its path, as a capture on the sending host would.
// linux: net/core/dev.c dev_hard_start_xmit (4.4) - taps are below the qdisc.
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
