//! Generic receive offload (GRO) on bytes: consecutive TCP segments that arrive at once are merged into one
//! packet.
//!
//! For an external host whose modelled interface has GRO. The merged packet is what its kernel would have
//! made, with the segment size for `virtio_net_hdr`. [`gso::split`](crate::gso::split) is the inverse.

mod held;
mod segment;

use alloc::vec::Vec;

use held::HeldSegments;
use segment::TcpSegment;

/// Number of flows held at once, in a kernel with one list.
// linux: net/core/dev.c MAX_GRO_SKBS (4.4). linux: net/core/gro.c MAX_GRO_SKBS, GRO_HASH_BUCKETS (6.12) - as
// many in each of eight lists, by the device's hash.
// deviation: there is one list, of as many flows as the caller says - what a device hashes is its own.
pub const FLOWS: usize = 8;

/// Maximum length of a merged packet, exclusive.
// linux: include/linux/netdevice.h GRO_LEGACY_MAX_SIZE, net/core/gro.c skb_gro_receive (6.12) - what a device
// has unless told otherwise. The 17 page fragments of a buffer (MAX_SKB_FRAGS) are no limit, as buffers are
// chained beyond them.
const MAX_BYTES: usize = 65_536;

/// Value of the TCP checksum field of a merged packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Checksum {
    /// The full checksum of the merged packet.
    Whole,
    /// The sum of the pseudo header, to be completed by the receiver: `VIRTIO_NET_HDR_F_NEEDS_CSUM`.
    // linux: net/ipv4/tcp_offload.c tcp4_gro_complete (6.12).
    Pseudo,
}

/// A packet that is handed up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IpPacket<'a> {
    /// Bytes from the IP header on. A packet of one segment is unchanged, including bytes after its end.
    pub bytes: &'a [u8],
    /// Number of segments.
    pub segments: u16,
    /// Layout of the packet, if it has more than one segment.
    pub merged: Option<Merged>,
}

/// Layout of a packet of several segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Merged {
    /// Payload of each segment but the last, in bytes.
    pub gso_size: u16,
    /// Offset of the TCP header.
    pub transport: usize,
    /// Offset of the payload.
    pub payload: usize,
    /// Whether all segments had the same IPv4 identification, instead of consecutive ones.
    pub fixed_id: bool,
}

/// Packets held for merging. All memory is allocated when it is built.
#[derive(Debug)]
pub struct Gro {
    /// The first `count` are in use, the oldest first.
    held: Vec<HeldSegments>,
    count: usize,
    checksum: Checksum,
}

impl Gro {
    /// A `Gro` that holds packets of `flows` flows at once, 64 KiB each.
    #[must_use]
    pub fn new(flows: usize, checksum: Checksum) -> Self {
        let mut held = Vec::new();
        held.resize_with(flows, HeldSegments::new);
        Self { held, count: 0, checksum }
    }

    /// Takes a packet, and hands up the packets that are then complete, in order. A packet that cannot be
    /// merged is handed up at once, unchanged.
    // linux: net/core/gro.c dev_gro_receive (6.12) - what the packet could not continue goes up first; of too
    // many flows, the oldest.
    pub fn take(&mut self, packet: &[u8], mut up: impl FnMut(IpPacket<'_>)) {
        let Some(segment) = TcpSegment::of(packet) else {
            up(IpPacket { bytes: packet, segments: 1, merged: None });
            return;
        };
        let known = (0..self.count).rev().find(|&i| self.held[i].is_of_flow(packet, &segment));
        if let Some(i) = known {
            let held = &mut self.held[i];
            if held.is_continued_by(packet, &segment) {
                if held.join(packet, &segment) {
                    self.complete(i, &mut up);
                }
                return;
            }
            self.complete(i, &mut up);
        }
        if !segment.may_grow() || packet.len() >= MAX_BYTES || self.held.is_empty() {
            up(IpPacket { bytes: packet, segments: 1, merged: None });
            return;
        }
        if self.count == self.held.len() {
            self.complete(0, &mut up);
        }
        self.held[self.count].begin(packet, &segment);
        self.count += 1;
    }

    /// Hands up all held packets, the oldest first. Call it after the packets that arrive at one instant.
    // linux: net/core/gro.c napi_gro_flush (6.12).
    pub fn flush(&mut self, mut up: impl FnMut(IpPacket<'_>)) {
        for held in &mut self.held[..self.count] {
            up(held.complete(self.checksum));
        }
        self.count = 0;
    }

    /// Hands up one that is held; its memory goes behind those in use.
    fn complete(&mut self, i: usize, up: &mut impl FnMut(IpPacket<'_>)) {
        up(self.held[i].complete(self.checksum));
        self.held[i..self.count].rotate_left(1);
        self.count -= 1;
    }
}
