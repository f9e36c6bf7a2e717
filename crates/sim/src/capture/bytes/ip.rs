//! Packets as bytes: IPv4 or IPv6 with UDP, TCP or ICMP echo, and Ethernet frames around them.

use std::net::{IpAddr, Ipv4Addr};

use stillair_ip::checksum::{finish, sum};
use stillair_model::types::{Headers, Ip, PacketKind, UDP_HEADER, write_back};

use super::body::Body;
use super::checksums::payload_sum;
use super::mac::Mac;
use super::tcp::{CapturedSegment, Connections, segment_headers};
use crate::capture::ports::ports;

const IPV4: usize = Ip::V4.header() as usize;
const IPV6: usize = Ip::V6.header() as usize;

/// Protocol numbers in IP headers.
// spec: rfc790, rfc8200 4.1.
const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMPV6: u8 = 58;

/// EtherType of IPv4.
pub const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86dd;

/// Returns the EtherType of a packet.
pub fn ethertype(p: &Headers) -> u16 {
    // Bytes of an external host's packet include the version.
    let version = p.bytes.and_then(|bytes| bytes.first()).map_or(p.dst.ip().version(), |first| first >> 4);
    if version == 6 { ETHERTYPE_IPV6 } else { ETHERTYPE_IPV4 }
}
/// Minimum payload of an Ethernet frame; shorter payloads are padded with zeros.
const ETHERNET_MIN_PAYLOAD: usize = 46;

// linux: net/ipv4/ip_output.c (4.4) - set on UDP and echo requests, because path MTU discovery is on by
// default.
const DONT_FRAGMENT: u32 = 0x4000;

/// Returns the length of a captured packet from the IP header on: one header for all segments, as hosts see
/// it.
fn total_length(p: &Headers) -> usize {
    p.tcp.map_or(p.len as usize, |header| segment_headers(p) + header.payload as usize)
}

/// Appends the packet. `addresses` are the source and destination address.
pub fn packet(out: &mut Body<'_>, p: &Headers, addresses: [IpAddr; 2], connections: &Connections) {
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
            let pseudo = header(out, p, addresses, total, UDP);
            udp(out, p, pseudo, ports);
        }
        PacketKind::EchoRequest | PacketKind::EchoReply => {
            let protocol = if p.dst.ip() == Ip::V6 { ICMPV6 } else { ICMP };
            let pseudo = header(out, p, addresses, total, protocol);
            echo(out, p, pseudo);
        }
        PacketKind::Tcp => {
            let pseudo = header(out, p, addresses, total, TCP);
            let header = p.tcp.expect("a TCP segment has its header");
            tcp(out, CapturedSegment::new(p, header, connections, ports), pseudo, p.seq as u8);
        }
        PacketKind::External => external(out, p),
    }
}

/// Appends an external host's packet with its current TOS and TTL. Bytes missing in a batch are beyond the
/// captured length.
fn external(out: &mut Body<'_>, p: &Headers) {
    let bytes = p.bytes.expect("a packet of an external host has its bytes");
    let (head, rest) = bytes.split_at(bytes.len().min(IPV6));
    let mut written = [0; IPV6];
    let written = &mut written[..head.len()];
    written.copy_from_slice(head);
    write_back(written, p.tos, p.ttl);
    let total = external_length(p, bytes);
    if p.segs > 1 {
        write_length(written, total);
    }
    out.extend(written);
    out.extend(rest);
    out.leave_out(total.saturating_sub(bytes.len()));
}

/// Returns the captured length of an external host's packet: one header for all segments, as hosts see it.
// deviation: of several segments, only the first is kept, as with a snap length; flags and checksum are those
// of the first segment.
fn external_length(p: &Headers, bytes: &[u8]) -> usize {
    let further = usize::from(p.segs).saturating_sub(1);
    (p.len as usize).saturating_sub(further * tcp_headers(bytes).unwrap_or(0))
}

/// Returns the length of the IP and TCP headers of a packet to be split. `None` if TCP does not follow the IP
/// header directly.
fn tcp_headers(bytes: &[u8]) -> Option<usize> {
    let is_v4 = bytes.first()? >> 4 == 4;
    let ip = if is_v4 { usize::from(bytes[0] & 0xf) * 4 } else { IPV6 };
    let headers = ip + usize::from(bytes.get(ip + 12)? >> 4) * 4;
    (bytes[if is_v4 { 9 } else { 6 }] == TCP).then_some(headers)
}

