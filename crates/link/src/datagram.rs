//! Datagrams that enter and leave a link.

use std::time::Duration;

use stillair_model::qdisc::Enqueue;

/// An endpoint of a link, by its index in [`Path::endpoints`](crate::Path::endpoints).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Endpoint(pub u32);

impl Endpoint {
    /// The way from this endpoint to another, with source port 49152 and destination port 443.
    pub const fn to(self, other: Self) -> Way {
        Way { from: self, to: other, ports: [49_152, 443] }
    }
}

/// Source and destination of a datagram. Queues distinguish flows by addresses and ports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Way {
    /// The sender.
    pub from: Endpoint,
    /// The receiver.
    pub to: Endpoint,
    /// Ports of the sender and of the receiver.
    pub ports: [u16; 2],
}

impl Way {
    /// The same way with other ports.
    pub const fn ports(self, sender: u16, receiver: u16) -> Self {
        Self { ports: [sender, receiver], ..self }
    }

    /// The reverse way, for an answer.
    pub const fn back(self) -> Self {
        Self { from: self.to, to: self.from, ports: [self.ports[1], self.ports[0]] }
    }
}

/// The two parts of a datagram's TOS byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Mark {
    /// ECN, 2 bits: 0 not capable, 1 ECT(1), 2 ECT(0), 3 congestion experienced.
    pub ecn: u8,
    /// DSCP, 6 bits, such as 46 for EF.
    pub dscp: u8,
}

impl Mark {
    /// No mark.
    pub const NONE: Self = Self { ecn: 0, dscp: 0 };
    /// ECN-capable.
    pub const ECT_0: Self = Self { ecn: 2, dscp: 0 };
    /// ECN-capable, as L4S marks it.
    pub const ECT_1: Self = Self { ecn: 1, dscp: 0 };

    /// The same mark with a DSCP.
    pub const fn with_dscp(self, dscp: u8) -> Self {
        Self { dscp, ..self }
    }
}

/// The payload of a datagram to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Payload<'a> {
    /// Its bytes.
    Bytes(&'a [u8]),
    /// This many zero bytes.
    Length(usize),
}

impl Payload<'_> {
    /// Length in bytes.
    pub const fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Length(bytes) => *bytes,
        }
    }

    /// Whether the payload is empty, which UDP allows.
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

/// The sending host's result of sending a datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sent {
    /// Sequence number of the datagram at its host: the first is 1; it wraps after 2^32.
    pub number: u32,
    /// What the first queue did. A UDP socket with `IP_RECVERR` sees `Dropped` as `ENOBUFS`.
    // linux: net/ipv4/ip_output.c ip_send_skb, net/ipv4/udp.c udp_send_skb (6.12) - NET_XMIT_DROP is an error
    // for such sockets alone.
    pub queue: Enqueue,
}

/// A datagram that has arrived. [`Link::payload`](crate::Link::payload) has its bytes until the next call.
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
    /// Its number, as in [`Sent::number`]. A network may duplicate a datagram.
    pub number: u32,
    /// Bytes of its payload.
    pub len: usize,
    /// ECN, 2 bits; a queue may have set it to 3.
    pub ecn: u8,
    /// DSCP; a router may have changed it.
    pub dscp: u8,
    /// It arrived together with the previous datagram, in the same aggregate or with the same interrupt. A
    /// host would process both at once.
    pub together: bool,
}

impl Packet {
    /// One-way delay, including the queue of the sending host.
    pub fn delay(&self) -> Duration {
        self.at - self.sent
    }

    /// Its source and destination.
    pub const fn way(&self) -> Way {
        Way { from: self.from, to: self.to, ports: self.ports }
    }
}

/// The result of [`Link::poll`](crate::Link::poll).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Poll {
    /// A datagram has arrived; there may be more.
    Packet(Packet),
    /// An endpoint whose socket was full may send again.
    Writable(Endpoint),
    /// Nothing happened until the given time. Unless something is sent, nothing will happen before the time
    /// here; `None` means never.
    Wait(Option<Duration>),
}
