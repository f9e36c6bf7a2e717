//! Builds packets from their fields.

use std::net::IpAddr;

use stillair_ip::checksum;
use stillair_ip::parse::{ICMP, ICMPV6, TCP, UDP};

/// The fields of a packet.
#[derive(Clone, Debug)]
pub struct Ip {
    pub source: IpAddr,
    pub destination: IpAddr,
    pub tos: u8,
    pub ttl: u8,
    pub id: u16,
    pub dont_fragment: bool,
    /// IPv4 options, in whole words, or IPv6 extension headers with their type.
    pub options: Vec<u8>,
    pub extensions: Vec<(u8, Vec<u8>)>,
    pub protocol: u8,
    pub body: Vec<u8>,
}

impl Ip {
    pub fn new(source: &str, destination: &str, protocol: u8, body: Vec<u8>) -> Self {
        let address = |text: &str| text.parse().expect("an address");
        Self {
            source: address(source),
            destination: address(destination),
            tos: 0,
            ttl: 64,
            id: 1,
            dont_fragment: true,
            options: Vec::new(),
            extensions: Vec::new(),
            protocol,
            body,
        }
    }

    /// Builds the packet, with correct checksums.
    pub fn bytes(&self) -> Vec<u8> {
        let mut body = self.body.clone();
        let pseudo = checksum::pseudo(self.source, self.destination, self.protocol, body.len());
        let (field, right) = match self.protocol {
            TCP => (checksum::TCP_FIELD, checksum::transport(pseudo, &body, checksum::TCP_FIELD)),
            UDP => (checksum::UDP_FIELD, checksum::udp(pseudo, &body)),
            ICMP => (checksum::ICMP_FIELD, checksum::icmp(&body)),
            ICMPV6 => (checksum::ICMP_FIELD, checksum::transport(pseudo, &body, checksum::ICMP_FIELD)),
            _ => (usize::MAX, 0),
        };
        if let Some(at) = body.get_mut(field..field.saturating_add(2)) {
            at.copy_from_slice(&right.to_be_bytes());
        }
        self.with(&body, [0, 0])
    }

    /// Builds the packet with another body and the given IPv4 flags and fragment offset; IPv6 has no such
    /// field.
    pub fn with(&self, body: &[u8], part: [u8; 2]) -> Vec<u8> {
        match (self.source, self.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                let header = 20 + self.options.len();
                let mut out = vec![0; 12];
                out[0] = 0x40 | (header / 4) as u8;
                out[1] = self.tos;
                out[2..4].copy_from_slice(&((header + body.len()) as u16).to_be_bytes());
                out[4..6].copy_from_slice(&self.id.to_be_bytes());
                out[6..8].copy_from_slice(&[part[0] | u8::from(self.dont_fragment) << 6, part[1]]);
                out[8..10].copy_from_slice(&[self.ttl, self.protocol]);
                out.extend(source.octets());
                out.extend(destination.octets());
                out.extend(&self.options);
                let right = checksum::ipv4_header(&out);
                out[10..12].copy_from_slice(&right.to_be_bytes());
                out.extend(body);
                out
            }
            (IpAddr::V6(source), IpAddr::V6(destination)) => {
                let more: usize = self.extensions.iter().map(|(_, bytes)| bytes.len()).sum();
                let mut out = vec![0x60 | self.tos >> 4, self.tos << 4, 0, 0];
                out.extend(((more + body.len()) as u16).to_be_bytes());
                let mut kinds = self.extensions.iter().map(|&(kind, _)| kind).chain([self.protocol]);
                out.extend([kinds.next().expect("the protocol"), self.ttl]);
                out.extend(source.octets());
                out.extend(destination.octets());
                for ((_, bytes), next) in self.extensions.iter().zip(kinds) {
                    out.push(next);
                    out.extend(&bytes[1..]);
                }
                out.extend(body);
                out
            }
            _ => panic!("two versions of IP"),
        }
    }
}

/// A TCP segment without its checksum.
#[derive(Clone, Debug)]
pub struct Tcp {
    pub ports: [u16; 2],
    pub seq: u32,
    pub ack: u32,
    pub flags: u8,
    pub window: u16,
    /// Options, in whole words.
    pub options: Vec<u8>,
    pub data: Vec<u8>,
}

pub const ACK: u8 = 0x10;

impl Tcp {
    pub fn new(ports: [u16; 2], seq: u32, data: Vec<u8>) -> Self {
        Self { ports, seq, ack: 77, flags: ACK, window: 500, options: Vec::new(), data }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut out: Vec<u8> = self.ports.iter().flat_map(|p| p.to_be_bytes()).collect();
        out.extend(self.seq.to_be_bytes());
        out.extend(self.ack.to_be_bytes());
        out.extend([((20 + self.options.len()) / 4 * 16) as u8, self.flags]);
        out.extend(self.window.to_be_bytes());
        out.extend([0; 4]);
        out.extend(&self.options);
        out.extend(&self.data);
        out
    }
}

/// A UDP datagram without its checksum.
pub fn udp(ports: [u16; 2], data: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> = ports.iter().flat_map(|p| p.to_be_bytes()).collect();
    out.extend(((8 + data.len()) as u16).to_be_bytes());
    out.extend([0; 2]);
    out.extend(data);
    out
}

/// An echo message without its checksum.
pub fn echo(kind: u8, data: &[u8]) -> Vec<u8> {
    let mut out = vec![kind, 0, 0, 0, 0x12, 0x34, 0, 7];
    out.extend(data);
    out
}
