//! Unmodified noq over a link: its state machine `noq-proto` with its own cryptography, congestion
//! controllers and qlog. noq is a fork of quinn, with its own multipath support and BBR version 3.

#[path = "../../common/quinn_like/stack.rs"]
mod stack;

pub use own::CONTROLLERS;
pub use stack::{Peer, pair, row};

/// Differences from quinn.
mod own {
    use std::io;
    use std::net::SocketAddr;
    use std::num::NonZeroUsize;
    use std::path::Path;
    use std::sync::Arc;
    use std::time::Instant;

    use bytes::{Bytes, BytesMut};
    pub(crate) use noq_proto as proto;
    use noq_proto::congestion::{Bbr3Config, ControllerFactory, CubicConfig, NewRenoConfig};
    use noq_proto::{
        Connection, DatagramEvent, EcnCodepoint, Endpoint, EndpointConfig, FourTuple, SendStream,
        ServerConfig, Transmit, TransportConfig, WriteError,
    };

    pub(crate) const NAME: &str = "noq 1.4.0";
    /// noq's own congestion controllers.
    pub const CONTROLLERS: [&str; 3] = ["cubic", "newreno", "bbr3"];

    pub(crate) fn factory(name: &str) -> Option<Arc<dyn ControllerFactory + Send + Sync>> {
        match name {
            "cubic" => Some(Arc::new(CubicConfig::default())),
            "newreno" => Some(Arc::new(NewRenoConfig::default())),
            "bbr3" => Some(Arc::new(Bbr3Config::default())),
            _ => None,
        }
    }

    pub(crate) fn endpoint(config: Arc<EndpointConfig>, server: Option<Arc<ServerConfig>>) -> Endpoint {
        Endpoint::new(config, server, true)
    }

    pub(crate) fn handle(
        endpoint: &mut Endpoint,
        now: Instant,
        peer: SocketAddr,
        ecn: Option<EcnCodepoint>,
        data: BytesMut,
        reply: &mut Vec<u8>,
    ) -> Option<DatagramEvent> {
        endpoint.handle(now, FourTuple::new(peer, None), ecn, data, reply)
    }

    pub(crate) fn write(stream: &mut SendStream<'_>, content: &Bytes) -> Result<usize, WriteError> {
        stream.write_chunks(&mut &mut [content.clone()][..])
    }

    pub(crate) fn transmit(connection: &mut Connection, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        connection.poll_transmit(now, NonZeroUsize::MIN, out)
    }

    pub(crate) fn lost(connection: &mut Connection) -> u64 {
        connection.stats().lost_packets
    }

    pub(crate) fn qlog(
        config: &mut TransportConfig,
        folder: &Path,
        name: &str,
        _: Instant,
    ) -> io::Result<()> {
        config.qlog_from_path(folder, name);
        Ok(())
    }
}
