//! The two classifications of a packet: the whole TOS byte selects the qdisc's band, the DSCP selects the
//! access category.

use crate::types::{Ip, Packet};

/// Kernel priority by bits 1 to 4 of the TOS byte.
// linux: net/ipv4/route.c ip_tos2prio (4.4) - best effort, bulk, interactive, interactive bulk. ECT(0) alone
// is best effort; until 2.6.38 it was filler, behind best effort.
const TOS_TO_PRIO: [u8; 16] = [0, 0, 0, 0, 2, 2, 2, 2, 6, 6, 6, 6, 4, 4, 4, 4];

/// Kernel priority of a TOS byte (as `rt_tos2priority`).
#[inline]
pub const fn priority(tos: u8) -> u8 {
    TOS_TO_PRIO[((tos >> 1) & 15) as usize]
}

/// Mapping from DSCP to 802.1D user priority, which is also the TID.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DscpToUp {
    /// The upper three bits of the DSCP: EF becomes 5 (AC_VI), like CS5.
    // linux: net/wireless/util.c cfg80211_classify8021d (4.4).
    Precedence,
    /// Like `Precedence`, with the exceptions of RFC 8325: EF becomes 6 (AC_VO).
    // linux: net/wireless/util.c cfg80211_classify8021d (6.12) - commit 6fdb8b8781d5 (6.8), and a68b22e2905b
    // (6.12, and stable kernels) for AF3x, which mapped to 3 before.
    // spec: rfc8325 4 - recommended mapping of service classes.
    Rfc8325,
}

impl DscpToUp {
    /// Traffic identifier for a TOS byte.
    #[inline]
    pub const fn tid(self, tos: u8) -> u8 {
        match self {
            Self::Precedence => tos >> 5,
            Self::Rfc8325 => RFC8325[(tos >> 2) as usize],
        }
    }
}

/// User priority by DSCP.
// spec: rfc8325 4.2 and 4.3 - VA and EF; AF1x, CS2, AF2x, CS3 and AF3x; 4.1 - CS6.
// deviation: code points without a class in the RFC map to their upper three bits, and CS7 to 7 - as in
// Linux.
const RFC8325: [u8; 64] = {
    let mut up = [0; 64];
    let mut dscp = 0;
    while dscp < up.len() {
        up[dscp] = match dscp {
            10 | 12 | 14 | 16 => 0,
            18 | 20 | 22 => 3,
            24 | 26 | 28 | 30 => 4,
            44 | 46 => 6,
            48 => 7,
            _ => dscp as u8 >> 3,
        };
        dscp += 1;
    }
    up
};

/// Writes priority and TID into the packet, as forwarding and local output do. An IPv6 traffic class does not
/// set the priority, so it selects no band.
// linux: net/ipv4/ip_forward.c ip_forward, net/ipv4/ip_sockglue.c IP_TOS (4.4) - set the priority from the
// TOS byte; net/ipv6/ip6_output.c ip6_forward, ipv6_sockglue.c IPV6_TCLASS (4.4) - do not;
// net/wireless/util.c cfg80211_classify8021d - uses the DSCP of both.
// deviation: the priority of an IPv6 packet received over Wi-Fi is zero - in Linux it keeps the TID that
// mac80211 has written there.
#[inline]
pub fn classify(p: &mut Packet, mapping: DscpToUp) {
    p.prio = if p.dst.ip() == Ip::V4 { priority(p.tos) } else { 0 };
    p.tid = mapping.tid(p.tos);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Ac;
    use alloc::vec::Vec;

    #[test]
    fn the_marks_of_rrul() {
        // TOS byte, priority, access category by both mappings: CS0, CS1, CS5, EF, CS6, and minimise-delay.
        let table = [
            (0x00, 0, Ac::Be, Ac::Be),
            (0x20, 0, Ac::Bk, Ac::Bk),
            (0xa0, 0, Ac::Vi, Ac::Vi),
            (0xb8, 4, Ac::Vi, Ac::Vo),
            (0xc0, 0, Ac::Vo, Ac::Vo),
            (0x10, 6, Ac::Be, Ac::Be),
            // ECT(0), and CE.
            (0x02, 0, Ac::Be, Ac::Be),
            (0x03, 0, Ac::Be, Ac::Be),
        ];
        for (tos, prio, old, new) in table {
            let ac = |mapping: DscpToUp| Ac::of_tid(mapping.tid(tos));
            let found = (priority(tos), ac(DscpToUp::Precedence), ac(DscpToUp::Rfc8325));
            assert_eq!(found, (prio, old, new), "TOS {tos:#x}");
        }
    }

    #[test]
    fn where_the_mappings_differ() {
        let both = |dscp: u8| [DscpToUp::Precedence, DscpToUp::Rfc8325].map(|mapping| mapping.tid(dscp << 2));
        let differ: Vec<_> =
            (0..64).map(|dscp| (dscp, both(dscp))).filter(|(_, [old, new])| old != new).collect();
        let want = [
            (10, [1, 0]), // AF11 to AF13
            (12, [1, 0]),
            (14, [1, 0]),
            (16, [2, 0]), // CS2
            (18, [2, 3]), // AF21 to AF23
            (20, [2, 3]),
            (22, [2, 3]),
            (24, [3, 4]), // CS3
            (26, [3, 4]), // AF31 to AF33
            (28, [3, 4]),
            (30, [3, 4]),
            (44, [5, 6]), // VA
            (46, [5, 6]), // EF
            (48, [6, 7]), // CS6
        ];
        assert_eq!(differ, want);
        // The ECN bits have no influence.
        assert_eq!([0xb8, 0xb9, 0xbb].map(|tos| DscpToUp::Rfc8325.tid(tos)), [6; 3]);
    }
}
