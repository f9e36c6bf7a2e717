//! Ports below a transmit queue: the device of a wire, or another kind of port.

use stillair_model::node::interface::{Port, TxQueue};
use stillair_model::offload::gso;
use stillair_model::qdisc::Enqueue;
use stillair_model::types::{
    Ac, Ctx, FrameView, Instant, PacketKind, Pkt, PktList, Sink, WireId, WirePacket,
};
use stillair_model::wire::Wire;

use crate::world::state::show_quic;

/// A wire and the device that feeds it.
pub(super) struct WirePort<'a> {
    pub(super) wire: &'a mut Wire,
    pub(super) id: WireId,
    /// The device splits packets of several segments (TSO).
    pub(super) tso: bool,
    /// Packets appear in captures.
    pub(super) shown: bool,
}

impl<S: Sink> Port<S> for WirePort<'_> {
    fn is_stopped(&self, _: Ac) -> bool {
        self.wire.is_stopped()
    }
    fn takes_gso(&self) -> bool {
        self.tso
    }
    fn push(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) {
        if S::FRAMES && self.shown {
            ctx.trace.frame(now, &FrameView::Sent(self.id, WirePacket::new(ctx.packets, p)));
        }
        if ctx.packets.get(p).kind == PacketKind::Quic {
            return push_quic(self.wire, now, p, ctx);
        }
        self.wire.push(now, p, ctx);
    }
}

/// Pushes a QUIC datagram and reports it, as the first device on its path.
#[inline(never)]
fn push_quic<S: Sink>(wire: &mut Wire, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) {
    show_quic(now, p, ctx);
    wire.push(now, p, ctx);
}

/// Pushes a packet to a device without a queue above it, in single segments if the device has no TSO.
// linux: net/core/dev.c __dev_queue_xmit (4.4) - segments packets for devices without a queue as well.
#[inline]
pub(super) fn push_directly<S: Sink>(now: Instant, p: Pkt, port: &mut impl Port<S>, ctx: &mut Ctx<'_, S>) {
    if ctx.packets.get(p).segs == 1 || port.takes_gso() {
        port.push(now, p, ctx);
    } else {
        push_segments(now, p, port, ctx);
    }
}

/// Feeds a device from a transmit queue, after queueing `p` if given.
#[inline(always)]
pub(super) fn feed<S: Sink>(
    now: Instant,
    queue: &mut TxQueue,
    p: Option<Pkt>,
    port: &mut impl Port<S>,
    ctx: &mut Ctx<'_, S>,
) -> (Enqueue, bool) {
    match p {
        Some(p) => queue.send(now, p, port, ctx),
        None => (Enqueue::Queued, queue.run(now, port, ctx)),
    }
}

fn push_segments<S: Sink>(now: Instant, p: Pkt, port: &mut impl Port<S>, ctx: &mut Ctx<'_, S>) {
    let mut segments = PktList::default();
    gso::split_by(now, p, ctx, |ctx, segment| segments.push(ctx.packets, segment));
    while let Some(segment) = segments.pop(ctx.packets) {
        port.push(now, segment, ctx);
    }
}
