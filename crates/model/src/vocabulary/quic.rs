//! A QUIC datagram: the cold record of a packet of kind [`Kind::Quic`](super::Kind::Quic), which only stacks and captures
//! look at.
//!
//! A datagram has a length and an ECN mark. What is in it is either a packet of the model, as a plain structure, or the
//! bytes that a real stack wrote. Both keep their memory when a record is used again, so that a datagram costs no
//! allocation once a run has got going.

use super::ids::SockId;
use super::time::Duration;

/// A UDP datagram with what a QUIC stack put into it.
#[derive(Clone, Debug, Default)]
pub struct Datagram {
    /// Bytes of UDP payload.
    pub len: u32,
    /// ECN bits of the IP header (the lower two of the TOS byte): what the sender wants on it, or what it came with.
    pub ecn: u8,
    /// The stack that it is for: the demultiplexing of addresses and connection identifiers, done once for a connection.
    /// The host sets it.
    pub to: Option<SockId>,
    /// The model's packet; of a real stack's datagram, empty.
    pub packet: QuicPacket,
    /// The bytes, if a real stack made them; of the model's datagram, empty.
    pub bytes: Vec<u8>,
}

impl Datagram {
    /// Makes it empty, but keeps its memory.
    pub fn clear(&mut self) {
        (self.len, self.ecn, self.to) = (0, 0, None);
        self.packet.clear();
        self.bytes.clear();
    }
}

/// A packet of the model: what gQUIC 39 and QUIC have in common.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct QuicPacket {
    /// Packet number, from 1 on.
    pub number: u64,
    /// Its acknowledgement frame, if it has one; the ranges are in [`QuicPacket::ranges`].
    pub ack: Option<AckFrame>,
    /// Packets that the frame says were received, as ranges [first, end), the newest first.
    pub ranges: Vec<(u64, u64)>,
    /// Its other frames.
    pub frames: Vec<QuicFrame>,
}

impl QuicPacket {
    /// Makes it empty, but keeps its memory.
    pub fn clear(&mut self) {
        (self.number, self.ack) = (0, None);
        self.ranges.clear();
        self.frames.clear();
    }

    /// Whether its receiver has to acknowledge it.
    pub fn is_ack_eliciting(&self) -> bool {
        self.frames.iter().any(QuicFrame::is_ack_eliciting)
    }
}

/// The fixed part of an acknowledgement frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AckFrame {
    /// Time from the arrival of the newest packet to the frame.
    pub delay: Duration,
}

/// A frame of the model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QuicFrame {
    /// Part of a stream.
    Stream {
        /// The stream.
        id: u32,
        /// Where the part begins.
        offset: u64,
        /// How long it is, in bytes.
        len: u32,
        /// The stream ends with it.
        fin: bool,
    },
    /// Part of the handshake: message `step`, of which it carries bytes [`offset`, `offset + len`).
    Crypto {
        /// Which message: even ones are the client's.
        step: u8,
        /// Where the part begins.
        offset: u32,
        /// How long it is, in bytes.
        len: u32,
        /// Length of the whole message.
        of: u32,
    },
    /// The most that may be sent on a stream, or on the whole connection.
    Window {
        /// The stream; none means the connection.
        id: Option<u32>,
        /// Bytes from the beginning on.
        limit: u64,
    },
    /// Nothing older than this packet will be sent again, so nothing older need be acknowledged.
    StopWaiting {
        /// The packet.
        least: u64,
    },
    /// Asks for an acknowledgement.
    Ping,
    /// The connection is over.
    Close,
}

impl QuicFrame {
    /// Whether the receiver of the frame has to acknowledge it.
    // spec: rfc9000 13.2 - all but ACK, PADDING and CONNECTION_CLOSE.
    pub fn is_ack_eliciting(&self) -> bool {
        !matches!(self, Self::Close | Self::StopWaiting { .. })
    }
}
