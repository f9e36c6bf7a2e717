//! Web pages: connections opened for each page load, and the behaviour of both ends.

use stillair_model::app::{QUERY_PAYLOAD, WORKERS, Web, WebAction};
use stillair_model::transport::tcp::socket::TcpState;
use stillair_model::types::{
    Endpoint, FlowId, NewPacket, PacketKind, RandomStream, Sink, SockId, TraceEvent, linear_truesize,
};

use super::connections::ConnectionEnd;
use super::{Hosts, LowerLayers};

/// A client, its server, and the connections between them.
#[derive(Debug)]
pub(in crate::world) struct WebFlow {
    pub(in crate::world) web: Web,
    pub(in crate::world) flow: FlowId,
    /// Client end and server end.
    pub(in crate::world) ends: [ConnectionEnd; 2],
    /// Random stream for initial connection state.
    pub(in crate::world) random: RandomStream,
    pub(in crate::world) queries: u32,
    pub(in crate::world) connections: [Option<WebConnection>; WORKERS],
    /// Client and server sockets of connections closed by the client.
    pub(in crate::world) closed: Vec<[SockId; 2]>,
}

/// A connection of the current load.
#[derive(Clone, Copy, Debug)]
pub(in crate::world) struct WebConnection {
    client: SockId,
    server: SockId,
    /// Request bytes left for the client to write, and for the server to read.
    asking: u32,
    hearing: u32,
    /// Response bytes that the server writes after the request, that it has left to write, and that the
    /// client has left to read.
    wanted: u32,
    answering: u64,
    left: u64,
    /// The server found its send buffer full and is blocked.
    waits: bool,
}

impl WebFlow {
    /// Number of sockets per load.
    pub(in crate::world) const SOCKETS: usize = 2 * WORKERS;

    /// Returns the connection of a socket, and true if the socket is the server's end.
    fn of(&mut self, sock: SockId) -> Option<(usize, bool)> {
        self.connections.iter().enumerate().find_map(|(worker, connection)| {
            let connection = connection.as_ref()?;
            (connection.client == sock || connection.server == sock)
                .then_some((worker, connection.server == sock))
        })
    }

    fn connection(&mut self, worker: usize) -> &mut WebConnection {
        self.connections[worker].as_mut().expect("a worker that asks is connected")
    }
}

impl Hosts {
    /// Performs an action of a web client.
    pub(super) fn web_action<S: Sink>(
        &mut self,
        below: &mut LowerLayers<'_, S>,
        app: usize,
        action: WebAction,
    ) {
        match action {
            WebAction::LookUp => self.look_up(below, app),
            WebAction::Connect(worker, bytes) => {
                self.connect(below, app, worker);
                self.ask(below, app, worker, bytes);
            }
            WebAction::Ask(worker, bytes) => self.ask(below, app, worker, bytes),
            WebAction::Done(took) => {
                let flow = self.web(app).flow;
                below.core.tell(&TraceEvent::Loaded { flow, took });
                self.hang_up(below, app);
                self.arm_app(below, app);
            }
        }
    }

