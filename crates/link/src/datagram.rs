//! What goes into a link and comes out of it.

use std::time::Duration;

use stillair_model::qdisc::Enqueue;

/// An end of a link, by its position among them ([`Path::endpoints`](crate::Path::endpoints)).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Endpoint(pub u32);

impl Endpoint {
    /// The way from here to another endpoint, between port 49152 here and port 443 there.
    pub const fn to(self, other: Self) -> Way {
        Way { from: self, to: other, ports: [49_152, 443] }
    }
}

/// From where to where a datagram goes. Queues tell flows apart by addresses and ports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Way {
    /// Who sends it.
    pub from: Endpoint,
    /// Whom it is for.
    pub to: Endpoint,
    /// Ports of the sender and of the receiver.
    pub ports: [u16; 2],
}

impl Way {
    /// The same between other ports, the sender's first.
    pub const fn ports(self, sender: u16, receiver: u16) -> Self {
        Self { ports: [sender, receiver], ..self }
    }

    /// The way of the answer.
    pub const fn back(self) -> Self {
        Self { from: self.to, to: self.from, ports: [self.ports[1], self.ports[0]] }
    }
}

/// The TOS byte of a datagram in its two parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Mark {
    /// The two bits of ECN: 0 not capable, 1 ECT(1), 2 ECT(0), 3 congestion experienced.
    pub ecn: u8,
    /// The six bits of the differentiated services code point, such as 46 for EF.
    pub dscp: u8,
}

impl Mark {
    /// No mark.
    pub const NONE: Self = Self { ecn: 0, dscp: 0 };
    /// ECN-capable.
    pub const ECT_0: Self = Self { ecn: 2, dscp: 0 };
    /// ECN-capable, as L4S marks it.
    pub const ECT_1: Self = Self { ecn: 1, dscp: 0 };

    /// The same with a code point.
    pub const fn with_dscp(self, dscp: u8) -> Self {
        Self { dscp, ..self }
    }
}

/// What is in a datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Payload<'a> {
    /// Its bytes.
    Bytes(&'a [u8]),
    /// So many bytes, all zero.
    Length(usize),
}

impl Payload<'_> {
    /// Its bytes' number.
    pub const fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Length(bytes) => *bytes,
        }
    }

    /// Whether there is none: UDP sends that too.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<'a> From<&'a [u8]> for Payload<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Payload<'a> {
    fn from(bytes: &'a [u8; N]) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'a> From<&'a Vec<u8>> for Payload<'a> {
    fn from(bytes: &'a Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

impl From<usize> for Payload<'_> {
    fn from(bytes: usize) -> Self {
        Self::Length(bytes)
    }
}

/// What the sending host knows of a datagram when it has sent it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sent {
    /// Which of its host's datagrams it is: the first is 1, and after 2^32 they begin anew.
    pub number: u32,
    /// What the first queue did. A socket of UDP hears of `Dropped` as `ENOBUFS` if it has `IP_RECVERR`.
    // linux: net/ipv4/ip_output.c ip_send_skb, net/ipv4/udp.c udp_send_skb (6.12) - NET_XMIT_DROP is an error for such sockets alone.
    pub queue: Enqueue,
}

/// A datagram that has arrived. Its bytes are [`Link::payload`](crate::Link::payload)'s until the next call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// When it arrived.
    pub at: Duration,
    /// When it was sent.
    pub sent: Duration,
    /// Who sent it.
    pub from: Endpoint,
    /// At which endpoint it arrived.
    pub to: Endpoint,
    /// Ports of the sender and of the receiver.
    pub ports: [u16; 2],
    /// Which of its host's datagrams it is, as [`Sent::number`] told. A network may duplicate one.
    pub number: u32,
    /// Bytes of its payload.
    pub len: usize,
    /// The two bits of ECN, which queues may have set to 3.
    pub ecn: u8,
    /// The code point, which routers may have changed.
    pub dscp: u8,
    /// It came with the datagram before: in the same aggregate, or reported by the same interrupt. A host takes both in at once.
    pub together: bool,
}

impl Packet {
    /// How long it was under way, its host's queue included.
    pub fn delay(&self) -> Duration {
        self.at - self.sent
    }

    /// The way that it took.
    pub const fn way(&self) -> Way {
        Way { from: self.from, to: self.to, ports: self.ports }
    }
}

/// What happened until a given time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Poll {
    /// A datagram has arrived; there may be more.
    Packet(Packet),
    /// An endpoint whose socket was full may send again.
    Writable(Endpoint),
    /// Nothing else happened until then. Nothing happens before the time that is given unless something is sent; none: never.
    Wait(Option<Duration>),
}
