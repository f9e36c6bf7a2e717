//! Hosts: applications, and their TCP, UDP and QUIC sockets. Packets for a host arrive through
//! `LocalDelivery`; a host passes its packets to the network. This module does not depend on queues, wires or
//! channels.

mod apps;
mod connections;
mod external;
mod quic;
mod read;
mod responsiveness;
mod sockets;
mod wake;
mod web;

use std::collections::BTreeMap;

use stillair_model::node::jitter::AppClock;
use stillair_model::node::wake::Wake;
use stillair_model::qdisc::Enqueue;
use stillair_model::transport::tcp::metrics::PathMetrics;
use stillair_model::transport::tcp::socket::Tcp;
use stillair_model::types::{
    Addr, Datagram, Fate, IfId, NewPacket, NodeId, PacketKind, Packets, Pkt, Sink, SockId, Step,
};

use super::air::Air;
use super::network::{FirstHop, LocalDelivery, Network};
use super::owned::Owned;
use super::state::SimState;
use wake::Wakes;

pub(in crate::world) use apps::{App, AppKind};
pub(in crate::world) use connections::ConnectionEnd;
pub(in crate::world) use external::External;
pub(in crate::world) use quic::{Job, LoadState, QuicApp, QuicEnd, Stacks};
pub(in crate::world) use responsiveness::ResponsivenessFlow;
pub use sockets::TcpSocket;
pub(in crate::world) use sockets::{BulkFlow, Socket, SocketProtocol};
pub(in crate::world) use web::WebFlow;

/// All applications and sockets.
#[derive(Debug)]
pub(super) struct Hosts {
    apps: Vec<App>,
    /// Clock of each application's timers. Empty if the timers of all hosts are exact.
    clocks: Vec<AppClock>,
    sockets: Vec<Socket>,
    /// Number of sockets at the start. Later sockets are opened during the run.
    pub(super) at_first: usize,
    /// TCP state machine of each TCP socket, taken out of its slot while it acts.
    tcps: Vec<Option<Box<Tcp>>>,
    /// Cached path metrics, by source and destination.
    paths: BTreeMap<(Addr, Addr), PathMetrics>,
    /// Sockets that were waiting for memory and got some.
    writable: Vec<SockId>,
    /// Processes that were woken and have not run yet.
    wakes: Wakes,
    /// Spare QUIC datagram records.
    spare: Vec<Datagram>,
    external: External,
    slots: HostSlots,
}

/// First timer slots of hosts (applications, processes by node, sockets), and the end of all timer slots.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostSlots {
    pub(super) apps: u32,
    pub(super) wakes: u32,
    pub(super) sockets: u32,
    pub(super) end: u32,
}

/// Layers below hosts: simulation state, network and air.
pub(super) struct LowerLayers<'a, S> {
    pub(super) core: &'a mut SimState<S>,
    pub(super) network: &'a mut Network,
    pub(super) air: &'a mut Air,
}

impl Hosts {
    /// Creates hosts that have not started. `tcps` holds the state machines of TCP sockets; `wakes` holds,
    /// per node, when woken processes run.
    pub(super) fn new(
        (apps, clocks): (Vec<App>, Vec<AppClock>),
        sockets: Vec<Socket>,
        tcps: Vec<Option<Box<Tcp>>>,
        wakes: Vec<Wake>,
        external: External,
        slots: HostSlots,
    ) -> Self {
        Self {
            apps,
            clocks,
            at_first: sockets.len(),
            sockets,
            tcps,
            paths: BTreeMap::new(),
            writable: Vec::new(),
            wakes: Wakes::new(wakes),
            spare: Vec::new(),
            external,
            slots,
        }
    }

    /// Arms the timers of the selected applications.
    pub(super) fn start<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, which: impl Fn(usize) -> bool) {
        (0..self.apps.len()).filter(|&app| which(app)).for_each(|app| self.arm_app(below, app));
    }

    /// Returns the number of sockets opened so far.
    #[inline]
    pub(super) fn sockets(&self) -> usize {
        self.sockets.len()
    }

    /// Takes over the applications of some islands, and the sockets that they had at the start.
    pub(super) fn take_over(&mut self, other: Self, owned: &Owned<'_>) {
        let apps = &owned.islands.apps;
        let of_socket: Vec<u16> =
            self.sockets[..self.at_first].iter().map(|socket| apps[socket.app as usize]).collect();
        let Self { apps: their_apps, mut tcps, .. } = other;
        tcps.truncate(self.at_first);
        owned.take(&mut self.apps, their_apps, apps);
        owned.take(&mut self.tcps[..self.at_first], tcps, &of_socket);
    }

    /// Sends a packet from a node. A packet for the same node arrives immediately.
    #[inline]
    fn send<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, node: NodeId, p: Pkt) -> Enqueue {
        match below.network.send(below.core, below.air, node, p) {
            FirstHop::On(answer) => answer,
            FirstHop::Local => {
                self.receive(below, node, p);
                Enqueue::Queued
            }
        }
    }

    /// Receives a packet at its destination node.
    fn receive<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, node: NodeId, p: Pkt) {
        let core = &mut *below.core;
        let hot = core.packets.get(p);
        match hot.kind {
            PacketKind::Tcp => return self.tcp_segment(below, p),
            PacketKind::Quic => return self.quic_datagram(below, p),
            PacketKind::External => return self.bytes_for_a_model(below.core, p),
            _ => {}
        }
        let Some(kind) = hot.kind.reply() else {
            let (kind, flow) = (hot.kind, hot.flow);
            let now = core.now;
            core.ctx().deliver(now, p);
            if kind == PacketKind::Answer {
                self.looked_up(below, flow);
            }
            return;
        };
        let reply = reply(&mut core.packets, kind, p);
        core.step(&Step::Copied { from: p, to: reply });
        let _ = self.send(below, node, reply);
    }
}

/// Creates the reply to a packet that the kernel answers without a process, and consumes the packet.
// linux: net/ipv4/icmp.c icmp_echo (4.4), net/ipv6/icmp.c icmpv6_echo_reply (6.1) - the kernel replies with
// the TOS or traffic class of the request, as does a UDP server configured to mark both directions. Neither
// blocks on its socket. The reply keeps the request's timestamp, so its delay is the round-trip time.
fn reply(packets: &mut Packets, kind: PacketKind, p: Pkt) -> Pkt {
    let hot = packets.get(p);
    let reply = NewPacket {
        now: hot.t_sent,
        flow: hot.flow,
        flow_hash: hot.flow_hash.rotate_left(16),
        len: hot.len + kind.grows(hot.dst.ip()),
        truesize: hot.truesize,
        charge: SockId::NONE,
        seq: hot.seq,
        src: hot.dst,
        dst: hot.src,
        tos: hot.tos,
        kind,
    };
    packets.free(p, Fate::Consumed);
    packets.create(reply)
}

impl<S: Sink> LocalDelivery<S> for Hosts {
    fn deliver(
        &mut self,
        core: &mut SimState<S>,
        network: &mut Network,
        air: &mut Air,
        node: NodeId,
        p: Pkt,
    ) {
        self.receive(&mut LowerLayers { core, network, air }, node, p);
    }

    fn leave(&mut self, core: &mut SimState<S>, at: IfId, p: Pkt) {
        self.comes_out(core, at, p);
    }
}

#[cfg(test)]
mod tests;
