//! One end of a quinn connection as a [`Stack`].

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use quinn_proto::{
    ClientConfig, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint, Event, NoneTokenStore,
    ReadError, ServerConfig, StreamEvent, VarInt,
};
use stillair_model::transport::quic::{Connection, QuicRole, Read, Snapshot, Stack, StackEvent, StreamId};
use stillair_model::types::{Datagram, Instant, RandomStream};

use crate::clock::{from_span, from_std, to_std};
use crate::content::{content, is_content};
use crate::gate::{Gate, Watch};
use crate::identity::{Identity, NoDate};
use crate::settings::QuinnParts;
use crate::tap::Tap;

/// Allocation unit of memory for received datagrams.
const PIECE: usize = 1 << 16;

/// Addresses of the two ends. They never change; the world delivers datagrams independently of them.
const CLIENT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 50_000);
const SERVER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)), 443);

/// One end of one connection of quinn.
pub struct QuinnStack {
    role: QuicRole,
    endpoint: Endpoint,
    /// The client's configuration until it connects.
    client: Option<(ClientConfig, &'static str)>,
    connection: Option<(ConnectionHandle, quinn_proto::Connection)>,
    state: Connection,
    /// The handshake keys are discarded, so only one level sends.
    confirmed: bool,
    /// The endpoint has removed the connection.
    drained: bool,
    watch: Arc<Watch>,
    /// Maximum number of window calls per poll; see [`crate::gate`].
    asked: u32,
    timer: Option<Instant>,
    readable: VecDeque<StreamId>,
    /// Bytes written to each unfinished stream.
    written: BTreeMap<StreamId, u64>,
    memory: BytesMut,
    /// A reply of the endpoint itself, which is not sent.
    reply: Vec<u8>,
}

impl QuinnStack {
    /// Creates one end of a connection. Random values that quinn would request from the system come from
    /// `random`.
    pub fn new(role: QuicRole, parts: QuinnParts, random: &mut RandomStream) -> Self {
        let QuinnParts { mut transport, controller, pacing, client, server, server_name } = parts;
        let watch = Arc::new(Watch::new());
        transport
            .congestion_controller_factory(Arc::new(Gate { inner: controller, pacing, watch: watch.clone() }))
            .enable_segmentation_offload(false);
        let (transport, identity) = (Arc::new(transport), Identity::new(random));
        let (client, server) = match role {
            QuicRole::Client => {
                let mut config = ClientConfig::new(Arc::new(Tap { inner: client, watch: watch.clone() }));
                let first = identity.first_cid();
                config
                    .transport_config(transport)
                    .token_store(Arc::new(NoneTokenStore))
                    .initial_dst_cid_provider(Arc::new(move || first));
                (Some((config, server_name)), None)
            }
            QuicRole::Server => {
                let server = Arc::new(Tap { inner: server, watch: watch.clone() });
                let mut config = ServerConfig::new(server, identity.token_key());
                config.transport_config(transport).time_source(Arc::new(NoDate));
                (None, Some(Arc::new(config)))
            }
        };
        Self {
            role,
            endpoint: Endpoint::new(Arc::new(identity.endpoint()), server, true, None),
            client,
            connection: None,
            state: Connection::Handshake,
            confirmed: false,
            drained: false,
            watch,
            asked: 0,
            timer: None,
            readable: VecDeque::new(),
            written: BTreeMap::new(),
            memory: BytesMut::new(),
            reply: Vec::new(),
        }
    }

    /// Maximum number of calls of the window function per datagram after the handshake: two, as required by
    /// the pacing gate.
    pub fn most_asked(&self) -> u32 {
        self.asked
    }

    /// quinn's own counters. `None` before a connection exists.
    pub fn stats(&self) -> Option<quinn_proto::ConnectionStats> {
        self.connection.as_ref().map(|(_, connection)| connection.stats())
    }

    fn peer(&self) -> SocketAddr {
        if self.role == QuicRole::Client { SERVER } else { CLIENT }
    }

