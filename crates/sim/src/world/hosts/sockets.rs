//! TCP sockets in the world: received segments, sent segments, and the applications above.

use stillair_model::app::{Bulk, BulkAction};
use stillair_model::qdisc::Enqueue;
use stillair_model::transport::tcp::{
    Outlet,
    info::TcpInfo,
    socket::{Tcp, TcpState},
};
use stillair_model::types::{
    Fate, FlowId, Instant, NewPacket, NodeId, Pkt, Sink, SockId, Step, TcpHeader, TraceEvent,
};

use super::{Hosts, LowerLayers};
use crate::engine::Slot;

/// A socket and who owns it; eight to a cache line.
#[derive(Clone, Copy, Debug)]
pub(in crate::world) struct Socket {
    /// The application that writes to it or reads from it.
    pub(in crate::world) app: u32,
    /// The node that it is on.
    pub(in crate::world) node: NodeId,
    /// Its protocol.
    pub(in crate::world) protocol: SocketProtocol,
    /// Its process was woken and has not run yet.
    pub(in crate::world) woken: bool,
}

/// What a socket speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::world) enum SocketProtocol {
    /// UDP: the application keeps its state.
    Udp,
    /// TCP.
    Tcp,
    /// QUIC: the application keeps its stack.
    Quic,
    /// TCP once; the connection is over and nothing of it is left.
    Over,
}

/// A bulk transfer with the sockets at its two ends.
#[derive(Debug)]
pub(in crate::world) struct BulkFlow {
    pub(in crate::world) bulk: Bulk,
    pub(in crate::world) flow: FlowId,
    /// The end that connects and writes.
    pub(in crate::world) sender: SockId,
    /// The end that listens and reads.
    pub(in crate::world) receiver: SockId,
    /// The writer has found the send buffer full and sleeps.
    pub(in crate::world) waits: bool,
}

/// A TCP socket, for readers of a world.
#[derive(Clone, Copy, Debug)]
pub struct TcpSocket<'a> {
    /// The flow of the socket.
    pub flow: FlowId,
    /// Whether the socket is the connecting end.
    pub opens: bool,
    /// The socket.
    pub tcp: &'a Tcp,
}

/// Output of a socket: its packets are sent by its node.
pub(super) struct SocketOutlet<'a, 'b, S> {
    hosts: &'a mut Hosts,
    below: &'a mut LowerLayers<'b, S>,
    node: NodeId,
}

impl<S: Sink> Outlet for SocketOutlet<'_, '_, S> {
    fn send(
        &mut self,
        departs: Instant,
        packet: NewPacket,
        segs: u16,
        ack: u32,
        header: &TcpHeader,
    ) -> Enqueue {
        let packets = &mut self.below.core.packets;
        let p = packets.create_tcp(packet, segs, ack, header);
        packets.get_mut(p).t_enqueue = departs;
        self.hosts.send(self.below, self.node, p)
    }
}

impl Hosts {
    /// Lets a socket's machine act on the world; none if the socket speaks no TCP.
    pub(super) fn with_tcp<S: Sink, R>(
        &mut self,
        below: &mut LowerLayers<'_, S>,
        sock: SockId,
        act: impl FnOnce(&mut Tcp, &mut SocketOutlet<'_, '_, S>) -> R,
    ) -> Option<R> {
        let Socket { node, protocol: SocketProtocol::Tcp, .. } = self.sockets[sock.index()] else {
            return None;
        };
        let mut tcp = self.tcps[sock.index()].take().expect("a socket is not entered twice");
        let result = act(&mut tcp, &mut SocketOutlet { hosts: self, below, node });
        if S::STEPS {
            let (written, waits) = tcp.waits_for();
            below.core.step(&Step::Socket { sock, written, waits });
        }
        self.tcps[sock.index()] = Some(tcp);
        Some(result)
    }

