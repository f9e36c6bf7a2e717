//! QUIC hosts: everything around a stack. The host sends datagrams one after another as CPU time allows, up
//! to the socket's send buffer. Received datagrams wait for the process. Timers have the host's granularity.

mod load;
mod stacks;

use std::collections::VecDeque;

use stillair_model::node::jitter::Slack;
use stillair_model::transport::quic::{Connection, Engine, HostCost, QuicRole, Stack, StackEvent};
use stillair_model::types::{
    Datagram, Endpoint, FlowId, Instant, NewPacket, NodeId, PacketKind, Pkt, QuicTrace, Sink, SockId,
    TraceEvent, linear_truesize,
};

use super::{Hosts, LowerLayers};
use crate::engine::Slot;
pub(in crate::world) use load::{Job, LoadState};
pub(in crate::world) use stacks::Stacks;

/// One end of a connection with its host.
#[derive(Debug)]
pub(in crate::world) struct QuicEnd {
    pub(in crate::world) sock: SockId,
    pub(in crate::world) node: NodeId,
    /// Addresses and flow, from this end to the other.
    pub(in crate::world) endpoint: Endpoint,
    pub(in crate::world) role: QuicRole,
    cost: HostCost,
    /// Timer slack, if timers fire late.
    // linux: fs/eventpoll.c ep_poll, fs/select.c select_estimate_accuracy (4.4) - applies the timer slack of
    // the process to waits with a timeout.
    // deviation: slack is a thousandth of waits longer than 50 ms.
    slack: Option<Slack>,
    /// `None` before the first connection.
    stack: Option<Engine>,
    /// Time until which the process is busy.
    busy: Instant,
    /// Received datagrams waiting for the process.
    waiting: VecDeque<Datagram>,
    /// Truesize of sent datagrams in lower layers, and its limit, in bytes.
    charged: u64,
    sndbuf: u64,
    /// Number of the last datagram, counted over all connections.
    seq: u32,
    /// The handshake allows sending data.
    established: bool,
}

impl QuicEnd {
    /// Creates a host without a connection.
    pub(in crate::world) fn new(
        sock: SockId,
        node: NodeId,
        endpoint: Endpoint,
        role: QuicRole,
        (cost, slack): (HostCost, Option<Slack>),
        sndbuf: u64,
    ) -> Self {
        Self {
            sock,
            node,
            endpoint,
            role,
            cost,
            slack,
            stack: None,
            busy: Instant::ZERO,
            waiting: VecDeque::new(),
            charged: 0,
            sndbuf,
            seq: 0,
            established: false,
        }
    }
}

impl QuicEnd {
    /// Returns the stack of the current or the last connection.
    pub(super) fn stack(&self) -> Option<&Engine> {
        self.stack.as_ref()
    }

    /// Returns true if the stack can report which packets a datagram acknowledges, which it does only after
    /// processing the datagram.
    fn reads(&self) -> bool {
        matches!(self.stack, Some(Engine::Other(_)))
    }
}

/// A QUIC flow: both ends, and the load of the connection.
#[derive(Debug)]
pub(in crate::world) struct QuicApp {
    pub(in crate::world) flow: FlowId,
    pub(in crate::world) stacks: Stacks,
    /// The data sender and the receiver.
    pub(in crate::world) ends: [QuicEnd; 2],
    pub(in crate::world) load: LoadState,
    /// Number of the current or the last connection.
    pub(in crate::world) connection: u32,
}

impl QuicApp {
    fn end(&self, sock: SockId) -> usize {
        usize::from(self.ends[0].sock != sock)
    }

    /// Returns the memory charged to one of the sockets.
    pub(super) fn charged(&self, sock: SockId) -> u64 {
        self.ends[self.end(sock)].charged
    }

    /// Ends a charge. Returns whether the socket was full.
    pub(super) fn uncharge(&mut self, sock: SockId, truesize: u32) -> bool {
        let at = self.end(sock);
        let end = &mut self.ends[at];
        let was_full = end.charged >= end.sndbuf;
        end.charged -= u64::from(truesize);
        was_full && end.charged < end.sndbuf
    }

    /// Opens a connection. Both ends discard the previous one.
    fn connect(&mut self, now: Instant) {
        self.connection += 1;
        for (at, end) in self.ends.iter_mut().enumerate() {
            let mut stack = self.stacks.connect(at, end.role);
            if end.role == QuicRole::Client {
                stack.connect(now);
            }
            end.stack = Some(stack);
            end.established = false;
        }
    }
}