    /// Exchanges events between connection and endpoint, and records those that concern the application.
    fn settle(&mut self) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if self.drained {
                continue;
            }
            self.drained |= event.is_drained();
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected if self.state == Connection::Handshake => {
                    self.state = Connection::Established
                }
                Event::ConnectionLost { .. } => self.state = Connection::Closed,
                Event::Stream(StreamEvent::Opened { dir }) => {
                    while let Some(id) = connection.streams().accept(dir) {
                        note(&mut self.readable, id);
                    }
                }
                Event::Stream(StreamEvent::Readable { id }) => note(&mut self.readable, id),
                _ => {}
            }
        }
        self.look_at_timer();
    }

    fn look_at_timer(&mut self) {
        self.timer = match &mut self.connection {
            Some((_, connection)) if !self.drained => connection.poll_timeout().map(from_std),
            _ => None,
        };
    }

    // spec: rfc9001 4.9 - a server discards the handshake keys when the handshake is complete, a client when
    // it is confirmed.
    fn is_confirmed(&mut self) -> bool {
        if !self.confirmed && self.state == Connection::Established {
            self.confirmed = self.role == QuicRole::Server
                || self.stats().is_some_and(|stats| stats.frame_rx.handshake_done > 0);
        }
        self.confirmed
    }
}

fn note(readable: &mut VecDeque<StreamId>, id: quinn_proto::StreamId) {
    let id = StreamId(VarInt::from(id).into_inner());
    if !readable.contains(&id) {
        readable.push_back(id);
    }
}

fn quinns(id: StreamId) -> quinn_proto::StreamId {
    VarInt::from_u64(id.0).map(Into::into).expect("a stream's number came from quinn")
}

impl Stack for QuinnStack {
    fn connect(&mut self, now: Instant) {
        if let Some((config, name)) = self.client.take() {
            let connected = self.endpoint.connect(to_std(now), config, SERVER, name);
            self.connection = Some(connected.expect("a client's configuration that quinn takes"));
            self.settle();
        }
    }

