//! TCP as in Linux.
//!
//! A socket is one end of a connection: a sender, a receiver and the connection state. The caller passes in
//! received segments. The socket sends segments through an [`Outlet`], which returns the result of the local
//! qdisc as in the kernel. The owner queries the next timer and reports when charges on the socket end.

pub mod config;
pub mod info;
pub mod metrics;
pub mod receiver;
pub mod sender;
pub mod socket;
pub mod ticks;

use crate::qdisc::Enqueue;
use crate::types::{Instant, NewPacket, TcpFlags, TcpHeader};

/// Sink for a socket's segments: the node's routing and the interface's qdisc.
pub trait Outlet {
    /// Sends a packet of `segs` segments; an fq qdisc holds it until `departs`. Returns the result of the
    /// local qdisc. If the qdisc refuses the packet, the packet is freed and uncharged, and the socket still
    /// has to send the data.
    fn send(
        &mut self,
        departs: Instant,
        packet: NewPacket,
        segs: u16,
        ack: u32,
        header: &TcpHeader,
    ) -> Enqueue;
}

/// A packet from the sender. The socket adds addresses, acknowledgement number, window and options.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SegmentOut {
    /// Sequence number of the first byte.
    pub seq: u32,
    /// Bytes of data.
    pub payload: u32,
    /// Payload of each segment but the last, in bytes.
    pub mss: u16,
    /// Number of segments.
    pub segs: u16,
    /// Truesize charged for the packet, in bytes.
    pub truesize: u32,
    /// TCP flags in addition to ACK.
    pub flags: TcpFlags,
    /// Set ECT on the packet.
    pub ecn_capable: bool,
    /// Departure time: now, or later if fq paces the socket.
    pub departs: Instant,
}

/// Sink for a sender's segments on their way to the [`Outlet`].
pub trait Emit {
    /// Sends a segment. Returns the result of the local qdisc.
    fn emit(&mut self, now: Instant, segment: SegmentOut) -> Enqueue;
}

/// Parts of a received segment used by the sender.
#[derive(Clone, Copy, Debug)]
pub struct AckIn<'a> {
    /// Acknowledgement number.
    pub ack: u32,
    /// Sequence number.
    pub seq: u32,
    /// The TCP header.
    pub header: &'a TcpHeader,
}

/// Options offered in the peer's SYN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PeerOptions {
    /// Maximum segment size (MSS) in bytes, without options.
    pub mss: u16,
    /// SACK permitted.
    pub sack: bool,
    /// Timestamps.
    pub timestamps: bool,
    /// ECN was negotiated.
    pub ecn: bool,
    /// Window scale shift.
    pub window_scale: Option<u8>,
}
