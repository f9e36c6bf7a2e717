//! Datagrams that enter and leave a link.

use std::time::Duration;

use stillair_model::qdisc::Enqueue;

/// An endpoint of a link, by its index in [`Path::endpoints`](crate::Path::endpoints).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Endpoint(pub u32);

impl Endpoint {
    /// Direction from this endpoint to another, with source port 49152 and destination port 443.
    pub const fn to(self, other: Self) -> Way {
        Way { from: self, to: other, ports: [49_152, 443] }
    }
}

/// Source and destination of a datagram. Queues distinguish flows by addresses and ports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Way {
    /// Sending endpoint.
    pub from: Endpoint,
    /// Receiving endpoint.
    pub to: Endpoint,
    /// Source and destination port.
    pub ports: [u16; 2],
}

impl Way {
    /// Same endpoints with other ports.
    pub const fn ports(self, sender: u16, receiver: u16) -> Self {
        Self { ports: [sender, receiver], ..self }
    }

    /// The reverse direction, for an answer.
    pub const fn back(self) -> Self {
        Self { from: self.to, to: self.from, ports: [self.ports[1], self.ports[0]] }
    }
}

/// The two parts of a datagram's TOS byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Mark {
    /// ECN, 2 bits: 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE.
    pub ecn: u8,
    /// DSCP, 6 bits, such as 46 for EF.
    pub dscp: u8,
}

impl Mark {
    /// Not-ECT, DSCP 0.
    pub const NONE: Self = Self { ecn: 0, dscp: 0 };
    /// ECT(0).
    pub const ECT_0: Self = Self { ecn: 2, dscp: 0 };
    /// ECT(1), used by L4S.
    pub const ECT_1: Self = Self { ecn: 1, dscp: 0 };

    /// Same ECN with a DSCP.
    pub const fn with_dscp(self, dscp: u8) -> Self {
        Self { dscp, ..self }
    }
}

/// The payload of a datagram to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Payload<'a> {
    /// The bytes.
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

    /// Returns true if the payload is empty, which UDP allows.
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

/// Result of sending a datagram, as seen by the sending host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sent {
    /// Sequence number of the datagram at its host, starting at 1; wraps after 2^32.
    pub number: u32,
    /// Result of the first queue. A UDP socket with `IP_RECVERR` sees `Dropped` as `ENOBUFS`.
    // linux: net/ipv4/ip_output.c ip_send_skb, net/ipv4/udp.c udp_send_skb (6.12) - report NET_XMIT_DROP as
    // an error only to such sockets.
    pub queue: Enqueue,
}

/// A datagram that has arrived. [`Link::payload`](crate::Link::payload) returns its bytes until the next
/// call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// Arrival time.
    pub at: Duration,
    /// Send time.
    pub sent: Duration,
    /// Sending endpoint.
    pub from: Endpoint,
    /// Receiving endpoint.
    pub to: Endpoint,
    /// Source and destination port.
    pub ports: [u16; 2],
    /// Sequence number, as in [`Sent::number`]. A network may duplicate a datagram.
    pub number: u32,
    /// Payload length in bytes.
    pub len: usize,
    /// ECN, 2 bits; a queue may have set it to CE (3).
    pub ecn: u8,
    /// DSCP; a router may have changed it.
    pub dscp: u8,
    /// True if it arrived together with the previous datagram, in the same aggregate or with the same
    /// interrupt. A host would process both at once.
    pub together: bool,
}

impl Packet {
    /// One-way delay, including the queue of the sending host.
    pub fn delay(&self) -> Duration {
        self.at - self.sent
    }

    /// Source and destination.
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
    /// in this value; `None` means never.
    Wait(Option<Duration>),
}
