//! Packets for the tests of disciplines and flow queues.

use crate::types::{Ctx, Fate, FlowId, NewPacket, NoSink, Packets, Pkt, SockId};

/// Packets, and the sequence number for the next one.
pub(crate) struct Bench {
    pub(crate) packets: Packets,
    pub(crate) sink: NoSink,
}

/// Whom every packet is charged to.
pub(crate) const SOCK: SockId = SockId(7);
/// Truesize of every packet.
pub(crate) const TRUESIZE: u32 = 2304;

impl Bench {
    pub(crate) fn new() -> Self {
        Self { packets: Packets::new(), sink: NoSink }
    }
    pub(crate) fn ctx(&mut self) -> Ctx<'_, NoSink> {
        Ctx { packets: &mut self.packets, trace: &mut self.sink }
    }
    /// A packet with that sequence number and that many bytes from the IP header on.
    pub(crate) fn packet(&mut self, seq: u32, len: u32) -> Pkt {
        self.packet_of(0, seq, len)
    }
    /// The same of a flow with that hash.
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
    /// Frees a packet that came out; returns its sequence number.
    pub(crate) fn finish(&mut self, p: Pkt) -> u32 {
        let seq = self.packets.get(p).seq;
        self.packets.free(p, Fate::Delivered);
        seq
    }
    /// Ended charges, which are forgotten thereby.
    pub(crate) fn uncharged(&mut self) -> u64 {
        let mut n = 0;
        while let Some((who, size)) = self.packets.pop_uncharged() {
            assert_eq!((who, size), (SOCK, TRUESIZE));
            n += 1;
        }
        n
    }
}