/// Writes the length of a packet into its IP header and updates the checksum.
// spec: rfc791 3.1 - bytes 2 and 3; rfc8200 3 - bytes 4 and 5, without the header. linux: include/net/ipv6.h
// (6.12) - 0 if it does not fit.
fn write_length(header: &mut [u8], total: usize) {
    match header.first().map(|first| first >> 4) {
        Some(4) if header.len() >= IPV4 => {
            let old = u16::from_be_bytes([header[2], header[3]]);
            header[2..4].copy_from_slice(&u16::try_from(total).unwrap_or(0).to_be_bytes());
            // Options may extend beyond the 40 available bytes, so the checksum is updated incrementally.
            let new = u16::from_be_bytes([header[2], header[3]]);
            let kept = !u16::from_be_bytes([header[10], header[11]]);
            let mended = u64::from(kept) + u64::from(!old) + u64::from(new);
            header[10..12].copy_from_slice(&finish(mended).to_be_bytes());
        }
        Some(6) if header.len() >= IPV6 => {
            let payload = u16::try_from(total.saturating_sub(IPV6)).unwrap_or(0);
            header[4..6].copy_from_slice(&payload.to_be_bytes());
        }
        _ => {}
    }
}

/// Appends the IP header of a packet of `total` bytes. Returns the sum of the pseudo header.
// spec: rfc9293 3.1, rfc768 - addresses, protocol and length over IPv4; rfc8200 8.1 - over IPv6, with 32 bits
// each for length and next header.
#[inline]
fn header(out: &mut Body<'_>, p: &Headers, addresses: [IpAddr; 2], total: usize, protocol: u8) -> u64 {
    let (of_addresses, header) = match addresses {
        [IpAddr::V4(src), IpAddr::V4(dst)] => (v4_header(out, p, [src, dst], total, protocol), IPV4),
        [IpAddr::V6(src), IpAddr::V6(dst)] => {
            (v6_header(out, p, [src.octets(), dst.octets()], total - IPV6, protocol), IPV6)
        }
        _ => unreachable!("both ends of a packet have addresses of one version"),
    };
    of_addresses + u64::from(protocol) + (total - header) as u64
}

/// Appends an IPv4 header. Returns the sum of the addresses.
// spec: rfc791 3.1; rfc6864 4.1 - a packet with DF set may have any identification.
// deviation: Linux counts the segments of a TCP socket in the identification; here it is zero.
#[inline]
fn v4_header(out: &mut Body<'_>, p: &Headers, [src, dst]: [Ipv4Addr; 2], total: usize, protocol: u8) -> u64 {
    let identification = if p.kind == PacketKind::Tcp { 0 } else { p.seq & 0xffff };
    let mut words = [
        0x4500_0000 | u32::from(p.tos) << 16 | u32::from(total as u16),
        identification << 16 | DONT_FRAGMENT,
        u32::from(p.ttl) << 24 | u32::from(protocol) << 16,
        src.to_bits(),
        dst.to_bits(),
    ];
    let of_addresses = u64::from(words[3]) + u64::from(words[4]);
    let rest = u64::from(words[0]) + u64::from(words[1]) + u64::from(words[2]);
    words[2] |= u32::from(finish(rest + of_addresses));
    out.words(&words);
    of_addresses
}

/// Appends an IPv6 header. Returns the sum of the addresses.
// spec: rfc8200 3 - version, traffic class and flow label in the first word.
// linux: include/net/ipv6.h ip6_make_flowlabel (6.1), sysctl net.ipv6.auto_flowlabels = 1 - derives the label
// from the flow hash.
fn v6_header(
    out: &mut Body<'_>,
    p: &Headers,
    [src, dst]: [[u8; 16]; 2],
    payload: usize,
    protocol: u8,
) -> u64 {
    const FLOW_LABEL: u32 = (1 << 20) - 1;
    let words = [
        6 << 28 | u32::from(p.tos) << 20 | p.flow_hash & FLOW_LABEL,
        u32::from(payload as u16) << 16 | u32::from(protocol) << 8 | u32::from(p.ttl),
    ];
    out.words(&words);
    out.push(&src);
    out.push(&dst);
    sum(&src) + sum(&dst)
}

/// Returns the length of a packet's IP header in bytes.
fn ip_header(p: &Headers) -> usize {
    p.dst.ip().header() as usize
}

