//! IPv6, with its extension headers.

use core::net::{IpAddr, Ipv6Addr};

use super::{Fragment, Malformed, PacketView, word};

/// Bytes of the header without extensions.
pub const HEADER: usize = 40;

// spec: rfc8200 4 - numbers of the extension headers that are walked over.
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const DESTINATION: u8 = 60;

/// Looks at a packet that has the bytes of a header and says version 6.
// spec: rfc8200 3 - the length is that of the payload, extension headers included.
// deviation: a jumbogram (rfc2675) says a length of zero and is taken by that - no link of the model carries
// one. With its option it is refused, as the option is beyond the end.
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

/// Where the extension headers end.
struct Chain {
    protocol: u8,
    end: usize,
    fragment: Option<Fragment>,
}

/// Walks over the extension headers of a packet, in whatever order they stand.
// spec: rfc8200 4.1 - a node accepts any order. spec: rfc8200 4.5 - behind the header of a later fragment is
// no header. A fragment that is whole (rfc6946) is none.
// linux: net/ipv6/exthdrs_core.c ipv6_skip_exthdr (6.12) - the same headers; what else there is counts as a
// transport.
fn walk(packet: &[u8]) -> Result<Chain, Malformed> {
    let mut chain = Chain { protocol: packet[6], end: HEADER, fragment: None };
    while matches!(chain.protocol, HOP_BY_HOP | ROUTING | FRAGMENT | AUTHENTICATION | DESTINATION) {
        let at = chain.end;
        let beyond = Malformed::Extension { at, packet: packet.len() };
        let header: [u8; 8] = *packet[at..].first_chunk().ok_or(beyond)?;
        let length = match chain.protocol {
            FRAGMENT => 8,
            // spec: rfc4302 2.2 - in words of four bytes, less two.
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
