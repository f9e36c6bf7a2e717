//! A-MSDUs: several packets that travel behind the handle of the first until the A-MSDU is split.
//!
//! They are linked as in a list; a packet is in a list or in an A-MSDU, never in both. Each packet has its
//! own fate and its own charge.

use super::{Packets, Pkt, SockId};
use alloc::vec::Vec;

impl Packets {
    /// Returns true if any packets were joined in this run.
    #[inline]
    pub(in crate::types) const fn joins(&self) -> bool {
        self.joins
    }

    /// Number of packets behind a handle: the size of an A-MSDU, or 1.
    #[inline]
    pub fn msdus(&self, p: Pkt) -> u8 {
        self.get(p).msdus
    }

    /// Appends a packet to an A-MSDU, or to a packet that becomes the first of an A-MSDU. The packet must be
    /// in no list, and must not be an A-MSDU.
    pub fn join(&mut self, first: Pkt, p: Pkt) {
        debug_assert!(self.get(p).msdus == 1 && self.links[p.slot()].is_none(), "a packet by itself");
        let last = self.amsdu(first).last().unwrap_or(first);
        self.links[last.slot()] = Some(p);
        self.get_mut(first).msdus += 1;
        self.joins = true;
    }

    /// Iterates over the packets behind a handle, in order.
    #[inline]
    pub fn amsdu(&self, first: Pkt) -> impl Iterator<Item = Pkt> {
        let mut next = Some(first);
        let mut left = self.get(first).msdus;
        core::iter::from_fn(move || {
            let p = next?;
            left -= 1;
            next = if left > 0 { self.links[p.slot()] } else { None };
            Some(p)
        })
    }

    /// Detaches the first packet from an A-MSDU. Returns the handle of the rest (its second packet), if any.
    #[inline]
    pub fn take_msdu(&mut self, first: Pkt) -> Option<Pkt> {
        if self.joins { self.take_first(first) } else { None }
    }

    fn take_first(&mut self, first: Pkt) -> Option<Pkt> {
        let msdus = core::mem::replace(&mut self.get_mut(first).msdus, 1);
        if msdus == 1 {
            return None;
        }
        let rest = self.links[first.slot()].take().expect("the others are linked");
        self.get_mut(rest).msdus = msdus - 1;
        Some(rest)
    }

    /// Moves the charges out of an A-MSDU's packets, which must all be charged to the same socket or all be
    /// uncharged. The caller owes one [`Packets::uncharge`] of the sum.
    pub fn take_charges(&mut self, first: Pkt) -> (SockId, u32) {
        let (charge, mut sum) = self.take_charge(first);
        let mut at = first;
        for _ in 1..self.get(first).msdus {
            at = self.links[at.slot()].expect("the others are linked");
            let (other, truesize) = self.take_charge(at);
            debug_assert!(other == charge, "charged to different sockets");
            sum += truesize;
        }
        (charge, sum)
    }

    /// Splits the A-MSDUs in `all` into packets, in place.
    #[inline]
    pub fn split_amsdus(&mut self, all: &mut Vec<Pkt>) {
        if self.joins {
            self.split(all);
        }
    }

    fn split(&mut self, all: &mut Vec<Pkt>) {
        let mut at = 0;
        while at < all.len() {
            if let Some(rest) = self.take_msdu(all[at]) {
                all.insert(at + 1, rest);
            }
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::NewPacket;
    use super::*;
    use crate::types::{Ctx, Fate, Instant, NoSink, PlaceId, Reason};
    use alloc::vec;

    #[test]
    fn packets_are_joined_and_split_in_order() {
        let mut packets = Packets::new();
        let [a, b, c, d] = [(); 4].map(|()| packets.create(NewPacket::PLAIN));
        packets.join(b, c);
        packets.join(b, d);
        assert_eq!([a, b].map(|p| packets.msdus(p)), [1, 3]);
        assert_eq!(packets.amsdu(b).collect::<Vec<_>>(), [b, c, d]);
        assert_eq!(packets.amsdu(a).collect::<Vec<_>>(), [a]);
        let mut all = vec![a, b];
        packets.split_amsdus(&mut all);
        assert_eq!(all, [a, b, c, d]);
        assert!(all.iter().all(|&p| packets.msdus(p) == 1));
    }

    #[test]
    fn all_are_dropped_with_the_first() {
        let mut packets = Packets::new();
        let [a, b, c] = [(); 3].map(|()| packets.create(NewPacket::PLAIN));
        packets.join(a, b);
        packets.join(a, c);
        let reason = Reason::RetryLimit;
        Ctx { packets: &mut packets, trace: &mut NoSink }.drop(Instant::ZERO, a, reason, PlaceId(0));
        assert_eq!((packets.live(), packets.account().dropped_total()), (0, 3));
        // Reused slots start as single packets.
        let again = [(); 3].map(|()| packets.create(NewPacket::PLAIN));
        assert!(again.iter().all(|&p| packets.msdus(p) == 1));
        again.into_iter().for_each(|p| packets.free(p, Fate::Delivered));
    }
}
