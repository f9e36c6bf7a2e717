//! The two classifications of a packet, which look at different bits: the queueing discipline's band comes from the
//! whole TOS byte, the access category from the upper three bits of the DSCP.

use crate::vocabulary::Packet;

/// Kernel priority by bits 1 to 4 of the TOS byte.
// linux: net/ipv4/route.c ip_tos2prio (4.4) - best effort, filler, bulk, interactive bulk, interactive.
const TOS_TO_PRIO: [u8; 16] = [0, 1, 0, 0, 2, 2, 2, 2, 6, 6, 6, 6, 4, 4, 4, 4];

/// Kernel priority of a TOS byte (as `rt_tos2priority`).
#[inline]
pub const fn priority(tos: u8) -> u8 {
    TOS_TO_PRIO[((tos >> 1) & 15) as usize]
}

/// Traffic identifier of a TOS byte: its precedence bits.
// linux: net/wireless/util.c cfg80211_classify8021d (4.4) - DSCP >> 3; EF is 5, video, as is CS5.
#[inline]
pub const fn tid(tos: u8) -> u8 {
    tos >> 5
}

/// Writes both into the packet, as forwarding and local output do.
#[inline]
pub fn classify(p: &mut Packet) {
    p.prio = priority(p.tos);
    p.tid = tid(p.tos);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::Ac;

    #[test]
    fn the_marks_of_rrul() {
        // TOS byte, priority, access category: CS0, CS1, CS5, EF, and minimise-delay.
        let table = [
            (0x00, 0, Ac::Be),
            (0x20, 0, Ac::Bk),
            (0xa0, 0, Ac::Vi),
            (0xb8, 4, Ac::Vi),
            (0xc0, 0, Ac::Vo),
            (0x10, 6, Ac::Be),
        ];
        for (tos, prio, ac) in table {
            assert_eq!((priority(tos), Ac::of_tid(tid(tos))), (prio, ac), "TOS {tos:#x}");
        }
    }
}
