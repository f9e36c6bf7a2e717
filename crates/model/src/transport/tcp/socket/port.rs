//! Turns a socket's segments into packets: adds addresses, acknowledgement number and options.

use super::TCP_HEADER;
use crate::qdisc::Enqueue;
use crate::transport::tcp::receiver::{Receiver, TIMESTAMP_OPTION};
use crate::transport::tcp::{Emit, Outlet, SegmentOut};
use crate::types::{Endpoint, Instant, NewPacket, PacketKind, SockId, TcpFlags, TcpHeader, linear_truesize};

/// ECN codepoint ECT(0).
// spec: rfc3168 5.
const ECT0: u8 = 2;

/// Addresses and options of a socket's packets.
#[derive(Clone, Debug)]
pub struct Face {
    pub endpoint: Endpoint,
    pub sock: SockId,
    pub peer: SockId,
    pub timestamps: bool,
}

impl Face {
    /// Sends a packet with `options` bytes of options per segment, charged to the socket if it has a
    /// `truesize`.
    #[inline]
    pub fn send(
        &self,
        now: Instant,
        segment: &SegmentOut,
        ack: u32,
        header: &TcpHeader,
        options: u32,
        out: &mut impl Outlet,
    ) -> Enqueue {
        let Endpoint { flow, flow_hash, src, dst, tos } = self.endpoint;
        let len = u32::from(segment.segs) * (src.ip().header() + TCP_HEADER + options) + segment.payload;
        // linux: include/net/tcp.h skb_set_tcp_pure_ack, net/ipv4/tcp_output.c __tcp_transmit_skb (6.1) -
        // excludes packets without data from small queues.
        let (charge, truesize) = match segment.truesize {
            0 => (SockId::NONE, linear_truesize(len)),
            truesize => (self.sock, truesize),
        };
        let ecn = if segment.ecn_capable { ECT0 } else { 0 };
        let packet = NewPacket {
            now,
            flow,
            flow_hash,
            len,
            truesize,
            charge,
            seq: segment.seq,
            src,
            dst,
            tos: tos & !3 | ecn,
            kind: PacketKind::Tcp,
        };
        out.send(segment.departs, packet, segment.segs, ack, header)
    }
}

/// Output of a connected socket's sender.
pub struct SocketPort<'a, O> {
    pub out: &'a mut O,
    pub receiver: &'a mut Receiver,
    pub face: &'a Face,
}

impl<O: Outlet> Emit for SocketPort<'_, O> {
    #[inline]
    fn emit(&mut self, now: Instant, segment: SegmentOut) -> Enqueue {
        let mut header = TcpHeader::blank(self.face.peer);
        (header.payload, header.mss) = (segment.payload, segment.mss);
        header.flags = segment.flags.with(TcpFlags::ACK);
        let ack = self.receiver.fill(now, segment.departs, &mut header);
        self.face.send(now, &segment, ack, &header, self.options(&header), self.out)
    }
}

impl<O: Outlet> SocketPort<'_, O> {
    // spec: rfc7323 3.2, rfc2018 3 - each padded to a multiple of four.
    #[inline]
    fn options(&self, header: &TcpHeader) -> u32 {
        let stamps = if self.face.timestamps { TIMESTAMP_OPTION } else { 0 };
        let blocks = if header.sacks > 0 { 4 + 8 * u32::from(header.sacks) } else { 0 };
        stamps + blocks
    }

    /// Sends an ACK without data.
    // If the local queue refuses it, the next ACK carries the same information.
    #[inline]
    pub fn acknowledge(&mut self, now: Instant, seq: u32, departs: Instant) {
        let segment = SegmentOut {
            seq,
            payload: 0,
            mss: 0,
            segs: 1,
            truesize: 0,
            flags: TcpFlags::ACK,
            ecn_capable: false,
            departs,
        };
        let _ = self.emit(now, segment);
    }
}
