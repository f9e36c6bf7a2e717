//! Echo replies.

use core::net::IpAddr;

use super::HEADER;
use super::due::is_one_host;
use super::write::{IcmpPath, Message, write};
use crate::checksum::{holds, pseudo, sum};
use crate::error::Error;
use crate::parse::{ICMP, ICMPV6, parse};

/// Writes the reply to an echo request into `out` and returns its length. Returns `None` if the packet is not
/// a request that should be answered. The source is the destination of the request, or `own` if that is an
/// IPv6 multicast address.
///
/// # Errors
/// The packet is malformed, `own` has the other IP version, or the buffer is too small.
// spec: rfc792 (echo), rfc4443 4.2 - swap the addresses, change the type, and copy identifier, sequence
// number and data.
// spec: rfc1122 3.2.2.6 - an IPv4 request to a multicast or broadcast address is not answered; an IPv6
// request to a multicast address is (rfc4443 4.2).
// linux: net/ipv4/icmp.c icmp_reply, net/ipv6/icmp.c icmpv6_echo_reply (6.12) - use the request's TOS,
// including its ECN bits. Requests with a wrong checksum are dropped before.
// deviation: IPv4 options are omitted, while Linux returns a recorded route. Fragments are not reassembled.
pub fn echo_reply(request: &[u8], own: IpAddr, out: &mut [u8]) -> Result<Option<usize>, Error> {
    let view = parse(request)?;
    if own.is_ipv4() != view.source.is_ipv4() {
        return Err(Error::Version);
    }
    let body = &request[view.header..view.length];
    let (request, reply, pseudo) = match view.source {
        IpAddr::V4(_) => ((ICMP, 8), 0, 0),
        IpAddr::V6(_) => ((ICMPV6, 128), 129, pseudo(view.source, view.destination, ICMPV6, body.len())),
    };
    if view.fragment.is_some() || body.len() < HEADER || (view.protocol, body[0]) != request {
        return Ok(None);
    }
    if !holds(pseudo + sum(body)) || !is_one_host(view.source) {
        return Ok(None);
    }
    let from = match view.destination {
        IpAddr::V6(group) if group.is_multicast() => own,
        one if is_one_host(one) => one,
        _ => return Ok(None),
    };
    let message =
        Message { kind: [reply, body[1]], rest: [body[4], body[5], body[6], body[7]], tos: view.tos };
    write(out, IcmpPath::new(from, view.source)?, &message, &body[HEADER..]).map(Some)
}
