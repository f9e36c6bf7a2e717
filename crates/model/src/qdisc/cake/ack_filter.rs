//! ACK filter: selects the queued ACK that a newer one of the same connection makes redundant.

use crate::types::{Packet, PacketKind, Packets, Pkt, PktList, TcpFlags, TcpHeader};

/// ACK filter mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AckFilter {
    /// Do not filter (`no-ack-filter`).
    #[default]
    Off,
    /// Drop the older of two queued ACKs that a third one makes redundant (`ack-filter`).
    Conservative,
    /// Drop an ACK directly before the newer one (`ack-filter-aggressive`).
    Aggressive,
}

impl AckFilter {
    /// Name in tc.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "no-ack-filter",
            Self::Conservative => "ack-filter",
            Self::Aggressive => "ack-filter-aggressive",
        }
    }
}

/// The ECN flags, which are compared separately.
const ECN: u8 = TcpFlags::ECE.0 | TcpFlags::CWR.0;

const fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

/// Finds the queued ACK that the last packet of the queue makes redundant. Returns its predecessor and the
/// ACK.
// linux: net/sched/sch_cake.c cake_ack_filter (6.1) - scans from the head for pure ACKs of the same
// connection without other flags; once it finds a second candidate, it drops the first, the one nearest to
// the head. Different ECN flags restart the search.
pub(super) fn needless(list: &PktList, packets: &Packets, aggressive: bool) -> Option<(Option<Pkt>, Pkt)> {
    let last = list.tail()?;
    let newest = packets.get(last);
    if newest.kind != PacketKind::Tcp {
        return None;
    }
    let header = packets.tcp(last);
    if header.flags.0 & (TcpFlags::ACK.0 | TcpFlags::SYN.0) != TcpFlags::ACK.0 {
        return None;
    }
    let mut found: Option<(Option<Pkt>, Pkt, u8)> = None;
    let (mut at, mut previous, mut count) = (list.head(), None, 0);
    while let Some(p) = at.filter(|p| *p != last) {
        let hot = packets.get(p);
        let (behind, own) = (list.behind(packets, p), previous.replace(p));
        at = behind;
        if hot.kind != PacketKind::Tcp || hot.flow != newest.flow || hot.src != newest.src {
            continue;
        }
        let checked = packets.tcp(p);
        let flags = checked.flags.0 & ECN;
        if found.is_some_and(|(.., of)| of != flags) {
            found = None;
            count -= 1;
        }
        if !may_go((hot, checked), (newest, header)) {
            continue;
        }
        let (before, first, _) = *found.get_or_insert((own, p, flags));
        if count > 0 {
            return Some((before, first));
        }
        count += 1;
    }
    let (before, first, flags) = found.filter(|_| aggressive)?;
    (list.behind(packets, first) == Some(last) && flags == header.flags.0 & ECN).then_some((before, first))
}

