//! TCP sockets in the world: what reaches them, what they send, the applications above them.

use stillair_model::app::{Bulk, BulkAction};
use stillair_model::qdisc::Enqueue;
use stillair_model::transport::tcp::{
    Outlet,
    info::TcpInfo,
    socket::{State, Tcp},
};
use stillair_model::vocabulary::{
    Fate, FlowId, Instant, NewPacket, NodeId, Pkt, Sink, SockId, TcpHeader, Trace,
};

use super::World;
use crate::engine::Slot;

/// A socket and who owns it; eight to a cache line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Socket {
    /// The application that writes to it or reads from it.
    pub(super) app: u32,
    /// The node that it is on.
    pub(super) node: NodeId,
    /// Its protocol.
    pub(super) protocol: Protocol,
    /// Its process was woken and has not run yet.
    pub(super) woken: bool,
}

/// What a socket speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Protocol {
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
pub(super) struct BulkFlow {
    pub(super) bulk: Bulk,
    pub(super) flow: FlowId,
    /// The end that connects and writes.
    pub(super) sender: SockId,
    /// The end that listens and reads.
    pub(super) receiver: SockId,
    /// The writer has found the send buffer full and sleeps.
    pub(super) waits: bool,
}

/// A TCP socket as readers of a world see it.
#[derive(Clone, Copy, Debug)]
pub struct TcpSocket<'a> {
    /// Its flow.
    pub flow: FlowId,
    /// It is the end that connects.
    pub opens: bool,
    /// The socket itself.
    pub tcp: &'a Tcp,
}

/// The way out of a node for what a socket sends.
pub(super) struct Way<'a, S> {
    world: &'a mut World<S>,
    node: NodeId,
}

impl<S: Sink> Outlet for Way<'_, S> {
    fn send(
        &mut self,
        departs: Instant,
        packet: NewPacket,
        segs: u16,
        ack: u32,
        header: &TcpHeader,
    ) -> Enqueue {
        let p = self.world.packets.create_tcp(packet, segs, ack, header);
        self.world.packets.get_mut(p).t_enqueue = departs;
        self.world.send(self.node, p)
    }
}

