//! Packets of external hosts entering and leaving a world.

use core::fmt;

use stillair_model::types::{Addr, IfId, Instant, LONGEST_PACKET};

/// A packet entering the model.
#[derive(Clone, Copy, Debug)]
pub struct Entering<'a> {
    /// Interface through which the host sends the packet. If the host is modelled, its routing table chooses
    /// the output interface; a driver can use this to reply on behalf of the host.
    pub at: IfId,
    /// Packet from the IP header on: one segment of at most [`LONGEST_PACKET`] bytes. Only
    /// [`World::enter_segments`](super::World::enter_segments) accepts several segments.
    pub bytes: &'a [u8],
    /// Source: `Addr(n)` for interface n, [`World::elsewhere`](super::World::elsewhere) for any other
    /// address.
    pub src: Addr,
    /// Destination, mapped like the source.
    pub dst: Addr,
    /// Hash of the 5-tuple, which fair queueing uses to classify flows.
    pub flow_hash: u32,
    /// TOS byte (IPv4) or traffic class (IPv6).
    pub tos: u8,
    /// Remaining TTL or hop limit.
    pub ttl: u8,
    /// Memory of the packet in bytes (`skb->truesize`).
    pub truesize: u32,
    /// Token returned by [`World::ended`](super::World::ended) when the packet's charge ends. Tokens index a
    /// table, so small numbers save memory. A returned token may be reused.
    pub token: Option<u32>,
}

/// A packet leaving the model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Left {
    /// Interface of the external host that received the packet. For a modelled host, the interface with the
    /// destination address.
    pub at: IfId,
    /// Time of reception.
    pub since: Instant,
    /// Source: the number of the sending interface, if the packet came from an interface of the scenario.
    pub src: Addr,
    /// Time at which the sender sent the packet.
    pub sent: Instant,
    /// Sequence number among the packets of the sending host, from 1, modulo 2^32. A duplicate has the number
    /// of the original, and each segment of a split packet has the number of the whole packet.
    pub number: u32,
    /// TOS byte or traffic class, including ECN marks set by queues.
    pub tos: u8,
    /// Remaining TTL or hop limit.
    pub ttl: u8,
    /// True if the packet arrived at the same interface and instant as the previous one. Such packets form a
    /// batch, which a host processes together and may merge (GRO).
    pub together: bool,
}

/// Reason for refusing a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// The interface does not exist.
    Interface(IfId),
    /// The packet or one of its segments is empty or longer than [`LONGEST_PACKET`], or all segments together
    /// are too long.
    Length(usize),
    /// The address is neither an interface's address nor [`World::elsewhere`](super::World::elsewhere).
    Address(Addr),
    /// The token is too large, or still in use because the driver has not yet read its end.
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
