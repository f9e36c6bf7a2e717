//! IPv6 headers and extension headers.

use core::net::{IpAddr, Ipv6Addr};

use super::{Fragment, Malformed, PacketView, word};

/// Length of the header without extension headers, in bytes.
pub const HEADER: usize = 40;

// spec: rfc8200 4 - numbers of the extension headers that are skipped.
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const DESTINATION: u8 = 60;

/// Parses a packet of version 6 that has at least the bytes of a header.
// spec: rfc8200 3 - the payload length includes extension headers.
// deviation: a jumbogram (rfc2675) is parsed with its length field of zero - no modelled link carries one. It
// is rejected, because its option is beyond the end.
pub fn view(packet: &[u8]) -> Result<PacketView, Malformed> {
    let length = HEADER + usize::from(word(packet, 4));
    if length > packet.len() {
        return Err(Malformed::Length { packet: length, buffer: packet.len() });
    }
    let chain = walk(&packet[..length])?;
    let address = |at: usize| {
        let octets: [u8; 16] = core::array::from_fn(|n| packet[at + n]);
        IpAddr::V6(Ipv6Addr::from(octets))
    };
    Ok(PacketView {
        source: address(8),
        destination: address(24),
        tos: packet[0] << 4 | packet[1] >> 4,
        ttl: packet[7],
        protocol: chain.protocol,
        length,
        header: chain.end,
        dont_fragment: true,
        fragment: chain.fragment,
        ports: None,
    })
}

struct Chain {
    protocol: u8,
    end: usize,
    fragment: Option<Fragment>,
}

/// Skips the extension headers of a packet, in any order.
// spec: rfc8200 4.1 - a node accepts any order. spec: rfc8200 4.5 - no header follows the fragment header of
// a later fragment. An atomic fragment (rfc6946) is not a fragment.
// linux: net/ipv6/exthdrs_core.c ipv6_skip_exthdr (6.12) - skips the same headers; any other header counts as
// a transport.
fn walk(packet: &[u8]) -> Result<Chain, Malformed> {
    let mut chain = Chain { protocol: packet[6], end: HEADER, fragment: None };
    while matches!(chain.protocol, HOP_BY_HOP | ROUTING | FRAGMENT | AUTHENTICATION | DESTINATION) {
        let at = chain.end;
        let beyond = Malformed::Extension { at, packet: packet.len() };
        let header: [u8; 8] = *packet[at..].first_chunk().ok_or(beyond)?;
        let length = match chain.protocol {
            FRAGMENT => 8,
            // spec: rfc4302 2.2 - length in four-byte words, minus two.
            AUTHENTICATION => (usize::from(header[1]) + 2) * 4,
            _ => (usize::from(header[1]) + 1) * 8,
        };
        if at + length > packet.len() {
            return Err(beyond);
        }
        let fragment = chain.protocol == FRAGMENT;
        chain.protocol = header[0];
        chain.end += length;
        if fragment {
            let part = word(&header, 2);
            let (offset, more) = (part & !7, part & 1 != 0);
            let identification = u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
            if offset > 0 || more {
                chain.fragment = Some(Fragment { identification, offset, more });
            }
            if offset > 0 {
                break;
            }
        }
    }
    Ok(chain)
}