    /// Queries the address of the server, which is also the name server.
    // spec: rfc1035 4.1 - a 12-byte header, the name and 4 bytes; the response repeats them and adds an
    // address.
    fn look_up<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, app: usize) {
        let now = below.core.now;
        let web = self.web(app);
        web.queries += 1;
        let Endpoint { flow, flow_hash, src, dst, tos } = web.ends[0].endpoint;
        let len = web.ends[0].endpoint.datagram(QUERY_PAYLOAD);
        let (truesize, seq) = (linear_truesize(len), web.queries);
        let charge = SockId::NONE;
        self.send_datagram(
            below,
            NewPacket {
                now,
                flow,
                flow_hash,
                len,
                truesize,
                charge,
                seq,
                src,
                dst,
                tos,
                kind: PacketKind::Query,
            },
        );
    }

    /// Handles the response to a query.
    pub(super) fn looked_up<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, flow: FlowId) {
        // Applications and flows have the same numbers.
        let app = flow.index();
        if let Some(action) = self.web(app).web.looked_up() {
            self.web_action(below, app, action);
            self.arm_app(below, app);
        }
    }

    /// Opens a connection with its own sockets.
    fn connect<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, app: usize, worker: usize) {
        let [client, server] = self.pair();
        let web = self.web(app);
        web.connections[worker] = Some(WebConnection {
            client,
            server,
            asking: 0,
            hearing: 0,
            wanted: 0,
            answering: 0,
            left: 0,
            waits: false,
        });
        let made = ConnectionEnd::sockets(&web.ends, &mut web.random, [client, server]);
        self.open(below, app, made);
    }

    /// Requests a response of `bytes` bytes for a worker.
    fn ask<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, app: usize, worker: usize, bytes: u32) {
        let web = self.web(app);
        let request = web.web.page().request;
        let connection = web.connection(worker);
        (connection.asking, connection.hearing) = (request, request);
        (connection.wanted, connection.left) = (bytes, u64::from(bytes));
        let client = connection.client;
        self.serve_web(below, app, client);
    }

    /// Closes the connections of a load, and frees those of earlier loads that have ended.
    fn hang_up<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, app: usize) {
        let now = below.core.now;
        for worker in 0..WORKERS {
            let web = self.web(app);
            if let Some(WebConnection { client, server, .. }) = web.connections[worker].take() {
                web.closed.push([client, server]);
                self.with_tcp(below, client, |tcp, out| tcp.close(now, out));
                self.arm_socket(below, client);
            }
        }
        let mut closed = core::mem::take(&mut self.web(app).closed);
        closed.retain(|pair| !self.forget(*pair));
        self.web(app).closed = closed;
    }

    /// Serves a socket of a page after it has acted: reads received data and writes requested data.
    pub(super) fn serve_web<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, app: usize, sock: SockId) {
        let now = below.core.now;
        let web = self.web(app);
        let (flow, of) = (web.flow, web.of(sock));
        let of = of.map(|(worker, server)| (worker, server, *web.connection(worker)));
        // The server responds once it has the complete request.
        let due = |read: u64| match of {
            Some((_, false, c)) => u64::from(c.asking),
            Some((_, true, c)) if c.hearing > 0 && u64::from(c.hearing) <= read => u64::from(c.wanted),
            Some((_, true, c)) => c.answering,
            None => 0,
        };
        let waits = of.is_some_and(|(_, _, c)| c.waits);
        let done = self.with_tcp(below, sock, |tcp, out| {
            let readable = tcp.readable();
            let read = if readable > 0 { tcp.read(now, readable, out) } else { 0 };
            let due = due(read);
            let writes = due > 0 && tcp.is_established() && (!waits || tcp.wants_data());
            let wrote = if writes { tcp.write(now, due, out) } else { 0 };
            if tcp.state() == TcpState::CloseWait && tcp.readable() == 0 {
                tcp.close(now, out);
            }
            (read, due, wrote, writes)
        });
        self.arm_socket(below, sock);
        let Some((read, due, wrote, writes)) = done else { return };
        let Some((worker, server, _)) = of else { return };
        if read > 0 {
            below.core.tell(&TraceEvent::Read { flow, forth: server, bytes: read as u32 });
        }
        let c = self.web(app).connection(worker);
        if server {
            c.hearing = c.hearing.saturating_sub(read as u32);
            c.answering = due - wrote;
            if writes {
                c.waits = wrote < due;
            }
            return;
        }
        c.asking -= wrote as u32;
        let had = c.left;
        c.left = had.saturating_sub(read);
        if had > 0 && c.left == 0 {
            self.answered(below, app, worker);
        }
    }

    /// Handles the complete response to a worker.
    fn answered<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, app: usize, worker: usize) {
        let now = below.core.now;
        let mut said = [None; WORKERS];
        let mut count = 0;
        self.web(app).web.answered(now, worker, |action| {
            said[count] = Some(action);
            count += 1;
        });
        said.into_iter().flatten().for_each(|action| self.web_action(below, app, action));
    }
}
