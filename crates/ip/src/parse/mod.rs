//! What a packet says of itself: one look over its headers, without a copy.

mod malformed;
mod v4;
mod v6;

use core::net::IpAddr;

pub use malformed::Malformed;
pub use v4::HEADER as IPV4_HEADER;
pub use v6::HEADER as IPV6_HEADER;

/// ICMP's number as a protocol.
pub const ICMP: u8 = 1;
/// TCP's number as a protocol.
pub const TCP: u8 = 6;
/// UDP's number as a protocol.
pub const UDP: u8 = 17;
/// ICMPv6's number as a protocol.
pub const ICMPV6: u8 = 58;

/// What the headers of a packet say. Bytes of the buffer beyond the packet's length, such as padding of Ethernet, are not its.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketView {
    /// Where it comes from.
    pub source: IpAddr,
    /// Where it goes to.
    pub destination: IpAddr,
    /// IPv4's type of service, IPv6's traffic class: DSCP in the upper six bits, ECN in the lower two.
    pub tos: u8,
    /// IPv4's time to live, IPv6's hop limit.
    pub ttl: u8,
    /// Number of what follows the IP headers. In a later fragment of IPv6 it is that of the first header of the part that was
    /// fragmented, which may be an extension header.
    pub protocol: u8,
    /// Bytes from the IP header on.
    pub length: usize,
    /// Where what follows the IP headers begins.
    pub header: usize,
    /// Whether routers may not fragment it: IPv4's bit; of IPv6, always.
    pub dont_fragment: bool,
    /// Which part of a packet it is, if it is not a whole one.
    pub fragment: Option<Fragment>,
    /// Ports of TCP and UDP, unless it is a later fragment or its transport header is cut before their end. IP carries such a
    /// packet all the same.
    pub ports: Option<Ports>,
}

/// Which part of a packet a fragment is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fragment {
    /// What all fragments of a packet have in common; 16 bits in IPv4.
    pub identification: u32,
    /// Bytes of the packet before its own.
    pub offset: u16,
    /// Whether there are bytes of the packet behind its own.
    pub more: bool,
}

/// Ports of TCP or UDP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ports {
    /// The sender's.
    pub source: u16,
    /// The receiver's.
    pub destination: u16,
}

/// Version of IP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IpVersion {
    /// Version 4.
    V4,
    /// Version 6.
    V6,
}

impl PacketView {
    /// Whether it is a fragment but the first: without a transport header.
    #[must_use]
    pub fn is_later_fragment(&self) -> bool {
        self.fragment.is_some_and(|f| f.offset > 0)
    }
}

/// Looks at a packet that begins with its IP header.
///
/// # Errors
/// The first thing that is wrong with it. Checksums are not looked at.
pub fn parse(packet: &[u8]) -> Result<PacketView, Malformed> {
    let mut view = match version(packet)? {
        IpVersion::V4 => v4::view(packet)?,
        IpVersion::V6 => v6::view(packet)?,
    };
    if matches!(view.protocol, TCP | UDP) && !view.is_later_fragment() {
        view.ports = packet[view.header..view.length].first_chunk().map(|&[a, b, c, d]| Ports {
            source: u16::from_be_bytes([a, b]),
            destination: u16::from_be_bytes([c, d]),
        });
    }
    Ok(view)
}

/// Version of a packet whose fixed header is there.
///
/// # Errors
/// `Truncated` or `Version`.
pub fn version(packet: &[u8]) -> Result<IpVersion, Malformed> {
    let truncated = Malformed::Truncated { bytes: packet.len() };
    let (version, header) = match packet.first().ok_or(truncated)? >> 4 {
        4 => (IpVersion::V4, IPV4_HEADER),
        6 => (IpVersion::V6, IPV6_HEADER),
        other => return Err(Malformed::Version(other)),
    };
    if packet.len() < header { Err(truncated) } else { Ok(version) }
}

/// Two bytes as the network orders them.
fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}
