//! Packets of external hosts that enter and leave a world.

use core::fmt;

use stillair_model::types::{Addr, IfId, Instant, LONGEST_PACKET};

/// A packet that enters the model.
#[derive(Clone, Copy, Debug)]
pub struct Entering<'a> {
    /// The interface through which the host sends the packet. If the host is modelled, its routes choose the
    /// way; a driver can use this to answer for the host.
    pub at: IfId,
    /// The packet from the IP header on, one segment of at most [`LONGEST_PACKET`] bytes; several only for
    /// [`World::enter_segments`](super::World::enter_segments).
    pub bytes: &'a [u8],
    /// Source: `Addr(n)` for interface n, otherwise [`World::elsewhere`](super::World::elsewhere).
    pub src: Addr,
    /// Destination, by the same rule.
    pub dst: Addr,
    /// Hash of the 5-tuple, which queues use to tell flows apart.
    pub flow_hash: u32,
    /// TOS byte (IPv4) or traffic class (IPv6).
    pub tos: u8,
    /// Remaining TTL or hop limit.
    pub ttl: u8,
    /// Memory of the packet in bytes, as `skb->truesize`.
    pub truesize: u32,
    /// Number under which the driver is told of the end of the packet's charge. It is an index into the
    /// driver's table, so small numbers save memory. After the driver has been told, it may be used again.
    pub token: Option<u32>,
}

/// A packet that has left the model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Left {
    /// The interface of the external host that received the packet; for a modelled host, the interface with
    /// the destination address.
    pub at: IfId,
    /// Time of reception.
    pub since: Instant,
    /// Source: the number of the sending interface, if the packet was sent by an interface of the scenario.
    pub src: Addr,
    /// Time at which the host sent the packet.
    pub sent: Instant,
    /// Number of the packet among those of its host, from 1, modulo 2^32. A duplicate has the number of the
    /// original, and all segments of a packet that was split have that of the whole.
    pub number: u32,
    /// TOS byte or traffic class, with marks that queues have set (ECN).
    pub tos: u8,
    /// Remaining TTL or hop limit.
    pub ttl: u8,
    /// Whether the packet was received at the same interface and instant as the previous one. Such packets
    /// form a batch, which a host processes at once and may merge (GRO).
    pub together: bool,
}

/// The reason why a packet was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// The interface does not exist.
    Interface(IfId),
    /// The packet, or a segment of it, is empty or longer than [`LONGEST_PACKET`]; or all its segments are
    /// too long together.
    Length(usize),
    /// The address is neither that of an interface nor the one that stands for all others.
    Address(Addr),
    /// The token is too large, or in use by a packet whose end the driver has not been told.
    Token(u32),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interface(at) => write!(f, "no interface has the number {}", at.0),
            Self::Length(bytes) => write!(f, "a packet of {bytes} bytes, expected 1 to {LONGEST_PACKET}"),
            Self::Address(addr) => {
                write!(f, "address {} is neither an interface's nor elsewhere", addr.index())
            }
            Self::Token(token) => write!(f, "token {token} is in use, or beyond the largest"),
        }
    }
}

impl std::error::Error for Refused {}
