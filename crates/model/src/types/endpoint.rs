//! Flow endpoints, and the headers before a payload.

use super::{Addr, FlowId, Instant, NewPacket, PacketKind, SockId};

/// Length in bytes of a UDP header, or of an ICMP or ICMPv6 echo header.
// spec: rfc768, rfc792, rfc4443 4.1.
pub const UDP_HEADER: u32 = 8;

/// Source and destination of a flow's packets.
#[derive(Clone, Copy, Debug)]
pub struct Endpoint {
    /// The flow.
    pub flow: FlowId,
    /// Hash of the flow's five-tuple.
    pub flow_hash: u32,
    /// Source address.
    pub src: Addr,
    /// Destination address.
    pub dst: Addr,
    /// TOS byte of the IP header (IPv6: traffic class).
    pub tos: u8,
}

impl Endpoint {
    /// Length in bytes, including the IP header, of a UDP or echo packet with `payload` bytes of payload.
    pub const fn datagram(&self, payload: u32) -> u32 {
        payload + UDP_HEADER + self.src.ip().header()
    }

    /// Creates the fields of one of the flow's packets.
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
