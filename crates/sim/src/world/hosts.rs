//! What nodes do with packets: routing, local delivery, transmit queues, wires.

use stillair_model::node::classify::classify;
use stillair_model::node::interface::{Port, TxQueue};
use stillair_model::node::routes::Route;
use stillair_model::offload::{gro, gso};
use stillair_model::qdisc::Enqueue;
use stillair_model::vocabulary::{
    Ac, Ctx, Fate, FrameView, Headers, IfId, Instant, Kind, NewPacket, NodeId, Pkt, PktList, QuicTrace,
    Reason, Sink, SockId, TTL, Trace, WireId,
};
use stillair_model::wifi::dev::{WifiDev, Woken};
use stillair_model::wifi::tx::transmitter::Hardware;
use stillair_model::wire::Wire;

use super::{Device, World};
use crate::engine::Slot;

/// A wire and the device that feeds it.
struct WirePort<'a> {
    wire: &'a mut Wire,
    id: WireId,
    /// The device splits packets of several segments.
    tso: bool,
}

impl<S: Sink> Port<S> for WirePort<'_> {
    fn is_stopped(&self, _: Ac) -> bool {
        self.wire.is_stopped()
    }
    fn takes_gso(&self) -> bool {
        self.tso
    }
    fn push(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) {
        if S::FRAMES {
            ctx.trace.frame(now, &FrameView::Sent(self.id, Headers::of(ctx.packets, p)));
        }
        show_quic(now, p, ctx);
        self.wire.push(now, p, ctx);
    }
}

struct WifiPort<'a>(&'a mut WifiDev, Hardware<'a>);

impl<S: Sink> Port<S> for WifiPort<'_> {
    fn is_stopped(&self, ac: Ac) -> bool {
        self.0.is_stopped(ac)
    }
    // linux: net/mac80211 (4.4) - ath9k's features have neither scatter-gather nor segmentation.
    fn takes_gso(&self) -> bool {
        false
    }
    fn push(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) {
        show_quic(now, p, ctx);
        self.0.push(now, p, &mut self.1, ctx);
    }
}

/// Reports a QUIC datagram as it is handed to the first device on its way, where a capture at its maker sees it.
// linux: net/core/dev.c dev_hard_start_xmit (4.4) - taps are below the queueing discipline.
#[inline]
fn show_quic<S: Sink>(now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) {
    let hot = ctx.packets.get(p);
    if hot.kind == Kind::Quic && hot.ttl == TTL {
        let (flow, src) = (hot.flow, hot.src);
        let datagram = ctx.packets.quic(p);
        let what =
            QuicTrace::Sent { src, number: datagram.packet.number, len: datagram.len, long: datagram.long };
        ctx.trace.event(now, &Trace::Quic { flow, what });
    }
}

/// Gives a packet to a device that has no queue above it, in its segments if it takes none of several.
// linux: net/core/dev.c __dev_queue_xmit (4.4) - what needs no queue is split as well.
#[inline]
fn push_directly<S: Sink>(now: Instant, p: Pkt, port: &mut impl Port<S>, ctx: &mut Ctx<'_, S>) {
    if ctx.packets.get(p).segs == 1 || port.takes_gso() {
        port.push(now, p, ctx);
    } else {
        push_segments(now, p, port, ctx);
    }
}

/// Feeds a device from a transmit queue, after a packet has been queued, if there is one.
#[inline(always)]
fn feed<S: Sink>(
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
    gso::split(ctx.packets, p, |packets, segment| segments.push(packets, segment));
    while let Some(segment) = segments.pop(ctx.packets) {
        port.push(now, segment, ctx);
    }
}

impl<S: Sink> World<S> {
    /// A packet leaves the node where it was made: through the interface whose address it bears, if a way leads there.
    /// The answer is that of the local queue; a packet without a way is refused.
    // linux: net/ipv4/fib_rules.c (4.4) - a rule for each source address, as hosts with several interfaces in one network
    // are set up; otherwise all their packets would leave through the first.
    pub(super) fn send(&mut self, node: NodeId, p: Pkt) -> Enqueue {
        let hot = self.packets.get(p);
        let bound = self.interfaces[hot.src.index()].bound.as_ref();
        match bound.and_then(|routes| routes.get(hot.dst)) {
            Some(route) => self.leave(node, route, p),
            None => self.egress(node, p),
        }
    }

    /// A packet leaves a node by its routes.
    fn egress(&mut self, node: NodeId, p: Pkt) -> Enqueue {
        let dst = self.packets.get(p).dst;
        match self.nodes[node.index()].routes.get(dst) {
            Some(route) => self.leave(node, route, p),
            None => {
                self.drop_at_node(node, p, Reason::NoRoute);
                Enqueue::Dropped
            }
        }
    }