/// Appends a UDP datagram. `pseudo` is the sum of the pseudo header.
#[inline]
fn udp(out: &mut Body<'_>, p: &Headers, pseudo: u64, mut ports: [u16; 2]) {
    if matches!(p.kind, PacketKind::UdpReply | PacketKind::Answer) {
        ports.reverse();
    }
    let length = p.len as usize - ip_header(p);
    let payload = length - UDP_HEADER as usize;
    let mut words = [u32::from(ports[0]) << 16 | u32::from(ports[1]), u32::from(length as u16) << 16];
    let right = finish(pseudo + u64::from(words[0]) + u64::from(words[1]) + payload_sum(0, payload));
    // spec: rfc768 - zero is sent as ones.
    words[1] |= u32::from(if right == 0 { u16::MAX } else { right });
    out.words(&words);
    out.payload(0, payload);
}

// spec: rfc792 - echo request is type 8, reply 0; rfc4443 4.1, 4.2 - types 128 and 129, with a pseudo header
// in the checksum (2.3). The flow number is the identifier.
fn echo(out: &mut Body<'_>, p: &Headers, pseudo: u64) {
    let payload = p.len as usize - ip_header(p) - UDP_HEADER as usize;
    let (request, reply, more) = match p.dst.ip() {
        Ip::V4 => (8, 0, 0),
        Ip::V6 => (128, 129, pseudo),
    };
    let kind: u32 = if p.kind == PacketKind::EchoRequest { request } else { reply };
    let mut words = [kind << 24, p.flow.0 << 16 | p.seq & 0xffff];
    let right = finish(more + u64::from(words[0]) + u64::from(words[1]) + payload_sum(0, payload));
    words[0] |= u32::from(right);
    out.words(&words);
    out.payload(0, payload);
}

/// Appends a segment whose payload starts with the value `phase`.
#[inline]
fn tcp(out: &mut Body<'_>, segment: CapturedSegment, pseudo: u64, phase: u8) {
    let payload = segment.payload;
    segment.write(out, finish(pseudo + segment.sum() + payload_sum(phase, payload)));
    out.payload(phase, payload);
}

