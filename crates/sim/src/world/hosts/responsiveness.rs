//! A test of responsiveness in the world: its load-generating connections, its probes, and what both their
//! ends do.
//!
//! Each connection is two streams of bytes in which messages end at known places; whoever has read up to such
//! a place has the message.

use std::collections::VecDeque;

use stillair_model::app::{Load, Responsiveness, ResponsivenessAction};
use stillair_model::transport::tcp::socket::TcpState;
use stillair_model::types::{FlowId, Instant, Probe, RandomStream, Sink, SockId, TraceEvent};

use super::connections::ConnectionEnd;
use super::{Hosts, LowerLayers};

/// Bytes of a ClientHello, of a server's first flight with its certificates, and of what a client answers.
// spec: rfc8446 4, 5 - messages and records; rfc7685 - a ClientHello padded to 512 bytes and its record's
// head; a chain of two certificates and HTTP's requests and heads leave about 5000 bytes for a probe with its
// packets' headers, as draft-ietf-ippm-responsiveness-09 says.
const CLIENT_HELLO: u64 = 517;
const SERVER_FLIGHT: u64 = 3_000;
const CLIENT_FINISHED: u64 = 80;
/// Bytes of a request over HTTP/2, and of the answer with an object of one byte.
const REQUEST: u64 = 120;
const ANSWER: u64 = 120;
/// Bytes that a bulk writer hands to the socket at once.
// spec: rfc9113 4.2 - frames of 16,384 bytes unless a larger size is agreed on.
const FRAME: u64 = 16_384;

/// A client that tests, its server, and the connections between them.
#[derive(Debug)]
pub(in crate::world) struct ResponsivenessFlow {
    pub(in crate::world) test: Responsiveness,
    pub(in crate::world) flow: FlowId,
    /// The client's end and the server's.
    pub(in crate::world) ends: [ConnectionEnd; 2],
    /// Chooses what each connection leaves to chance, and the connections of probes.
    pub(in crate::world) random: RandomStream,
    pub(in crate::world) connections: Vec<Connection>,
    /// Sockets of connections that are closed, client's and server's.
    pub(in crate::world) closed: Vec<[SockId; 2]>,
}

/// A connection that is open.
#[derive(Debug)]
pub(in crate::world) struct Connection {
    /// The client's socket and the server's.
    socks: [SockId; 2],
    purpose: Purpose,
    /// The connection is there, and its client has begun to speak.
    greeted: bool,
    /// When it was opened, and when the last part of a foreign probe was over.
    opened: Instant,
    last: Instant,
    /// What the client writes, and what the server writes.
    streams: [Stream; 2],
}

/// What a connection is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Purpose {
    /// A probe on a connection of its own.
    Probe,
    /// Load from the server to the client, or back; or none, for probes alone.
    Load(Option<Direction>),
}

/// A direction: its number is that of the end that writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Direction {
    Up = 0,
    Down = 1,
}

/// One direction of a connection.
#[derive(Debug, Default)]
struct Stream {
    /// Bytes of messages that are still to be written. Bulk data follow them.
    due: u64,
    written: u64,
    read: u64,
    /// Its writer writes on and on.
    bulk: bool,
    /// The writer has found the send buffer full and sleeps.
    waits: bool,
    /// Where messages end, in order.
    messages: VecDeque<(u64, Message)>,
}

#[derive(Clone, Copy, Debug)]
enum Message {
    ClientHello,
    ServerFlight,
    /// Asks for a large object, or announces one.
    Transfer,
    /// Asks for an object of one byte, since then.
    Ask(Instant),
    Answer(Instant),
}

impl Stream {
    /// Puts a message behind what has been written.
    fn say(&mut self, bytes: u64, message: Message) {
        self.due += bytes;
        self.messages.push_back((self.written + self.due, message));
    }

    /// Bytes that are to be written at once.
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

    /// The next message that has been read as a whole.
    fn heard(&mut self) -> Option<Message> {
        let &(end, message) = self.messages.front()?;
        (end <= self.read).then(|| {
            self.messages.pop_front();
            message
        })
    }
}

impl Connection {
    /// Whether probes may go over it.
    fn carries_probes(&self) -> bool {
        self.greeted && matches!(self.purpose, Purpose::Load(_)) && self.streams[1].read > 0
    }

    /// The client begins to speak.
    fn greet(&mut self, now: Instant, tls: bool) {
        self.greeted = true;
        self.last = now;
        if tls {
            self.streams[0].say(CLIENT_HELLO, Message::ClientHello);
        } else {
            self.request(now, 0);
        }
    }

    /// The client asks for what the connection is for, behind `before` bytes of its handshake.
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
    /// The test's timer.
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

    /// Asks for an object of one byte over one of the connections with load, behind what its client has
    /// written.
    // spec: draft-ietf-ippm-responsiveness-09 Measuring Responsiveness - uniformly at random, without a
    // priority.
    fn probe_loaded<S: Sink>(&mut self, below: &mut LowerLayers<'_, S>, app: usize) {
        let now = below.core.now;
        let ResponsivenessFlow { connections, random, .. } = self.responsiveness(app);
        let ready = connections.iter().filter(|c| c.carries_probes()).count() as u32;
        // None is there yet: this probe stays without an answer.
        let Some(last) = ready.checked_sub(1) else { return };
        let nth = if last > 0 { random.below(ready) } else { 0 };
        let connection = connections.iter_mut().filter(|c| c.carries_probes()).nth(nth as usize);
        let connection = connection.expect("so many were counted");
        connection.streams[0].say(REQUEST, Message::Ask(now));
        let client = connection.socks[0];
        self.serve_test(below, app, client);
    }

    /// Closes all connections.
    // deviation: HTTP/2 would reset the streams; here what a writer has handed to its socket still comes
    // through.
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

    /// After a socket of the test has acted: what came is read and answered, what is due is written.
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

    /// An end of a connection has read so many bytes: it does what messages in them ask for. True if the
    /// connection has done its work.
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
                // The head of the answer goes before the object.
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
                // The first answer on an idle connection belongs to its own request.
                Message::Answer(since) if since > connection.last => tell(test, Probe::Loaded, now - since),
                Message::Answer(_) => {}
            }
        }
        false
    }

    /// Writes what an end has to say, and bulk data behind it, until the socket takes no more.
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
                // Whoever has found the send buffer full sleeps until the socket wakes him.
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
    fn a_message_ends_behind_what_was_written_before() {
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
