//! Responsiveness tests: load-generating connections, probes, and the behaviour of both ends.
//!
//! Each connection is a pair of byte streams in which messages end at known offsets. An end has a message
//! once it has read up to its offset.

use std::collections::VecDeque;

use stillair_model::app::{Load, Responsiveness, ResponsivenessAction};
use stillair_model::transport::tcp::socket::TcpState;
use stillair_model::types::{FlowId, Instant, Probe, RandomStream, Sink, SockId, TraceEvent};

use super::connections::ConnectionEnd;
use super::{Hosts, LowerLayers};

/// Bytes of a ClientHello, of a server's first flight with its certificates, and of the client's second
/// flight.
// spec: rfc8446 4, 5 - messages and records; rfc7685 - a ClientHello padded to 512 bytes plus the record
// header. A chain of two certificates, HTTP requests and response headers add up to about 5000 bytes per
// probe including packet headers, as stated in draft-ietf-ippm-responsiveness-09.
const CLIENT_HELLO: u64 = 517;
const SERVER_FLIGHT: u64 = 3_000;
const CLIENT_FINISHED: u64 = 80;
/// Bytes of an HTTP/2 request, and of the response with a one-byte object.
const REQUEST: u64 = 120;
const ANSWER: u64 = 120;
/// Bytes per write of a bulk sender.
// spec: rfc9113 4.2 - 16,384-byte frames unless a larger size is negotiated.
const FRAME: u64 = 16_384;

/// A testing client, its server, and the connections between them.
#[derive(Debug)]
pub(in crate::world) struct ResponsivenessFlow {
    pub(in crate::world) test: Responsiveness,
    pub(in crate::world) flow: FlowId,
    /// Client end and server end.
    pub(in crate::world) ends: [ConnectionEnd; 2],
    /// Random stream for initial connection state and for choosing the connections of probes.
    pub(in crate::world) random: RandomStream,
    pub(in crate::world) connections: Vec<Connection>,
    /// Client and server sockets of closed connections.
    pub(in crate::world) closed: Vec<[SockId; 2]>,
}

/// An open connection.
#[derive(Debug)]
pub(in crate::world) struct Connection {
    /// Client socket and server socket.
    socks: [SockId; 2],
    purpose: Purpose,
    /// The connection is established, and the client has sent its first message.
    greeted: bool,
    /// Time at which the connection was opened, and end of the last phase of a foreign probe.
    opened: Instant,
    last: Instant,
    /// Data from the client, and data from the server.
    streams: [Stream; 2],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Purpose {
    /// A single probe on its own connection.
    Probe,
    /// Load in one direction; `None` for a connection that only carries probes.
    Load(Option<Direction>),
}

/// Direction of a load. Its number is that of the writing end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Direction {
    Up = 0,
    Down = 1,
}

/// One direction of a connection.
#[derive(Debug, Default)]
struct Stream {
    /// Message bytes left to write. Bulk data follows them.
    due: u64,
    written: u64,
    read: u64,
    /// The writer sends without end.
    bulk: bool,
    /// The writer found the send buffer full and is blocked.
    waits: bool,
    /// End offsets of messages, in order.
    messages: VecDeque<(u64, Message)>,
}

#[derive(Clone, Copy, Debug)]
enum Message {
    ClientHello,
    ServerFlight,
    /// Requests a large object, or announces it.
    Transfer,
    /// Requests a one-byte object; holds the time of the request.
    Ask(Instant),
    Answer(Instant),
}

impl Stream {
    /// Appends a message to the data written so far.
    fn say(&mut self, bytes: u64, message: Message) {
        self.due += bytes;
        self.messages.push_back((self.written + self.due, message));
    }

    /// Returns the number of bytes for the next write.
    fn wants(&self) -> u64 {
        match self.due {
            0 if self.bulk => FRAME,
            due => due,
        }
    }

    fn wrote(&mut self, bytes: u64) {
        self.waits = bytes < self.wants();
        self.due -= bytes.min(self.due);
        self.written += bytes;
    }

    /// Returns the next message that has been read completely.
    fn heard(&mut self) -> Option<Message> {
        let &(end, message) = self.messages.front()?;
        (end <= self.read).then(|| {
            self.messages.pop_front();
            message
        })
    }
}

impl Connection {
    /// Reports whether probes may use this connection.
    fn carries_probes(&self) -> bool {
        self.greeted && matches!(self.purpose, Purpose::Load(_)) && self.streams[1].read > 0
    }

    /// Sends the client's first message.
    fn greet(&mut self, now: Instant, tls: bool) {
        self.greeted = true;
        self.last = now;
        if tls {
            self.streams[0].say(CLIENT_HELLO, Message::ClientHello);
        } else {
            self.request(now, 0);
        }
    }

