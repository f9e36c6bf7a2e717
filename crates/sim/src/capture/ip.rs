//! Packets as bytes: IPv4 with UDP, ICMP echo or TCP, and the Ethernet frame around one.

use std::net::{IpAddr, Ipv4Addr};

use stillair_ip::checksum::{finish, ipv4_header, pseudo, sum};
use stillair_model::vocabulary::{Headers, IPV4_HEADER, PacketKind, UDP_HEADER, write_back};

use super::body::Body;
use super::mac::Mac;
use super::ports::ports;
use super::sums::payload_sum;
use super::tcp::{CapturedSegment, Connections, segment_headers};

/// Bytes of an IPv4 header.
pub const IPV4: usize = IPV4_HEADER as usize;

/// Ethernet's number for IPv4.
pub const ETHERTYPE_IPV4: u16 = 0x0800;
/// And for IPv6, which outside hosts may speak.
const ETHERTYPE_IPV6: u16 = 0x86dd;
/// Bytes of an IPv6 header.
const IPV6: usize = 40;

/// Ethernet's number for what a packet is.
pub fn ethertype(p: &Headers) -> u16 {
    let version = p.bytes.and_then(|bytes| bytes.first()).map(|first| first >> 4);
    if version == Some(6) { ETHERTYPE_IPV6 } else { ETHERTYPE_IPV4 }
}
/// Shortest payload of an Ethernet frame; shorter ones are padded with zeros.
const ETHERNET_MIN_PAYLOAD: usize = 46;

/// Don't fragment.
// linux: net/ipv4/ip_output.c (4.4) - set on UDP and echo requests, as path MTU discovery is on by default.
const DONT_FRAGMENT: u16 = 0x4000;

/// Bytes of a packet from the IP header on as it is written: with one header for all its segments, as hosts see it.
fn total_length(p: &Headers) -> usize {
    p.tcp.map_or(p.len as usize, |header| segment_headers(p) + header.payload as usize)
}

/// Appends the packet. `addresses` are its source and destination.
pub fn packet(out: &mut Body<'_>, p: &Headers, addresses: [Ipv4Addr; 2], connections: &Connections) {
    let total = total_length(p);
    let ports = ports(p.flow);
    match p.kind {
        PacketKind::Udp
        | PacketKind::UdpRequest
        | PacketKind::UdpReply
        | PacketKind::Quic
        | PacketKind::Voip
        | PacketKind::Query
        | PacketKind::Answer => {
            header(out, p, addresses, total, 17);
            udp(out, p, addresses, ports);
        }
        PacketKind::EchoRequest | PacketKind::EchoReply => {
            header(out, p, addresses, total, 1);
            icmp(out, p);
        }
        PacketKind::Tcp => {
            header(out, p, addresses, total, 6);
            let header = p.tcp.as_ref().expect("a TCP segment has its header");
            tcp(out, CapturedSegment::new(p, header, connections, ports), addresses, p.seq as u8);
        }
        PacketKind::Outside => outside(out, p),
    }
}

/// Appends the bytes of an outside host, with the mark and the hops that they have by now.
fn outside(out: &mut Body<'_>, p: &Headers) {
    let bytes = p.bytes.expect("a packet of an outside host has its bytes");
    let (head, rest) = bytes.split_at(bytes.len().min(IPV6));
    let mut written = [0; IPV6];
    let written = &mut written[..head.len()];
    written.copy_from_slice(head);
    write_back(written, p.tos, p.ttl);
    out.push(written);
    out.push(rest);
}

/// Appends the IP header of a packet of `total` bytes.
// spec: rfc6864 4.1 - a packet that is not to be fragmented may have any identification.
// deviation: Linux counts the segments of a TCP socket in it; here they have none.
fn header(out: &mut Body<'_>, p: &Headers, [src, dst]: [Ipv4Addr; 2], total: usize, protocol: u8) {
    let identification = if p.kind == PacketKind::Tcp { 0 } else { p.seq as u16 };
    let mut head = [0; IPV4];
    head[..2].copy_from_slice(&[0x45, p.tos]);
    head[2..4].copy_from_slice(&(total as u16).to_be_bytes());
    head[4..6].copy_from_slice(&identification.to_be_bytes());
    head[6..8].copy_from_slice(&DONT_FRAGMENT.to_be_bytes());
    head[8..10].copy_from_slice(&[p.ttl, protocol]);
    head[12..16].copy_from_slice(&src.octets());
    head[16..20].copy_from_slice(&dst.octets());
    let right = ipv4_header(&head);
    head[10..12].copy_from_slice(&right.to_be_bytes());
    out.push(&head);
}

/// Sum of the pseudo header.
fn pseudo_sum(addresses: [Ipv4Addr; 2], protocol: u8, length: usize) -> u64 {
    let [src, dst] = addresses.map(IpAddr::V4);
    pseudo(src, dst, protocol, length)
}

