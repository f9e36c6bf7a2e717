//! The network: nodes with routes, interfaces with transmit queues, and wires. Hosts pass packets to the
//! network and receive packets through [`LocalDelivery`]; interfaces of Wi-Fi devices pass packets to the
//! air. This module does not depend on applications, sockets or channels.

mod ports;
mod queues;
mod read;
mod wires;

use stillair_model::node::classify::{DscpToUp, classify};
use stillair_model::node::interface::TxQueues;
use stillair_model::node::routes::{Route, Routes};
use stillair_model::offload::gro;
use stillair_model::qdisc::Enqueue;
use stillair_model::types::{
    Ac, Addr, DevId, FrameView, IfId, NodeId, Packet, PacketKind, PeerId, Pkt, PlaceId, Reason, Sink, Step,
    WireId, WirePacket,
};
use stillair_model::wire::Wire;

use super::air::Air;
use super::owned::Owned;
use super::state::SimState;

/// Delivers packets to the hosts of a node.
pub(super) trait LocalDelivery<S> {
    /// Delivers a packet addressed to `node`.
    fn deliver(&mut self, core: &mut SimState<S>, network: &mut Network, air: &mut Air, node: NodeId, p: Pkt);
    /// Hands a packet with bytes to the external host of an interface, whatever its destination.
    fn leave(&mut self, core: &mut SimState<S>, at: IfId, p: Pkt);
}

/// First hop of a packet sent by a host.
pub(super) enum FirstHop {
    /// The packet was queued; result of the first queue.
    On(Enqueue),
    /// The packet is for the sending node, and was not handled.
    Local,
}

/// Forwarding state of a host, router or access point.
#[derive(Debug)]
pub(super) struct NetNode {
    pub(super) routes: Routes,
    pub(super) forward: bool,
    pub(super) dscp_to_up: DscpToUp,
    pub(super) place: PlaceId,
}

/// Device below an interface.
#[derive(Clone, Copy, Debug)]
pub(super) enum NetDevice {
    Wire(WireId),
    Wifi(DevId),
}

/// Handler of packets received by an interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RxHandler {
    Host,
    External,
    /// Ifb of a shaper, which passes packets on to the interface with this number.
    Shaper(IfId),
}

#[derive(Debug)]
pub(super) struct NetInterface {
    pub(super) node: NodeId,
    pub(super) tx: TxQueues,
    pub(super) device: NetDevice,
    /// The device accepts packets of several segments (TSO).
    pub(super) tso: bool,
    /// Merge packets received in one batch (GRO).
    pub(super) gro: bool,
    /// Memory per received packet, in bytes; 0 keeps the truesize set by the sender.
    pub(super) rx_buffer: u32,
    /// Timer slot of the first transmit queue.
    pub(super) timer: u32,
    /// `timer`, if a qdisc of the interface delays packets.
    pub(super) watchdog: Option<u32>,
    pub(super) rx_handler: RxHandler,
    /// Received packets have passed an ifb.
    pub(super) behind_ifb: bool,
    /// Routes of packets with this interface's source address, if the node has other interfaces.
    pub(super) bound: Option<Routes>,
}

impl NetInterface {
    /// Enables the watchdog timer if a qdisc delays packets.
    pub(super) fn watches(&mut self) {
        let holds_back = self.tx.iter().any(|queue| queue.qdisc().holds_back());
        self.watchdog = holds_back.then_some(self.timer);
    }
}

/// All nodes, interfaces and wires.
#[derive(Debug)]
pub(super) struct Network {
    nodes: Vec<NetNode>,
    interfaces: Vec<NetInterface>,
    wires: Vec<Wire>,
    /// Transmit queues in the order of their timers.
    watchdogs: Vec<(IfId, Ac)>,
    /// Transmit queues that used up their quota and run again after all other work.
    softirq: Vec<(IfId, Ac)>,
    slots: NetworkSlots,
    /// Spare buffers for batches of received packets.
    batches: Vec<Vec<Pkt>>,
    /// Number of wires of the scenario. The wires behind them, from ifbs to their interfaces, do not appear
    /// in captures.
    shown: usize,
}

/// First timer slots of the network: arrivals over wires, completions of their devices, and watchdogs of
/// qdiscs that delay packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct NetworkSlots {
    pub(super) arrivals: u32,
    pub(super) completions: u32,
    pub(super) watchdogs: u32,
}