    fn on_datagram(&mut self, now: Instant, datagram: &mut Datagram) {
        if self.memory.capacity() < datagram.bytes.len() {
            self.memory.reserve(PIECE);
        }
        self.memory.extend_from_slice(&datagram.bytes);
        let data = self.memory.split();
        let ecn = EcnCodepoint::from_bits(datagram.ecn);
        self.reply.clear();
        match self.endpoint.handle(to_std(now), self.peer(), None, ecn, data, &mut self.reply) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                if self.connection.is_some() {
                    self.endpoint.ignore(incoming);
                } else {
                    self.connection = self.endpoint.accept(incoming, to_std(now), &mut self.reply, None).ok();
                }
            }
            Some(DatagramEvent::Response(_)) | None => {}
        }
        self.settle();
    }

    fn on_timer(&mut self, now: Instant) {
        if let Some((_, connection)) = &mut self.connection
            && self.timer.is_some_and(|at| at <= now)
        {
            connection.handle_timeout(to_std(now));
            self.settle();
        }
    }

    fn poll_transmit(&mut self, now: Instant, out: &mut Datagram) -> bool {
        let counts = self.is_confirmed();
        let Some((_, connection)) = &mut self.connection else { return false };
        if counts {
            self.watch.arm();
        }
        let transmit = connection.poll_transmit(to_std(now), 1, &mut out.bytes);
        if counts {
            self.asked = self.asked.max(self.watch.disarm());
            assert!(self.asked <= 2, "this version of quinn asks for the window {} times", self.asked);
        }
        self.settle();
        let Some(transmit) = transmit else { return false };
        out.len = transmit.size as u32;
        out.long = self.watch.take_long();
        out.ecn = transmit.ecn.map_or(0, |ecn| ecn as u8);
        true
    }

    fn next_timer(&self) -> Option<Instant> {
        self.timer
    }

    fn connection(&self) -> Connection {
        self.state
    }

    fn open(&mut self) -> Option<StreamId> {
        if self.state != Connection::Established {
            return None;
        }
        let (_, connection) = self.connection.as_mut()?;
        connection.streams().open(Dir::Bi).map(|id| StreamId(VarInt::from(id).into_inner()))
    }

    fn write(&mut self, _: Instant, stream: StreamId, bytes: u64) -> u64 {
        let Some((_, connection)) = &mut self.connection else { return 0 };
        let offset = self.written.entry(stream).or_default();
        let (mut port, mut taken) = (connection.send_stream(quinns(stream)), 0);
        while taken < bytes {
            match port.write_chunks(&mut [content(*offset, bytes - taken)]) {
                Ok(written) => {
                    *offset += written.bytes as u64;
                    taken += written.bytes as u64;
                }
                Err(_) => break,
            }
        }
        self.look_at_timer();
        taken
    }

    fn finish(&mut self, _: Instant, stream: StreamId) {
        self.written.remove(&stream);
        if let Some((_, connection)) = &mut self.connection {
            // A stream stopped by the peer is finished already.
            let _ = connection.send_stream(quinns(stream)).finish();
        }
    }

    fn next_readable(&mut self) -> Option<StreamId> {
        self.readable.pop_front()
    }

    fn read(&mut self, _: Instant, stream: StreamId) -> Read {
        let mut read = Read::default();
        let Some((_, connection)) = &mut self.connection else { return read };
        let mut port = connection.recv_stream(quinns(stream));
        // A stream is closed once its end has been read.
        let Ok(mut chunks) = port.read(true) else { return read };
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => {
                    debug_assert!(is_content(chunk.offset, &chunk.bytes), "wrong bytes at {}", chunk.offset);
                    read.bytes += chunk.bytes.len() as u64;
                }
                Ok(None) => break read.finished = true,
                Err(ReadError::Blocked | ReadError::Reset(_)) => break,
            }
        }
        // New limits are sent with the next datagrams, which the caller polls anyway.
        let _ = chunks.finalize();
        read
    }

    fn close(&mut self, now: Instant) {
        if let Some((_, connection)) = &mut self.connection {
            connection.close(to_std(now), VarInt::from_u32(0), Bytes::new());
            self.settle();
        }
        self.state = Connection::Closed;
    }

    /// The state that quinn reports. Only controllers with a threshold report slow start; the
    /// threshold is `u64::MAX` until it is set.
    fn snapshot(&self, _: Instant) -> Snapshot {
        let stats = self.stats().unwrap_or_default();
        let connection = self.connection.as_ref().map(|(_, connection)| connection);
        // The first acknowledgement provides the first sample.
        let measured = connection.filter(|_| stats.frame_rx.acks > 0);
        let metrics = connection.map(|c| c.congestion_state().metrics());
        Snapshot {
            cwnd: stats.path.cwnd,
            ssthresh: metrics.as_ref().and_then(|m| m.ssthresh).filter(|threshold| *threshold != u64::MAX),
            slow_start: metrics
                .as_ref()
                .and_then(|m| m.ssthresh)
                .map(|threshold| stats.path.cwnd < threshold),
            in_flight: Some(self.watch.in_flight()),
            srtt: measured.map(|c| from_span(c.rtt())),
            min_rtt: measured.map(|c| from_span(c.min_rtt())),
            latest_rtt: None,
            pacing: None,
            sent: stats.udp_tx.datagrams,
            lost: stats.path.lost_packets,
            spurious: None,
            acks_sent: Some(stats.frame_tx.acks),
            acks_received: Some(stats.frame_rx.acks),
            timeouts: None,
        }
    }

    fn poll_event(&mut self) -> Option<StackEvent> {
        self.watch.ledger().next_lost().map(|number| StackEvent::Lost { number })
    }

    fn last_sent(&self) -> Option<u64> {
        self.watch.last_sent()
    }

    fn take_acked(&mut self) -> Option<u64> {
        self.watch.ledger().take_acked()
    }
}

impl fmt::Debug for QuinnStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QuinnStack")
            .field("role", &self.role)
            .field("state", &self.state)
            .field("timer", &self.timer)
            .finish_non_exhaustive()
    }
}