fn udp(out: &mut Body<'_>, p: &Headers, addresses: [Ipv4Addr; 2], mut ports: [u16; 2]) {
    if matches!(p.kind, PacketKind::UdpReply | PacketKind::Answer) {
        ports.reverse();
    }
    let length = p.len as usize - IPV4;
    let payload = length - UDP_HEADER as usize;
    let mut head = [0; UDP_HEADER as usize];
    head[..2].copy_from_slice(&ports[0].to_be_bytes());
    head[2..4].copy_from_slice(&ports[1].to_be_bytes());
    head[4..6].copy_from_slice(&(length as u16).to_be_bytes());
    let right = finish(pseudo_sum(addresses, 17, length) + sum(&head) + payload_sum(0, payload));
    // spec: rfc768 - zero is sent as ones.
    head[6..8].copy_from_slice(&if right == 0 { u16::MAX } else { right }.to_be_bytes());
    out.push(&head);
    out.payload(0, payload);
}

// spec: rfc792 - echo request is type 8, reply 0; the flow is the identifier.
fn icmp(out: &mut Body<'_>, p: &Headers) {
    let mut head = [0; 8];
    let payload = p.len as usize - IPV4 - head.len();
    head[0] = if p.kind == PacketKind::EchoRequest { 8 } else { 0 };
    head[4..6].copy_from_slice(&(p.flow.0 as u16).to_be_bytes());
    head[6..8].copy_from_slice(&(p.seq as u16).to_be_bytes());
    let right = finish(sum(&head) + payload_sum(0, payload));
    head[2..4].copy_from_slice(&right.to_be_bytes());
    out.push(&head);
    out.payload(0, payload);
}

/// Appends a segment whose data begins with the byte `phase`.
fn tcp(out: &mut Body<'_>, mut segment: CapturedSegment, addresses: [Ipv4Addr; 2], phase: u8) {
    let payload = segment.payload;
    let head = segment.bytes();
    let pseudo = pseudo_sum(addresses, 6, head.len() + payload);
    let right = finish(pseudo + sum(head) + payload_sum(phase, payload));
    head[CapturedSegment::CHECKSUM..][..2].copy_from_slice(&right.to_be_bytes());
    out.push(head);
    out.payload(phase, payload);
}

/// Appends the packet in an Ethernet frame, without check sequence, as hosts capture it.
// spec: ieee8023 3.2 - destination, source, type; the payload is at least 46 bytes.
pub fn ethernet(
    out: &mut Body<'_>,
    p: &Headers,
    addresses: [Ipv4Addr; 2],
    [from, to]: [Mac; 2],
    connections: &Connections,
) {
    out.push(&to.0);
    out.push(&from.0);
    out.push(&ethertype(p).to_be_bytes());
    packet(out, p, addresses, connections);
    out.push(&[0; ETHERNET_MIN_PAYLOAD][..ETHERNET_MIN_PAYLOAD.saturating_sub(p.len as usize)]);
}

#[cfg(test)]
mod tests {
    use super::super::fcs::PayloadRegister;
    use super::*;
    use stillair_model::vocabulary::{FlowId, NewPacket, Packets};

    #[test]
    fn a_udp_reply_goes_back_between_the_same_ports() {
        let addresses = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)];
        let ports = |kind| {
            let mut packets = Packets::default();
            let p = packets.create(NewPacket { flow: FlowId(3), len: 88, kind, ..NewPacket::PLAIN });
            let headers = Headers::of(&packets, p);
            let mut bytes = Vec::new();
            let mut register = PayloadRegister::default();
            let body = &mut Body::new(&mut bytes, 100, &mut register);
            packet(body, &headers, addresses, &Connections::default());
            assert_eq!((bytes[9], bytes.len()), (17, 88));
            [20, 22].map(|at| u16::from_be_bytes([bytes[at], bytes[at + 1]]))
        };
        assert_eq!(ports(PacketKind::UdpRequest), [49_155, 57_347]);
        assert_eq!(ports(PacketKind::UdpReply), [57_347, 49_155]);
    }

    #[test]
    fn bytes_of_an_outside_host_are_shown_as_they_are_by_now() {
        let mut sent: Vec<u8> = (0..100).collect();
        sent[0] = 0x60;
        let new = NewPacket { len: 100, tos: 3, kind: PacketKind::Outside, ..NewPacket::PLAIN };
        let mut packets = Packets::default();
        let p = packets.create_outside(new, 9, &sent);
        let kept = Headers::of(&packets, p).keep();
        let mut bytes = Vec::new();
        let mut register = PayloadRegister::default();
        let (macs, addresses) = ([Mac::BROADCAST; 2], [Ipv4Addr::UNSPECIFIED; 2]);
        let body = &mut Body::new(&mut bytes, usize::MAX, &mut register);
        ethernet(body, &kept.get(), addresses, macs, &Connections::default());
        (sent[0], sent[1], sent[7]) = (0x60, 0x31, 9);
        assert_eq!((&bytes[12..14], &bytes[14..]), (&[0x86, 0xdd][..], &sent[..]));
    }
}
