//! A received packet, with the fields used for merging.

use crate::checksum::{fold, holds, ipv4_header_holds, pseudo, sum};
use crate::parse::{IPV6_HEADER, TCP, parse};
use crate::tcp::{FIN, OptionLayout, PSH, RST, SYN, URG};

/// A TCP segment and its position in the packet.
#[derive(Clone, Copy, Debug)]
pub struct TcpSegment {
    pub layout: OptionLayout,
    /// Payload length in bytes.
    pub data: usize,
    /// Folded sum of the payload.
    pub sum: u16,
    /// The flags.
    pub flags: u8,
    /// True if the segment belongs to a flow but can neither continue a packet nor be continued.
    pub alone: bool,
}

impl TcpSegment {
    /// Parses a packet that may be merged: TCP over IPv4 without options, or over IPv6 with no extension
    /// headers other than options and routing; not a fragment, with correct checksums.
    // linux: net/ipv4/af_inet.c inet_gro_receive (6.12) - requires no options, no fragments, and a correct
    // header checksum; bytes after its end, or flags other than DF, keep a packet single. linux:
    // net/ipv4/tcp_offload.c tcp4_gro_receive, tcp_gro_pull_header (6.12) - require a complete header, and a
    // correct TCP checksum unless the packet stays single.
    // linux: net/ipv6/ip6_offload.c ipv6_gro_receive, ipv6_gro_pull_exthdrs (6.12) - require a payload length
    // that matches the packet.
    pub fn of(packet: &[u8]) -> Option<Self> {
        let view = parse(packet).ok()?;
        let padded = packet.len() != view.length;
        let alone = if packet[0] >> 4 == 4 {
            if packet[0] != 0x45 || !ipv4_header_holds(&packet[..view.header]) {
                return None;
            }
            padded || packet[6] & 0x80 != 0
        } else {
            if !only_options_and_routing(packet, view.header) {
                return None;
            }
            padded
        };
        let layout = OptionLayout::of(packet, &view)?;
        let payload = sum(&packet[layout.payload..view.length]);
        let length = view.length - layout.transport;
        let all = pseudo(view.source, view.destination, TCP, length)
            + sum(&packet[layout.transport..layout.payload])
            + payload;
        if !alone && !holds(all) {
            return None;
        }
        let (data, flags) = (view.length - layout.payload, packet[layout.flags()]);
        Some(Self { layout, data, sum: fold(payload), flags, alone })
    }

    /// Returns true if other segments may continue this one.
    // linux: net/ipv4/tcp_offload.c tcp_gro_receive (6.12) - if it carries data, and no flag that ends
    // merging.
    pub fn may_grow(&self) -> bool {
        self.data > 0 && !self.alone && !self.ends()
    }

    /// Returns true if its flags make it the last segment of its packet.
    // linux: net/ipv4/tcp_offload.c tcp_gro_receive (6.12).
    pub fn ends(&self) -> bool {
        self.flags & (URG | PSH | RST | SYN | FIN) != 0
    }
}

/// Returns true if all extension headers of a parsed IPv6 packet are options or routing headers.
fn only_options_and_routing(packet: &[u8], end: usize) -> bool {
    let (mut next, mut at) = (packet[6], IPV6_HEADER);
    while at < end {
        if !matches!(next, 0 | 43 | 60) {
            return false;
        }
        next = packet[at];
        at += (usize::from(packet[at + 1]) + 1) * 8;
    }
    true
}
