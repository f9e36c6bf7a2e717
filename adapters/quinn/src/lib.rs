//! Unmodified quinn over a link: its state machine `quinn-proto` with its own cryptography, congestion
//! controllers and qlog.

#[path = "../../common/quinn_like/stack.rs"]
mod stack;

pub use own::CONTROLLERS;
pub use stack::{Peer, pair, row};

/// Differences from noq.
mod own {
    use std::fs::File;
    use std::io::{self, BufWriter};
    use std::net::SocketAddr;
    use std::path::Path;
    use std::sync::Arc;
    use std::time::Instant;

    use bytes::{Bytes, BytesMut};
    pub(crate) use quinn_proto as proto;
    use quinn_proto::congestion::{BbrConfig, ControllerFactory, CubicConfig, NewRenoConfig};
    use quinn_proto::{
        Connection, DatagramEvent, EcnCodepoint, Endpoint, EndpointConfig, QlogConfig, SendStream,
        ServerConfig, Transmit, TransportConfig, WriteError,
    };

    pub(crate) const NAME: &str = "quinn 0.11.19";
    /// quinn's own congestion controllers.
    pub const CONTROLLERS: [&str; 3] = ["cubic", "newreno", "bbr"];

    pub(crate) fn factory(name: &str) -> Option<Arc<dyn ControllerFactory + Send + Sync>> {
        match name {
            "cubic" => Some(Arc::new(CubicConfig::default())),
            "newreno" => Some(Arc::new(NewRenoConfig::default())),
            "bbr" => Some(Arc::new(BbrConfig::default())),
            _ => None,
        }
    }

    pub(crate) fn endpoint(config: Arc<EndpointConfig>, server: Option<Arc<ServerConfig>>) -> Endpoint {
        Endpoint::new(config, server, true, None)
    }

    pub(crate) fn handle(
        endpoint: &mut Endpoint,
        now: Instant,
        peer: SocketAddr,
        ecn: Option<EcnCodepoint>,
        data: BytesMut,
        reply: &mut Vec<u8>,
    ) -> Option<DatagramEvent> {
        endpoint.handle(now, peer, None, ecn, data, reply)
    }

    pub(crate) fn write(stream: &mut SendStream<'_>, content: &Bytes) -> Result<usize, WriteError> {
        stream.write_chunks(&mut [content.clone()]).map(|written| written.bytes)
    }

    pub(crate) fn transmit(connection: &mut Connection, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        connection.poll_transmit(now, 1, out)
    }

    pub(crate) fn lost(connection: &mut Connection) -> u64 {
        connection.stats().path.lost_packets
    }

    pub(crate) fn qlog(
        config: &mut TransportConfig,
        folder: &Path,
        name: &str,
        base: Instant,
    ) -> io::Result<()> {
        let file = File::create(folder.join(format!("{name}.sqlog")))?;
        let mut qlog = QlogConfig::default();
        qlog.writer(Box::new(BufWriter::new(file))).title(Some(name.to_owned())).start_time(base);
        config.qlog_stream(qlog.into_stream());
        Ok(())
    }
}