    fn leave(&mut self, node: NodeId, route: Route, p: Pkt) -> Enqueue {
        match route {
            Route::Via(interface, peer) => {
                let mapping = self.nodes[node.index()].dscp_to_up;
                let hot = self.packets.get_mut(p);
                hot.peer = peer;
                classify(hot, mapping);
                let ac = Ac::of_tid(hot.tid);
                self.transmit(interface, ac, p)
            }
            Route::Local => {
                self.local(node, p);
                Enqueue::Queued
            }
        }
    }

    /// Packets have come in at an interface together, one after the other.
    pub(super) fn ingress(&mut self, interface: IfId, batch: &mut Vec<Pkt>) {
        batch.iter().for_each(|&p| self.weigh(interface, p));
        if batch.len() > 1 && self.interfaces[interface.index()].gro {
            gro::merge(&mut self.packets, batch);
        }
        for p in batch.drain(..) {
            self.receive(interface, p);
        }
    }

    /// What has come in takes the memory of this interface's receive buffers, if it has such of its own.
    #[inline]
    fn weigh(&mut self, interface: IfId, p: Pkt) {
        let rx_buffer = self.interfaces[interface.index()].rx_buffer;
        if rx_buffer > 0 {
            let hot = self.packets.get_mut(p);
            hot.truesize = rx_buffer * u32::from(hot.segs);
        }
    }

    #[inline(always)]
    pub(super) fn receive(&mut self, interface: IfId, p: Pkt) {
        if S::FRAMES {
            self.show_received(interface, p);
        }
        let node = self.interfaces[interface.index()].node;
        let hot = self.packets.get_mut(p);
        match self.nodes[node.index()].routes.get(hot.dst) {
            Some(Route::Local) => self.local(node, p),
            // linux: net/ipv4/ip_forward.c ip_forward (4.4) - what has one hop left is not passed on.
            // deviation: nobody tells its sender (ICMP).
            Some(_) if self.nodes[node.index()].forward && hot.ttl <= 1 => {
                self.drop_at_node(node, p, Reason::Ttl);
            }
            Some(onward) if self.nodes[node.index()].forward => {
                hot.ttl -= 1;
                // Whoever passes a packet on does not look at what became of it.
                let _ = self.leave(node, onward, p);
            }
            _ => self.drop_at_node(node, p, Reason::NoRoute),
        }
    }

    /// Shows what has come in over a wire as its host sees it.
    fn show_received(&mut self, interface: IfId, p: Pkt) {
        if let Device::Wire(out) = self.interfaces[interface.index()].device {
            // The two directions of a link are neighbours in number.
            let wire = WireId::from_index(out.index() ^ 1);
            let headers = Headers::of(&self.packets, p);
            self.trace.frame(self.now, &FrameView::Received(wire, headers));
        }
    }

    fn drop_at_node(&mut self, node: NodeId, p: Pkt, reason: Reason) {
        let (now, place) = (self.now, self.nodes[node.index()].place);
        self.ctx().drop(now, p, reason, place);
    }

    /// A packet has reached the node it is for.
    fn local(&mut self, node: NodeId, p: Pkt) {
        let now = self.now;
        let hot = self.packets.get(p);
        match hot.kind {
            Kind::Tcp => return self.tcp_segment(p),
            Kind::Quic => return self.quic_datagram(p),
            _ => {}
        }
        let Some(kind) = hot.kind.reply() else {
            let (kind, flow) = (hot.kind, hot.flow);
            self.ctx().deliver(now, p);
            if kind == Kind::Answer {
                self.looked_up(flow);
            }
            return;
        };
        // linux: net/ipv4/icmp.c icmp_echo (4.4) - the kernel answers with the request's TOS; so does a UDP server that was
        // told to mark both ways. Neither blocks on its socket. The reply keeps the time of the request, so that its delay
        // is the round trip.
        let reply = NewPacket {
            now: hot.t_sent,
            flow: hot.flow,
            flow_hash: hot.flow_hash.rotate_left(16),
            len: hot.len + kind.grows(),
            truesize: hot.truesize,
            charge: SockId::NONE,
            seq: hot.seq,
            src: hot.dst,
            dst: hot.src,
            tos: hot.tos,
            kind,
        };
        self.packets.free(p, Fate::Consumed);
        let reply = self.packets.create(reply);
        let _ = self.send(node, reply);
    }

    /// Queues a packet at an interface and feeds its device. What the device takes directly is not refused.
    fn transmit(&mut self, interface: IfId, ac: Ac, p: Pkt) -> Enqueue {
        if let Some(answer) = self.feed(interface, ac, Some(p)) {
            return answer;
        }
        let now = self.now;
        let ctx = &mut Ctx { packets: &mut self.packets, trace: &mut self.trace };
        match self.interfaces[interface.index()].device {
            Device::Wire(id) => {
                let tso = self.interfaces[interface.index()].tso;
                let wire = &mut self.wires[id.index()];
                push_directly(now, p, &mut WirePort { wire, id, tso }, ctx);
                self.arm_wire(id);
            }
            Device::Wifi(dev) => {
                let (wlan, hw) = self.dirty.open(&mut self.wlans, &mut self.radios, &mut self.channels, dev);
                push_directly(now, p, &mut WifiPort(&mut wlan.dev, hw), ctx);
            }
        }
        Enqueue::Queued
    }