/// Returns true if an ACK carries nothing that a newer one does not.
// linux: net/sched/sch_cake.c cake_tcph_may_drop, cake_ack_filter (6.1) - keeps duplicate ACKs (same number),
// unless the newer one has SACKed more.
fn may_go((hot, old): (&Packet, &TcpHeader), (newest, new): (&Packet, &TcpHeader)) -> bool {
    let plain = old.flags.0 & !ECN == TcpFlags::ACK.0 && old.payload == 0;
    let in_time = !before(new.ts_val, old.ts_val) && !before(new.ts_ecr, old.ts_ecr);
    if !plain || !in_time || before(newest.ack, hot.ack) {
        return false;
    }
    match sacks(hot.ack, old.sack_blocks(), new.sack_blocks()) {
        Sacks::OldHasMore => false,
        Sacks::Same => hot.ack != newest.ack,
        Sacks::NewHasMore => true,
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sacks {
    OldHasMore,
    Same,
    NewHasMore,
}

/// Compares the SACK blocks of an older ACK with those of a newer one. `ack` is the older ACK's number.
// linux: net/sched/sch_cake.c cake_tcph_sack_compare (6.1) - each block of the older ACK must lie within one
// of the newer; a D-SACK is never redundant.
fn sacks(ack: u32, old: &[(u32, u32)], new: &[(u32, u32)]) -> Sacks {
    let within = |&(left, right): &(u32, u32)| {
        let holds = |&(l, r): &(u32, u32)| !before(left, l) && !before(r, right);
        !before(left, ack) && new.iter().any(holds)
    };
    if !old.iter().all(within) {
        return Sacks::OldHasMore;
    }
    let bytes =
        |blocks: &[(u32, u32)]| blocks.iter().map(|&(l, r)| u64::from(r.wrapping_sub(l))).sum::<u64>();
    if bytes(new) > bytes(old) { Sacks::NewHasMore } else { Sacks::Same }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::testing::Bench;
    use crate::types::{NewPacket, SockId};
    use alloc::vec::Vec;

    type Ack<'a> = (u32, &'a [(u32, u32)], u8);

    /// Returns the index of the ACK that is dropped when the last one arrives.
    fn goes(acks: &[Ack<'_>], aggressive: bool) -> Option<usize> {
        let (mut b, mut list) = (Bench::new(), PktList::default());
        let mut all = Vec::new();
        for &(ack, blocks, flags) in acks {
            let mut header = TcpHeader { flags: TcpFlags(flags), ..TcpHeader::blank(SockId(0)) };
            header.sacks = blocks.len() as u8;
            header.sack[..blocks.len()].copy_from_slice(blocks);
            let new = NewPacket { kind: PacketKind::Tcp, len: 52, ..NewPacket::PLAIN };
            let p = b.packets.create_tcp(new, 1, ack, &header);
            list.push(&mut b.packets, p);
            all.push(p);
        }
        let (before, p) = needless(&list, &b.packets, aggressive)?;
        assert_eq!(list.remove_behind(&mut b.packets, before), p);
        let left: Vec<Pkt> = core::iter::from_fn(|| list.pop(&mut b.packets)).collect();
        let at = all.iter().position(|q| *q == p);
        let rest: Vec<Pkt> = all.iter().copied().filter(|q| *q != p).collect();
        assert_eq!(left, rest);
        at
    }

    #[test]
    fn the_first_of_two_redundant_acks_is_dropped() {
        const A: u8 = TcpFlags::ACK.0;
        const E: u8 = A | TcpFlags::ECE.0;
        for (acks, conservative, aggressive) in [
            (&[(1, &[][..], A)][..], None, None),
            (&[(1, &[], A), (2, &[], A)], None, Some(0)),
            (&[(1, &[], A), (2, &[], A), (3, &[], A)], Some(0), Some(0)),
            // Duplicate ACKs stay, unless the newer one has SACKed more.
            (&[(1, &[], A), (1, &[], A), (1, &[], A)], None, None),
            (&[(1, &[], A), (1, &[(5, 6)], A), (1, &[(5, 7)], A)], Some(0), Some(0)),
            // An ACK stays if only it carries a SACK block.
            (&[(1, &[(5, 6)], A), (2, &[], A), (3, &[], A)], None, Some(1)),
            // ECN marks stay visible.
            (&[(1, &[], E), (2, &[], A), (3, &[], A)], None, Some(1)),
            (&[(1, &[], E), (2, &[], E), (3, &[], A)], Some(0), Some(0)),
            (&[(3, &[], A), (2, &[], A), (1, &[], A)], None, None),
            // A FIN stays.
            (&[(1, &[], A | TcpFlags::FIN.0), (2, &[], A), (3, &[], A)], None, Some(1)),
        ] {
            assert_eq!((goes(acks, false), goes(acks, true)), (conservative, aggressive), "{acks:?}");
        }
    }
}