impl Network {
    /// Creates a network without packets.
    pub(super) fn new(
        nodes: Vec<NetNode>,
        interfaces: Vec<NetInterface>,
        wires: Vec<Wire>,
        watchdogs: Vec<(IfId, Ac)>,
        slots: NetworkSlots,
    ) -> Self {
        let ifbs = interfaces.iter().filter(|i| matches!(i.rx_handler, RxHandler::Shaper(_))).count();
        let (shown, batches) = (wires.len() - ifbs, Vec::new());
        Self { nodes, interfaces, wires, watchdogs, softirq: Vec::new(), slots, batches, shown }
    }

    /// Takes over the interfaces and wires of some islands.
    pub(super) fn take_over(&mut self, other: Self, owned: &Owned<'_>) {
        owned.take(&mut self.interfaces, other.interfaces, &owned.islands.interfaces);
        owned.take(&mut self.wires, other.wires, &owned.islands.wires);
    }

    #[inline]
    pub(super) fn node_of(&self, addr: Addr) -> NodeId {
        // Addresses are numbered like their interfaces.
        self.interfaces[addr.index()].node
    }

    /// Sends a packet created at a node through the interface of its source address if that has a route, or
    /// else by the node's routing table. Returns the result of the local queue; a packet without a route is
    /// dropped.
    // linux: net/ipv4/fib_rules.c (4.4) - one rule per source address, as usually configured on hosts with
    // several interfaces in one network. Without such rules, all packets would leave through the first
    // interface.
    pub(super) fn send<S: Sink>(
        &mut self,
        core: &mut SimState<S>,
        air: &mut Air,
        node: NodeId,
        p: Pkt,
    ) -> FirstHop {
        let hot = core.packets.get(p);
        let bound = self.interfaces[hot.src.index()].bound.as_ref().and_then(|routes| routes.get(hot.dst));
        match bound.or_else(|| self.nodes[node.index()].routes.get(hot.dst)) {
            Some(Route::Via(interface, peer)) => {
                FirstHop::On(self.leave(core, air, node, (interface, peer), p))
            }
            Some(Route::Local) => FirstHop::Local,
            None => {
                self.drop_at_node(core, node, p, Reason::NoRoute);
                FirstHop::On(Enqueue::Dropped)
            }
        }
    }

    /// Sends a packet from an external host through the interface that the host has chosen. On a modelled
    /// host, its routing table chooses the interface. A packet without a route is dropped.
    pub(super) fn enter<S: Sink>(
        &mut self,
        core: &mut SimState<S>,
        air: &mut Air,
        at: IfId,
        p: Pkt,
    ) -> Enqueue {
        let interface = &self.interfaces[at.index()];
        let node = interface.node;
        let own = &self.nodes[node.index()].routes;
        let external = interface.rx_handler == RxHandler::External;
        let routes = interface.bound.as_ref().filter(|_| external).unwrap_or(own);
        match routes.get(core.packets.get(p).dst) {
            Some(Route::Via(out, peer)) if out == at || !external => {
                self.leave(core, air, node, (out, peer), p)
            }
            _ => {
                self.drop_at_node(core, node, p, Reason::NoRoute);
                Enqueue::Dropped
            }
        }
    }

    /// Queues a packet at an interface, for one of the peers there.
    fn leave<S: Sink>(
        &mut self,
        core: &mut SimState<S>,
        air: &mut Air,
        node: NodeId,
        (interface, peer): (IfId, PeerId),
        p: Pkt,
    ) -> Enqueue {
        let ac = leaves(core.packets.get_mut(p), peer, self.nodes[node.index()].dscp_to_up);
        self.transmit(core, air, interface, ac, p)
    }

    /// Receives a batch of packets at an interface.
    pub(super) fn ingress<S: Sink>(
        &mut self,
        core: &mut SimState<S>,
        air: &mut Air,
        hosts: &mut impl LocalDelivery<S>,
        interface: IfId,
        batch: &mut Vec<Pkt>,
    ) {
        batch.iter().for_each(|&p| self.weigh(core, interface, p));
        if batch.len() > 1 && self.interfaces[interface.index()].gro {
            gro::merge(&mut core.packets, batch);
        }
        for p in batch.drain(..) {
            self.receive(core, air, hosts, interface, p);
        }
    }

    /// Sets the packet's truesize to that of this interface's receive buffers, if configured.
    #[inline]
    fn weigh<S>(&self, core: &mut SimState<S>, interface: IfId, p: Pkt) {
        let rx_buffer = self.interfaces[interface.index()].rx_buffer;
        if rx_buffer > 0 {
            let hot = core.packets.get_mut(p);
            hot.truesize = rx_buffer * u32::from(hot.segs);
        }
    }

