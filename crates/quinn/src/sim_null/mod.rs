//! `SimNull`: a handshake without keys and packets without encryption, for speed.
//!
//! **Never to be shipped, and never to be joined to a socket.** It keeps nothing secret, proves nobody's identity and
//! notices no change of a packet. It holds in a simulator that delivers no corrupted and no misdirected datagrams, and does
//! not study Retry, 0-RTT or stateless resets. What it keeps is size and order: messages as long as those of TLS 1.3, with
//! quinn's own transport parameters in them, at the same levels of encryption, and tags of 16 bytes on each packet.

mod keys;
mod session;

use std::sync::Arc;

use quinn_proto::crypto::{ClientConfig, Keys, ServerConfig, Session, UnsupportedVersion};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side};
use stillair_model::transport::quic::handshake::HandshakeParams;

use keys::null_keys;
use session::NullSession;

/// Sizes of the handshake's messages in bytes. One that is too small for the transport parameters in it is as long as it
/// has to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SimNull {
    /// The client's hello.
    pub client_hello: u32,
    /// The server's hello.
    pub server_hello: u32,
    /// The server's extensions, certificates, signature and end, at the second level. A server may send three times what it
    /// has received before the client's address is proved (rfc9000 8.1): longer chains cost a round trip.
    pub certificates: u32,
    /// The client's end.
    pub finished: u32,
}

impl SimNull {
    /// TLS 1.3 with X25519 and a chain as long as the model's ([`HandshakeParams::TLS`]): hello and chain together.
    pub const TLS: Self = {
        let [client_hello, server, finished, _] = HandshakeParams::TLS.messages;
        Self { client_hello, server_hello: 90, certificates: server - 90, finished }
    };
}

impl ClientConfig for SimNull {
    fn start_session(
        self: Arc<Self>,
        _: u32,
        _: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Box::new(NullSession::new(*self, Side::Client, params)))
    }
}

impl ServerConfig for SimNull {
    fn initial_keys(&self, _: u32, _: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(null_keys())
    }
    fn retry_tag(&self, _: u32, _: &ConnectionId, _: &[u8]) -> [u8; 16] {
        [0; 16]
    }
    fn start_session(self: Arc<Self>, _: u32, params: &TransportParameters) -> Box<dyn Session> {
        Box::new(NullSession::new(*self, Side::Server, params))
    }
}
