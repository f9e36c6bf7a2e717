//! Ends of packets, and their account.

use super::ids::PlaceId;
use alloc::vec::Vec;

/// Why a packet was dropped.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Reason {
    /// A queue was at its limit and refused the packet, or dropped another for it.
    Overlimit,
    /// CoDel dropped it at dequeue.
    Codel,
    /// A transmission failed more often than the limit of retries allows.
    RetryLimit,
    /// It arrived after the receiver's window had moved on, or twice.
    OldOrDuplicate,
    /// The receiver had declared it lost, because it arrived broken too often (retry-out).
    RetryOut,
    /// No route to its destination.
    NoRoute,
    /// No listener at its destination.
    NoListener,
    /// An emulated network lost it.
    Loss,
    /// PIE dropped it at enqueue.
    Pie,
    /// Its TTL expired.
    Ttl,
    /// The hardware returned it unsent, because another frame to the same destination had failed.
    Filtered,
    /// A user-defined control law dropped it.
    Law,
    /// A newer acknowledgement replaced it.
    AckFilter,
    /// It waited too long for a sleeping station.
    Expired,
    /// It was group-addressed, and this receiver missed it.
    Missed,
    /// Its queue was replaced by another.
    Replaced,
}

impl Reason {
    /// Number of reasons.
    pub const COUNT: usize = 16;
    /// All of them, in order.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Overlimit,
        Self::Codel,
        Self::RetryLimit,
        Self::OldOrDuplicate,
        Self::RetryOut,
        Self::NoRoute,
        Self::NoListener,
        Self::Loss,
        Self::Pie,
        Self::Ttl,
        Self::Filtered,
        Self::Law,
        Self::AckFilter,
        Self::Expired,
        Self::Missed,
        Self::Replaced,
    ];
    /// Name for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Overlimit => "overlimit",
            Self::Codel => "codel",
            Self::RetryLimit => "retry_limit",
            Self::OldOrDuplicate => "old_or_duplicate",
            Self::RetryOut => "retry_out",
            Self::NoRoute => "no_route",
            Self::NoListener => "no_listener",
            Self::Loss => "loss",
            Self::Pie => "pie",
            Self::Ttl => "ttl",
            Self::Filtered => "filtered",
            Self::Law => "law",
            Self::AckFilter => "ack_filter",
            Self::Expired => "expired",
            Self::Missed => "missed",
            Self::Replaced => "replaced",
        }
    }
}

/// How a packet's life ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// An application received it.
    Delivered,
    /// It was dropped, for this reason at this place.
    Dropped(Reason, PlaceId),
    /// A reply was made from it.
    Consumed,
    /// A receiving interface merged it into another packet (GRO).
    Merged,
}

/// Account of all packets so far. Always `created = delivered + consumed + merged + dropped + live`. Splitting a packet into
/// segments and duplicating it create packets.
#[derive(Clone, Debug, Default)]
pub struct PacketAccount {
    /// Packets made.
    pub created: u64,
    /// Packets that reached an application.
    pub delivered: u64,
    /// Packets that were answered: a reply was made of each.
    pub consumed: u64,
    /// Packets that went into another one (GRO).
    pub merged: u64,
    /// Packets dropped, by place and reason.
    pub dropped: Vec<[u64; Reason::COUNT]>,
}

impl PacketAccount {
    /// Adds what became of other packets.
    pub(super) fn add(&mut self, other: &Self) {
        self.created += other.created;
        self.delivered += other.delivered;
        self.consumed += other.consumed;
        self.merged += other.merged;
        let places = self.dropped.len().max(other.dropped.len());
        self.dropped.resize(places, [0; Reason::COUNT]);
        for (sum, more) in self.dropped.iter_mut().flatten().zip(other.dropped.iter().flatten()) {
            *sum += more;
        }
    }

    /// Packets dropped anywhere for any reason.
    pub fn dropped_total(&self) -> u64 {
        self.dropped.iter().flatten().sum()
    }
}