    #[inline(always)]
    fn receive<S: Sink>(
        &mut self,
        core: &mut SimState<S>,
        air: &mut Air,
        hosts: &mut impl LocalDelivery<S>,
        interface: IfId,
        p: Pkt,
    ) {
        if S::FRAMES {
            self.show_received(core, interface, p);
        }
        core.step(&Step::Up { p });
        let NetInterface { node, rx_handler, .. } = self.interfaces[interface.index()];
        if rx_handler != RxHandler::Host {
            return self.come_apart(core, air, hosts, interface, p);
        }
        let hot = core.packets.get_mut(p);
        let NetNode { routes, forward, dscp_to_up, .. } = &self.nodes[node.index()];
        match routes.get(hot.dst) {
            Some(Route::Local) => hosts.deliver(core, self, air, node, p),
            // linux: net/ipv4/ip_forward.c ip_forward (4.4) - drops packets with a TTL of 1.
            // deviation: no ICMP Time Exceeded is sent.
            Some(_) if *forward && hot.ttl <= 1 => self.drop_at_node(core, node, p, Reason::Ttl),
            Some(Route::Via(out, peer)) if *forward => {
                hot.ttl -= 1;
                let ac = leaves(hot, peer, *dscp_to_up);
                // A forwarding node ignores the result of its queue.
                let _ = self.transmit(core, air, out, ac, p);
            }
            _ => self.drop_at_node(core, node, p, Reason::NoRoute),
        }
    }

    /// Receives a packet at an external host or at an ifb.
    // linux: net/sched/act_mirred.c tcf_mirred_act, drivers/net/ifb.c ifb_ri_tasklet (6.1) - queues received
    // packets at the ifb, with their Ethernet header; the interface receives them again when the ifb's qdisc
    // releases them.
    #[cold]
    fn come_apart<S: Sink>(
        &mut self,
        core: &mut SimState<S>,
        air: &mut Air,
        hosts: &mut impl LocalDelivery<S>,
        at: IfId,
        p: Pkt,
    ) {
        if let RxHandler::Shaper(_) = self.interfaces[at.index()].rx_handler {
            // Drops by this queue are not reported to the sender.
            let _ = self.transmit(core, air, at, Ac::Be, p);
        } else {
            self.come_out(core, hosts, at, p);
        }
    }

    /// Receives a packet at an external host. Drops packets without bytes.
    fn come_out<S: Sink>(&self, core: &mut SimState<S>, hosts: &mut impl LocalDelivery<S>, at: IfId, p: Pkt) {
        if core.packets.get(p).kind == PacketKind::External {
            hosts.leave(core, at, p);
        } else {
            self.drop_at_node(core, self.interfaces[at.index()].node, p, Reason::NoRoute);
        }
    }

    /// Captures a packet received over a wire as its host sees it, before an ifb.
    // linux: net/core/dev.c __netif_receive_skb_core (6.1) - calls taps before the ingress hook, and does not
    // call them again for packets reinjected by an ifb.
    fn show_received<S: Sink>(&self, core: &mut SimState<S>, interface: IfId, p: Pkt) {
        let interface = match self.interfaces[interface.index()] {
            NetInterface { rx_handler: RxHandler::Shaper(of), .. } => of,
            NetInterface { behind_ifb: true, .. } => return,
            _ => interface,
        };
        if let NetDevice::Wire(out) = self.interfaces[interface.index()].device {
            // The two directions of a link have adjacent numbers.
            let wire = WireId::from_index(out.index() ^ 1);
            let packet = WirePacket::new(&core.packets, p);
            core.trace.frame(core.now, &FrameView::Received(wire, packet));
        }
    }

    fn drop_at_node<S: Sink>(&self, core: &mut SimState<S>, node: NodeId, p: Pkt, reason: Reason) {
        let (now, place) = (core.now, self.nodes[node.index()].place);
        core.ctx().drop(now, p, reason, place);
    }
}

/// Sets the peer of an outgoing packet and classifies it. Returns its access category.
#[inline(always)]
fn leaves(hot: &mut Packet, peer: PeerId, mapping: DscpToUp) -> Ac {
    hot.peer = peer;
    classify(hot, mapping);
    Ac::of_tid(hot.tid)
}

#[cfg(test)]
mod tests;
