//! The trait of a user-defined AQM algorithm (AQM).
//!
//! An AQM decides on each packet of one queue, at enqueue and at dequeue. It sees numbers only, so an AQM
//! works as a qdisc with one queue ([`crate::qdisc::AQM`]), on each flow of fair queueing
//! ([`crate::qdisc::fq_aqm`]), and in the flow queues of the MAC ([`crate::wifi::config::MacFqParams::AQM`]).
//! Built-in AQMs are not called through this trait in the per-packet path.

use alloc::vec::Vec;
use core::fmt::Debug;

use crate::types::{Duration, Instant, Packet, PartFactory, RandomStream, skb_len};

/// The packet and queue that an AQM decides on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seen {
    /// The time.
    pub now: Instant,
    /// Time of the packet in the queue; zero at enqueue.
    pub sojourn: Duration,
    /// Bytes of the packet with its Ethernet header. A packet of several segments counts all of them, each
    /// with its header.
    pub bytes: u32,
    /// The packet is ECN-capable, so it may be marked.
    pub ecn: bool,
    /// Other packets in the queue.
    pub queued_packets: u32,
    /// Bytes of these packets, with Ethernet headers.
    pub queued_bytes: u64,
    /// The queue belongs to a station with a low expected throughput
    /// ([`crate::wifi::config::MacFqParams::slow_below`]); false outside the MAC.
    pub slow: bool,
}

impl Seen {
    /// What is seen of a packet that is not counted in the queue.
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
    /// The packet passes.
    Pass,
    /// The packet gets the CE mark and passes; if it is not ECN-capable, it is dropped.
    // spec: rfc3168 5 - a mark stands for a drop, and a packet that cannot be marked is dropped.
    Mark,
    /// The packet is dropped.
    Drop,
}

/// A AQM algorithm with its state for one queue.
///
/// # Order of calls
///
/// [`arrives`](Self::arrives) is called for each packet before it is queued, unless the queue's limit has
/// refused it. [`leaves`](Self::leaves) is called for each packet at the head. While it returns
/// [`Verdict::Drop`], the next packet is taken at the same instant; [`empty`](Self::empty) is called if there
/// is none. `now` never decreases.
///
/// # Requirements
///
/// - An AQM belongs to one queue: instances share no mutable state.
/// - In an almost empty queue packets pass: an AQM that drops all packets would end connections instead of
///   slowing them down.
/// - It reads no clock, and allocates only when it is built. Random numbers come from the [`RandomStream`]
///   that it was built with, so the same calls give the same answers.
///
/// [`crate::conformance::AQM`] checks all of this.
pub trait AqmAlgorithm: Debug {
    /// Decides on a packet at enqueue.
    fn arrives(&mut self, _seen: &Seen) -> Verdict {
        Verdict::Pass
    }

    /// Decides on the packet at the head, at dequeue.
    fn leaves(&mut self, _seen: &Seen) -> Verdict {
        Verdict::Pass
    }

    /// A dequeue found no packet, or none after the AQM's drops.
    fn empty(&mut self, _now: Instant) {}

    /// This many packets of the queue were dropped because a limit was exceeded.
    fn overlimit(&mut self, _now: Instant, _packets: u32) {}

    /// The AQM's own counters and state, by name. Shown if the AQM is a qdisc with one queue.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}

/// An AQM in a configuration: one instance is made for each queue, with its own random stream.
pub type AqmFactory = PartFactory<dyn AqmAlgorithm + Send, RandomStream>;

/// What becomes of a packet by a verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    /// It goes on as it is.
    Passed,
    /// It goes on with the mark.
    Marked,
    /// It is to be dropped.
    Dropped,
}

impl Verdict {
    /// Marks a packet if that is the verdict.
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
