//! Applications: sources of datagrams, pings, bulk transfers, calls, web pages.

mod bulk;
mod ping;
mod udp;
mod voip;
mod web;

pub use bulk::{Bulk, BulkAction, BulkParams};
pub use ping::Ping;
pub use udp::{Gap, UdpSource, UdpSourceParams};
pub use voip::{VOIP_INTERVAL, Voip, voip_payload};
pub use web::{Page, QUERY_PAYLOAD, WORKERS, Web, WebAction, WebParams};

pub use crate::vocabulary::linear_truesize;
use crate::vocabulary::{Addr, FlowId, Instant, Kind, NewPacket, SockId};

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
