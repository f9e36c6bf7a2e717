//! Packets as bytes: IPv4 with UDP or ICMP echo, and the Ethernet frame around one.

use std::net::Ipv4Addr;

use stillair_model::app::{IPV4_HEADER, UDP_HEADER};
use stillair_model::vocabulary::{Headers, Kind};

use super::body::Body;
use super::mac::Mac;

/// Ethernet's number for IPv4.
pub const ETHERTYPE_IPV4: u16 = 0x0800;
/// Shortest payload of an Ethernet frame; shorter ones are padded with zeros.
const ETHERNET_MIN_PAYLOAD: usize = 46;

/// First source and destination port: a flow's number is added, modulo the size of the range. Both lie in the dynamic
/// range, where no protocol is guessed from the number.
// spec: rfc6335 6 - 49152 to 65535.
const PORTS: [u16; 2] = [49_152, 57_344];
const PORT_RANGE: u32 = 8_192;

/// Don't fragment.
// linux: net/ipv4/ip_output.c (4.4) - set on UDP and echo requests, as path MTU discovery is on by default.
const DONT_FRAGMENT: u16 = 0x4000;

/// One's complement sum of a header in 16-bit words; an odd byte at the end counts as the upper half of a word.
// spec: rfc1071.
fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<2>();
    let all: u64 = words.iter().map(|&w| u64::from(u16::from_be_bytes(w))).sum();
    all + rest.first().map_or(0, |&b| u64::from(b) << 8)
}

/// Sum of the payload of `len` bytes: `m` words 0x0001, 0x0203, ... have 0x0202 m (m - 1) / 2 + m.
fn payload_sum(len: usize) -> u64 {
    const PERIOD: u64 = 256;
    let words = |m: u64| 0x0101 * m * (m.max(1) - 1) + m;
    let (periods, rest) = (len as u64 / PERIOD, len as u64 % PERIOD);
    let odd = if rest % 2 == 1 { (rest - 1) << 8 } else { 0 };
    periods * words(PERIOD / 2) + words(rest / 2) + odd
}

/// The checksum that a sum makes.
fn checksum(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// Appends the packet. `addresses` are its source and destination.
pub fn packet(out: &mut Body<'_>, p: &Headers, [src, dst]: [Ipv4Addr; 2]) {
    let protocol = match p.kind {
        Kind::Udp | Kind::UdpRequest | Kind::UdpReply => 17,
        Kind::EchoRequest | Kind::EchoReply => 1,
        Kind::Tcp => 6,
    };
    let mut head = [0; 28];
    head[..2].copy_from_slice(&[0x45, p.tos]);
    head[2..4].copy_from_slice(&(p.len as u16).to_be_bytes());
    head[4..6].copy_from_slice(&(p.seq as u16).to_be_bytes());
    head[6..8].copy_from_slice(&DONT_FRAGMENT.to_be_bytes());
    head[8..10].copy_from_slice(&[p.ttl, protocol]);
    head[12..16].copy_from_slice(&src.octets());
    head[16..20].copy_from_slice(&dst.octets());
    let ip_checksum = checksum(sum(&head[..20]));
    head[10..12].copy_from_slice(&ip_checksum.to_be_bytes());

    let payload = (p.len - IPV4_HEADER - UDP_HEADER) as usize;
    let length = (p.len - IPV4_HEADER) as u16;
    match p.kind {
        Kind::Udp | Kind::UdpRequest | Kind::UdpReply => {
            let mut ports = PORTS.map(|first| first + (p.flow.0 % PORT_RANGE) as u16);
            if p.kind == Kind::UdpReply {
                ports.reverse();
            }
            let [from, to] = ports;
            head[20..22].copy_from_slice(&from.to_be_bytes());
            head[22..24].copy_from_slice(&to.to_be_bytes());
            head[24..26].copy_from_slice(&length.to_be_bytes());
            // spec: rfc768 - over addresses, protocol and length too; zero is sent as ones.
            let pseudo = sum(&head[12..20]) + 17 + u64::from(length);
            let right = checksum(pseudo + sum(&head[20..28]) + payload_sum(payload));
            head[26..28].copy_from_slice(&if right == 0 { u16::MAX } else { right }.to_be_bytes());
        }
        Kind::EchoRequest | Kind::EchoReply => {
            // spec: rfc792 - echo request is type 8, reply 0; the flow is the identifier.
            head[20] = if p.kind == Kind::EchoRequest { 8 } else { 0 };
            head[24..26].copy_from_slice(&(p.flow.0 as u16).to_be_bytes());
            head[26..28].copy_from_slice(&(p.seq as u16).to_be_bytes());
            let right = checksum(sum(&head[20..28]) + payload_sum(payload));
            head[22..24].copy_from_slice(&right.to_be_bytes());
        }
        Kind::Tcp => unreachable!("no socket sends TCP yet"),
    }
    out.push(&head);
    out.payload(payload);
}

/// Appends the packet in an Ethernet frame, without check sequence, as hosts capture it.
// spec: ieee8023 3.2 - destination, source, type; the payload is at least 46 bytes.
pub fn ethernet(out: &mut Body<'_>, p: &Headers, addresses: [Ipv4Addr; 2], [from, to]: [Mac; 2]) {
    out.push(&to.0);
    out.push(&from.0);
    out.push(&ETHERTYPE_IPV4.to_be_bytes());
    packet(out, p, addresses);
    out.push(&[0; ETHERNET_MIN_PAYLOAD][..ETHERNET_MIN_PAYLOAD.saturating_sub(p.len as usize)]);
}

#[cfg(test)]
mod tests {
    use super::super::fcs::PayloadRegister;
    use super::super::pattern::pattern;
    use super::*;
    use proptest::prelude::*;
    use stillair_model::vocabulary::{Addr, FlowId};

    #[test]
    fn worked_example() {
        // spec: rfc1071 3 - 0001 f203 f4f5 f6f7 sum to 2ddf0, folded ddf2.
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!((sum(&bytes), !checksum(sum(&bytes))), (0x2ddf0, 0xddf2));
    }

    #[test]
    fn a_udp_reply_goes_back_between_the_same_ports() {
        let addresses = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)];
        let ports = |kind| {
            let headers = Headers {
                flow: FlowId(3),
                seq: 1,
                len: 88,
                src: Addr(0),
                dst: Addr(1),
                tos: 0,
                ttl: 64,
                kind,
            };
            let mut bytes = Vec::new();
            packet(&mut Body::new(&mut bytes, 100, &mut PayloadRegister::default()), &headers, addresses);
            assert_eq!((bytes[9], bytes.len()), (17, 88));
            [20, 22].map(|at| u16::from_be_bytes([bytes[at], bytes[at + 1]]))
        };
        assert_eq!(ports(Kind::UdpRequest), [49_155, 57_347]);
        assert_eq!(ports(Kind::UdpReply), [57_347, 49_155]);
    }

    proptest! {
        #[test]
        fn the_payload_sum_is_the_sum_of_the_payload(len in 0_usize..65_536) {
            prop_assert_eq!(payload_sum(len), sum(pattern(len)));
        }
    }
}
