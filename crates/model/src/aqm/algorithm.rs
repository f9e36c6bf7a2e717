//! Trait of user-defined AQM algorithms.
//!
//! An AQM decides on each packet of one queue, at enqueue and at dequeue. It only sees numbers, so the same
//! AQM works as a qdisc with one queue ([`crate::qdisc::aqm`]), on each flow of fair queueing
//! ([`crate::qdisc::fq_aqm`]), and in the MAC's flow queues ([`crate::wifi::config::MacFqParams::aqm`]). The
//! per-packet path does not call built-in AQMs through this trait.

use alloc::vec::Vec;
use core::fmt::Debug;

use crate::types::{Duration, Instant, Packet, PartFactory, RandomStream, skb_len};

/// A packet to decide on, and its queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seen {
    /// Current time.
    pub now: Instant,
    /// Sojourn time of the packet; zero at enqueue.
    pub sojourn: Duration,
    /// Bytes of the packet, with an Ethernet header for each of its segments.
    pub bytes: u32,
    /// True if the packet is ECN-capable and may be marked.
    pub ecn: bool,
    /// Other packets in the queue.
    pub queued_packets: u32,
    /// Bytes of the other packets in the queue, with Ethernet headers.
    pub queued_bytes: u64,
    /// True if the queue belongs to a station with a low expected throughput
    /// ([`crate::wifi::config::MacFqParams::slow_below`]). Always false outside the MAC.
    pub slow: bool,
}

impl Seen {
    /// Describes a packet that is not counted in the queue.
    #[inline]
    pub(crate) fn new(now: Instant, p: &Packet, sojourn: Duration, queued: (u32, u64), slow: bool) -> Self {
        let (queued_packets, queued_bytes) = queued;
        let ecn = p.tos & 3 != 0;
        Self { now, sojourn, bytes: skb_len(p), ecn, queued_packets, queued_bytes, slow }
    }
}

/// An AQM's decision on a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Pass the packet.
    Pass,
    /// Set the CE mark and pass the packet. A packet that is not ECN-capable is dropped.
    // spec: rfc3168 5 - a mark replaces a drop; a packet that cannot be marked is dropped.
    Mark,
    /// Drop the packet.
    Drop,
}

/// An AQM algorithm with its state for one queue.
///
/// # Order of calls
///
/// [`arrives`](Self::arrives) is called for each packet before it is queued, unless the queue's limit has
/// refused it. [`leaves`](Self::leaves) is called for each packet at the head. If it returns
/// [`Verdict::Drop`], the next packet is taken at the same time; [`empty`](Self::empty) is called if the
/// queue is empty. `now` never decreases.
///
/// # Requirements
///
/// - An AQM belongs to one queue: instances share no mutable state.
/// - Packets in an almost empty queue pass. An AQM that drops all packets would break connections instead of
///   slowing them down.
/// - It reads no clock, and allocates only on creation. Random numbers come from the [`RandomStream`] passed
///   at creation, so the same calls give the same results.
///
/// [`crate::conformance::aqm`] checks all of this.
pub trait AqmAlgorithm: Debug {
    /// Decides on a packet at enqueue.
    fn arrives(&mut self, _seen: &Seen) -> Verdict {
        Verdict::Pass
    }

    /// Decides on the packet at the head, at dequeue.
    fn leaves(&mut self, _seen: &Seen) -> Verdict {
        Verdict::Pass
    }

    /// Called when a dequeue found no packet, or none after the AQM's drops.
    fn empty(&mut self, _now: Instant) {}

    /// Called when `packets` packets of the queue were dropped because a limit was exceeded.
    fn overlimit(&mut self, _now: Instant, _packets: u32) {}

    /// The AQM's own counters and state, by name. Shown if the AQM is used as a qdisc with one queue.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}

/// Factory of a user-defined AQM. Each queue gets its own instance and random stream.
pub type AqmFactory = PartFactory<dyn AqmAlgorithm + Send, RandomStream>;

/// Outcome of a verdict for a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    /// The packet passes unchanged.
    Passed,
    /// The packet passes with a CE mark.
    Marked,
    /// The packet must be dropped.
    Dropped,
}

impl Verdict {
    /// Marks the packet if the verdict is to mark, and returns the outcome.
    #[inline]
    pub(crate) fn apply(self, p: &mut Packet) -> Fate {
        match self {
            Self::Pass => Fate::Passed,
            Self::Mark if p.tos & 3 != 0 => {
                p.tos |= 3;
                Fate::Marked
            }
            Self::Mark | Self::Drop => Fate::Dropped,
        }
    }
}
