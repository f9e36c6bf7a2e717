//! The network: nodes with routes, interfaces with transmit queues, and wires. A host gives packets to the
//! network, and gets its own through [`Local`]; interfaces of Wi-Fi devices pass packets to the air. This
//! module knows no applications, sockets or channels.

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

/// Delivery of packets to the hosts of their node.
pub(super) trait LocalDelivery<S> {
    /// Delivers a packet to its node.
    fn deliver(&mut self, core: &mut SimState<S>, network: &mut Network, air: &mut Air, node: NodeId, p: Pkt);
    /// Hands a packet with bytes to the external host of an interface, whatever its destination.
    fn leave(&mut self, core: &mut SimState<S>, at: IfId, p: Pkt);
}

/// What becomes of a packet that a host sends.
pub(super) enum FirstHop {
    /// The answer of the first queue on its way.
    On(Enqueue),
    /// It is for the same node, and nothing has been done with it.
    Local,
}

/// A host, router or access point as far as packets pass through it.
#[derive(Debug)]
pub(super) struct NetNode {
    pub(super) routes: Routes,
    pub(super) forward: bool,
    pub(super) dscp_to_up: DscpToUp,
    pub(super) place: PlaceId,
}

/// What is below an interface.
#[derive(Clone, Copy, Debug)]
pub(super) enum NetDevice {
    /// A wire.
    Wire(WireId),
    /// A Wi-Fi device.
    Wifi(DevId),
}

/// Handler of the packets that an interface receives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RxHandler {
    /// A modelled host.
    Host,
    /// An external host.
    External,
    /// The ifb of a shaper, which passes packets on to the interface of this number.
    Shaper(IfId),
}

/// An interface of a node.
#[derive(Debug)]
pub(super) struct NetInterface {
    pub(super) node: NodeId,
    pub(super) tx: TxQueues,
    pub(super) device: NetDevice,
    /// Its device takes packets of several segments.
    pub(super) tso: bool,
    /// What it takes in at once is merged.
    pub(super) gro: bool,
    /// Memory of a packet that comes in, in bytes; 0: that of the sender's packet.
    pub(super) rx_buffer: u32,
    /// Timer of the first of its disciplines.
    pub(super) timer: u32,
    /// The same, if they hold packets back.
    pub(super) watchdog: Option<u32>,
    /// Handler of received packets.
    pub(super) rx_handler: RxHandler,
    /// What comes in has passed an ifb.
    pub(super) behind_ifb: bool,
    /// What packets that bear its address reach through it, if its node has other interfaces.
    pub(super) bound: Option<Routes>,
}

impl NetInterface {
    /// Its disciplines are asked again by a timer if they hold packets back.
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
    /// Transmit queues that used up their quota and have their turn again when all else is done.
    softirq: Vec<(IfId, Ac)>,
    slots: NetworkSlots,
    /// Batches of packets on their way up, kept to be used again.
    batches: Vec<Vec<Pkt>>,
    /// The wires of the scenario; behind them are those from ifbs to their interfaces, which nobody sees.
    shown: usize,
}

/// Where the timers of the network begin: arrivals over wires, reports of their devices, disciplines that
/// hold packets back.
#[derive(Clone, Copy, Debug)]
pub(super) struct NetworkSlots {
    pub(super) arrivals: u32,
    pub(super) completions: u32,
    pub(super) watchdogs: u32,
}

impl Network {
    /// A network without packets.
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

    /// The node that has an address.
    #[inline]
    pub(super) fn node_of(&self, addr: Addr) -> NodeId {
        // An address is known by its interface's number.
        self.interfaces[addr.index()].node
    }

    /// A packet leaves the node where it was made: through the interface whose address it bears, if a way
    /// leads there. The answer is that of the local queue; a packet without a way is refused.
    // linux: net/ipv4/fib_rules.c (4.4) - a rule for each source address, as hosts with several interfaces in
    // one network are set up; otherwise all their packets would leave through the first.
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

    /// A packet from outside leaves through an interface of its host, which has chosen that; from a modelled
    /// host, as the host's routes say. Without a way it is dropped.
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

    /// A packet leaves a node through an interface, to one of the peers there.
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

    /// Packets have come in at an interface together, one after the other.
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

    /// What has come in takes the memory of this interface's receive buffers, if it has such of its own.
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
            // linux: net/ipv4/ip_forward.c ip_forward (4.4) - what has one hop left is not passed on.
            // deviation: nobody tells its sender (ICMP).
            Some(_) if *forward && hot.ttl <= 1 => self.drop_at_node(core, node, p, Reason::Ttl),
            Some(Route::Via(out, peer)) if *forward => {
                hot.ttl -= 1;
                let ac = leaves(hot, peer, *dscp_to_up);
                // Whoever passes a packet on does not look at what became of it.
                let _ = self.transmit(core, air, out, ac, p);
            }
            _ => self.drop_at_node(core, node, p, Reason::NoRoute),
        }
    }

    /// A packet has come in at an external host, or at an ifb.
    // linux: net/sched/act_mirred.c tcf_mirred_act, drivers/net/ifb.c ifb_ri_tasklet (6.1) - what comes in is
    // queued at the ifb, with its Ethernet header, and comes in at its interface again when the discipline
    // there lets go of it.
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
            // Nobody hears of what its queue refuses.
            let _ = self.transmit(core, air, at, Ac::Be, p);
        } else {
            self.come_out(core, hosts, at, p);
        }
    }

    /// A packet has come in at an external host. One without bytes is nothing to such a host.
    fn come_out<S: Sink>(&self, core: &mut SimState<S>, hosts: &mut impl LocalDelivery<S>, at: IfId, p: Pkt) {
        if core.packets.get(p).kind == PacketKind::External {
            hosts.leave(core, at, p);
        } else {
            self.drop_at_node(core, self.interfaces[at.index()].node, p, Reason::NoRoute);
        }
    }

    /// Shows what has come in over a wire as its host sees it: before an ifb.
    // linux: net/core/dev.c __netif_receive_skb_core (6.1) - taps come before the ingress hook, and do not
    // see again what an ifb gives back.
    fn show_received<S: Sink>(&self, core: &mut SimState<S>, interface: IfId, p: Pkt) {
        let interface = match self.interfaces[interface.index()] {
            NetInterface { rx_handler: RxHandler::Shaper(of), .. } => of,
            NetInterface { behind_ifb: true, .. } => return,
            _ => interface,
        };
        if let NetDevice::Wire(out) = self.interfaces[interface.index()].device {
            // The two directions of a link are neighbours in number.
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

/// Marks a packet that leaves a node for a peer; gives its access category.
#[inline(always)]
fn leaves(hot: &mut Packet, peer: PeerId, mapping: DscpToUp) -> Ac {
    hot.peer = peer;
    classify(hot, mapping);
    Ac::of_tid(hot.tid)
}

#[cfg(test)]
mod tests;
