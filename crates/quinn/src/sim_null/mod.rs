//! `SimNull`: a handshake without keys and packets without encryption, for speed.
//!
//! **For simulation only: never use it with a socket.** It provides no secrecy, no authentication and no
//! integrity. It is sufficient in a simulator without corrupted or misdirected datagrams, and without Retry,
//! 0-RTT or stateless resets. Sizes and order are those of real cryptography: messages as long as in TLS 1.3,
//! with quinn's own transport parameters, at the same encryption levels, and 16-byte tags on each packet.

mod keys;
mod session;

use std::sync::Arc;

use quinn_proto::crypto::{ClientConfig, Keys, ServerConfig, Session, UnsupportedVersion};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side};
use stillair_model::transport::quic::handshake::HandshakeParams;

use keys::null_keys;
use session::NullSession;

/// Sizes of handshake messages in bytes. A size too small for the transport parameters is raised.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SimNull {
    /// ClientHello.
    pub client_hello: u32,
    /// ServerHello.
    pub server_hello: u32,
    /// The server's EncryptedExtensions, Certificate, CertificateVerify and Finished. Before address
    /// validation a server may send three times the bytes received (rfc9000 8.1): longer chains cost a round
    /// trip.
    pub certificates: u32,
    /// The client's Finished.
    pub finished: u32,
}

impl SimNull {
    /// TLS 1.3 with X25519 and the model's certificate chain length ([`HandshakeParams::TLS`], which counts
    /// ServerHello and chain together).
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
