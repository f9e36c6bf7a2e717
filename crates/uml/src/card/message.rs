//! Messages of vhost-user.

// spec: vhost-user protocol, QEMU documentation (docs/interop/vhost-user.rst) - header of request, flags
// and size; version 1.
// linux: arch/um/drivers/vhost_user.h (6.12) - request numbers.

use std::os::fd::OwnedFd;

use thiserror::Error;

use crate::sys::{Socket, SysError};

/// Errors of receiving or sending a message.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum MessageError {
    /// The payload is too long.
    #[error("a message of the card of {size} bytes")]
    Long {
        /// Length of the payload in bytes.
        size: usize,
    },
    /// The payload is too short for its request.
    #[error("request {request} of the card with {size} bytes")]
    Short {
        /// Number of the request.
        request: u32,
        /// Length of the payload in bytes.
        size: usize,
    },
    /// The socket failed.
    #[error(transparent)]
    Sys(#[from] SysError),
}

/// Length of a message header in bytes.
pub const HEADER: usize = 12;
/// Maximum payload length in bytes.
const MOST: usize = 512;
const VERSION: u32 = 1;
const REPLY: u32 = 4;
const NEED_REPLY: u32 = 8;

/// Requests from the guest's driver.
#[expect(missing_docs, reason = "names of the protocol")]
pub mod request {
    pub const GET_FEATURES: u32 = 1;
    pub const SET_FEATURES: u32 = 2;
    pub const SET_OWNER: u32 = 3;
    pub const SET_MEM_TABLE: u32 = 5;
    pub const SET_VRING_NUM: u32 = 8;
    pub const SET_VRING_ADDR: u32 = 9;
    pub const SET_VRING_BASE: u32 = 10;
    pub const SET_VRING_KICK: u32 = 12;
    pub const SET_VRING_CALL: u32 = 13;
    pub const GET_PROTOCOL_FEATURES: u32 = 15;
    pub const SET_PROTOCOL_FEATURES: u32 = 16;
    pub const SET_VRING_ENABLE: u32 = 18;
    pub const SET_SLAVE_REQ_FD: u32 = 21;
    pub const GET_CONFIG: u32 = 24;
    pub const SET_CONFIG: u32 = 25;
    pub const VRING_KICK: u32 = 35;
    /// Request from the card: buffers have been returned.
    pub const CALL: u32 = 4;
}

/// A received message.
#[derive(Debug, Default)]
pub struct Message {
    /// Number of the request.
    pub request: u32,
    /// True if the sender waits for a reply.
    pub wants_reply: bool,
    /// Bytes after the header.
    pub payload: Vec<u8>,
    /// File descriptors passed with the message.
    pub files: Vec<OwnedFd>,
}

impl Message {
    /// Receives the next message. Returns false at the end of the connection.
    pub fn receive(&mut self, from: &Socket) -> Result<bool, MessageError> {
        self.files.clear();
        let mut header = [0; HEADER];
        if !from.receive(&mut header, &mut self.files)? {
            return Ok(false);
        }
        let [a, b, c, d, e, f, g, h, i, j, k, l] = header;
        let size = u32::from_le_bytes([i, j, k, l]) as usize;
        if size > MOST {
            return Err(MessageError::Long { size });
        }
        self.request = u32::from_le_bytes([a, b, c, d]);
        self.wants_reply = u32::from_le_bytes([e, f, g, h]) & NEED_REPLY != 0;
        self.payload.clear();
        self.payload.resize(size, 0);
        if size == 0 { Ok(true) } else { Ok(from.receive(&mut self.payload, &mut self.files)?) }
    }

    /// The 32-bit value at a byte offset of the payload.
    pub fn u32(&self, at: usize) -> Result<u32, MessageError> {
        let bytes = self.payload.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map(u32::from_le_bytes).ok_or_else(|| self.short())
    }

    /// The 64-bit value at a byte offset of the payload.
    pub fn u64(&self, at: usize) -> Result<u64, MessageError> {
        let bytes = self.payload.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
        bytes.map(u64::from_le_bytes).ok_or_else(|| self.short())
    }

    fn short(&self) -> MessageError {
        MessageError::Short { request: self.request, size: self.payload.len() }
    }
}

/// Sends the reply to a request.
pub fn reply(to: &Socket, request: u32, payload: &[u8]) -> Result<bool, MessageError> {
    send(to, request, VERSION | REPLY, payload)
}

/// Sends a request to the guest, with a reply required.
pub fn ask(to: &Socket, request: u32, payload: &[u8]) -> Result<bool, MessageError> {
    send(to, request, VERSION | NEED_REPLY, payload)
}

fn send(to: &Socket, request: u32, flags: u32, payload: &[u8]) -> Result<bool, MessageError> {
    let mut bytes = [0; HEADER + MOST];
    bytes[..4].copy_from_slice(&request.to_le_bytes());
    bytes[4..8].copy_from_slice(&flags.to_le_bytes());
    bytes[8..HEADER].copy_from_slice(&(payload.len() as u32).to_le_bytes());
    bytes[HEADER..HEADER + payload.len()].copy_from_slice(payload);
    Ok(to.send(&bytes[..HEADER + payload.len()])?)
}
