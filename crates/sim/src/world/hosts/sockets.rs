//! TCP sockets: received segments, sent segments, and the applications above.

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

/// A socket and its owner. Eight fit in a cache line.
#[derive(Clone, Copy, Debug)]
pub(in crate::world) struct Socket {
    /// Application that writes to or reads from the socket.
    pub(in crate::world) app: u32,
    pub(in crate::world) node: NodeId,
    pub(in crate::world) protocol: SocketProtocol,
    /// The process was woken and has not run yet.
    pub(in crate::world) woken: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::world) enum SocketProtocol {
    /// UDP. The application holds the state.
    Udp,
    Tcp,
    /// QUIC. The application holds the stack.
    Quic,
    /// TCP, after the connection was closed and freed.
    Over,
}

/// A bulk transfer and its two sockets.
#[derive(Debug)]
pub(in crate::world) struct BulkFlow {
    pub(in crate::world) bulk: Bulk,
    pub(in crate::world) flow: FlowId,
    /// Connecting end, which writes.
    pub(in crate::world) sender: SockId,
    /// Listening end, which reads.
    pub(in crate::world) receiver: SockId,
    /// The writer found the send buffer full and is blocked.
    pub(in crate::world) waits: bool,
}

/// Read access to a TCP socket.
#[derive(Clone, Copy, Debug)]
pub struct TcpSocket<'a> {
    /// Flow of the socket.
    pub flow: FlowId,
    /// True for the connecting end.
    pub opens: bool,
    /// The socket.
    pub tcp: &'a Tcp,
}

/// Output of a socket. The socket's node sends its packets.
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
    /// Runs `act` with the socket's TCP state machine. Returns `None` if the socket is not TCP.
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

    /// Receives a segment at the node of its socket.
    pub(super) fn tcp_segment<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, p: Pkt) {
        let now = below.core.now;
        let hot = below.core.packets.get(p);
        let (seq, ack, segs, tos, truesize) = (hot.seq, hot.ack, hot.segs, hot.tos, hot.truesize);
        let header = *below.core.packets.tcp(p);
        // Segments with payload count as delivered to the application; all others end at the socket.
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

    /// Stores the path metrics of a connection that was closed normally.
    #[cold]
    fn remember(&mut self, now: Instant, sock: SockId) {
        if let Some(tcp) = &self.tcps[sock.index()] {
            tcp.teach(now, self.paths.entry((tcp.source(), tcp.destination())).or_default());
        }
    }

    /// Initialises a socket from the path metrics cached by its host, before it connects or accepts.
    pub(super) fn recall(&mut self, now: Instant, sock: SockId) {
        if let Some(tcp) = &mut self.tcps[sock.index()]
            && let Some(path) = self.paths.get(&(tcp.source(), tcp.destination()))
        {
            tcp.recall(path.at(now));
        }
    }

    pub(in crate::world) fn socket_timer<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, sock: SockId) {
        match self.sockets[sock.index()].protocol {
            SocketProtocol::Quic => self.quic_timer(below, sock),
            SocketProtocol::Tcp | SocketProtocol::Udp | SocketProtocol::Over => self.tcp_timer(below, sock),
        }
    }

    fn tcp_timer<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, sock: SockId) {
        let now = below.core.now;
        let woken = self.with_tcp(below, sock, |tcp, out| {
            // The deadline may have moved since the timer was armed.
            if tcp.next_timer().is_some_and(|at| at <= now) {
                tcp.on_timer(now, out);
            }
            tcp.wakes_writer()
        });
        if !(woken == Some(true) && self.wake(below, sock)) {
            self.arm_socket(below, sock);
        }
    }

    /// Resumes a socket that TCP small queues had stopped.
    // linux: net/ipv4/tcp_output.c tcp_tasklet_func (6.12) - sends from the tasklet, and wakes a writer if
    // that freed space.
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

    /// Runs the process of a socket, which reads and writes what it can, then arms the socket's timer.
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
            // A writer that found the send buffer full is blocked until the socket wakes it.
            let writes = wants > 0 && tcp.is_established() && (!waits || tcp.wants_data());
            let wrote = writes.then(|| tcp.write(now, wants, out));
            // A process that only reads closes after the other end has closed.
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

    /// Continues the writer of a bulk transfer after it wrote `wrote` of `wants` bytes, until the socket is
    /// full.
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
            // No more data is due.
            if wants == 0 {
                return;
            }
            wrote = match self.with_tcp(below, sock, |tcp, out| tcp.write(now, wants, out)) {
                Some(wrote) => wrote,
                None => return,
            };
        }
    }

    /// Starts or ends a bulk transfer.
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

    /// Returns the state of each TCP sender with its flow, in flow order.
    pub(in crate::world) fn tcp_senders(&self, now: Instant) -> impl Iterator<Item = (FlowId, TcpInfo)> {
        self.tcp_sockets().filter(|s| s.opens).map(move |s| (s.flow, s.tcp.info(now)))
    }

    /// Returns the TCP sockets of bulk transfers in flow order, the connecting end before the listening end.
    /// Sockets of web pages are omitted, because they are opened and closed during the run.
    pub(in crate::world) fn tcp_sockets(&self) -> impl Iterator<Item = TcpSocket<'_>> {
        let ends = self.bulks().flat_map(|f| [(f.flow, f.sender, true), (f.flow, f.receiver, false)]);
        ends.filter_map(|(flow, sock, opens)| {
            let tcp = self.tcps[sock.index()].as_ref()?;
            Some(TcpSocket { flow, opens, tcp })
        })
    }

    /// Makes sure that a socket's timer fires in time. A timer armed for an earlier instant stays: most
    /// deadlines move long before they expire, and checking again when the timer fires is cheaper than
    /// rearming it each time.
    pub(super) fn arm_socket<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, sock: SockId) {
        if let Some(tcp) = &self.tcps[sock.index()]
            && let Some(at) = tcp.next_timer()
        {
            below.core.timers.hasten(Slot(self.slots.sockets + sock.0), at.max(below.core.now));
        }
    }
}