    /// Sends the request of this connection, after `before` bytes of handshake.
    fn request(&mut self, now: Instant, before: u64) {
        let message = match self.purpose {
            Purpose::Probe | Purpose::Load(None) => Message::Ask(now),
            Purpose::Load(Some(_)) => Message::Transfer,
        };
        self.streams[0].say(before + REQUEST, message);
        self.streams[0].bulk = self.purpose == Purpose::Load(Some(Direction::Up));
    }
}

impl ResponsivenessFlow {
    fn find(&mut self, sock: SockId) -> Option<(usize, usize)> {
        self.connections.iter().enumerate().find_map(|(n, connection)| {
            connection.socks.iter().position(|own| *own == sock).map(|end| (n, end))
        })
    }
}

impl Hosts {
    pub(super) fn responsiveness_timer<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, app: usize) {
        let mut actions = Vec::new();
        let now = below.core.now;
        self.responsiveness(app).test.on_timer(now, |action| actions.push(action));
        for action in actions {
            match action {
                ResponsivenessAction::AddLoad => {
                    let load = self.responsiveness(app).test.params().load;
                    let ways: &[Option<Direction>] = match load {
                        Load::None => &[None],
                        Load::Down => &[Some(Direction::Down)],
                        Load::Up => &[Some(Direction::Up)],
                        Load::Both => &[Some(Direction::Down), Some(Direction::Up)],
                    };
                    ways.iter().for_each(|way| self.connect_test(below, app, Purpose::Load(*way)));
                }
                ResponsivenessAction::ProbeForeign => self.connect_test(below, app, Purpose::Probe),
                ResponsivenessAction::ProbeLoaded => self.probe_loaded(below, app),
                ResponsivenessAction::End => self.end_test(below, app),
            }
        }
        let mut closed = core::mem::take(&mut self.responsiveness(app).closed);
        closed.retain(|pair| !self.forget(*pair));
        self.responsiveness(app).closed = closed;
    }

    fn connect_test<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, app: usize, purpose: Purpose) {
        let (socks, now) = (self.pair(), below.core.now);
        let flow = self.responsiveness(app);
        flow.connections.push(Connection {
            socks,
            purpose,
            greeted: false,
            opened: now,
            last: now,
            streams: Default::default(),
        });
        let made = ConnectionEnd::sockets(&flow.ends, &mut flow.random, socks);
        self.open(below, app, made);
    }

    /// Requests a one-byte object over one of the load-generating connections, behind the data that its
    /// client has written.
    // spec: draft-ietf-ippm-responsiveness-09 Measuring Responsiveness - chosen uniformly at random, without
    // priority.
    fn probe_loaded<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, app: usize) {
        let now = below.core.now;
        let ResponsivenessFlow { connections, random, .. } = self.responsiveness(app);
        let ready = connections.iter().filter(|c| c.carries_probes()).count() as u32;
        // No connection is ready: this probe is not answered.
        let Some(last) = ready.checked_sub(1) else { return };
        let nth = if last > 0 { random.below(ready) } else { 0 };
        let connection = connections.iter_mut().filter(|c| c.carries_probes()).nth(nth as usize);
        let connection = connection.expect("so many were counted");
        connection.streams[0].say(REQUEST, Message::Ask(now));
        let client = connection.socks[0];
        self.serve_test(below, app, client);
    }

    /// Closes all connections.
    // deviation: HTTP/2 would reset the streams; here, data already in the socket is still delivered.
    fn end_test<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, app: usize) {
        let now = below.core.now;
        let connections = core::mem::take(&mut self.responsiveness(app).connections);
        for Connection { socks, purpose, .. } in connections {
            let writer = socks[usize::from(purpose == Purpose::Load(Some(Direction::Down)))];
            self.responsiveness(app).closed.push(socks);
            self.with_tcp(below, writer, |tcp, out| tcp.close(now, out));
            self.arm_socket(below, writer);
        }
    }

    /// Serves a socket of the test after it has acted: reads and answers received data, and writes pending
    /// data.
    pub(super) fn serve_test<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, app: usize, sock: SockId) {
        let now = below.core.now;
        let done = self.with_tcp(below, sock, |tcp, out| {
            let readable = tcp.readable();
            let read = if readable > 0 { tcp.read(now, readable, out) } else { 0 };
            if tcp.state() == TcpState::CloseWait && tcp.readable() == 0 {
                tcp.close(now, out);
            }
            (read, tcp.is_established())
        });
        let Some((read, established)) = done else { return };
        let Some((n, end)) = self.responsiveness(app).find(sock) else { return self.arm_socket(below, sock) };
        if read > 0 {
            let flow = self.responsiveness(app).flow;
            below.core.tell(&TraceEvent::Read { flow, forth: end == 1, bytes: read as u32 });
        }
        let over = self.hear(below, app, (n, end), read, established);
        if over {
            let connection = self.responsiveness(app).connections.swap_remove(n);
            self.responsiveness(app).closed.push(connection.socks);
            self.with_tcp(below, sock, |tcp, out| tcp.close(now, out));
        } else {
            self.write_test(below, app, (n, end), sock);
        }
        self.arm_socket(below, sock);
    }

    /// Processes bytes read by one end and responds to the messages in them. Returns true if the connection
    /// has completed its work.
    fn hear<S: Sink>(
        &mut self,
        below: &mut LowerLayers<'_, S>,
        app: usize,
        (n, end): (usize, usize),
        read: u64,
        established: bool,
    ) -> bool {
        let now = below.core.now;
        let flow = self.responsiveness(app);
        let (test, connection) = (&mut flow.test, &mut flow.connections[n]);
        let mut tell = |test: &mut Responsiveness, probe, took| {
            test.probed(now, probe, took);
            below.core.tell(&TraceEvent::Probed { flow: flow.flow, probe, took });
        };
        let probe = connection.purpose == Purpose::Probe;
        connection.streams[1 - end].read += read;
        if matches!(connection.purpose, Purpose::Load(Some(way)) if way as usize != end) {
            test.carried(read);
        }
        let tls = test.params().tls;
        if end == 0 && established && !connection.greeted {
            if probe {
                tell(test, Probe::Tcp, now - connection.opened);
            }
            connection.greet(now, tls);
        }
        while let Some(message) = connection.streams[1 - end].heard() {
            match message {
                Message::ClientHello => connection.streams[1].say(SERVER_FLIGHT, Message::ServerFlight),
                Message::ServerFlight => {
                    if probe {
                        tell(test, Probe::Tls, now - connection.last);
                    }
                    connection.last = now;
                    connection.request(now, CLIENT_FINISHED);
                }
                // The response header precedes the object.
                Message::Transfer => {
                    connection.streams[1].due += ANSWER;
                    connection.streams[1].bulk = connection.purpose == Purpose::Load(Some(Direction::Down));
                }
                Message::Ask(since) => connection.streams[1].say(ANSWER, Message::Answer(since)),
                Message::Answer(since) if probe => {
                    tell(test, Probe::Http, now - since);
                    tell(test, Probe::Foreign, now - connection.opened);
                    return true;
                }
                // The first response on an idle connection belongs to the connection's own request.
                Message::Answer(since) if since > connection.last => tell(test, Probe::Loaded, now - since),
                Message::Answer(_) => {}
            }
        }
        false
    }

    /// Writes an end's messages, followed by bulk data, until the socket is full.
    fn write_test<S: Sink>(
        &mut self,
        below: &mut LowerLayers<'_, S>,
        app: usize,
        (n, end): (usize, usize),
        sock: SockId,
    ) {
        let now = below.core.now;
        loop {
            let stream = &mut self.responsiveness(app).connections[n].streams[end];
            let (wants, waits) = (stream.wants(), stream.waits);
            if wants == 0 {
                return;
            }
            let wrote = self.with_tcp(below, sock, |tcp, out| {
                // A writer that found the send buffer full is blocked until the socket wakes it.
                let writes = tcp.is_established() && (!waits || tcp.wants_data());
                writes.then(|| tcp.write(now, wants, out))
            });
            let Some(Some(wrote)) = wrote else { return };
            let stream = &mut self.responsiveness(app).connections[n].streams[end];
            stream.wrote(wrote);
            if stream.waits {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_ends_after_earlier_data() {
        let mut stream = Stream { bulk: true, ..Stream::default() };
        assert_eq!(stream.wants(), FRAME);
        stream.wrote(10_000);
        assert!(stream.waits, "the socket took a part");
        stream.say(120, Message::ClientHello);
        assert_eq!(stream.wants(), 120);
        stream.wrote(50);
        stream.say(30, Message::ServerFlight);
        assert_eq!(stream.wants(), 100);
        stream.wrote(100);
        assert_eq!((stream.wants(), stream.waits), (FRAME, false));
        stream.read = 10_119;
        assert!(stream.heard().is_none());
        stream.read = 10_150;
        assert!(matches!(stream.heard(), Some(Message::ClientHello)));
        assert!(matches!(stream.heard(), Some(Message::ServerFlight)));
        assert!(stream.heard().is_none());
    }
}
