//! Packets for the tests of qdiscs and flow queues.

use crate::types::{Ctx, Fate, FlowId, NewPacket, NoSink, Packets, Pkt, SockId};

/// Packets, and the sequence number of the next one.
pub(crate) struct Bench {
    pub(crate) packets: Packets,
    pub(crate) sink: NoSink,
}

/// The socket that every packet is charged to.
pub(crate) const SOCK: SockId = SockId(7);
pub(crate) const TRUESIZE: u32 = 2304;

impl Bench {
    pub(crate) fn new() -> Self {
        Self { packets: Packets::new(), sink: NoSink }
    }
    pub(crate) fn ctx(&mut self) -> Ctx<'_, NoSink> {
        Ctx { packets: &mut self.packets, trace: &mut self.sink }
    }
    /// Creates a packet with this sequence number and length in bytes, including the IP header.
    pub(crate) fn packet(&mut self, seq: u32, len: u32) -> Pkt {
        self.packet_of(0, seq, len)
    }
    /// Creates a packet of the flow with this hash.
    pub(crate) fn packet_of(&mut self, flow_hash: u32, seq: u32, len: u32) -> Pkt {
        self.packets.create(NewPacket {
            flow: FlowId(flow_hash),
            flow_hash,
            len,
            truesize: TRUESIZE,
            charge: SOCK,
            seq,
            ..NewPacket::PLAIN
        })
    }
    /// Frees a packet that left its queue. Returns its sequence number.
    pub(crate) fn finish(&mut self, p: Pkt) -> u32 {
        let seq = self.packets.get(p).seq;
        self.packets.free(p, Fate::Delivered);
        seq
    }
    /// Drains the ended charges. Returns their number.
    pub(crate) fn uncharged(&mut self) -> u64 {
        let mut n = 0;
        while let Some((who, size)) = self.packets.pop_uncharged() {
            assert_eq!((who, size), (SOCK, TRUESIZE));
            n += 1;
        }
        n
    }
}