impl Hosts {
    /// Receives a datagram at its host.
    pub(super) fn quic_datagram<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, p: Pkt) {
        let now = below.core.now;
        let mut datagram = self.spare.pop().unwrap_or_default();
        below.core.packets.take_quic(p, &mut datagram);
        let hot = below.core.packets.get(p);
        let (src, tos) = (hot.src, hot.tos);
        below.core.ctx().deliver(now, p);
        datagram.ecn = tos & 3;
        let sock = datagram.to.expect("its maker has said whom it is for");
        let app = self.sockets[sock.index()].app as usize;
        let (number, len, long) = (datagram.packet.number, datagram.len, datagram.long);
        let acked = datagram.packet.ranges.first().map_or(0, |&(_, end)| end - 1);
        let quic = self.quic(app);
        let (flow, at) = (quic.flow, quic.end(sock));
        let current = datagram.connection == quic.connection;
        // A real stack reports a datagram only after reading it.
        let told = current && quic.ends[at].reads();
        if current {
            quic.ends[at].waiting.push_back(datagram);
        } else {
            self.spare.push(datagram);
        }
        if !told {
            let what = QuicTrace::Received { src, number, len, long, acked };
            below.core.tell(&TraceEvent::Quic { flow, what });
        }
        self.serve_quic(below, app, sock);
    }

    /// Handles the timer of one end, which also fires when its process becomes free.
    pub(super) fn quic_timer<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, sock: SockId) {
        let app = self.sockets[sock.index()].app as usize;
        let quic = self.quic(app);
        let at = quic.end(sock);
        quic.ends[at].slack.iter_mut().for_each(Slack::fired);
        self.serve_quic(below, app, sock);
    }

    /// Opens a connection for the next load.
    pub(super) fn quic_connect<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, app: usize) {
        let now = below.core.now;
        self.forget_waiting(below, app, 0);
        self.forget_waiting(below, app, 1);
        let quic = self.quic(app);
        quic.connect(now);
        let socks = [quic.ends[0].sock, quic.ends[1].sock];
        socks.into_iter().for_each(|sock| self.serve_quic(below, app, sock));
    }

    /// Discards datagrams waiting for the stack of the previous connection.
    fn forget_waiting<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, app: usize, at: usize) {
        while let Some(datagram) = self.quic(app).ends[at].waiting.pop_front() {
            if self.quic(app).ends[at].reads() {
                self.tell_received(below, app, at, &datagram, 0);
            }
            self.spare.push(datagram);
        }
    }

    /// Reports a datagram that a real stack has read or discarded.
    fn tell_received<S: Sink>(
        &mut self,
        below: &mut LowerLayers<'_, S>,
        app: usize,
        at: usize,
        datagram: &Datagram,
        acked: u64,
    ) {
        let (number, len, long) = (datagram.packet.number, datagram.len, datagram.long);
        let quic = self.quic(app);
        let (flow, src) = (quic.flow, quic.ends[at].endpoint.dst);
        let what = QuicTrace::Received { src, number, len, long, acked };
        below.core.tell(&TraceEvent::Quic { flow, what });
    }

    pub(super) fn quic_close<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, app: usize) {
        let now = below.core.now;
        let quic = self.quic(app);
        let client = usize::from(quic.ends[0].role != QuicRole::Client);
        let sock = quic.ends[client].sock;
        if let Some(stack) = &mut quic.ends[client].stack {
            stack.close(now);
        }
        self.serve_quic(below, app, sock);
    }

    /// Runs the process of one end until it has nothing left to do now.
    pub(super) fn serve_quic<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, app: usize, sock: SockId) {
        let now = below.core.now;
        let quic = self.quic(app);
        let at = quic.end(sock);
        let Some(mut stack) = quic.ends[at].stack.take() else { return };
        while self.quic(app).ends[at].busy <= now {
            if stack.next_timer().is_some_and(|due| due <= now) {
                stack.on_timer(now);
            }
            self.act_quic(below, app, at, &mut stack);
            if self.quic_sends(below, app, at, &mut stack) {
                continue;
            }
            let Some(mut datagram) = self.quic(app).ends[at].waiting.pop_front() else { break };
            stack.on_datagram(now, &mut datagram);
            if let Engine::Other(_) = stack {
                let acked = stack.take_acked().unwrap_or(0);
                self.tell_received(below, app, at, &datagram, acked);
            }
            datagram.clear();
            self.spare.push(datagram);
            let end = &mut self.quic(app).ends[at];
            end.busy = now + end.cost.receive;
            self.tell_quic(below, app, at, &mut stack);
        }
        self.arm_quic(below, app, at, &stack);
        self.quic(app).ends[at].stack = Some(stack);
    }

    /// Sends a datagram, if the stack has one and the socket has room.
    fn quic_sends<S: Sink>(
        &mut self,
        below: &mut LowerLayers<'_, S>,
        app: usize,
        at: usize,
        stack: &mut Engine,
    ) -> bool {
        let now = below.core.now;
        let quic = self.quic(app);
        if quic.ends[at].charged >= quic.ends[at].sndbuf {
            return false;
        }
        let (connection, to) = (quic.connection, quic.ends[1 - at].sock);
        let mut datagram = self.spare.pop().unwrap_or_default();
        datagram.clear();
        if !stack.poll_transmit(now, &mut datagram) {
            self.spare.push(datagram);
            return false;
        }
        datagram.to = Some(to);
        datagram.connection = connection;
        if let Engine::Other(_) = stack {
            datagram.packet.number = stack.last_sent().unwrap_or(0);
        }
        if at == 0 {
            let (flow, number) = (self.quic(app).flow, datagram.packet.number);
            below.core.tell(&TraceEvent::Quic { flow, what: QuicTrace::HandedDown { number } });
        }
        let end = &mut self.quic(app).ends[at];
        let len = end.endpoint.datagram(datagram.len);
        let truesize = linear_truesize(len);
        end.charged += u64::from(truesize);
        end.seq = end.seq.wrapping_add(1);
        end.busy = now + end.cost.send;
        let Endpoint { flow, flow_hash, src, dst, tos } = end.endpoint;
        let packet = NewPacket {
            now,
            flow,
            flow_hash,
            len,
            truesize,
            charge: end.sock,
            seq: end.seq,
            src,
            dst,
            tos: tos & !3 | datagram.ecn,
            kind: PacketKind::Quic,
        };
        let node = end.node;
        let p = below.core.packets.create_quic(packet, &mut datagram);
        self.spare.push(datagram);
        // For a UDP socket, a drop by the local queue is an ordinary loss.
        let _ = self.send(below, node, p);
        true
    }

    /// Reports the state of the data sender.
    fn tell_quic<S: Sink>(
        &mut self,
        below: &mut LowerLayers<'_, S>,
        app: usize,
        at: usize,
        stack: &mut Engine,
    ) {
        let now = below.core.now;
        let flow = self.quic(app).flow;
        while let Some(event) = stack.poll_event() {
            if let (StackEvent::Lost { number }, 0) = (event, at) {
                below.core.tell(&TraceEvent::Quic { flow, what: QuicTrace::Lost { number } });
            }
        }
        if at == 0 {
            let seen = stack.snapshot(now);
            let what = QuicTrace::Window {
                cwnd: seen.cwnd,
                in_flight: seen.in_flight.unwrap_or(0),
                srtt: seen.srtt.unwrap_or_default(),
                slow_start: seen.slow_start,
            };
            below.core.tell(&TraceEvent::Quic { flow, what });
        }
        let client = self.quic(app).ends[at].role == QuicRole::Client;
        let end = &mut self.quic(app).ends[at];
        if !end.established && stack.connection() == Connection::Established {
            end.established = true;
            if client {
                below.core.tell(&TraceEvent::Quic { flow, what: QuicTrace::Established });
            }
        }
    }

    /// Arms the timer of an end: when its current work is done if more is waiting, or else at the stack's
    /// next timeout.
    fn arm_quic<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, app: usize, at: usize, stack: &Engine) {
        let (now, sockets) = (below.core.now, self.slots.sockets);
        let end = &self.quic(app).ends[at];
        let slot = Slot(sockets + end.sock.0);
        let next = if end.busy > now {
            Some(end.busy)
        } else {
            let fires = stack.next_timer().map(|due| end.cost.fires(now, due));
            match &end.slack {
                Some(slack) => fires.filter(|at| *at < Instant::NEVER).map(|at| at + slack.late),
                None => fires,
            }
        };
        match next {
            // Exact deadlines usually move before they expire. Checking again when the timer fires is cheaper
            // than rearming it.
            Some(next) if end.cost == HostCost::default() => below.core.timers.hasten(slot, next),
            _ => below.core.timers.set(slot, next),
        }
    }
}
