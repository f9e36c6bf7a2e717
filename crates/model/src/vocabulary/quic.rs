//! A QUIC datagram: the cold record of a packet of kind [`Kind::Quic`](super::PacketKind::Quic), which only stacks and captures
//! look at.
//!
//! A datagram has a length and an ECN mark. What is in it is either a packet of the model, as a plain structure, or the
//! bytes that a real stack wrote. Both keep their memory when a record is used again, so that a datagram costs no
//! allocation once a run has got going.

use super::ids::SockId;
use super::time::Duration;
use alloc::vec::Vec;

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
    /// Which of the connections that the stack's host has had, one after the other; the host sets it.
    pub connection: u32,
    /// The model's packet; of a real stack's datagram, empty.
    pub packet: QuicPacket,
    /// The bytes, if a real stack made them; of the model's datagram, empty.
    pub bytes: Vec<u8>,
    /// The packets of the handshake in them, if the stack tells. What is left of the datagram is a packet of type 1-RTT.
    pub long: LongPackets,
}

impl Datagram {
    /// Makes it empty, but keeps its memory.
    pub fn clear(&mut self) {
        (self.len, self.ecn, self.to, self.connection) = (0, 0, None, 0);
        self.long = LongPackets::default();
        self.packet.clear();
        self.bytes.clear();
    }
}

/// The type of a packet of QUIC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PacketType {
    /// First flight of either side, and what belongs to it.
    Initial,
    /// Data before the handshake, with the keys of a former connection.
    ZeroRtt,
    /// The rest of the handshake.
    Handshake,
    /// A server that wants the client's address proved first.
    Retry,
    /// Everything after the handshake.
    OneRtt,
}

impl PacketType {
    /// By the first byte of a packet.
    // spec: rfc9000 17.2, 17.3.1 - the highest bit says that the header is long, and then the third and fourth which type it
    // is: Initial, 0-RTT, Handshake, Retry. Neither is changed by the protection of headers (rfc9001 5.4.1). A short header is
    // of 1-RTT.
    #[inline]
    pub fn of(first: u8) -> Self {
        match first >> 4 & 0b1011 {
            0b1000 => Self::Initial,
            0b1001 => Self::ZeroRtt,
            0b1010 => Self::Handshake,
            0b1011 => Self::Retry,
            _ => Self::OneRtt,
        }
    }

    /// Its name in qlog.
    // spec: draft-ietf-quic-qlog-quic-events - PacketType.
    pub fn name(self) -> &'static str {
        match self {
            Self::Initial => "initial",
            Self::ZeroRtt => "0RTT",
            Self::Handshake => "handshake",
            Self::Retry => "retry",
            Self::OneRtt => "1RTT",
        }
    }
}

/// A packet with a long header, in a datagram of which it is a part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LongPacket {
    /// Its type.
    pub kind: PacketType,
    /// Its number, among those of its level of encryption.
    pub number: u32,
    /// How long it is with header and tag, in bytes.
    pub len: u16,
}

/// The packets with long headers in a datagram, in order: one of each level of the handshake at most.
// spec: rfc9000 12.2 - packets that have a length come first, since a packet with a short header ends with its datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LongPackets([Option<LongPacket>; 2]);

impl LongPackets {
    /// Adds the next packet.
    pub fn push(&mut self, packet: LongPacket) {
        let free = self.0.iter_mut().find(|place| place.is_none());
        *free.expect("a packet of each level at most") = Some(packet);
    }

    /// The packets in order.
    pub fn iter(&self) -> impl Iterator<Item = LongPacket> + '_ {
        self.0.iter().copied().flatten()
    }

    /// Bytes of them all.
    pub fn bytes(&self) -> u32 {
        self.iter().map(|packet| u32::from(packet.len)).sum()
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

#[cfg(test)]
mod tests {
    use super::*;

    // spec: rfc9001 A.2 to A.5 - the first bytes of its examples, before protection and after, and rfc9000 17.2.3 for the type that
    // is not among them.
    #[test]
    fn types_by_the_first_byte() {
        for (bytes, kind) in [
            (&[0xc3, 0xc0, 0xc1, 0xcf][..], PacketType::Initial),
            (&[0xd0, 0xdf], PacketType::ZeroRtt),
            (&[0xe0, 0xef], PacketType::Handshake),
            (&[0xff, 0xf0], PacketType::Retry),
            (&[0x42, 0x4c, 0x5f, 0x7f, 0x40], PacketType::OneRtt),
        ] {
            assert!(bytes.iter().all(|&first| PacketType::of(first) == kind), "{kind:?}");
        }
    }
}
