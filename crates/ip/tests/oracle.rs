//! Cross-check of the parser with etherparse.

mod common;

use std::net::IpAddr;

use common::random;
use etherparse::{IpSlice, NetSlice, SlicedPacket, TransportSlice};
use proptest::prelude::*;
use stillair_ip::checksum;
use stillair_ip::parse::{Ports, TCP, UDP, parse};

/// Addresses; TOS, TTL and protocol; offset of the transport header; ports.
type Said = ([IpAddr; 2], [u8; 3], usize, Option<Ports>);

/// Fields of a packet as parsed by etherparse.
fn theirs(packet: &[u8]) -> Option<Said> {
    let sliced = SlicedPacket::from_ip(packet).ok()?;
    let (tos, ttl) = match sliced.net.as_ref()? {
        NetSlice::Ipv4(ip) => (ip.header().dcp().value() << 2 | ip.header().ecn().value(), ip.header().ttl()),
        NetSlice::Ipv6(ip) => (ip.header().traffic_class(), ip.header().hop_limit()),
        NetSlice::Arp(_) => return None,
    };
    let ip = IpSlice::from_slice(packet).ok()?;
    let ports = match &sliced.transport {
        Some(TransportSlice::Tcp(tcp)) => Some((tcp.source_port(), tcp.destination_port())),
        Some(TransportSlice::Udp(udp)) => Some((udp.source_port(), udp.destination_port())),
        _ => None,
    };
    let ports = ports.map(|(source, destination)| Ports { source, destination });
    let header = packet.len() - ip.payload().payload.len();
    let protocol = ip.payload_ip_number().0;
    Some(([ip.source_addr(), ip.destination_addr()], [tos, ttl, protocol], header, ports))
}

proptest! {
    #[test]
    fn both_parse_the_same_fields(packet in random::packet()) {
        let view = parse(&packet).map_err(|e| TestCaseError::fail(e.to_string()))?;
        // etherparse accepts a hop-by-hop options header only at the beginning; RFC 8200 makes nodes accept
        // it anywhere.
        if let Some(theirs) = theirs(&packet) {
            let fields = [view.tos, view.ttl, view.protocol];
            let ours: Said = ([view.source, view.destination], fields, view.header, view.ports);
            prop_assert_eq!(ours, theirs);
        } else {
            // etherparse does not parse ICMP timestamp messages of a length other than in RFC 792.
            let timestamp = view.protocol == 1 && matches!(packet[view.header..], [13 | 14, 0, ..]);
            prop_assert!(timestamp || packet[0] >> 4 == 6 && view.header > 48, "refused: {:02x?}", packet);
        }
    }

    #[test]
    fn both_compute_the_same_checksums(packet in random::packet()) {
        let view = parse(&packet).map_err(|e| TestCaseError::fail(e.to_string()))?;
        let Ok(sliced) = SlicedPacket::from_ip(&packet) else { return Ok(()) };
        if let Some(NetSlice::Ipv4(ip)) = &sliced.net {
            prop_assert_eq!(checksum::ipv4_header(&packet[..view.header]), ip.header().to_header().calc_header_checksum());
        }
        let body = &packet[view.header..];
        let pseudo = checksum::pseudo(view.source, view.destination, view.protocol, body.len());
        let theirs = match (&sliced.transport, view.source, view.destination) {
            (Some(TransportSlice::Tcp(tcp)), IpAddr::V4(a), IpAddr::V4(b)) => {
                tcp.calc_checksum_ipv4(a.octets(), b.octets()).ok()
            }
            (Some(TransportSlice::Tcp(tcp)), IpAddr::V6(a), IpAddr::V6(b)) => {
                tcp.calc_checksum_ipv6(a.octets(), b.octets()).ok()
            }
            (Some(TransportSlice::Udp(udp)), IpAddr::V4(a), IpAddr::V4(b)) => {
                udp.to_header().calc_checksum_ipv4_raw(a.octets(), b.octets(), udp.payload()).ok()
            }
            (Some(TransportSlice::Udp(udp)), IpAddr::V6(a), IpAddr::V6(b)) => {
                udp.to_header().calc_checksum_ipv6_raw(a.octets(), b.octets(), udp.payload()).ok()
            }
            _ => return Ok(()),
        };
        let ours = match view.protocol {
            TCP => checksum::transport(pseudo, body, checksum::TCP_FIELD),
            UDP => checksum::udp(pseudo, body),
            _ => return Ok(()),
        };
        prop_assert_eq!(Some(ours), theirs);
    }
}
