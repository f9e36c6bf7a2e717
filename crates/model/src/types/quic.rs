//! A QUIC datagram: the cold record of a packet of kind [`Kind::Quic`](super::PacketKind::Quic), read only by
//! stacks and captures.
//!
//! A datagram has a length and an ECN mark. Its content is either a packet of the model, as a plain
//! structure, or the bytes of a real stack. Both keep their memory when a record is reused, so a datagram
//! costs no allocation in steady state.

use super::ids::SockId;
use super::time::Duration;
use alloc::vec::Vec;

/// A UDP datagram of a QUIC stack.
#[derive(Clone, Debug, Default)]
pub struct Datagram {
    /// Length of the UDP payload in bytes.
    pub len: u32,
    /// ECN bits of the IP header (the lower two of the TOS byte): as requested by the sender, or as received.
    pub ecn: u8,
    /// The receiving stack. Demultiplexing by address and connection ID is done once per connection. Set by
    /// the host.
    pub to: Option<SockId>,
    /// Number of the connection among the successive connections of the stack's host. Set by the host.
    pub connection: u32,
    /// The model's packet. Empty for a real stack's datagram.
    pub packet: QuicPacket,
    /// The bytes written by a real stack. Empty for the model's datagram.
    pub bytes: Vec<u8>,
    /// The long-header packets in `bytes`, if the stack reports them. The rest of the datagram is a 1-RTT
    /// packet.
    pub long: LongPackets,
}

impl Datagram {
    /// Clears the datagram, but keeps its memory.
    pub fn clear(&mut self) {
        (self.len, self.ecn, self.to, self.connection) = (0, 0, None, 0);
        self.long = LongPackets::default();
        self.packet.clear();
        self.bytes.clear();
    }
}

/// QUIC packet type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PacketType {
    /// Initial: first flight of either side.
    Initial,
    /// 0-RTT: early data with the keys of a previous connection.
    ZeroRtt,
    /// Handshake: the rest of the handshake.
    Handshake,
    /// Retry: the server requires address validation.
    Retry,
    /// 1-RTT: everything after the handshake.
    OneRtt,
}

impl PacketType {
    /// Returns the packet type from the first byte of a packet.
    // spec: rfc9000 17.2, 17.3.1 - the highest bit marks a long header, whose third and fourth bits are the
    // type: Initial, 0-RTT, Handshake, Retry. Header protection changes neither (rfc9001 5.4.1). A short
    // header means 1-RTT.
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

    /// Name in qlog.
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

/// A long-header packet in a datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LongPacket {
    /// Packet type.
    pub kind: PacketType,
    /// Packet number in its packet number space.
    pub number: u32,
    /// Length in bytes, with header and authentication tag.
    pub len: u16,
}

/// The long-header packets of a datagram, in order: at most one per handshake encryption level.
// spec: rfc9000 12.2 - packets with a length come first, since a short-header packet extends to the end of
// its datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LongPackets([Option<LongPacket>; 2]);

impl LongPackets {
    /// Appends a packet.
    pub fn push(&mut self, packet: LongPacket) {
        let free = self.0.iter_mut().find(|place| place.is_none());
        *free.expect("a packet of each level at most") = Some(packet);
    }

    /// The packets in order.
    pub fn iter(&self) -> impl Iterator<Item = LongPacket> + '_ {
        self.0.iter().copied().flatten()
    }

    /// Total length in bytes.
    pub fn bytes(&self) -> u32 {
        self.iter().map(|packet| u32::from(packet.len)).sum()
    }
}

/// A packet of the model, with the features common to gQUIC 39 and QUIC.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct QuicPacket {
    /// Packet number, from 1 on.
    pub number: u64,
    /// The acknowledgement frame, if any. Its ranges are in [`QuicPacket::ranges`].
    pub ack: Option<AckFrame>,
    /// Acknowledged ranges [first, end), newest first.
    pub ranges: Vec<(u64, u64)>,
    /// The other frames.
    pub frames: Vec<QuicFrame>,
}

impl QuicPacket {
    /// Clears the packet, but keeps its memory.
    pub fn clear(&mut self) {
        (self.number, self.ack) = (0, None);
        self.ranges.clear();
        self.frames.clear();
    }

    /// Returns true if the packet is ack-eliciting.
    pub fn is_ack_eliciting(&self) -> bool {
        self.frames.iter().any(QuicFrame::is_ack_eliciting)
    }
}

/// The fixed part of an acknowledgement frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AckFrame {
    /// Acknowledgement delay: time from the arrival of the newest packet to the frame.
    pub delay: Duration,
}

/// A frame of the model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QuicFrame {
    /// STREAM: a part of a stream.
    Stream {
        /// Stream ID.
        id: u32,
        /// Offset in bytes.
        offset: u64,
        /// Length in bytes.
        len: u32,
        /// FIN: the stream ends with this part.
        fin: bool,
    },
    /// CRYPTO: bytes [`offset`, `offset + len`) of handshake message `step`.
    Crypto {
        /// Number of the message. Even numbers are the client's.
        step: u8,
        /// Offset in bytes.
        offset: u32,
        /// Length in bytes.
        len: u32,
        /// Length of the whole message in bytes.
        of: u32,
    },
    /// Flow-control limit of a stream, or of the connection.
    Window {
        /// The stream. `None`: the connection.
        id: Option<u32>,
        /// Limit in bytes, counted from the beginning.
        limit: u64,
    },
    /// STOP_WAITING: packets below this number will not be sent again and need not be acknowledged.
    StopWaiting {
        /// The packet number.
        least: u64,
    },
    /// PING: elicits an acknowledgement.
    Ping,
    /// CONNECTION_CLOSE.
    Close,
}

impl QuicFrame {
    /// Returns true if the frame is ack-eliciting.
    // spec: rfc9000 13.2 - all but ACK, PADDING and CONNECTION_CLOSE.
    pub fn is_ack_eliciting(&self) -> bool {
        !matches!(self, Self::Close | Self::StopWaiting { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: rfc9001 A.2 to A.5 - the first bytes of the examples, before and after header protection; rfc9000
    // 17.2.3 for the type missing there.
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
