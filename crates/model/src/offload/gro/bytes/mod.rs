//! The same of packets from outside: what is compared is in their bytes. Each segment keeps its own headers,
//! so that a packet that is split again has those that came.

use super::{ENDING, MAX_BYTES};
use crate::types::{BytesId, PacketKind, Packets, Pkt, TcpFlags};

/// A segment of TCP right behind an IP header without options.
#[derive(Clone, Copy)]
struct Segment<'a> {
    bytes: &'a [u8],
    /// Where TCP's header begins, and its data.
    tcp: usize,
    data: usize,
}

impl<'a> Segment<'a> {
    /// That of a packet; of several segments the first. `None` of what GRO lets through as it is.
    // linux: net/ipv4/af_inet.c inet_gro_receive, net/ipv6/ip6_offload.c ipv6_gro_receive (6.12) - no
    // options, no fragments, and the length that the header says.
    // deviation: checksums are not looked at, and extension headers of IPv6 are let through.
    fn of(packets: &'a Packets, p: Pkt) -> Option<Self> {
        let bytes = packets.bytes(p);
        let word = |at: usize| usize::from(bytes[at]) << 8 | usize::from(bytes[at + 1]);
        let tcp = match bytes.first()? >> 4 {
            4 if bytes.len() >= 40 => {
                let plain = bytes[0] & 0xf == 5 && bytes[9] == 6 && word(6) & 0x3fff == 0;
                (plain && word(2) == bytes.len()).then_some(20)
            }
            6 if bytes.len() >= 60 => (bytes[6] == 6 && word(4) + 40 == bytes.len()).then_some(40),
            _ => None,
        }?;
        let data = tcp + usize::from(bytes[tcp + 12] >> 4) * 4;
        (data >= tcp + 20 && data <= bytes.len()).then_some(Self { bytes, tcp, data })
    }

    fn is_v4(&self) -> bool {
        self.tcp == 20
    }

    /// Addresses and ports.
    fn flow(&self) -> (&'a [u8], &'a [u8]) {
        let addresses = if self.is_v4() { 12..20 } else { 8..40 };
        (&self.bytes[addresses], &self.bytes[self.tcp..self.tcp + 4])
    }

    fn number(&self, at: usize) -> u32 {
        let at = self.tcp + at;
        u32::from_be_bytes([self.bytes[at], self.bytes[at + 1], self.bytes[at + 2], self.bytes[at + 3]])
    }

    fn flags(&self) -> u8 {
        self.bytes[self.tcp + 13]
    }

    /// Identification and flags of an IPv4 header.
    fn identity(&self) -> (u16, u8) {
        (u16::from_be_bytes([self.bytes[4], self.bytes[5]]), self.bytes[6])
    }

    fn payload(&self) -> usize {
        self.bytes.len() - self.data
    }
}

/// Whether `p` is of the flow of `held`, which is from outside if it has `last` bytes.
pub(super) fn is_of_flow(packets: &Packets, held: Pkt, last: Option<BytesId>, p: Pkt) -> bool {
    last.is_some()
        && match (Segment::of(packets, held), Segment::of(packets, p)) {
            (Some(x), Some(y)) => x.flow() == y.flow(),
            _ => false,
        }
}

/// The bytes behind which others may be put, if a packet may have others merged into it: it carries data and
/// no flag that ends it.
// deviation: a packet that comes with several segments is let through.
pub(super) fn may_grow(packets: &Packets, p: Pkt) -> Option<BytesId> {
    let segment = Segment::of(packets, p)?;
    let grows = segment.payload() > 0 && segment.flags() & ENDING == 0;
    grows.then(|| packets.last_bytes(p)).flatten()
}

/// Whether `p` continues `into`, which is of the same flow.
// linux: net/ipv4/tcp_offload.c tcp_gro_receive, net/ipv4/af_inet.c inet_gro_receive (6.12) - as of modelled
// packets; the identification is the next one, or with DF the same.
pub(super) fn continues(packets: &Packets, into: Pkt, p: Pkt) -> bool {
    let (a, b) = (packets.get(into), packets.get(p));
    let (Some(x), Some(y)) = (Segment::of(packets, into), Segment::of(packets, p)) else { return false };
    let ignored = TcpFlags::FIN.0 | TcpFlags::PSH.0;
    let segs = usize::from(a.segs);
    // Headers are equally long.
    let data = a.len as usize - segs * x.data;
    let follows = || {
        let ((id, flags), (next, same)) = (x.identity(), y.identity());
        !x.is_v4() || flags == same && (next == id.wrapping_add(a.segs) || flags & 0x40 != 0 && next == id)
    };
    debug_assert!(b.kind == PacketKind::External, "a packet of an external host");
    b.segs == 1
        && (a.tos, a.ttl, a.flow) == (b.tos, b.ttl, b.flow)
        && (1..=x.payload()).contains(&y.payload())
        && x.data == y.data
        && y.number(4) == x.number(4).wrapping_add(data as u32)
        && x.number(8) == y.number(8)
        && x.bytes[x.tcp + 20..x.data] == y.bytes[y.tcp + 20..y.data]
        && (x.flags() ^ y.flags()) & !ignored == 0
        && y.flags() & TcpFlags::CWR.0 == 0
        && (x.is_v4() || x.bytes[1..4] == y.bytes[1..4])
        && follows()
        && x.data + data + y.payload() < MAX_BYTES as usize
}

/// Merges `p` into `into`, whose last bytes are `last`. Gives the new last ones, if the packet may grow
/// further.
pub(super) fn join(packets: &mut Packets, into: Pkt, last: BytesId, p: Pkt) -> Option<BytesId> {
    let payload = |p| Segment::of(packets, p).map_or(0, |segment| segment.payload());
    let ends = payload(p) < payload(into) || Segment::of(packets, p).is_none_or(|s| s.flags() & ENDING != 0);
    packets.put_behind(into, last, p).filter(|_| !ends)
}

#[cfg(test)]
mod tests;
