//! A held packet that may still grow.

use alloc::vec::Vec;

use super::segment::TcpSegment;
use super::{Checksum, IpPacket, MAX_BYTES, Merged};
use crate::checksum::{TCP_FIELD, finish, fold, pseudo, sum};
use crate::parse::{IPV6_HEADER, TCP, parse};
use crate::patch;
use crate::tcp::{CWR, FIN, OptionLayout, PSH};

/// A packet with all segments merged into it, and the headers of its first segment.
#[derive(Debug)]
pub struct HeldSegments {
    bytes: Vec<u8>,
    layout: OptionLayout,
    gso_size: usize,
    segments: u16,
    fixed_id: bool,
    /// Checksum sum of the payload.
    sum: u64,
}

impl HeldSegments {
    pub fn new() -> Self {
        let bytes = Vec::with_capacity(MAX_BYTES);
        let layout = OptionLayout { transport: 0, payload: 0 };
        Self { bytes, layout, gso_size: 0, segments: 0, fixed_id: false, sum: 0 }
    }

    /// Starts a new packet with a segment, whose payload sets the segment size.
    pub fn begin(&mut self, packet: &[u8], segment: &TcpSegment) {
        self.bytes.clear();
        self.bytes.extend_from_slice(packet);
        self.layout = segment.layout;
        self.gso_size = segment.data;
        self.segments = 1;
        self.fixed_id = false;
        self.sum = u64::from(segment.sum);
    }

    /// Returns true if a packet belongs to the same flow.
    // linux: net/ipv4/af_inet.c inet_gro_receive, net/ipv4/tcp_offload.c tcp_gro_lookup (6.12) - compare
    // addresses and ports.
    // linux: net/ipv6/ip6_offload.c ipv6_gro_receive (6.12) - compares the flow label and all extension
    // headers too.
    pub fn is_of_flow(&self, packet: &[u8], segment: &TcpSegment) -> bool {
        let (a, b, at) = (&self.bytes[..], packet, self.layout.transport);
        let ip = if a[0] >> 4 == 4 {
            b[0] >> 4 == 4 && a[12..20] == b[12..20]
        } else {
            a[0] & 0xf0 == b[0] & 0xf0
                && a[1] & 0x0f == b[1] & 0x0f
                && a[2..4] == b[2..4]
                && a[6] == b[6]
                && at == segment.layout.transport
                && a[8..at] == b[8..at]
        };
        ip && a[at..at + 4] == b[at..at + 4]
    }

    /// Returns true if a packet of the same flow continues this one.
    // linux: net/ipv4/tcp_offload.c tcp_gro_receive (6.12) - requires the next sequence number, the same
    // acknowledgement number, options and window, the same flags except CWR, FIN and PSH, no CWR, and some
    // data but no more than in the first segment; net/core/gro.c skb_gro_receive (6.12) - enforces the size
    // limit.
    pub fn is_continued_by(&mut self, packet: &[u8], segment: &TcpSegment) -> bool {
        let (at, from) = (self.layout.transport, segment.layout.transport);
        let (a, b) = (&self.bytes[at..self.layout.payload], &packet[from..segment.layout.payload]);
        let ours = (self.bytes.len() - self.layout.payload) as u32;
        let next = self.layout.seq(&self.bytes).wrapping_add(ours);
        a.len() == b.len()
            // Acknowledgement number, data offset and reserved bits.
            && a[8..13] == b[8..13]
            && (a[13] ^ b[13]) & !(CWR | FIN | PSH) == 0
            && b[13] & CWR == 0
            // Window, and options after checksum and urgent pointer.
            && a[14..16] == b[14..16]
            && a[20..] == b[20..]
            && self.ip_continues(packet)
            && (1..=self.gso_size).contains(&segment.data)
            && segment.layout.seq(packet) == next
            && !segment.alone
            && self.bytes.len() + segment.data < MAX_BYTES
    }

    /// Returns true if the IP header allows merging.
    // linux: include/net/gro.h inet_gro_flush (6.12) - requires the same TTL, TOS and DF, and an
    // identification that increments, or one that stays the same if the second segment's did and DF is set.
    // linux: include/net/gro.h ipv6_gro_flush (6.12) - requires the same traffic class and hop limit.
    fn ip_continues(&mut self, packet: &[u8]) -> bool {
        let (a, b) = (&self.bytes[..], packet);
        if a[0] >> 4 == 6 {
            return a[..2] == b[..2] && a[7] == b[7];
        }
        if a[1] != b[1] || a[6] != b[6] || a[8] != b[8] {
            return false;
        }
        let id = |bytes: &[u8]| u16::from_be_bytes([bytes[4], bytes[5]]);
        let ahead = id(b).wrapping_sub(id(a));
        if self.segments == 1 && b[6] & 0x40 != 0 && ahead == 0 {
            self.fixed_id = true;
        }
        ahead == if self.fixed_id { 0 } else { self.segments }
    }

    /// Merges a packet that continues this one. Returns true if no other can follow.
    pub fn join(&mut self, packet: &[u8], segment: &TcpSegment) -> bool {
        let odd = (self.bytes.len() - self.layout.payload) % 2 == 1;
        // spec: rfc1071 2(B) - at an odd offset, the bytes of the sum are swapped.
        self.sum += u64::from(if odd { segment.sum.swap_bytes() } else { segment.sum });
        self.bytes.extend_from_slice(&packet[segment.layout.payload..][..segment.data]);
        self.bytes[self.layout.flags()] |= segment.flags & (FIN | PSH);
        self.segments += 1;
        segment.data < self.gso_size || segment.ends()
    }

    /// The packet to pass up. A single segment is unchanged; several segments get the length and checksums of
    /// the whole.
    // linux: net/ipv4/af_inet.c inet_gro_complete, net/ipv6/ip6_offload.c ipv6_gro_complete (6.12).
    pub fn complete(&mut self, checksum: Checksum) -> IpPacket<'_> {
        let merged = (self.segments > 1).then(|| {
            self.write_headers(checksum);
            Merged {
                gso_size: self.gso_size as u16,
                transport: self.layout.transport,
                payload: self.layout.payload,
                fixed_id: self.fixed_id,
            }
        });
        IpPacket { bytes: &self.bytes, segments: self.segments, merged }
    }

    fn write_headers(&mut self, checksum: Checksum) {
        let OptionLayout { transport, payload } = self.layout;
        let length = self.bytes.len();
        if self.bytes[0] >> 4 == 4 {
            patch::word(&mut self.bytes, 2, (length as u16).to_be_bytes());
        } else {
            let payload = (length - IPV6_HEADER) as u16;
            self.bytes[4..6].copy_from_slice(&payload.to_be_bytes());
        }
        let view = parse(&self.bytes).expect("the headers of a packet that was taken in");
        let pseudo = pseudo(view.source, view.destination, TCP, length - transport);
        let field = transport + TCP_FIELD;
        self.bytes[field..field + 2].fill(0);
        let right = match checksum {
            Checksum::Whole => finish(pseudo + sum(&self.bytes[transport..payload]) + self.sum),
            Checksum::Pseudo => fold(pseudo),
        };
        self.bytes[field..field + 2].copy_from_slice(&right.to_be_bytes());
    }
}
