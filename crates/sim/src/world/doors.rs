//! Packets of outside hosts that enter and leave a world.

use core::fmt;

use stillair_model::vocabulary::{Addr, IfId, Instant, LONGEST_PACKET};

/// A packet that comes in from outside.
#[derive(Clone, Copy, Debug)]
pub struct Entering<'a> {
    /// The interface through which its host sends it. At a modelled host, which has no packets with bytes of its own, the host's routes
    /// choose the way: so a driver can answer for it.
    pub at: IfId,
    /// The packet from the IP header on, at most [`LONGEST_PACKET`]: one segment.
    pub bytes: &'a [u8],
    /// Its source: that of interface n is n, any other [`World::elsewhere`](super::World::elsewhere).
    pub src: Addr,
    /// Its destination, by the same rule.
    pub dst: Addr,
    /// Hash of its five-tuple, by which queues tell flows apart.
    pub flow_hash: u32,
    /// TOS byte of its header, or traffic class.
    pub tos: u8,
    /// Hops it may still make.
    pub ttl: u8,
    /// Memory that it takes, in bytes (as `skb->truesize`).
    pub truesize: u32,
    /// The number by which the driver wants to hear of the end of its charge: a position in the driver's table, so that small numbers cost
    /// little memory. It can be used again when it has been told.
    pub token: Option<u32>,
}

/// A packet that has left the model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Left {
    /// The interface of an outside host at which it came in; at a modelled host, the one whose address it is for.
    pub at: IfId,
    /// When it did.
    pub since: Instant,
    /// Where it came from: the interface that sent it has this number, if one of the scenario did.
    pub src: Addr,
    /// When its host sent it.
    pub sent: Instant,
    /// Which of its host's packets it is: the first is 1, and after 2^32 they begin anew. A duplicate has the number of the other.
    pub number: u32,
    /// Its TOS byte or traffic class by then: queues may have marked it.
    pub tos: u8,
    /// Hops that are left.
    pub ttl: u8,
    /// It came in at the same interface and instant as the packet given before: both are of one batch, which a host takes in at once and
    /// may merge (GRO).
    pub together: bool,
}

/// Why a packet was not let in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// There is no such interface.
    Interface(IfId),
    /// It is empty, or longer than [`LONGEST_PACKET`].
    Length(usize),
    /// Neither an interface's address nor the one beyond them.
    Address(Addr),
    /// The token is that of another packet whose end the driver has not been told, or too large.
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
