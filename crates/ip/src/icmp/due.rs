//! Conditions for sending an ICMP error.

use core::net::IpAddr;

use crate::parse::{ICMP, ICMPV6, PacketView};

/// Returns true if an error about a packet may be sent to its source. "Packet too big" is sent even for an
/// IPv6 multicast destination.
// spec: rfc1812 4.3.2.7, rfc1122 3.2.2 - no error about an ICMP error, a packet to more than one host, a
// later fragment, or a packet whose source is not a single host. spec: rfc4443 2.4(e) - the same for IPv6,
// except that later fragments are allowed and redirects are not.
// linux: net/ipv4/icmp.c __icmp_send (6.12) - treats an unknown or missing type as an error.
// linux: net/ipv6/icmp.c is_ineligible (6.12) - cannot tell whether a later fragment is an error.
pub fn is_due(packet: &[u8], view: &PacketView, too_big: bool) -> bool {
    let kind = packet[view.header..view.length].first();
    let (later, about_error) = match (view.source, view.protocol) {
        (IpAddr::V4(_), ICMP) => (view.is_later_fragment(), kind.is_none_or(|kind| !is_query(*kind))),
        (IpAddr::V4(_), _) => (view.is_later_fragment(), false),
        (IpAddr::V6(_), ICMPV6) => {
            let error = kind.is_none_or(|&kind| kind < 128 || kind == REDIRECT);
            (false, error && !view.is_later_fragment())
        }
        (IpAddr::V6(_), _) => (false, false),
    };
    let to_one = match view.destination {
        IpAddr::V6(group) if group.is_multicast() => too_big,
        one => is_one_host(one),
    };
    !later && !about_error && to_one && is_one_host(view.source)
}

/// ICMPv6 redirect.
// spec: rfc4861 4.5.
const REDIRECT: u8 = 137;

/// Returns true if the ICMP type is a query or a reply.
// linux: net/ipv4/icmp.c icmp_pointers (6.12) - echo, timestamp, information and address mask. spec: rfc1256
// 3.1 - and router discovery.
fn is_query(kind: u8) -> bool {
    matches!(kind, 0 | 8..=10 | 13..=18)
}

/// Returns true if an address can belong to a single host.
// spec: rfc1812 4.3.2.7 - not "this network", loopback, multicast, broadcast, or class E. spec: rfc4443
// 2.4(e.6).
// deviation: a subnet-directed broadcast is not recognized from its address - the caller knows the subnet,
// and must not request an error then.
pub fn is_one_host(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(a) => {
            let first = a.octets()[0];
            first != 0 && !a.is_loopback() && first < 224
        }
        IpAddr::V6(a) => !a.is_unspecified() && !a.is_multicast(),
    }
}
