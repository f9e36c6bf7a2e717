//! State that air, network and hosts share: time, timers, packets and the trace.

use stillair_model::vocabulary::{
    Ctx, Instant, PacketKind, Packets, Pkt, QuicTrace, Sink, Step, TTL, TraceEvent,
};

use crate::engine::Timers;

/// The time of a world, its timers, its packets, and where events are reported.
#[derive(Debug)]
pub(super) struct Core<S> {
    pub(super) now: Instant,
    pub(super) timers: Timers,
    pub(super) packets: Packets,
    pub(super) trace: S,
}

impl<S: Sink> Core<S> {
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
    #[inline]
    pub(super) fn tell(&mut self, event: &TraceEvent) {
        self.trace.event(self.now, event);
    }
}

/// Reports a QUIC datagram as it is handed to the first device on its way, where a capture at its maker sees it.
// linux: net/core/dev.c dev_hard_start_xmit (4.4) - taps are below the queueing discipline.
#[inline]
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
