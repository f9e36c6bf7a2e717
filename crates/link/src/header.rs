//! The IPv4 and UDP headers that a link adds to a datagram and removes on arrival.

use std::net::{IpAddr, Ipv4Addr};

use stillair_ip::checksum;

use crate::datagram::Payload;

/// Length of both headers in bytes.
pub(crate) const BYTES: usize = 28;
/// Time to live of packets.
// linux: net/ipv4/ip_output.c, include/net/route.h IPDEFTTL (6.12).
pub(crate) const TTL: u8 = 64;

/// Writes the packet of a datagram to `packet`, replacing its content.
// spec: rfc791 3.1 - no options. spec: rfc6864 4.1 - the identification of an atomic datagram has no
// meaning. spec: rfc768.
// linux: net/ipv4/ip_output.c (6.12) - sets "do not fragment", because path MTU discovery is on by default.
pub(crate) fn write(
    packet: &mut Vec<u8>,
    ips: [Ipv4Addr; 2],
    ports: [u16; 2],
    tos: u8,
    payload: Payload<'_>,
) {
    let bytes = BYTES + payload.len();
    let [length, of_udp] = [bytes, bytes - 20].map(|n| (n as u16).to_be_bytes());
    let mut header = [0_u8; BYTES];
    header[..12].copy_from_slice(&[0x45, tos, length[0], length[1], 0, 0, 0x40, 0, TTL, 17, 0, 0]);
    header[12..16].copy_from_slice(&ips[0].octets());
    header[16..20].copy_from_slice(&ips[1].octets());
    let right = checksum::ipv4_header(&header[..20]);
    header[10..12].copy_from_slice(&right.to_be_bytes());
    header[20..22].copy_from_slice(&ports[0].to_be_bytes());
    header[22..24].copy_from_slice(&ports[1].to_be_bytes());
    header[24..26].copy_from_slice(&of_udp);
    packet.clear();
    packet.extend_from_slice(&header);
    match payload {
        Payload::Bytes(all) => packet.extend_from_slice(all),
        Payload::Length(_) => packet.resize(bytes, 0),
    }
    // Zeros do not change the sum.
    let summed = if let Payload::Bytes(_) = payload { bytes } else { BYTES };
    let pseudo = checksum::pseudo(IpAddr::V4(ips[0]), IpAddr::V4(ips[1]), 17, bytes - 20);
    let right = checksum::udp(pseudo, &packet[20..summed]);
    packet[26..28].copy_from_slice(&right.to_be_bytes());
}

/// Source and destination port of a packet.
pub(crate) fn ports(packet: &[u8]) -> [u16; 2] {
    [20, 22].map(|at| u16::from_be_bytes([packet[at], packet[at + 1]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packet_is_valid_udp() {
        let (from, to) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
        let mut packet = vec![9; 3];
        for payload in [Payload::Bytes(b"quick"), Payload::Bytes(&[]), Payload::Length(1_472)] {
            write(&mut packet, [from, to], [7, 443], 0xb9, payload);
            let view = stillair_ip::parse(&packet).expect("a packet");
            assert_eq!((view.length, view.protocol, view.tos, view.ttl), (28 + payload.len(), 17, 0xb9, 64));
            assert_eq!((view.source, view.destination), (from.into(), to.into()));
            assert!(view.dont_fragment && checksum::ipv4_header_holds(&packet[..20]));
            let pseudo = checksum::pseudo(view.source, view.destination, 17, 8 + payload.len());
            assert!(checksum::holds(pseudo + checksum::sum(&packet[20..])));
            assert_eq!(ports(&packet), [7, 443]);
        }
    }
}
