//! Packet fates and their accounting.

use super::ids::PlaceId;
use alloc::vec::Vec;

/// Reason for dropping a packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Reason {
    /// Tail drop: a queue was at its limit and refused the packet, or dropped another packet for it.
    Overlimit,
    /// CoDel dropped it at dequeue.
    Codel,
    /// Retry limit reached: every try failed.
    RetryLimit,
    /// The frame arrived after the receiver's window had moved on, or was a duplicate.
    OldOrDuplicate,
    /// The receiver declared the frame lost after too many corrupted receptions (retry-out).
    RetryOut,
    /// No route to its destination.
    NoRoute,
    /// No listener at the destination.
    NoListener,
    /// An emulated network (netem) lost the packet.
    Loss,
    /// PIE dropped it at enqueue.
    Pie,
    /// Its TTL expired.
    Ttl,
    /// The hardware returned the frame unsent, because another frame to the same destination had failed.
    Filtered,
    /// A user-defined AQM algorithm dropped it.
    Aqm,
    /// cake's ACK filter dropped the ACK, because a newer one replaces it.
    AckFilter,
    /// The frame was buffered too long for a sleeping station.
    Expired,
    /// The frame was group-addressed, and this receiver missed it.
    Missed,
    /// The packet's qdisc was replaced by another.
    Replaced,
}

impl Reason {
    /// Number of reasons.
    pub const COUNT: usize = 16;
    /// All reasons, in table order.
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
        Self::Aqm,
        Self::AckFilter,
        Self::Expired,
        Self::Missed,
        Self::Replaced,
    ];
    /// Name of the reason in tables.
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
            Self::Aqm => "aqm",
            Self::AckFilter => "ack_filter",
            Self::Expired => "expired",
            Self::Missed => "missed",
            Self::Replaced => "replaced",
        }
    }
}

/// End of a packet's life.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// An application received it.
    Delivered,
    /// The packet was dropped, for this reason at this place.
    Dropped(Reason, PlaceId),
    /// A host consumed the packet and replied to it.
    Consumed,
    /// A receiving interface merged the packet into another one (GRO).
    Merged,
}

/// Totals of all packets so far. Always `created = delivered + consumed + merged + dropped + live`.
/// Segmentation and duplication create packets.
#[derive(Clone, Debug, Default)]
pub struct PacketAccount {
    /// Packets created.
    pub created: u64,
    /// Packets that reached an application.
    pub delivered: u64,
    /// Packets that a host consumed and replied to.
    pub consumed: u64,
    /// Packets merged into another one (GRO).
    pub merged: u64,
    /// Packets dropped, by place and reason.
    pub dropped: Vec<[u64; Reason::COUNT]>,
}

impl PacketAccount {
    #[inline(never)]
    pub(super) fn count_dropped(&mut self, reason: Reason, place: PlaceId) {
        if self.dropped.len() <= place.index() {
            self.dropped.resize(place.index() + 1, [0; Reason::COUNT]);
        }
        self.dropped[place.index()][reason as usize] += 1;
    }

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

    /// Total number of packets dropped.
    pub fn dropped_total(&self) -> u64 {
        self.dropped.iter().flatten().sum()
    }
}
