//! Where packets come from and go to, and what goes before their payload.

use super::{Addr, FlowId, Instant, NewPacket, PacketKind, SockId};

/// Bytes of a header of UDP, or of an echo of ICMP or ICMPv6.
// spec: rfc768, rfc792, rfc4443 4.1.
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
    /// The IP header's TOS byte, in IPv6 its traffic class.
    pub tos: u8,
}

impl Endpoint {
    /// Bytes from the IP header on of a packet of UDP, or of an echo, with so much payload.
    pub const fn datagram(&self, payload: u32) -> u32 {
        payload + UDP_HEADER + self.src.ip().header()
    }

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
