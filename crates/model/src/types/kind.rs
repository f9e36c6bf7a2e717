//! What packets carry, and what answers them.

use super::addr::Ip;

/// Kind of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum PacketKind {
    /// A UDP datagram.
    Udp,
    /// ICMP echo request.
    EchoRequest,
    /// ICMP echo reply.
    EchoReply,
    /// A UDP datagram that an echo server at the destination sends back.
    UdpRequest,
    /// A UDP datagram sent back by an echo server.
    UdpReply,
    /// A TCP segment, or several as one packet (GSO).
    Tcp,
    /// A UDP datagram of a QUIC connection.
    Quic,
    /// A packet of a voice call.
    Voip,
    /// A DNS query, which the destination answers.
    Query,
    /// A DNS answer.
    Answer,
    /// A packet of an external host, with its bytes. No modelled host answers it.
    External,
}

impl PacketKind {
    /// Kind of the destination's reply, if the destination replies.
    #[inline]
    pub const fn reply(self) -> Option<Self> {
        match self {
            Self::EchoRequest => Some(Self::EchoReply),
            Self::UdpRequest => Some(Self::UdpReply),
            Self::Query => Some(Self::Answer),
            Self::Udp
            | Self::EchoReply
            | Self::UdpReply
            | Self::Tcp
            | Self::Quic
            | Self::Voip
            | Self::Answer
            | Self::External => None,
        }
    }

    /// Number of bytes by which a reply of this kind is longer than the request.
    // spec: rfc1035 4.1.3 - an address record is a pointer to the name, type, class, time to live, length and
    // 4 bytes; rfc3596 2.1 - 16 of IPv6.
    // deviation: who asks asks once, for the version that he uses - resolvers ask for both.
    #[inline]
    pub const fn grows(self, ip: Ip) -> u32 {
        match (self, ip) {
            (Self::Answer, Ip::V4) => 2 + 2 + 2 + 4 + 2 + 4,
            (Self::Answer, Ip::V6) => 2 + 2 + 2 + 4 + 2 + 16,
            _ => 0,
        }
    }
}
