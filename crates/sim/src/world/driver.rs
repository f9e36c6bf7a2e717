//! What a driver sees of the world: time, and the packets of outside hosts as they come in and leave.
//!
//! Who drives owns time. It advances the world to an instant, lets in what came until then, puts it through, takes what has left and which
//! charges have ended, and waits until the next event or the next packet from outside:
//!
//! ```text
//! advance(now); enter(...) for each packet; put_through(); left() and ended() until there are none; wait until next_event()
//! ```

use core::fmt;

use stillair_model::qdisc::Enqueue;
use stillair_model::vocabulary::{Addr, Duration, IfId, Instant, LONGEST_PACKET, Sink};

use super::World;
use super::hosts::Below;

/// A packet that comes in from outside.
#[derive(Clone, Copy, Debug)]
pub struct Entering<'a> {
    /// The interface through which its host sends it. At a modelled host, which has no packets with bytes of its own, the host's routes
    /// choose the way: so a driver can answer for it.
    pub at: IfId,
    /// The packet from the IP header on, at most [`LONGEST_PACKET`]: one segment.
    pub bytes: &'a [u8],
    /// Its source: that of interface n is n, any other [`World::elsewhere`].
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
            Self::Address(addr) => write!(f, "address {} is neither an interface's nor elsewhere", addr.0),
            Self::Token(token) => write!(f, "token {token} is in use, or beyond the largest"),
        }
    }
}

impl std::error::Error for Refused {}

impl<S: Sink> World<S> {
    /// The time: all events before it have been handled.
    pub fn now(&self) -> Instant {
        self.core.now
    }

    /// When something happens next by itself, if nothing comes in before. Nothing is taken, so it may be asked at any time after
    /// [`World::put_through`].
    pub fn next_event(&mut self) -> Option<Instant> {
        self.core.timers.earliest()
    }

    /// Handles all that is due until `at` and at that very instant ([`World::run_until`] leaves what is due then). `at` is before the horizon,
    /// and not before the time.
    pub fn advance(&mut self, at: Instant) {
        assert!(at >= self.core.now, "time would run backwards");
        assert!(at < self.horizon(), "timers that late do not fire");
        self.run_before(at + Duration::from_nanos(1));
        self.core.now = at;
    }

    /// A packet comes in from outside, now: it is queued at the interface of its host, and the answer is that of the queue. When all that has
    /// come at this instant is in, [`World::put_through`] is due.
    pub fn enter(&mut self, packet: &Entering<'_>) -> Result<Enqueue, Refused> {
        let Self { core, hosts, network, air, .. } = self;
        hosts.enter(&mut Below { core, network, air }, packet)
    }

    /// Lets what has come in take its effect: queues whose turn is put off, devices that got frames.
    pub fn put_through(&mut self) {
        self.settle();
    }

    /// The next packet that has left the model, in the order in which they did. Its bytes take the place of what is in `bytes`, with mark, hops
    /// and header checksum as they are by now.
    pub fn left(&mut self, bytes: &mut Vec<u8>) -> Option<Left> {
        self.hosts.left(&mut self.core, bytes)
    }

    /// The next token whose charge has ended, wherever it did, in the order in which they did: with the report of a transmission, with a drop,
    /// at the other end. A host's own limits, such as TCP small queues, hang on it.
    pub fn ended(&mut self) -> Option<u32> {
        self.hosts.ended(&mut self.core)
    }

    /// The address that stands for all that no interface of the scenario has.
    pub fn elsewhere(&self) -> Addr {
        self.hosts.outside().elsewhere()
    }
}
