//! Builds an ICMP message and its IP packet.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::HEADER;
use crate::checksum::{ICMP_FIELD, icmp, ipv4_header, pseudo, transport};
use crate::error::Error;
use crate::parse::{ICMP, ICMPV6, IPV4_HEADER, IPV6_HEADER};

/// TTL of packets that a node originates.
// linux: include/uapi/linux/ip.h IPDEFTTL, include/net/ipv6.h IPV6_DEFAULT_HOPLIMIT (6.12).
const TTL: u8 = 64;

/// Source and destination, both of the same IP version.
#[derive(Clone, Copy)]
pub enum IcmpPath {
    V4(Ipv4Addr, Ipv4Addr),
    V6(Ipv6Addr, Ipv6Addr),
}

impl IcmpPath {
    pub fn new(source: IpAddr, destination: IpAddr) -> Result<Self, Error> {
        match (source, destination) {
            (IpAddr::V4(a), IpAddr::V4(b)) => Ok(Self::V4(a, b)),
            (IpAddr::V6(a), IpAddr::V6(b)) => Ok(Self::V6(a, b)),
            _ => Err(Error::Version),
        }
    }
}

/// Header fields of a message.
pub struct Message {
    /// Type and code.
    pub kind: [u8; 2],
    /// The four bytes after the checksum: identifier and sequence number, or the error's parameter.
    pub rest: [u8; 4],
    /// TOS or traffic class.
    pub tos: u8,
}

/// Writes a packet with a message and its data. Returns its length.
// deviation: IPv4 has DF set and identification zero, which is correct for a packet that must not be
// fragmented (rfc6864 4.1) - Linux allows replies to be fragmented and counts identifications. The flow label
// is zero - Linux computes one from a hash.
pub fn write(out: &mut [u8], path: IcmpPath, message: &Message, data: &[u8]) -> Result<usize, Error> {
    let header = match path {
        IcmpPath::V4(..) => IPV4_HEADER,
        IcmpPath::V6(..) => IPV6_HEADER,
    };
    let length = HEADER + data.len();
    let needed = header + length;
    let out = out.get_mut(..needed).ok_or(Error::Room { needed })?;
    let (ip, body) = out.split_at_mut(header);
    ip.fill(0);
    body[..2].copy_from_slice(&message.kind);
    body[2..4].fill(0);
    body[4..8].copy_from_slice(&message.rest);
    body[8..].copy_from_slice(data);
    let right = match path {
        IcmpPath::V4(source, destination) => {
            ip[..2].copy_from_slice(&[0x45, message.tos]);
            ip[2..4].copy_from_slice(&(needed as u16).to_be_bytes());
            ip[6..10].copy_from_slice(&[0x40, 0, TTL, ICMP]);
            ip[12..16].copy_from_slice(&source.octets());
            ip[16..20].copy_from_slice(&destination.octets());
            let right = ipv4_header(ip);
            ip[10..12].copy_from_slice(&right.to_be_bytes());
            icmp(body)
        }
        IcmpPath::V6(source, destination) => {
            ip[..2].copy_from_slice(&[0x60 | message.tos >> 4, message.tos << 4]);
            ip[4..8].copy_from_slice(&[(length >> 8) as u8, length as u8, ICMPV6, TTL]);
            ip[8..24].copy_from_slice(&source.octets());
            ip[24..40].copy_from_slice(&destination.octets());
            // spec: rfc4443 2.3 - with a pseudo-header.
            transport(pseudo(source.into(), destination.into(), ICMPV6, length), body, ICMP_FIELD)
        }
    };
    body[ICMP_FIELD..ICMP_FIELD + 2].copy_from_slice(&right.to_be_bytes());
    Ok(needed)
}
