//! ICMP errors about packets that could not be delivered.

use core::net::IpAddr;

use super::HEADER;
use super::due::is_due;
use super::write::{IcmpPath, Message, write};
use crate::error::Error;
use crate::parse::{IPV4_HEADER, IPV6_HEADER, parse};

/// Maximum length of an error over IPv4, in bytes.
// spec: rfc1812 4.3.2.3.
const LONGEST_V4: usize = 576;
/// Maximum length of an error over IPv6, in bytes: the minimum IPv6 MTU.
// spec: rfc4443 2.4(c).
pub const LONGEST_V6: usize = 1280;

/// Reason why a packet could not be delivered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Problem {
    /// Its TTL or hop limit expired.
    TimeExceeded,
    /// Its destination is unreachable.
    Unreachable(Unreachable),
    /// The packet is too big for the next link, and must not be fragmented.
    TooBig {
        /// MTU of the link in bytes.
        mtu: u32,
    },
}

/// Reason why a destination is unreachable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unreachable {
    /// No route.
    NoRoute,
    /// The host does not answer on its link.
    Host,
    /// No listener on its port.
    Port,
    /// Prohibited by a filter.
    Prohibited,
}

/// Writes an error about a packet into `out`, from the address `own` to the packet's source, quoting the
/// packet, and returns its length. Returns `None` if no error may be sent: about errors, for packets from or
/// to more than one host, for later IPv4 fragments, and for a packet that is too big but may be fragmented.
///
/// # Errors
/// The packet is malformed, `own` has the other IP version, or the buffer is too small;
/// [`LONGEST_ERROR`](super::LONGEST_ERROR) bytes are enough.
// spec: rfc792, rfc1812 4.3.3, 5.2.7 - types and codes over IPv4; rfc1191 4 - the MTU in the second half of
// the unused field.
// spec: rfc4443 3.1 to 3.3 - over IPv6.
// linux: net/ipv4/icmp.c __icmp_send (6.12) - combines internetwork control precedence (rfc1812 4.3.2.5) with
// the packet's TOS bits, which include the upper ECN bit; net/ipv6/icmp.c icmp6_send (6.12) - uses a traffic
// class of zero.
pub fn error(problem: Problem, packet: &[u8], own: IpAddr, out: &mut [u8]) -> Result<Option<usize>, Error> {
    let view = parse(packet)?;
    let path = IcmpPath::new(own, view.source)?;
    let too_big = matches!(problem, Problem::TooBig { .. });
    if too_big && !view.dont_fragment || !is_due(packet, &view, too_big) {
        return Ok(None);
    }
    let (kind, rest, tos, most) = match path {
        IcmpPath::V4(..) => {
            let mtu = |mtu: u32| u32::from(u16::try_from(mtu).unwrap_or(u16::MAX)).to_be_bytes();
            let (kind, rest) = match problem {
                Problem::TimeExceeded => ([11, 0], [0; 4]),
                Problem::Unreachable(Unreachable::NoRoute) => ([3, 0], [0; 4]),
                Problem::Unreachable(Unreachable::Host) => ([3, 1], [0; 4]),
                Problem::Unreachable(Unreachable::Port) => ([3, 3], [0; 4]),
                Problem::Unreachable(Unreachable::Prohibited) => ([3, 13], [0; 4]),
                Problem::TooBig { mtu: bytes } => ([3, 4], mtu(bytes)),
            };
            (kind, rest, view.tos & 0x1e | 0xc0, LONGEST_V4 - IPV4_HEADER - HEADER)
        }
        IcmpPath::V6(..) => {
            let (kind, rest) = match problem {
                Problem::TimeExceeded => ([3, 0], [0; 4]),
                Problem::Unreachable(Unreachable::NoRoute) => ([1, 0], [0; 4]),
                Problem::Unreachable(Unreachable::Prohibited) => ([1, 1], [0; 4]),
                Problem::Unreachable(Unreachable::Host) => ([1, 3], [0; 4]),
                Problem::Unreachable(Unreachable::Port) => ([1, 4], [0; 4]),
                Problem::TooBig { mtu } => ([2, 0], mtu.to_be_bytes()),
            };
            (kind, rest, 0, LONGEST_V6 - IPV6_HEADER - HEADER)
        }
    };
    let quote = &packet[..view.length.min(most)];
    write(out, path, &Message { kind, rest, tos }, quote).map(Some)
}