    /// A segment has reached the node of the socket that it is for.
    pub(super) fn tcp_segment<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, p: Pkt) {
        let now = below.core.now;
        let hot = below.core.packets.get(p);
        let (seq, ack, segs, tos, truesize) = (hot.seq, hot.ack, hot.segs, hot.tos, hot.truesize);
        let header = *below.core.packets.tcp(p);
        // What bears data is the application's in the end; the rest has done its work with the socket.
        if header.payload > 0 {
            below.core.ctx().deliver(now, p)
        } else {
            below.core.packets.free(p, Fate::Consumed)
        }
        let done = self.with_tcp(below, header.to, |tcp, out| {
            let established = tcp.is_established();
            tcp.on_segment(now, seq, ack, segs, tos, truesize, &header, out);
            let wakes = tcp.readable() > 0
                || tcp.wakes_writer()
                || tcp.is_established() != established
                || tcp.state() == TcpState::CloseWait;
            (tcp.has_ended(), wakes)
        });
        let Some((ended, wakes)) = done else { return };
        if ended {
            self.remember(below.core.now, header.to);
        }
        if !(wakes && self.wake(below, header.to)) {
            self.arm_socket(below, header.to);
        }
    }

    /// A connection has ended in order: its host remembers the path by it.
    #[cold]
    fn remember(&mut self, now: Instant, sock: SockId) {
        if let Some(tcp) = &self.tcps[sock.index()] {
            tcp.teach(now, self.paths.entry((tcp.source(), tcp.destination())).or_default());
        }
    }

    /// A socket that is about to connect, or to be connected to, is told what its host remembers of the path.
    pub(super) fn recall(&mut self, now: Instant, sock: SockId) {
        if let Some(tcp) = &mut self.tcps[sock.index()]
            && let Some(path) = self.paths.get(&(tcp.source(), tcp.destination()))
        {
            tcp.recall(path.at(now));
        }
    }

    /// A socket's timer.
    pub(in crate::world) fn socket_timer<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, sock: SockId) {
        match self.sockets[sock.index()].protocol {
            SocketProtocol::Quic => self.quic_timer(below, sock),
            SocketProtocol::Tcp | SocketProtocol::Udp | SocketProtocol::Over => self.tcp_timer(below, sock),
        }
    }

    fn tcp_timer<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, sock: SockId) {
        let now = below.core.now;
        let woken = self.with_tcp(below, sock, |tcp, out| {
            // The timer may have been put off since it was armed.
            if tcp.next_timer().is_some_and(|at| at <= now) {
                tcp.on_timer(now, out);
            }
            tcp.wakes_writer()
        });
        if !(woken == Some(true) && self.wake(below, sock)) {
            self.arm_socket(below, sock);
        }
    }

    /// A socket that small queues had stopped may send again.
    // linux: net/ipv4/tcp_output.c tcp_tasklet_func (6.12) - the tasklet sends; a writer that it has made
    // room for is woken.
    pub(super) fn tcp_poll<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, sock: SockId) {
        let now = below.core.now;
        let woken = self.with_tcp(below, sock, |tcp, out| {
            tcp.poll(now, out);
            tcp.wakes_writer()
        });
        if !(woken == Some(true) && self.wake(below, sock)) {
            self.arm_socket(below, sock);
        }
    }

    /// The process above a socket runs: it reads and writes what it can. The socket's timer is armed after
    /// that.
    pub(super) fn serve<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, sock: SockId) {
        let now = below.core.now;
        let app = self.sockets[sock.index()].app as usize;
        let Some(flow) = self.bulk(app) else { return self.serve_opened(below, app, sock) };
        let forth = sock == flow.receiver;
        let (id, wants, waits) =
            (flow.flow, if sock == flow.sender { flow.bulk.wants() } else { 0 }, flow.waits);
        let done = self.with_tcp(below, sock, |tcp, out| {
            let readable = tcp.readable();
            let read = if readable > 0 { tcp.read(now, readable, out) } else { 0 };
            // Whoever has found the send buffer full sleeps until the socket wakes him.
            let writes = wants > 0 && tcp.is_established() && (!waits || tcp.wants_data());
            let wrote = writes.then(|| tcp.write(now, wants, out));
            // Who only reads closes when the other end has.
            if tcp.state() == TcpState::CloseWait && tcp.readable() == 0 {
                tcp.close(now, out);
            }
            (read, wrote)
        });
        if let Some((read, wrote)) = done {
            if read > 0 {
                below.core.tell(&TraceEvent::Read { flow: id, forth, bytes: read as u32 });
            }
            if let Some(wrote) = wrote {
                self.bulk_wrote(below, app, sock, wants, wrote);
            }
        }
        self.arm_socket(below, sock);
    }

    /// The writer of a bulk transfer has written `wrote` bytes of `wants`: it writes on until the socket
    /// takes no more.
    fn bulk_wrote<S: Sink>(
        &mut self,
        below: &mut LowerLayers<'_, S>,
        app: usize,
        sock: SockId,
        mut wants: u64,
        mut wrote: u64,
    ) {
        let now = below.core.now;
        loop {
            let Some(flow) = self.bulk(app) else { return };
            flow.waits = wrote < wants;
            if flow.bulk.wrote(wrote) {
                self.with_tcp(below, sock, |tcp, out| tcp.close(now, out));
                return;
            }
            if flow.waits {
                return;
            }
            wants = flow.bulk.wants();
            // Nothing more is due.
            if wants == 0 {
                return;
            }
            wrote = match self.with_tcp(below, sock, |tcp, out| tcp.write(now, wants, out)) {
                Some(wrote) => wrote,
                None => return,
            };
        }
    }

    /// A bulk transfer begins or ends.
    pub(super) fn bulk_action<S: Sink>(
        &mut self,
        below: &mut LowerLayers<'_, S>,
        sender: SockId,
        action: BulkAction,
    ) {
        let now = below.core.now;
        let app = self.sockets[sender.index()].app as usize;
        if action == BulkAction::Connect
            && let Some(receiver) = self.bulk(app).map(|flow| flow.receiver)
        {
            self.recall(below.core.now, sender);
            self.recall(below.core.now, receiver);
        }
        self.with_tcp(below, sender, |tcp, out| match action {
            BulkAction::Connect => tcp.connect(now, out),
            BulkAction::Close => tcp.close(now, out),
            BulkAction::Write => {}
        });
        self.serve(below, sender);
    }

    /// State of each TCP sender, with its flow, in the order of the flows.
    pub(in crate::world) fn tcp_senders(&self, now: Instant) -> impl Iterator<Item = (FlowId, TcpInfo)> {
        self.tcp_sockets().filter(|s| s.opens).map(move |s| (s.flow, s.tcp.info(now)))
    }

    /// The TCP sockets of bulk transfers, in the order of the flows, each end that connects before the one
    /// that listens. Those of pages come and go.
    pub(in crate::world) fn tcp_sockets(&self) -> impl Iterator<Item = TcpSocket<'_>> {
        let ends = self.bulks().flat_map(|f| [(f.flow, f.sender, true), (f.flow, f.receiver, false)]);
        ends.filter_map(|(flow, sock, opens)| {
            let tcp = self.tcps[sock.index()].as_ref()?;
            Some(TcpSocket { flow, opens, tcp })
        })
    }

    /// Sees to it that a socket's timer fires in time. One that was armed for an earlier instant stays: most
    /// deadlines are put off long before they come, and asking again when it fires is cheaper than arming
    /// anew each time.
    pub(super) fn arm_socket<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, sock: SockId) {
        if let Some(tcp) = &self.tcps[sock.index()]
            && let Some(at) = tcp.next_timer()
        {
            below.core.timers.hasten(Slot(self.slots.sockets + sock.0), at.max(below.core.now));
        }
    }
}
