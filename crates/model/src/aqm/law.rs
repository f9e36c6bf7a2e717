//! A control law of somebody's own, as the queues that it controls know it.
//!
//! A law decides on each packet of one queue, when it comes and when it is about to leave. It sees numbers only, so one law serves as a
//! discipline of one queue ([`crate::qdisc::law`]), on each flow of fair queueing ([`crate::qdisc::fq_law`]), and in the flow queues of
//! the MAC ([`crate::wifi::config::MacFqParams::law`]). The laws that are built in are not called by this trait where they are on the path
//! of every packet.

use alloc::vec::Vec;
use core::fmt::Debug;

use crate::vocabulary::{Duration, Instant, Packet, PartFactory, RandomStream, skb_len};

/// What a law is told of a packet and its queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seen {
    /// The time.
    pub now: Instant,
    /// How long the packet has been in the queue; zero when it comes.
    pub sojourn: Duration,
    /// The packet's bytes with its Ethernet header; of one that stands for several segments, all of theirs, each with its header.
    pub bytes: u32,
    /// Its sender takes part in ECN, so that it may be marked.
    pub ecn: bool,
    /// Packets in the queue besides this one.
    pub queued_packets: u32,
    /// Their bytes, with Ethernet headers.
    pub queued_bytes: u64,
    /// The queue is that of a station to which rate control expects little ([`crate::wifi::config::MacFqParams::slow_below`]); false outside
    /// the MAC.
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

/// What a law says of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It goes on.
    Pass,
    /// It gets the congestion mark and goes on; if its sender takes no part in ECN, it is dropped.
    // spec: rfc3168 5 - a mark stands for a drop, and a packet that cannot be marked is dropped.
    Mark,
    /// It is dropped.
    Drop,
}

/// A control law with the state that it has of one queue.
///
/// # Order of calls
///
/// [`arrives`](Self::arrives) comes with each packet before it is queued, unless the queue's limit has refused it.
/// [`leaves`](Self::leaves) comes with each packet that is taken from the head; while the answer is [`Verdict::Drop`], the next packet is
/// taken at the same instant, and [`empty`](Self::empty) says that there was none. `now` never goes back.
///
/// # What must hold
///
/// - A law is of one queue: instances share no state that changes.
/// - A queue in which hardly anything waits lets packets by: a law that drops all of them would end the connections instead of slowing
///   them down.
/// - No clock is read, and nothing is allocated but when it is built; chance comes from the [`RandomStream`] that it was built with: same calls,
///   same answers.
///
/// [`crate::check::law`] tries all of it.
pub trait Law: Debug {
    /// What becomes of a packet that comes.
    fn arrives(&mut self, _seen: &Seen) -> Verdict {
        Verdict::Pass
    }

    /// What becomes of the packet at the head, which would leave now.
    fn leaves(&mut self, _seen: &Seen) -> Verdict {
        Verdict::Pass
    }

    /// A packet was asked for, and there was none, or none any more after what the law has dropped.
    fn empty(&mut self, _now: Instant) {}

    /// So many packets of this queue were dropped because a limit was exceeded.
    fn overlimit(&mut self, _now: Instant, _packets: u32) {}

    /// Counters and state of its own, by their names: shown where the law has a discipline for itself.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}

/// A law, as a configuration names it: one is made for each queue, with a random stream of its own.
pub type LawFactory = PartFactory<dyn Law + Send, RandomStream>;

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
