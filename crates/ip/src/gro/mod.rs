//! Generic receive offload on bytes: of TCP segments that come in at once, those that continue each other become one packet.
//!
//! A host outside whose modelled interface merges gets what its kernel would have made of the segments, with the size of the
//! segments beside it, as `virtio_net_hdr` wants it. [`gso::split`](crate::gso::split) is the way back.

mod held;
mod segment;

use alloc::vec::Vec;

use held::HeldSegments;
use segment::TcpSegment;

/// Flows of which a packet is held at once, in a kernel that has one list of them.
// linux: net/core/dev.c MAX_GRO_SKBS (4.4). linux: net/core/gro.c MAX_GRO_SKBS, GRO_HASH_BUCKETS (6.12) - as many in each of eight lists, by the
// device's hash.
// deviation: there is one list, of as many flows as the caller says - what a device hashes is its own.
pub const FLOWS: usize = 8;

/// A packet of several segments stays below so many bytes.
// linux: include/linux/netdevice.h GRO_LEGACY_MAX_SIZE, net/core/gro.c skb_gro_receive (6.12) - what a device has unless told
// otherwise. The 17 page fragments of a buffer (MAX_SKB_FRAGS) are no limit, as buffers are chained beyond them.
const MAX_BYTES: usize = 65_536;

/// What stands in the TCP checksum of a merged packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Checksum {
    /// The checksum of the whole, as if it had been sent like that.
    Whole,
    /// The sum of the pseudo header, for who completes it: `VIRTIO_NET_HDR_F_NEEDS_CSUM`.
    // linux: net/ipv4/tcp_offload.c tcp4_gro_complete (6.12).
    Pseudo,
}

/// A packet that goes up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IpPacket<'a> {
    /// From the IP header on. A packet of one segment is as it came, with what stood behind its end.
    pub bytes: &'a [u8],
    /// Segments in it.
    pub segments: u16,
    /// What the packet is made of, if of more than one segment.
    pub merged: Option<Merged>,
}

/// How a packet of several segments is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Merged {
    /// Payload of each segment but the last, in bytes.
    pub gso_size: u16,
    /// Where the TCP header begins.
    pub transport: usize,
    /// Where the payload begins.
    pub payload: usize,
    /// Whether all segments had the same IPv4 identification, instead of one after the other.
    pub fixed_id: bool,
}

/// The packets that are held while others may continue them. Its memory is taken when it is built.
#[derive(Debug)]
pub struct Gro {
    /// The first `count` are in use, the oldest first.
    held: Vec<HeldSegments>,
    count: usize,
    checksum: Checksum,
}

impl Gro {
    /// One that holds packets of `flows` flows at once, 64 KiB of each.
    #[must_use]
    pub fn new(flows: usize, checksum: Checksum) -> Self {
        let mut held = Vec::new();
        held.resize_with(flows, HeldSegments::new);
        Self { held, count: 0, checksum }
    }

    /// Takes in a packet, and hands up what is complete by that, in order. What cannot be merged goes up at once and as it is.
    // linux: net/core/gro.c dev_gro_receive (6.12) - what the packet could not continue goes up first; of too many flows, the oldest.
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

    /// Hands up what is held, the oldest first: at the end of what came in at once.
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