/// Appends the packet in an Ethernet frame without FCS, as in captures on hosts.
// spec: ieee8023 3.2 - destination, source, type; the payload has at least 46 bytes.
pub fn ethernet(
    out: &mut Body<'_>,
    p: &Headers,
    addresses: [IpAddr; 2],
    [from, to]: [Mac; 2],
    connections: &Connections,
) {
    out.push(&to.0);
    out.push(&from.0);
    out.push(&ethertype(p).to_be_bytes());
    packet(out, p, addresses, connections);
    if let Some(short) = ETHERNET_MIN_PAYLOAD.checked_sub(p.len as usize) {
        out.part(&[0; ETHERNET_MIN_PAYLOAD], short);
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv6Addr;

    use super::super::buffer::Buffer;
    use super::super::fcs::PayloadRegister;
    use super::*;
    use stillair_model::types::{Addr, FlowId, NewPacket, Packets};

    #[test]
    fn a_udp_reply_goes_back_between_the_same_ports() {
        let addresses = [1, 2].map(|n| IpAddr::V4(Ipv4Addr::new(10, 0, 0, n)));
        let ports = |kind| {
            let mut packets = Packets::default();
            let p = packets.create(NewPacket { flow: FlowId(3), len: 88, kind, ..NewPacket::PLAIN });
            let headers = Headers::of(&packets, p);
            let mut bytes = Buffer::default();
            let mut register = PayloadRegister::default();
            let body = &mut Body::new(&mut bytes, 100, &mut register);
            packet(body, &headers, addresses, &Connections::default());
            let bytes = bytes.all();
            assert_eq!((bytes[9], bytes.len()), (17, 88));
            [20, 22].map(|at| u16::from_be_bytes([bytes[at], bytes[at + 1]]))
        };
        assert_eq!(ports(PacketKind::UdpRequest), [49_155, 57_347]);
        assert_eq!(ports(PacketKind::UdpReply), [57_347, 49_155]);
    }

    /// An IPv6 packet of one kind and length.
    fn over_v6(kind: PacketKind, len: u32) -> Vec<u8> {
        let addresses = [1, 2].map(|n| IpAddr::V6(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, n)));
        let [src, dst] = [0, 1].map(|n| Addr(n).of(Ip::V6));
        let mut packets = Packets::default();
        let new =
            NewPacket { len, kind, src, dst, tos: 0xb9, flow_hash: 0xabc1_2345, seq: 7, ..NewPacket::PLAIN };
        let p = packets.create(new);
        let headers = Headers::of(&packets, p);
        assert_eq!(ethertype(&headers), 0x86dd);
        let mut bytes = Buffer::default();
        let mut register = PayloadRegister::default();
        let body = &mut Body::new(&mut bytes, usize::MAX, &mut register);
        packet(body, &headers, addresses, &Connections::default());
        bytes.all().to_vec()
    }

    // spec: rfc8200 3 and 8.1, rfc4443 2.3.
    #[test]
    fn an_echo_over_ipv6() {
        let bytes = over_v6(PacketKind::EchoRequest, 40 + 8 + 56);
        // Traffic class 0xb9 and the lower 20 bits of the hash; 64 bytes of ICMPv6; hop limit 64.
        assert_eq!(bytes[..8], [0x6b, 0x91, 0x23, 0x45, 0, 64, 58, 64]);
        assert_eq!((bytes.len(), bytes[8], bytes[23], bytes[39]), (104, 0xfd, 1, 2));
        assert_eq!((bytes[40], bytes[41], &bytes[46..48]), (128, 0, &[0, 7][..]));
        // The sum over pseudo header and message, including its checksum, is all ones.
        let end = |n| IpAddr::V6(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, n));
        let whole = stillair_ip::checksum::fold(
            stillair_ip::checksum::pseudo(end(1), end(2), ICMPV6, 64) + sum(&bytes[40..]),
        );
        assert_eq!(whole, 0xffff);
        assert_eq!(over_v6(PacketKind::EchoReply, 104)[40], 129);
    }

    #[test]
    fn a_datagram_over_ipv6() {
        let bytes = over_v6(PacketKind::Udp, 40 + 8 + 100);
        assert_eq!(
            (bytes.len(), bytes[6], &bytes[4..6], &bytes[44..46]),
            (148, 17, &[0, 108][..], &[0, 108][..])
        );
        assert_ne!(bytes[46..48], [0, 0], "a checksum must be there");
    }

    // spec: rfc791 3.1, rfc9293 3.1 - headers of 20 and 32 bytes.
    #[test]
    fn captured_packet_of_several_segments_has_one_header_and_the_first_payload() {
        let mut segment = vec![7; 152];
        segment[0] = 0x45;
        segment[9] = TCP;
        segment[32] = 0x80;
        segment[10..12].fill(0);
        let right = finish(sum(&segment[..20])).to_be_bytes();
        segment[10..12].copy_from_slice(&right);
        let sent = [&segment[..], &segment, &segment[..102]].concat();
        let new = NewPacket { len: 406, kind: PacketKind::External, ..NewPacket::PLAIN };
        let mut packets = Packets::default();
        let p = packets.create_segments(new, 9, &sent, 152);
        let kept = Headers::of(&packets, p).keep();
        let (mut bytes, mut register) = (Buffer::default(), PayloadRegister::default());
        let (macs, addresses) = ([Mac::BROADCAST; 2], [IpAddr::V4(Ipv4Addr::UNSPECIFIED); 2]);
        let body = &mut Body::new(&mut bytes, usize::MAX, &mut register);
        ethernet(body, &kept.get(), addresses, macs, &Connections::default());
        let packet = &bytes.all()[14..];
        // 52 bytes of headers, and 100, 100 and 50 bytes of payload.
        assert_eq!((packet.len(), &packet[2..4], packet[8]), (152, &302_u16.to_be_bytes()[..], 9));
        assert_eq!(stillair_ip::checksum::fold(sum(&packet[..20])), 0xffff);
        assert_eq!(packet[20..], segment[20..]);
    }

    #[test]
    fn external_bytes_are_captured_in_their_current_state() {
        let mut sent: Vec<u8> = (0..100).collect();
        sent[0] = 0x60;
        let new = NewPacket { len: 100, tos: 3, kind: PacketKind::External, ..NewPacket::PLAIN };
        let mut packets = Packets::default();
        let p = packets.create_external(new, 9, &sent);
        let kept = Headers::of(&packets, p).keep();
        let mut bytes = Buffer::default();
        let mut register = PayloadRegister::default();
        let (macs, addresses) = ([Mac::BROADCAST; 2], [IpAddr::V4(Ipv4Addr::UNSPECIFIED); 2]);
        let body = &mut Body::new(&mut bytes, usize::MAX, &mut register);
        ethernet(body, &kept.get(), addresses, macs, &Connections::default());
        (sent[0], sent[1], sent[7]) = (0x60, 0x31, 9);
        let bytes = bytes.all();
        assert_eq!((&bytes[12..14], &bytes[14..]), (&[0x86, 0xdd][..], &sent[..]));
    }
}
