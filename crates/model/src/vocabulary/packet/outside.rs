//! Packets of outside hosts: their bytes, and the tokens that they are charged to.

use super::{BytesId, NewPacket, PacketKind, Packets, Pkt, SockId};

impl Packets {
    /// Creates a packet of an outside host, like [`Packets::create`], with the given TTL. The bytes, from the IP header on, are copied. Panics
    /// if they are longer than [`LONGEST_PACKET`](super::super::LONGEST_PACKET).
    pub fn create_outside(&mut self, p: NewPacket, ttl: u8, bytes: &[u8]) -> Pkt {
        let kept = self.buffers.keep(bytes);
        let pkt = self.with_bytes(p, kept);
        self.get_mut(pkt).ttl = ttl;
        pkt
    }

    /// Makes a packet with the bytes of another.
    pub(super) fn share_bytes(&mut self, p: NewPacket, other: Pkt) -> Pkt {
        let kept = self.outside[other.slot()];
        self.buffers.share(kept);
        self.with_bytes(p, kept)
    }

    fn with_bytes(&mut self, p: NewPacket, kept: BytesId) -> Pkt {
        debug_assert!(p.kind == PacketKind::Outside, "a packet of an outside host");
        let pkt = self.create(p);
        if self.outside.len() <= pkt.slot() {
            self.outside.resize(self.slots.len(), BytesId::NONE);
        }
        self.outside[pkt.slot()] = kept;
        pkt
    }

    /// The bytes of an outside host's packet, from the IP header on, as received. Panics on a handle whose packet was freed.
    pub fn bytes(&self, p: Pkt) -> &[u8] {
        debug_assert!(self.get(p).kind == PacketKind::Outside, "a packet of an outside host");
        self.buffers.get(self.outside[p.slot()])
    }

    /// Whether a packet carries TCP, modelled or in its bytes.
    // spec: rfc791 3.1 (protocol in byte 9), rfc8200 3 (next header in byte 6; one behind extension headers is not found), rfc9293 (TCP is 6).
    pub fn carries_tcp(&self, p: Pkt) -> bool {
        match self.get(p).kind {
            PacketKind::Outside => match *self.bytes(p) {
                [first, _, _, _, _, _, next, _, _, protocol, ..] => {
                    (if first >> 4 == 6 { next } else { protocol }) == 6
                }
                _ => false,
            },
            kind => kind == PacketKind::Tcp,
        }
    }

    /// Takes the bytes out of a packet that has reached its end. The caller owes a [`Packets::release`].
    pub fn take_bytes(&mut self, p: Pkt) -> BytesId {
        debug_assert!(self.get(p).kind == PacketKind::Outside, "a packet of an outside host");
        core::mem::replace(&mut self.outside[p.slot()], BytesId::NONE)
    }

    /// Bytes that were taken out of their packet.
    pub fn taken(&self, bytes: BytesId) -> &[u8] {
        self.buffers.get(bytes)
    }

    /// Gives back bytes that were taken out of their packet.
    pub fn release(&mut self, bytes: BytesId) {
        self.buffers.release(bytes);
    }

    /// At the end of a packet: its bytes are given back, unless they were taken out.
    #[cold]
    pub(super) fn release_bytes(&mut self, p: Pkt) {
        let kept = core::mem::replace(&mut self.outside[p.slot()], BytesId::NONE);
        if kept != BytesId::NONE {
            self.buffers.release(kept);
        }
    }

