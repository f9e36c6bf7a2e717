//! Where packets come from and go to, and what goes before their payload.

use super::{Addr, FlowId, Instant, NewPacket, PacketKind, SockId};

/// Bytes of an IPv4 header.
pub const IPV4_HEADER: u32 = 20;
/// Bytes of a UDP or ICMP echo header.
pub const UDP_HEADER: u32 = 8;

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
    /// A packet of the flow.
    pub fn packet(
        &self,
        now: Instant,
        kind: PacketKind,
        seq: u32,
        len: u32,
        truesize: u32,
        charge: SockId,
    ) -> NewPacket {
        let Self { flow, flow_hash, src, dst, tos } = *self;
        NewPacket { now, flow, flow_hash, len, truesize, charge, seq, src, dst, tos, kind }
    }
}
