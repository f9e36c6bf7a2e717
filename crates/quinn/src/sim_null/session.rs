//! Handshake messages, and the encryption levels that they enable.
//!
//! A message consists of its length (4 bytes), the length of the transport parameters (2 bytes), the
//! transport parameters, and zeros.

use std::any::Any;

use quinn_proto::crypto::{ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey, Session};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectionId, Side, TransportError};

use super::SimNull;
use super::keys::{null_keys, null_packet_keys};

/// Bytes of a message before its transport parameters.
const HEAD: usize = 6;

pub(super) struct NullSession {
    sizes: SimNull,
    side: Side,
    own: TransportParameters,
    peer: Option<TransportParameters>,
    /// Received bytes of the peer's next message.
    pending: Vec<u8>,
    /// Number of complete messages received, and of messages written.
    came: u8,
    written: u8,
    /// The client has moved to the second level.
    second: bool,
}

impl NullSession {
    pub(super) fn new(sizes: SimNull, side: Side, own: &TransportParameters) -> Self {
        Self { sizes, side, own: *own, peer: None, pending: Vec::new(), came: 0, written: 0, second: false }
    }

    /// Removes the peer's next message if it is complete. Returns true if it contained the transport
    /// parameters.
    fn take(&mut self) -> Result<Option<bool>, TransportError> {
        let Some((head, _)) = self.pending.split_at_checked(HEAD) else { return Ok(None) };
        let len = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let params = u16::from_le_bytes([head[4], head[5]]) as usize;
        if self.pending.len() < len {
            return Ok(None);
        }
        if params > 0 {
            let mut read = &self.pending[HEAD..HEAD + params];
            self.peer = Some(TransportParameters::read(self.side, &mut read)?);
        }
        self.pending.drain(..len);
        self.came += 1;
        Ok(Some(params > 0))
    }

    fn put(&self, out: &mut Vec<u8>, size: u32, params: bool) {
        let at = out.len();
        out.resize(at + HEAD, 0);
        if params {
            self.own.write(out);
        }
        let params = (out.len() - at - HEAD) as u16;
        out.resize(out.len().max(at + size as usize), 0);
        let len = (out.len() - at) as u32;
        out[at..at + 4].copy_from_slice(&len.to_le_bytes());
        out[at + 4..at + HEAD].copy_from_slice(&params.to_le_bytes());
    }
}

impl Session for NullSession {
    fn initial_keys(&self, _: &ConnectionId, _: Side) -> Keys {
        null_keys()
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        self.peer.map(|_| Box::new(()) as Box<dyn Any>)
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        None
    }

    fn is_handshaking(&self) -> bool {
        match self.side {
            Side::Client => self.written < 2,
            Side::Server => self.came < 2,
        }
    }

    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        self.pending.extend_from_slice(buf);
        let mut ready = false;
        // The input may complete more than one message.
        while let Some(params) = self.take()? {
            ready |= params;
        }
        Ok(ready)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        Ok(self.peer)
    }

    // spec: rfc9001 4.1 - hellos at the first level; the server's other messages and the client's Finished at
    // the second. The returned keys are for the level after the one of the bytes written.
    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        let (size, params, keys) = match (self.side, self.written, self.came) {
            (Side::Client, 0, _) => (self.sizes.client_hello, true, false),
            // The client changes its level after the server's hello, without writing anything.
            (Side::Client, 1, 1..) if !self.second => {
                self.second = true;
                return Some(null_keys());
            }
            (Side::Client, 1, 2) => (self.sizes.finished, false, true),
            (Side::Server, 0, 1) => (self.sizes.server_hello, false, true),
            (Side::Server, 1, 1) => (self.sizes.certificates, true, true),
            _ => return None,
        };
        self.put(buf, size, params);
        self.written += 1;
        keys.then(null_keys)
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(null_packet_keys())
    }

    fn is_valid_retry(&self, _: &ConnectionId, _: &[u8], _: &[u8]) -> bool {
        true
    }

    fn export_keying_material(
        &self,
        _: &mut [u8],
        _: &[u8],
        _: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        Err(ExportKeyingMaterialError)
    }
}
