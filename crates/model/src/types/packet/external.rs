//! Packets of external hosts: their bytes and their tokens.

use super::{BytesId, Fate, NewPacket, Packet, PacketKind, Packets, Pkt, SockId};

impl Packets {
    /// Creates a packet of an external host, like [`Packets::create`], with the given TTL. Copies the bytes,
    /// which start at the IP header. Panics if they are longer than
    /// [`LONGEST_PACKET`](super::super::LONGEST_PACKET).
    pub fn create_external(&mut self, p: NewPacket, ttl: u8, bytes: &[u8]) -> Pkt {
        let kept = self.buffers.keep(bytes);
        let pkt = self.with_bytes(p, kept);
        self.get_mut(pkt).ttl = ttl;
        pkt
    }

    /// Creates a packet of several segments. `bytes` holds the segments one after another, each with its own
    /// headers; all but the last are `full` bytes long.
    pub fn create_segments(&mut self, p: NewPacket, ttl: u8, bytes: &[u8], full: usize) -> Pkt {
        let kept = self.buffers.keep_all(bytes.chunks(full));
        let pkt = self.with_bytes(p, kept);
        let hot = self.get_mut(pkt);
        hot.ttl = ttl;
        hot.segs = bytes.len().div_ceil(full) as u16;
        pkt
    }

    /// Creates a packet that shares the bytes of `other`.
    pub(super) fn share_bytes(&mut self, p: NewPacket, other: Pkt) -> Pkt {
        let kept = self.external[other.slot()];
        let mut one = kept;
        for _ in 0..self.get(other).segs {
            self.buffers.share(one);
            one = self.buffers.next(one);
        }
        self.with_bytes(p, kept)
    }

    /// Splits the first of several segments off. The new packet has no charge and is in no list; the caller
    /// owns it.
    pub(crate) fn split_off(&mut self, p: Pkt) -> Pkt {
        debug_assert!(self.get(p).segs > 1, "a segment remains");
        let first = self.external[p.slot()];
        self.external[p.slot()] = self.buffers.next(first);
        let new = self.like(p);
        let segment = self.with_bytes(new, first);
        self.copy_path(segment, p);
        let len = self.bytes(segment).len() as u32;
        let own = self.buffers.own(self.external[p.slot()]);
        let whole = self.get_mut(p);
        whole.segs -= 1;
        whole.len -= len;
        if let Some(own) = own {
            (whole.t_sent, whole.seq) = own;
        }
        let hot = self.get_mut(segment);
        (hot.segs, hot.len) = (1, len);
        segment
    }

    /// The bytes of a single-segment packet, if a segment may be appended because they have no other holder.
    pub(crate) fn last_bytes(&self, p: Pkt) -> Option<BytesId> {
        let bytes = self.external[p.slot()];
        (self.get(p).segs == 1 && self.buffers.has_one_holder(bytes)).then_some(bytes)
    }

    /// Appends the only segment of `p` to `last`, the last segment of `into`, and ends `p`. Returns the new
    /// last segment, if another may be appended.
    pub(crate) fn put_behind(&mut self, into: Pkt, last: BytesId, p: Pkt) -> Option<BytesId> {
        let own = |hot: &Packet| (hot.t_sent, hot.seq);
        let of_first = own(self.get(into));
        let hot = self.get(p);
        let (of_this, len, truesize) = (own(hot), hot.len, hot.truesize);
        if self.get(into).segs == 1 {
            self.buffers.keep_own(last, of_first);
        }
        let grows = self.last_bytes(p);
        let bytes = self.take_bytes(p);
        self.buffers.keep_own(bytes, of_this);
        self.buffers.put_behind(last, bytes);
        self.free(p, Fate::Merged);
        let whole = self.get_mut(into);
        whole.segs += 1;
        whole.len += len;
        whole.truesize += truesize;
        grows
    }

    fn with_bytes(&mut self, p: NewPacket, kept: BytesId) -> Pkt {
        debug_assert!(p.kind == PacketKind::External, "a packet of an external host");
        let pkt = self.create(p);
        if self.external.len() <= pkt.slot() {
            self.external.resize(self.slots.len(), BytesId::NONE);
        }
        self.external[pkt.slot()] = kept;
        pkt
    }

    /// The bytes of an external host's packet, from the IP header on, as received; for several segments,
    /// those of the first. Panics on a handle whose packet was freed.
    pub fn bytes(&self, p: Pkt) -> &[u8] {
        debug_assert!(self.get(p).kind == PacketKind::External, "a packet of an external host");
        self.buffers.get(self.external[p.slot()])
    }

    /// Returns true if the packet carries TCP, modelled or in its bytes.
    // spec: rfc791 3.1 (protocol in byte 9), rfc8200 3 (next header in byte 6; TCP behind extension headers
    // is not found), rfc9293 (TCP is 6).
    pub fn carries_tcp(&self, p: Pkt) -> bool {
        match self.get(p).kind {
            PacketKind::External => match *self.bytes(p) {
                [first, _, _, _, _, _, next, _, _, protocol, ..] => {
                    (if first >> 4 == 6 { next } else { protocol }) == 6
                }
                _ => false,
            },
            kind => kind == PacketKind::Tcp,
        }
    }

