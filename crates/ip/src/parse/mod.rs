//! Parses the headers of a packet in one pass, without copies.

mod malformed;
mod v4;
mod v6;

use core::net::IpAddr;

pub use malformed::Malformed;
pub use v4::HEADER as IPV4_HEADER;
pub use v6::HEADER as IPV6_HEADER;

/// Protocol number of ICMP.
pub const ICMP: u8 = 1;
/// Protocol number of TCP.
pub const TCP: u8 = 6;
/// Protocol number of UDP.
pub const UDP: u8 = 17;
/// Protocol number of ICMPv6.
pub const ICMPV6: u8 = 58;

/// The header fields of a packet. Bytes of the buffer after the packet's length, such as Ethernet padding,
/// are ignored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketView {
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// IPv4 TOS byte or IPv6 traffic class: DSCP in the upper six bits, ECN in the lower two.
    pub tos: u8,
    /// IPv4 TTL or IPv6 hop limit.
    pub ttl: u8,
    /// Protocol number after the IP headers. In a later IPv6 fragment: the first header of the fragmented
    /// part, which may be an extension header.
    pub protocol: u8,
    /// Length in bytes, including the IP header.
    pub length: usize,
    /// Offset of the first byte after the IP headers.
    pub header: usize,
    /// True if routers must not fragment the packet: the DF bit of IPv4; always true for IPv6.
    pub dont_fragment: bool,
    /// Fragment information. `None` if the packet is not a fragment.
    pub fragment: Option<Fragment>,
    /// TCP or UDP ports. `None` in a later fragment, or if the transport header is cut off before their end,
    /// which IP allows.
    pub ports: Option<Ports>,
}

/// Position of a fragment in its packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fragment {
    /// Identification shared by all fragments of a packet; 16 bits in IPv4.
    pub identification: u32,
    /// Offset in bytes.
    pub offset: u16,
    /// More fragments follow.
    pub more: bool,
}

/// TCP or UDP ports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ports {
    /// Source port.
    pub source: u16,
    /// Destination port.
    pub destination: u16,
}

/// IP version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IpVersion {
    /// Version 4.
    V4,
    /// Version 6.
    V6,
}

impl PacketView {
    /// Returns true for a fragment other than the first, which has no transport header.
    #[must_use]
    pub fn is_later_fragment(&self) -> bool {
        self.fragment.is_some_and(|f| f.offset > 0)
    }
}

/// Parses a packet that starts with its IP header.
///
/// # Errors
/// Returns the first error found. Checksums are not verified.
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

/// IP version of a packet with a complete fixed header.
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

fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}