    /// Whether a token with an ended charge waits to be fetched.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        !self.ended.is_empty()
    }

    /// The next token whose charge has ended, in order of ending.
    #[inline]
    pub fn pop_ended(&mut self) -> Option<u32> {
        self.ended.pop_front()
    }

    /// Tokens with an ended charge that [`Packets::pop_ended`] has not returned yet.
    pub fn ended(&self) -> impl Iterator<Item = SockId> {
        self.ended.iter().map(|&token| SockId::outside(token))
    }

    /// How often bytes are held by packets, or were taken out of them; and packets that hold some.
    pub fn held_bytes(&self) -> (u64, u64) {
        let held = self.outside.iter().filter(|&&kept| kept != BytesId::NONE).count();
        (self.buffers.holders(), held as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Fate, Reason};
    use super::*;
    use crate::vocabulary::PlaceId;
    use alloc::vec::Vec;

    fn create(ps: &mut Packets, token: Option<u32>, bytes: &[u8]) -> Pkt {
        let charge = token.map_or(SockId::NONE, SockId::outside);
        ps.create_outside(NewPacket { kind: PacketKind::Outside, charge, ..NewPacket::PLAIN }, 17, bytes)
    }

    #[test]
    fn a_duplicate_shares_the_bytes_and_none_are_lost() {
        let mut ps = Packets::new();
        let p = create(&mut ps, Some(0), &[5; 100]);
        let copy = ps.duplicate(p);
        assert_eq!((ps.get(p).ttl, ps.get(copy).ttl, ps.charge(copy)), (17, 17, SockId::NONE));
        assert_eq!((ps.bytes(p).as_ptr(), ps.held_bytes()), (ps.bytes(copy).as_ptr(), (2, 2)));
        ps.free(p, Fate::Dropped(Reason::Codel, PlaceId(0)));
        assert_eq!((ps.bytes(copy), ps.held_bytes()), (&[5; 100][..], (1, 1)));
        assert_eq!((ps.pop_ended(), ps.pop_ended()), (Some(0), None));
        let taken = ps.take_bytes(copy);
        ps.free(copy, Fate::Delivered);
        assert_eq!((ps.taken(taken), ps.held_bytes()), (&[5; 100][..], (1, 0)));
        ps.release(taken);
        assert_eq!(ps.held_bytes(), (0, 0));
        // The slot is used again by a packet of another kind, which has no bytes.
        let other = ps.create(NewPacket::PLAIN);
        ps.free(other, Fate::Delivered);
        assert_eq!((ps.held_bytes(), ps.live()), ((0, 0), 0));
    }

    #[test]
    fn tcp_is_found_in_headers() {
        let mut ps = Packets::new();
        let mut of = |bytes: &[u8]| {
            let p = create(&mut ps, None, bytes);
            ps.carries_tcp(p)
        };
        let (v4, v6) = ([0x45, 0, 0, 0, 0, 0, 17, 0, 64, 6], [0x60, 0, 0, 0, 0, 0, 6, 64, 0, 17]);
        assert_eq!([of(&v4), of(&v6), of(&v4[..9])], [true, true, false]);
        let [udp, tcp] =
            [PacketKind::Udp, PacketKind::Tcp].map(|kind| ps.create(NewPacket { kind, ..NewPacket::PLAIN }));
        assert_eq!([ps.carries_tcp(udp), ps.carries_tcp(tcp)], [false, true]);
    }

    #[test]
    fn tokens_end_in_their_order_and_apart_from_sockets() {
        let mut ps = Packets::new();
        let [a, b, c] = [0, 7, SockId::MAX_TOKENS - 1].map(|token| create(&mut ps, Some(token), &[]));
        let socket = ps.create(NewPacket { charge: SockId(3), ..NewPacket::PLAIN });
        let nobody = create(&mut ps, None, &[]);
        [c, socket, a, nobody].into_iter().for_each(|p| ps.orphan(p));
        let (who, size) = ps.take_charge(b);
        ps.uncharge(who, size);
        let ended: Vec<_> = core::iter::from_fn(|| ps.pop_ended()).collect();
        assert_eq!(ended, [SockId::MAX_TOKENS - 1, 0, 7]);
        assert_eq!((ps.pop_uncharged(), ps.pop_uncharged()), (Some((SockId(3), 2304)), None));
    }

    #[test]
    #[should_panic(expected = "tokens")]
    fn nobodys_charge_is_no_token() {
        let _ = SockId::outside(SockId::MAX_TOKENS);
    }
}
