//! TCP as Linux does it.
//!
//! A socket is one end of a connection: a sender, a receiver and the connection's state. A segment that comes in is handed
//! to it; what goes out leaves by an [`Outlet`], whose answer is that of the local queueing discipline, as in the kernel.
//! Who owns the socket asks it when to come again, and tells it of charges that have ended.

pub mod config;
pub mod info;
pub mod metrics;
pub mod receiver;
pub mod sender;
pub mod socket;
pub mod ticks;

use crate::qdisc::Enqueue;
use crate::vocabulary::{Instant, NewPacket, TcpFlags, TcpHeader};

/// Where a socket's segments leave: the node's routing and the queue of its interface.
pub trait Outlet {
    /// Sends a packet of `segs` segments, which an fq below keeps until it `departs`. The answer is the local discipline's; a
    /// packet that it refused is freed, its charge ended, and the socket still has to send the data.
    fn send(
        &mut self,
        departs: Instant,
        packet: NewPacket,
        segs: u16,
        ack: u32,
        header: &TcpHeader,
    ) -> Enqueue;
}

/// What a sender wants sent: the socket adds addresses, acknowledgement, window and options.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SegmentOut {
    /// Sequence number of its first byte.
    pub seq: u32,
    /// Bytes of data.
    pub payload: u32,
    /// Bytes of data in each of its segments but the last.
    pub mss: u16,
    /// Segments it stands for.
    pub segs: u16,
    /// Bytes of memory it is charged with.
    pub truesize: u32,
    /// Flags beside ACK.
    pub flags: TcpFlags,
    /// It bears the ECN-capable mark.
    pub ecn_capable: bool,
    /// When it may leave: now, or later where an fq keeps the pace.
    pub departs: Instant,
}

/// Where a sender's segments go on their way to the [`Outlet`].
pub trait Emit {
    /// Sends it now; the answer is the local discipline's.
    fn emit(&mut self, now: Instant, segment: SegmentOut) -> Enqueue;
}

/// What a sender looks at in a segment that has come in.
#[derive(Clone, Copy, Debug)]
pub struct AckIn<'a> {
    /// Its acknowledgement number.
    pub ack: u32,
    /// Its own sequence number.
    pub seq: u32,
    /// The rest of its header.
    pub header: &'a TcpHeader,
}

/// What the other end offered in its SYN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PeerOptions {
    /// Its maximum segment size in bytes, without options.
    pub mss: u16,
    /// It takes SACK blocks.
    pub sack: bool,
    /// It uses time stamps.
    pub timestamps: bool,
    /// Both ends agreed on ECN.
    pub ecn: bool,
    /// Its window scale shift.
    pub window_scale: Option<u8>,
}