    /// Feeds a Wi-Fi device from the transmit queues that it has woken; one that serves several categories is asked once.
    pub(super) fn run_woken(&mut self, id: IfId, woken: Woken) {
        let mut last = None;
        for ac in Ac::ALL.into_iter().filter(|&ac| woken.has(ac)) {
            let queue = self.interfaces[id.index()].tx.index_of(ac);
            if last.replace(queue) != Some(queue) {
                self.run_queue(id, ac);
            }
        }
    }

    /// Feeds a device from one of its transmit queues.
    pub(super) fn run_queue(&mut self, id: IfId, ac: Ac) {
        let _ = self.feed(id, ac, None);
    }

    /// The same after a packet has been queued, if there is one, with the queue's answer; none if there is no queue.
    #[inline]
    fn feed(&mut self, id: IfId, ac: Ac, p: Option<Pkt>) -> Option<Enqueue> {
        let now = self.now;
        let ctx = &mut Ctx { packets: &mut self.packets, trace: &mut self.trace };
        let interface = &mut self.interfaces[id.index()];
        let watchdog = interface.watchdog;
        let queue = interface.tx.queue_of(ac)?;
        let (answer, more) = match interface.device {
            Device::Wire(wire) => {
                let under = &mut self.wires[wire.index()];
                let armed = under.is_under_way();
                let fed =
                    feed(now, queue, p, &mut WirePort { wire: under, id: wire, tso: interface.tso }, ctx);
                if !armed {
                    self.arm_wire(wire);
                }
                fed
            }
            Device::Wifi(dev) => {
                let (wlan, hw) = self.dirty.open(&mut self.wlans, &mut self.radios, &mut self.channels, dev);
                feed(now, queue, p, &mut WifiPort(&mut wlan.dev, hw), ctx)
            }
        };
        if more {
            self.softirq.push((id, ac));
        }
        if let Some(first) = watchdog {
            self.arm_watchdog(id, ac, first);
        }
        Some(answer)
    }

    /// After a discipline that holds packets back was asked for some: the timer that asks it again.
    #[inline(never)]
    fn arm_watchdog(&mut self, id: IfId, ac: Ac, first: u32) {
        let tx = &mut self.interfaces[id.index()].tx;
        let slot = Slot(self.slots.watchdogs + first + tx.index_of(ac) as u32);
        let at = tx.queue_of(ac).and_then(|queue| queue.watchdog(self.now));
        self.timers.set(slot, at);
    }

    /// After packets were pushed: both timers, as a wire that was empty has none.
    fn arm_wire(&mut self, id: WireId) {
        self.arm_arrival(id);
        self.arm_completion(id);
    }

    #[inline(always)]
    fn arm_arrival(&mut self, id: WireId) {
        self.timers.set(Slot(self.slots.arrivals + u32::from(id.0)), self.wires[id.index()].next_arrival());
    }

    #[inline(always)]
    fn arm_completion(&mut self, id: WireId) {
        self.timers
            .set(Slot(self.slots.completions + u32::from(id.0)), self.wires[id.index()].next_completion());
    }

    /// Packets that have arrived over a wire are handed up.
    pub(super) fn wire_arrival(&mut self, index: usize) {
        let to = self.wires[index].to;
        if self.wires[index].gathers() {
            let mut batch = self.batches.pop().unwrap_or_default();
            while let Some(p) = self.arrived(index) {
                batch.push(p);
            }
            self.ingress(to, &mut batch);
            self.batches.push(batch);
        } else {
            while let Some(p) = self.arrived(index) {
                self.weigh(to, p);
                self.receive(to, p);
            }
        }
        self.arm_arrival(WireId::from_index(index));
    }

    /// The next packet that has arrived over a wire.
    #[inline]
    fn arrived(&mut self, index: usize) -> Option<Pkt> {
        let p = self.wires[index].arrive(self.now, &mut self.packets)?;
        if S::FRAMES {
            let headers = Headers::of(&self.packets, p);
            self.trace.frame(self.now, &FrameView::Wire(WireId::from_index(index), headers));
        }
        Some(p)
    }

    /// A wire's device reports transmissions.
    pub(super) fn wire_completion(&mut self, index: usize) {
        let ctx = &mut Ctx { packets: &mut self.packets, trace: &mut self.trace };
        let wire = &mut self.wires[index];
        let (woken, from) = (wire.complete(self.now, ctx), wire.from);
        self.arm_completion(WireId::from_index(index));
        if woken {
            self.run_queue(from, Ac::Be);
        }
    }
}