impl<S: Sink> World<S> {
    /// Lets a socket's machine act on the world; none if the socket speaks no TCP.
    pub(super) fn with_tcp<R>(
        &mut self,
        sock: SockId,
        act: impl FnOnce(&mut Tcp, &mut Way<'_, S>) -> R,
    ) -> Option<R> {
        let Socket { node, protocol: Protocol::Tcp, .. } = self.sockets[sock.index()] else { return None };
        let mut tcp = self.tcps[sock.index()].take().expect("a socket is not entered twice");
        let result = act(&mut tcp, &mut Way { world: self, node });
        self.tcps[sock.index()] = Some(tcp);
        Some(result)
    }

    /// A segment has reached the node of the socket that it is for.
    pub(super) fn tcp_segment(&mut self, p: Pkt) {
        let now = self.now;
        let hot = self.packets.get(p);
        let (seq, ack, segs, tos, truesize) = (hot.seq, hot.ack, hot.segs, hot.tos, hot.truesize);
        let header = *self.packets.tcp(p);
        // What bears data is the application's in the end; the rest has done its work with the socket.
        if header.payload > 0 {
            self.ctx().deliver(now, p)
        } else {
            self.packets.free(p, Fate::Consumed)
        }
        let done = self.with_tcp(header.to, |tcp, out| {
            let established = tcp.is_established();
            tcp.on_segment(now, seq, ack, segs, tos, truesize, &header, out);
            let wakes = tcp.readable() > 0
                || tcp.wakes_writer()
                || tcp.is_established() != established
                || tcp.state() == State::CloseWait;
            (tcp.has_ended(), wakes)
        });
        let Some((ended, wakes)) = done else { return };
        if ended {
            self.remember(header.to);
        }
        if !(wakes && self.wake(header.to)) {
            self.arm_socket(header.to);
        }
    }

    /// A connection has ended in order: its host remembers the path by it.
    #[cold]
    fn remember(&mut self, sock: SockId) {
        if let Some(tcp) = &self.tcps[sock.index()] {
            tcp.teach(self.now, self.paths.entry((tcp.source(), tcp.destination())).or_default());
        }
    }

    /// A socket that is about to connect, or to be connected to, is told what its host remembers of the path.
    pub(super) fn recall(&mut self, sock: SockId) {
        if let Some(tcp) = &mut self.tcps[sock.index()]
            && let Some(path) = self.paths.get(&(tcp.source(), tcp.destination()))
        {
            tcp.recall(path.at(self.now));
        }
    }

    /// A socket's timer.
    pub(super) fn socket_timer(&mut self, sock: SockId) {
        match self.sockets[sock.index()].protocol {
            Protocol::Quic => self.quic_timer(sock),
            Protocol::Tcp | Protocol::Udp | Protocol::Over => self.tcp_timer(sock),
        }
    }

    fn tcp_timer(&mut self, sock: SockId) {
        let now = self.now;
        let woken = self.with_tcp(sock, |tcp, out| {
            // The timer may have been put off since it was armed.
            if tcp.next_timer().is_some_and(|at| at <= now) {
                tcp.on_timer(now, out);
            }
            tcp.wakes_writer()
        });
        if !(woken == Some(true) && self.wake(sock)) {
            self.arm_socket(sock);
        }
    }

    /// A socket that small queues had stopped may send again.
    // linux: net/ipv4/tcp_output.c tcp_tasklet_func (6.12) - the tasklet sends; a writer that it has made room for is woken.
    pub(super) fn tcp_poll(&mut self, sock: SockId) {
        let now = self.now;
        let woken = self.with_tcp(sock, |tcp, out| {
            tcp.poll(now, out);
            tcp.wakes_writer()
        });
        if !(woken == Some(true) && self.wake(sock)) {
            self.arm_socket(sock);
        }
    }

    /// The process above a socket runs: it reads and writes what it can. The socket's timer is armed after that.
    pub(super) fn serve(&mut self, sock: SockId) {
        let now = self.now;
        let app = self.sockets[sock.index()].app as usize;
        let Some(flow) = self.bulk(app) else {
            if self.loads_pages(app) {
                self.serve_web(app, sock);
            }
            return;
        };
        let forth = sock == flow.receiver;
        let (id, wants, waits) =
            (flow.flow, if sock == flow.sender { flow.bulk.wants() } else { 0 }, flow.waits);
        let done = self.with_tcp(sock, |tcp, out| {
            let readable = tcp.readable();
            let read = if readable > 0 { tcp.read(now, readable, out) } else { 0 };
            // Whoever has found the send buffer full sleeps until the socket wakes him.
            let writes = wants > 0 && tcp.is_established() && (!waits || tcp.wants_data());
            let wrote = writes.then(|| tcp.write(now, wants, out));
            // Who only reads closes when the other end has.
            if tcp.state() == State::CloseWait && tcp.readable() == 0 {
                tcp.close(now, out);
            }
            (read, wrote)
        });
        if let Some((read, wrote)) = done {
            if read > 0 {
                self.trace.event(now, &Trace::Read { flow: id, forth, bytes: read as u32 });
            }
            if let Some(wrote) = wrote {
                self.bulk_wrote(app, sock, wants, wrote);
            }
        }
        self.arm_socket(sock);
    }

    /// The writer of a bulk transfer has written `wrote` bytes of `wants`: it writes on until the socket takes no more.
    fn bulk_wrote(&mut self, app: usize, sock: SockId, mut wants: u64, mut wrote: u64) {
        let now = self.now;
        loop {
            let Some(flow) = self.bulk(app) else { return };
            flow.waits = wrote < wants;
            if flow.bulk.wrote(wrote) {
                self.with_tcp(sock, |tcp, out| tcp.close(now, out));
                return;
            }
            if flow.waits {
                return;
            }
            wants = flow.bulk.wants();
            wrote = match self.with_tcp(sock, |tcp, out| tcp.write(now, wants, out)) {
                Some(wrote) => wrote,
                None => return,
            };
        }
    }

    /// A bulk transfer begins or ends.
    pub(super) fn bulk_action(&mut self, sender: SockId, action: BulkAction) {
        let now = self.now;
        let app = self.sockets[sender.index()].app as usize;
        if action == BulkAction::Connect
            && let Some(receiver) = self.bulk(app).map(|flow| flow.receiver)
        {
            self.recall(sender);
            self.recall(receiver);
        }
        self.with_tcp(sender, |tcp, out| match action {
            BulkAction::Connect => tcp.connect(now, out),
            BulkAction::Close => tcp.close(now, out),
        });
        self.serve(sender);
    }

    /// State of each TCP sender, with its flow, in the order of the flows.
    pub fn tcp_senders(&self) -> impl Iterator<Item = (FlowId, TcpInfo)> {
        let now = self.now;
        self.tcp_sockets().filter(|s| s.opens).map(move |s| (s.flow, s.tcp.info(now)))
    }

    /// The TCP sockets of bulk transfers, in the order of the flows, each end that connects before the one that listens.
    /// Those of pages come and go.
    pub fn tcp_sockets(&self) -> impl Iterator<Item = TcpSocket<'_>> {
        let ends = self.bulks().flat_map(|f| [(f.flow, f.sender, true), (f.flow, f.receiver, false)]);
        ends.filter_map(|(flow, sock, opens)| {
            let tcp = self.tcps[sock.index()].as_ref()?;
            Some(TcpSocket { flow, opens, tcp })
        })
    }

    /// Sees to it that a socket's timer fires in time. One that was armed for an earlier instant stays: most deadlines are
    /// put off long before they come, and asking again when it fires is cheaper than arming anew each time.
    pub(super) fn arm_socket(&mut self, sock: SockId) {
        if let Some(tcp) = &self.tcps[sock.index()]
            && let Some(at) = tcp.next_timer()
        {
            self.timers.hasten(Slot(self.slots.sockets + sock.0), at.max(self.now));
        }
    }
}
