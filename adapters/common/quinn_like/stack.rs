//! The code common to quinn and its fork noq: one file that each adapter compiles with its own `proto`. The
//! adapter's module `own` holds the differences.

use std::error::Error;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use stillair_adapter::{End, Row, download, tls};

use crate::own::{self, proto};
use proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint, EndpointConfig,
    Event, ServerConfig, StreamEvent, StreamId, TransportConfig, VarInt, WriteError,
};

const CLIENT: &str = "192.0.2.1:50000";
const SERVER: &str = "192.0.2.2:443";
/// Bytes per application write.
const CHUNK: usize = 1 << 16;

/// One end of a connection.
pub struct Peer {
    base: Instant,
    peer: SocketAddr,
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    /// On the server: the stream it writes to, and the data.
    writes: Option<StreamId>,
    content: Bytes,
    serves: bool,
    reads: Vec<StreamId>,
    /// Bytes that the application has read.
    pub read: u64,
    reply: Vec<u8>,
    replies: Vec<Vec<u8>>,
}

impl Peer {
    fn new(endpoint: Endpoint, peer: &str, base: Instant, serves: bool) -> Result<Self, Box<dyn Error>> {
        Ok(Self {
            base,
            peer: peer.parse()?,
            endpoint,
            connection: None,
            writes: None,
            content: Bytes::from(vec![0x5a; CHUNK]),
            serves,
            reads: Vec::new(),
            read: 0,
            reply: Vec::new(),
            replies: Vec::new(),
        })
    }

    /// Packets declared lost by the stack.
    pub fn lost(&mut self) -> u64 {
        self.connection.as_mut().map_or(0, |(_, connection)| own::lost(connection))
    }

    fn settle(&mut self) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected if self.serves => self.writes = connection.streams().open(Dir::Uni),
                Event::Stream(StreamEvent::Opened { dir }) => {
                    while let Some(id) = connection.streams().accept(dir) {
                        self.reads.push(id);
                    }
                }
                _ => {}
            }
        }
    }
}

impl End for Peer {
    fn receive(&mut self, now: Duration, payload: &[u8], ecn: u8) {
        let now = self.base + now;
        let ecn = EcnCodepoint::from_bits(ecn);
        self.reply.clear();
        let data = BytesMut::from(payload);
        match own::handle(&mut self.endpoint, now, self.peer, ecn, data, &mut self.reply) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) if self.connection.is_none() => {
                self.connection = self.endpoint.accept(incoming, now, &mut self.reply, None).ok();
            }
            Some(DatagramEvent::NewConnection(incoming)) => self.endpoint.ignore(incoming),
            Some(DatagramEvent::Response(transmit)) => {
                self.replies.push(self.reply[..transmit.size].to_vec())
            }
            None => {}
        }
        self.settle();
    }

    fn work(&mut self, _: Duration) {
        let Some((_, connection)) = &mut self.connection else { return };
        if let Some(stream) = self.writes {
            let mut stream = connection.send_stream(stream);
            loop {
                match own::write(&mut stream, &self.content) {
                    Ok(written) if written > 0 => {}
                    Ok(_) | Err(WriteError::Blocked) => break,
                    Err(error) => panic!("the client hung up: {error}"),
                }
            }
        }
        for &stream in &self.reads {
            let mut stream = connection.recv_stream(stream);
            let Ok(mut chunks) = stream.read(true) else { continue };
            while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                self.read += chunk.bytes.len() as u64;
            }
            let _ = chunks.finalize();
        }
        self.settle();
    }

    fn transmit(&mut self, now: Duration, out: &mut Vec<u8>) -> Option<u8> {
        if let Some(reply) = self.replies.pop() {
            *out = reply;
            return Some(0);
        }
        out.clear();
        let (_, connection) = self.connection.as_mut()?;
        let transmit = own::transmit(connection, self.base + now, out)?;
        out.truncate(transmit.size);
        Some(transmit.ecn.map_or(0, |ecn| ecn as u8))
    }

    fn timeout(&mut self) -> Option<Duration> {
        let at = self.connection.as_mut()?.1.poll_timeout()?;
        Some(at.saturating_duration_since(self.base))
    }

    fn on_timeout(&mut self, now: Duration) {
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(self.base + now);
        }
        self.settle();
    }
}

fn transport(controller: &str) -> Result<TransportConfig, Box<dyn Error>> {
    let factory = own::factory(controller).ok_or_else(|| {
        let all = own::CONTROLLERS.join(", ");
        format!("{} has no controller {controller:?}, expected one of {all}", own::NAME)
    })?;
    let mut config = TransportConfig::default();
    // Windows that the fastest preset does not fill.
    config
        .congestion_controller_factory(factory)
        .stream_receive_window(VarInt::from_u32(16 << 20))
        .receive_window(VarInt::from_u32(16 << 20))
        .send_window(16 << 20);
    Ok(config)
}

/// Creates a client that connects, and a server that writes without end, with a given congestion controller.
/// The server writes its qlog to the folder `qlog`, in a file whose name starts with `name`.
///
/// # Errors
/// The controller does not exist.
pub fn pair(
    controller: &str,
    seed: u64,
    qlog: Option<(&Path, &str)>,
) -> Result<(Peer, Peer), Box<dyn Error>> {
    // The stack uses the standard library's instants; only differences to this one matter.
    let base = Instant::now() + Duration::from_secs(60);
    let tls = tls::pair()?;
    let mut of_server = transport(controller)?;
    if let Some((folder, name)) = qlog {
        own::qlog(&mut of_server, folder, name, base)?;
    }
    let endpoint = |of: u8| {
        let mut config = EndpointConfig::default();
        let mut bytes = [of; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        config.rng_seed(Some(bytes));
        Arc::new(config)
    };
    let mut server_config = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls.server)?));
    server_config.transport_config(Arc::new(of_server));
    let server = own::endpoint(endpoint(2), Some(Arc::new(server_config)));
    let server = Peer::new(server, CLIENT, base, true)?;
    let mut client = Peer::new(own::endpoint(endpoint(1), None), SERVER, base, false)?;
    let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls.client)?));
    config.transport_config(Arc::new(transport(controller)?));
    client.connection = Some(client.endpoint.connect(base, config, SERVER.parse()?, "localhost")?);
    Ok((client, server))
}

/// Runs a download of ten seconds over a preset. Writes a qlog if a folder is given.
///
/// # Errors
/// The controller or the preset does not exist.
pub fn row(controller: &str, path: &str, seed: u64, qlog: Option<&Path>) -> Result<Row, Box<dyn Error>> {
    let name = format!("{}-{controller}-{path}", own::NAME.replace(' ', "-"));
    let (mut client, mut server) = pair(controller, seed, qlog.map(|folder| (folder, name.as_str())))?;
    download([own::NAME, controller, path], seed, (&mut client, &mut server), |client, server| {
        (client.read, server.lost())
    })
}
