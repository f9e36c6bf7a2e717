//! What packets carry, and what answers them.

use super::addr::Ip;

/// What a packet carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum PacketKind {
    /// A UDP datagram.
    Udp,
    /// ICMP echo request.
    EchoRequest,
    /// ICMP echo reply.
    EchoReply,
    /// A UDP datagram that a server at its destination sends back.
    UdpRequest,
    /// That datagram on its way back.
    UdpReply,
    /// A TCP segment, or several that travel as one packet.
    Tcp,
    /// A UDP datagram of a QUIC connection.
    Quic,
    /// A packet of a telephone call.
    Voip,
    /// A question to a name server, which its destination answers.
    Query,
    /// That answer.
    Answer,
    /// A packet of an outside host, with its bytes. No modelled host answers it.
    Outside,
}

impl PacketKind {
    /// What the destination answers it with, if it does.
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
            | Self::Outside => None,
        }
    }

    /// Bytes by which a reply of this kind is longer than what it replies to.
    // spec: rfc1035 4.1.3 - an address record is a pointer to the name, type, class, time to live, length and 4 bytes; rfc3596 2.1 - 16 of
    // IPv6.
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
