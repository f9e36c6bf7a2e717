//! Whether an error may be sent about a packet.

use core::net::IpAddr;

use crate::parse::{ICMP, ICMPV6, PacketView};

/// Whether an error may be sent to the sender of a packet. "Packet too big" is sent even for an IPv6
/// multicast destination.
// spec: rfc1812 4.3.2.7, rfc1122 3.2.2 - none about an error of ICMP, a packet to more than one host, a later
// fragment, or one whose source is not one host. spec: rfc4443 2.4(e) - the same for IPv6, but for later
// fragments, and about no redirect.
// linux: net/ipv4/icmp.c __icmp_send (6.12) - what has a type that is not known counts as an error, and what
// has none.
// linux: net/ipv6/icmp.c is_ineligible (6.12) - of a later fragment nobody knows whether it is an error.
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

/// ICMPv6's redirect.
// spec: rfc4861 4.5.
const REDIRECT: u8 = 137;

/// Whether a type of ICMP asks or answers.
// linux: net/ipv4/icmp.c icmp_pointers (6.12) - echo, timestamp, information and address mask. spec: rfc1256
// 3.1 - and what looks for routers.
fn is_query(kind: u8) -> bool {
    matches!(kind, 0 | 8..=10 | 13..=18)
}

/// Whether an address can be that of one host.
// spec: rfc1812 4.3.2.7 - not of this network, a loop, a group, all, or class E. spec: rfc4443 2.4(e.6).
// deviation: that all hosts of a subnet are meant cannot be told from an address - the caller, who knows the
// subnet, does not ask then.
pub fn is_one_host(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(a) => {
            let first = a.octets()[0];
            first != 0 && !a.is_loopback() && first < 224
        }
        IpAddr::V6(a) => !a.is_unspecified() && !a.is_multicast(),
    }
}
