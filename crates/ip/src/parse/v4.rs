//! IPv4 headers.

use core::net::{IpAddr, Ipv4Addr};

use super::{Fragment, Malformed, PacketView, word};

/// Length of the header without options, in bytes.
pub const HEADER: usize = 20;

/// Parses a packet of version 4 that has at least the bytes of a header.
// spec: rfc791 3.1 - header length in four-byte words, fragment offset in units of eight bytes.
pub fn view(packet: &[u8]) -> Result<PacketView, Malformed> {
    let header = usize::from(packet[0] & 0x0f) * 4;
    let length = usize::from(word(packet, 2));
    if header < HEADER || header > length {
        return Err(Malformed::HeaderLength { header, packet: length });
    }
    if length > packet.len() {
        return Err(Malformed::Length { packet: length, buffer: packet.len() });
    }
    let address =
        |at: usize| IpAddr::V4(Ipv4Addr::new(packet[at], packet[at + 1], packet[at + 2], packet[at + 3]));
    let part = word(packet, 6);
    let (offset, more) = ((part & 0x1fff) * 8, part & 0x2000 != 0);
    let identification = u32::from(word(packet, 4));
    Ok(PacketView {
        source: address(12),
        destination: address(16),
        tos: packet[1],
        ttl: packet[8],
        protocol: packet[9],
        length,
        header,
        dont_fragment: part & 0x4000 != 0,
        fragment: (offset > 0 || more).then_some(Fragment { identification, offset, more }),
        ports: None,
    })
}
