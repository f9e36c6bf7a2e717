//! Applications: sources of datagrams, pings, bulk transfers.

mod bulk;
mod ping;
mod udp;

pub use bulk::{Bulk, BulkAction, BulkParams};
pub use ping::Ping;
pub use udp::{Gap, UdpSource, UdpSourceParams};

use crate::vocabulary::{Addr, FlowId, Instant, Kind, NewPacket, SockId};

/// Bytes of an IPv4 header.
pub const IPV4_HEADER: u32 = 20;
/// Bytes of a UDP or ICMP echo header.
pub const UDP_HEADER: u32 = 8;

/// Memory charged for a packet of `len` bytes from the IP header on, in a linear buffer.
// linux: include/linux/skbuff.h SKB_TRUESIZE (4.4) - the skb itself, and headroom, data and shared information rounded up
// to the allocator's next size: 2,304 bytes for 1,500.
pub const fn linear_truesize(len: u32) -> u32 {
    const SKB: u32 = 256;
    const HEADROOM: u32 = 36;
    const SHARED_INFO: u32 = 320;
    SKB + (HEADROOM + len + SHARED_INFO).next_power_of_two()
}

/// Where the packets of a flow come from and go to.
#[derive(Clone, Copy, Debug)]
pub struct Endpoint {
    /// The flow.
    pub flow: FlowId,
    /// Hash of its five-tuple.
    pub flow_hash: u32,
    /// Sender's address.
    pub src: Addr,
    /// Receiver's address.
    pub dst: Addr,
    /// The IP header's TOS byte.
    pub tos: u8,
}

impl Endpoint {
    fn packet(
        &self,
        now: Instant,
        kind: Kind,
        seq: u32,
        len: u32,
        truesize: u32,
        charge: SockId,
    ) -> NewPacket {
        let Self { flow, flow_hash, src, dst, tos } = *self;
        NewPacket { now, flow, flow_hash, len, truesize, charge, seq, src, dst, tos, kind }
    }
}