    /// Moves the bytes out of a single-segment packet that has reached its end. The caller owes a
    /// [`Packets::release`].
    pub fn take_bytes(&mut self, p: Pkt) -> BytesId {
        debug_assert!(self.get(p).segs == 1, "several segments are split first");
        debug_assert!(self.get(p).kind == PacketKind::External, "a packet of an external host");
        core::mem::replace(&mut self.external[p.slot()], BytesId::NONE)
    }

    /// Bytes that were moved out of their packet.
    pub fn taken(&self, bytes: BytesId) -> &[u8] {
        self.buffers.get(bytes)
    }

    /// Releases bytes that were moved out of their packet.
    pub fn release(&mut self, bytes: BytesId) {
        self.buffers.release(bytes);
    }

    /// Releases the bytes of a packet at its end, unless they were moved out.
    #[cold]
    pub(super) fn release_bytes(&mut self, p: Pkt) {
        let mut kept = core::mem::replace(&mut self.external[p.slot()], BytesId::NONE);
        for _ in 0..self.get(p).segs {
            if kept != BytesId::NONE {
                let next = self.buffers.next(kept);
                self.buffers.release(kept);
                kept = next;
            }
        }
    }

    /// Returns true if [`Packets::pop_ended`] has a token to return.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        !self.ended.is_empty()
    }

    /// Removes and returns the next token whose charge has ended, in order of ending.
    #[inline]
    pub fn pop_ended(&mut self) -> Option<u32> {
        self.ended.pop_front()
    }

    /// Tokens with an ended charge that [`Packets::pop_ended`] has not returned yet.
    pub fn ended(&self) -> impl Iterator<Item = SockId> {
        self.ended.iter().map(|&token| SockId::external(token))
    }

    /// Number of holders of bytes (packets, and bytes moved out of their packet), and number of packet
    /// segments that hold some.
    pub fn held_bytes(&self) -> (u64, u64) {
        let slots = self.external.iter().zip(&self.slots).filter(|&(&kept, _)| kept != BytesId::NONE);
        (self.buffers.holders(), slots.map(|(_, hot)| u64::from(hot.segs)).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::PlaceId;
    use crate::types::Reason;
    use alloc::vec::Vec;

    fn create(ps: &mut Packets, token: Option<u32>, bytes: &[u8]) -> Pkt {
        let charge = token.map_or(SockId::NONE, SockId::external);
        ps.create_external(NewPacket { kind: PacketKind::External, charge, ..NewPacket::PLAIN }, 17, bytes)
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
        // A packet of another kind, without bytes, reuses the slot.
        let other = ps.create(NewPacket::PLAIN);
        ps.free(other, Fate::Delivered);
        assert_eq!((ps.held_bytes(), ps.live()), ((0, 0), 0));
    }

    #[test]
    fn segments_have_their_own_bytes_and_the_last_has_the_charge() {
        let mut ps = Packets::new();
        let bytes: Vec<u8> = (0..250).collect();
        let new = NewPacket {
            kind: PacketKind::External,
            len: 250,
            charge: SockId::external(3),
            ..NewPacket::PLAIN
        };
        let whole = ps.create_segments(new, 17, &bytes, 100);
        assert_eq!((ps.get(whole).segs, ps.bytes(whole), ps.held_bytes()), (3, &bytes[..100], (3, 3)));
        let copy = ps.duplicate(whole);
        assert_eq!((ps.get(copy).segs, ps.get(copy).ttl, ps.held_bytes()), (3, 17, (6, 6)));
        let mut found = Vec::new();
        crate::offload::gso::split(&mut ps, whole, |ps, p| {
            found.push((ps.get(p).len, ps.bytes(p).to_vec(), ps.charge(p) == SockId::external(3)));
            ps.free(p, Fate::Delivered);
        });
        let part =
            |from: u32, until: u32, last| (until - from, bytes[from as usize..until as usize].to_vec(), last);
        assert_eq!(found, [part(0, 100, false), part(100, 200, false), part(200, 250, true)]);
        assert_eq!((ps.pop_ended(), ps.pop_ended(), ps.held_bytes()), (Some(3), None, (3, 3)));
        // The copy was not split, so its bytes are released with it.
        assert_eq!((ps.get(copy).len, ps.bytes(copy)), (250, &bytes[..100]));
        ps.free(copy, Fate::Dropped(Reason::Codel, PlaceId(0)));
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
    fn tokens_end_in_order_and_separately_from_sockets() {
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
    fn an_uncharged_packet_has_no_token() {
        let _ = SockId::external(SockId::MAX_TOKENS);
    }
}
