//! TCP as Linux does it.
//!
//! A socket is one end of a connection: a sender, a receiver and the connection's state. A segment that comes
//! in is handed to it; what goes out leaves by an [`Outlet`], whose answer is that of the local queueing
//! discipline, as in the kernel. Who owns the socket asks it when to come again, and tells it of charges that
//! have ended.

pub mod config;
pub mod info;
pub mod metrics;
pub mod receiver;
pub mod sender;
pub mod socket;
pub mod ticks;

use crate::qdisc::Enqueue;
use crate::types::{Instant, NewPacket, TcpFlags, TcpHeader};

/// Exit of a socket's segments: the node's routing and the queue of its interface.
pub trait Outlet {
    /// Sends a packet of `segs` segments, which an fq below keeps until it `departs`. The answer is the local
    /// discipline's; a packet that it refused is freed, its charge ended, and the socket still has to send
    /// the data.
    fn send(
        &mut self,
        departs: Instant,
        packet: NewPacket,
        segs: u16,
        ack: u32,
        header: &TcpHeader,
    ) -> Enqueue;
}

/// A packet that a sender wants to send. The socket adds addresses, acknowledgement, window and options.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SegmentOut {
    /// Sequence number of the first byte.
    pub seq: u32,
    /// Bytes of data.
    pub payload: u32,
    /// Bytes of data in each segment but the last.
    pub mss: u16,
    /// Number of segments.
    pub segs: u16,
    /// Truesize: bytes of memory that the packet is charged with.
    pub truesize: u32,
    /// TCP flags in addition to ACK.
    pub flags: TcpFlags,
    /// The packet is marked ECN-capable (ECT).
    pub ecn_capable: bool,
    /// Departure time: now, or later where an fq paces the socket.
    pub departs: Instant,
}

/// Exit of a sender's segments on their way to the [`Outlet`].
pub trait Emit {
    /// Sends a segment now. Returns the result of the local qdisc.
    fn emit(&mut self, now: Instant, segment: SegmentOut) -> Enqueue;
}

/// The parts of a received segment that a sender uses.
#[derive(Clone, Copy, Debug)]
pub struct AckIn<'a> {
    /// Acknowledgement number.
    pub ack: u32,
    /// Sequence number.
    pub seq: u32,
    /// The TCP header.
    pub header: &'a TcpHeader,
}

/// Options that the peer offered in its SYN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PeerOptions {
    /// Maximum segment size (MSS) in bytes, without options.
    pub mss: u16,
    /// SACK permitted.
    pub sack: bool,
    /// Timestamps.
    pub timestamps: bool,
    /// Both ends agreed on ECN.
    pub ecn: bool,
    /// Window scale shift.
    pub window_scale: Option<u8>,
}
