//! Packets as four-byte handles, and the three ways in which a socket charge ends.
//!
//! A [`Pkt`] is the number of a slot of [`Packets`]; moving a packet moves four bytes. The slot holds 64 hot
//! bytes. The holder of the handle owns the packet and must pass it on or [`Packets::free`] it with a
//! [`Fate`]. So no layer needs to know sockets, and each drop ends its socket's charge.

mod amsdu;
mod external;

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::num::NonZeroU32;

use super::addr::Addr;
use super::bytes::{Buffers, BytesId};
use super::fate::{Fate, PacketAccount};
use super::ids::{FlowId, PeerId, SockId};
use super::kind::PacketKind;
use super::quic::Datagram;
use super::tcp::TcpHeader;
use super::time::Instant;

/// Handle of a packet: 24 bits of slot, 8 bits of generation, which is odd.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pkt(NonZeroU32);

const SLOT_BITS: u32 = 24;
const SLOT_MASK: u32 = (1 << SLOT_BITS) - 1;

impl Pkt {
    #[inline]
    fn new(slot: u32, generation: u8) -> Self {
        Self(
            NonZeroU32::new(u32::from(generation) << SLOT_BITS | slot)
                .expect("generations of handles are odd"),
        )
    }
    /// Index in tables by packet. No other live packet has this index.
    #[inline]
    pub fn slot(self) -> usize {
        (self.0.get() & SLOT_MASK) as usize
    }
    #[inline]
    fn generation(self) -> u8 {
        (self.0.get() >> SLOT_BITS) as u8
    }
}

/// Initial TTL (hop limit) of a packet.
pub const TTL: u8 = 64;

/// The hot part of a packet: the fields that queues and drivers use.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Packet {
    /// Time at which the packet entered its current queue (CoDel's timestamp). For a TCP segment not yet in a
    /// queue: its departure time (`skb->tstamp`).
    pub t_enqueue: Instant,
    /// Time at which the sender created the packet.
    pub t_sent: Instant,
    /// The packet's application flow.
    pub flow: FlowId,
    /// Hash of the five-tuple, computed once per flow (as `skb->hash`).
    pub flow_hash: u32,
    /// Length in bytes from the IP header on. For a packet of several segments: the sum over the segments,
    /// each with its headers (`qdisc_pkt_len`).
    pub len: u32,
    /// Memory charged for the packet, in bytes (`skb->truesize`).
    pub truesize: u32,
    charge: SockId,
    /// Sequence number in the flow.
    pub seq: u32,
    /// Acknowledgement number, where the protocol has one.
    pub ack: u32,
    /// Source address.
    pub src: Addr,
    /// Destination address.
    pub dst: Addr,
    /// Number of segments: more than one between TSO and the wire, and after GRO.
    pub segs: u16,
    /// Next hop on a wireless interface, set by routing.
    pub peer: PeerId,
    /// The IP header's TOS byte: DSCP in the upper six bits, ECN in the lower two.
    pub tos: u8,
    /// Kernel priority (as `skb->priority`), from the TOS table.
    pub prio: u8,
    /// 802.1D user priority, hence TID, from the DSCP.
    pub tid: u8,
    /// Kind of the packet.
    pub kind: PacketKind,
    /// TTL: number of remaining hops.
    pub ttl: u8,
    /// Estimated airtime below mac80211's queues, in units of 4 us (`tx_time_est`). 0 without AQL.
    pub airtime: u16,
    /// mac80211 has joined the packet to the one before it in an A-MSDU.
    pub follows: bool,
    /// Odd while the packet is alive, so that one comparison shows a handle to be stale.
    generation: u8,
    /// Packets of the A-MSDU that this one is the first of; 1 of all others.
    msdus: u8,
}

impl Packet {
    /// Moves the charge out of the packet; the caller must call [`Packets::uncharge`].
    #[inline(always)]
    pub(crate) fn take_charge(&mut self) -> (SockId, u32) {
        (core::mem::replace(&mut self.charge, SockId::NONE), self.truesize)
    }
}

/// The fields of a new packet.
#[derive(Clone, Copy, Debug)]
pub struct NewPacket {
    /// Creation time.
    pub now: Instant,
    /// The packet's application flow.
    pub flow: FlowId,
    /// Hash of the five-tuple.
    pub flow_hash: u32,
    /// Length in bytes from the IP header on.
    pub len: u32,
    /// Memory charged for the packet, in bytes.
    pub truesize: u32,
    /// The charged socket, or [`SockId::NONE`].
    pub charge: SockId,
    /// Sequence number in the flow.
    pub seq: u32,
    /// Source address.
    pub src: Addr,
    /// Destination address.
    pub dst: Addr,
    /// The IP header's TOS byte.
    pub tos: u8,
    /// Kind of the packet.
    pub kind: PacketKind,
}

impl NewPacket {
    /// A full datagram of flow 0 at time zero, without a charge: a base for tests.
    pub const PLAIN: Self = Self {
        now: Instant::ZERO,
        flow: FlowId(0),
        flow_hash: 0,
        len: 1500,
        truesize: 2304,
        charge: SockId::NONE,
        seq: 0,
        src: Addr(0),
        dst: Addr(1),
        tos: 0,
        kind: PacketKind::Udp,
    };
}

/// Size of an sk_buff in bytes, on 64-bit machines.
// linux: include/linux/skbuff.h struct sk_buff, SKB_TRUESIZE (4.4).
pub const SKB: u32 = 256;
/// Size in bytes of the shared info (`skb_shared_info`) after a linear buffer.
// linux: include/linux/skbuff.h struct skb_shared_info (4.4).
pub const SHARED_INFO: u32 = 320;

/// Truesize of a packet whose linear buffer has `room` bytes for headers and data.
// linux: net/core/skbuff.c __alloc_skb, include/linux/skbuff.h SKB_TRUESIZE (4.4) - the skb itself, and the
// room with the shared information behind it, rounded up to the allocator's next size (64-bit machines).
pub const fn buffer_truesize(room: u32) -> u32 {
    SKB + (room + SHARED_INFO).next_power_of_two()
}

/// Truesize of a datagram of `len` bytes from the IP header on, or of a received frame: 2,304 bytes for
/// 1,500.
// linux: net/ipv4/ip_output.c __ip_append_data (4.4) - the device's own headroom before it, and no more.
pub const fn linear_truesize(len: u32) -> u32 {
    const HEADROOM: u32 = 36;
    buffer_truesize(HEADROOM + len)
}

/// The slab of all packets, the account of their fates, and the charges that ended since the last drain.
#[derive(Debug, Default)]
pub struct Packets {
    slots: Vec<Packet>,
    /// By slot: the packet behind it in its list. Not in the packet, as that of the last one in a list is
    /// hardly in the cache when another comes.
    links: Vec<Option<Pkt>>,
    /// By slot: the TCP header, as far as there were TCP segments.
    tcp: Vec<TcpHeader>,
    /// By slot: the QUIC datagram, as far as there were any.
    quic: Vec<Datagram>,
    /// By slot: the bytes of a packet of an external host, as far as there were any.
    external: Vec<BytesId>,
    buffers: Buffers,
    free: Vec<u32>,
    account: PacketAccount,
    /// Packets alive in slabs whose accounts this one has taken over.
    elsewhere: u64,
    /// Packets have been joined into A-MSDUs in this run.
    joins: bool,
    uncharged: Vec<(SockId, u32)>,
    /// Tokens of external hosts whose charge has ended, the first one first.
    ended: VecDeque<u32>,
}

impl Packets {
    /// An empty slab.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a packet and returns its handle. The caller owns the packet.
    ///
    /// Panics if more than 2^24 packets are alive, which no scenario's queue limits allow.
    pub fn create(&mut self, p: NewPacket) -> Pkt {
        self.create_with(p, 1, 0)
    }

    /// The same of so many segments, with an acknowledgement number.
    #[inline(always)]
    fn create_with(&mut self, p: NewPacket, segs: u16, ack: u32) -> Pkt {
        self.account.created += 1;
        let slot = self.free.pop().unwrap_or_else(|| {
            let slot = self.slots.len() as u32;
            assert!(slot <= SLOT_MASK, "more than 2^24 packets alive");
            self.slots.push(blank());
            self.links.push(None);
            slot
        });
        let hot = &mut self.slots[slot as usize];
        hot.t_enqueue = p.now;
        hot.t_sent = p.now;
        hot.flow = p.flow;
        hot.flow_hash = p.flow_hash;
        hot.len = p.len;
        hot.truesize = p.truesize;
        hot.charge = p.charge;
        hot.seq = p.seq;
        hot.ack = ack;
        hot.src = p.src;
        hot.dst = p.dst;
        hot.segs = segs;
        hot.peer = PeerId(0);
        hot.tos = p.tos;
        hot.prio = 0;
        hot.tid = 0;
        hot.kind = p.kind;
        hot.ttl = TTL;
        hot.generation += 1;
        Pkt::new(slot, hot.generation)
    }

    /// Creates a packet of one or more TCP segments, like [`Packets::create`].
    pub fn create_tcp(&mut self, p: NewPacket, segs: u16, ack: u32, header: &TcpHeader) -> Pkt {
        let pkt = self.create_with(p, segs, ack);
        match self.tcp.get_mut(pkt.slot()) {
            Some(kept) => *kept = *header,
            None => self.first_tcp(pkt, header),
        }
        pkt
    }

    /// A slot has a TCP segment for the first time.
    #[cold]
    fn first_tcp(&mut self, pkt: Pkt, header: &TcpHeader) {
        self.tcp.resize(self.slots.len(), TcpHeader::blank(SockId::NONE));
        self.tcp[pkt.slot()] = *header;
    }

    /// Creates a packet for a QUIC datagram, like [`Packets::create`]. Swaps the datagram into the packet.
    /// `datagram` is then empty, with memory for reuse.
    pub fn create_quic(&mut self, p: NewPacket, datagram: &mut Datagram) -> Pkt {
        let pkt = self.create(p);
        if self.quic.len() <= pkt.slot() {
            self.quic.resize_with(self.slots.len(), Datagram::default);
        }
        core::mem::swap(&mut self.quic[pkt.slot()], datagram);
        datagram.clear();
        pkt
    }

    /// Copies a packet, without its charge. The copy is in no list. The caller owns the copy.
    pub fn duplicate(&mut self, p: Pkt) -> Pkt {
        let new = self.like(p);
        let copy = match new.kind {
            PacketKind::Tcp => {
                let (header, hot) = (*self.tcp(p), self.get(p));
                let (segs, ack) = (hot.segs, hot.ack);
                self.create_tcp(new, segs, ack, &header)
            }
            PacketKind::Quic => {
                let mut datagram = self.quic(p).clone();
                self.create_quic(new, &mut datagram)
            }
            PacketKind::External => self.share_bytes(new, p),
            _ => self.create(new),
        };
        self.copy_path(copy, p);
        copy
    }

    /// What a packet like this one, without its charge, is made from.
    fn like(&self, p: Pkt) -> NewPacket {
        let like = self.get(p);
        let now = like.t_sent;
        let Packet { flow, flow_hash, len, truesize, seq, src, dst, tos, kind, .. } = *like;
        NewPacket { now, flow, flow_hash, len, truesize, charge: SockId::NONE, seq, src, dst, tos, kind }
    }

    /// Gives a new packet what another has got on its way.
    fn copy_path(&mut self, copy: Pkt, p: Pkt) {
        let Packet { t_enqueue, segs, peer, ttl, prio, tid, .. } = *self.get(p);
        let hot = self.get_mut(copy);
        hot.t_enqueue = t_enqueue;
        (hot.segs, hot.peer, hot.ttl) = (segs, peer, ttl);
        (hot.prio, hot.tid) = (prio, tid);
    }

    /// Where the packet behind this one in its list is kept.
    #[inline]
    pub(super) fn link(&mut self, p: Pkt) -> &mut Option<Pkt> {
        &mut self.links[p.slot()]
    }

    /// The packet behind this one in its list.
    pub(super) fn linked(&self, p: Pkt) -> Option<Pkt> {
        self.links[p.slot()]
    }

    /// The header of a TCP segment. Panics on a handle whose packet was freed.
    #[inline]
    pub fn tcp(&self, p: Pkt) -> &TcpHeader {
        debug_assert!(self.get(p).kind == PacketKind::Tcp, "a TCP segment");
        &self.tcp[p.slot()]
    }

    /// The datagram of a QUIC packet. Panics on a handle whose packet was freed.
    #[inline]
    pub fn quic(&self, p: Pkt) -> &Datagram {
        debug_assert!(self.get(p).kind == PacketKind::Quic, "a QUIC datagram");
        &self.quic[p.slot()]
    }

    /// Takes the datagram out of a QUIC packet that has reached its host. Swaps it with the given record.
    #[inline]
    pub fn take_quic(&mut self, p: Pkt, datagram: &mut Datagram) {
        debug_assert!(self.get(p).kind == PacketKind::Quic, "a QUIC datagram");
        core::mem::swap(&mut self.quic[p.slot()], datagram);
    }

    /// The header of a TCP segment, mutable.
    #[inline]
    pub fn tcp_mut(&mut self, p: Pkt) -> &mut TcpHeader {
        debug_assert!(self.get(p).kind == PacketKind::Tcp, "a TCP segment");
        &mut self.tcp[p.slot()]
    }

    /// Frees a packet: counts its fate, ends its charge, and invalidates the handle. The packets of an A-MSDU
    /// are freed one by one (see [`Packets::take_msdu`]).
    // Who frees a packet mostly knows its fate.
    #[inline(always)]
    pub fn free(&mut self, p: Pkt, fate: Fate) {
        if self.get(p).kind == PacketKind::External {
            self.release_bytes(p);
        }
        let hot = self.get_mut(p);
        debug_assert!(hot.msdus == 1, "the others of the A-MSDU would be lost");
        hot.generation = hot.generation.wrapping_add(1);
        let (charge, truesize) = hot.take_charge();
        self.uncharge(charge, truesize);
        match fate {
            Fate::Delivered => self.account.delivered += 1,
            Fate::Consumed => self.account.consumed += 1,
            Fate::Merged => self.account.merged += 1,
            Fate::Dropped(reason, place) => self.account.count_dropped(reason, place),
        }
        self.free.push(p.slot() as u32);
    }

    /// Ends the packet's charge while the packet lives on (as `skb_orphan`).
    #[inline]
    pub fn orphan(&mut self, p: Pkt) {
        let (charge, truesize) = self.take_charge(p);
        self.uncharge(charge, truesize);
    }

    /// Moves the charge out of the packet; the caller must call [`Packets::uncharge`].
    #[inline]
    pub fn take_charge(&mut self, p: Pkt) -> (SockId, u32) {
        self.get_mut(p).take_charge()
    }

    /// Charges an uncharged packet to the socket of packet `other`. The caller reduces the truesize of
    /// `other` by this packet's truesize.
    #[inline]
    pub fn charge_as(&mut self, p: Pkt, other: Pkt) {
        let charge = self.charge(other);
        let hot = self.get_mut(p);
        debug_assert!(hot.charge == SockId::NONE, "charged twice");
        hot.charge = charge;
    }

    /// Ends a charge that was taken out of its packet.
    #[inline]
    pub fn uncharge(&mut self, charge: SockId, truesize: u32) {
        if charge == SockId::NONE {
            return;
        }
        if charge.is_socket() {
            self.uncharged.push((charge, truesize));
        } else if let Some(token) = charge.token() {
            self.ended.push_back(token);
        }
    }

    /// The socket that the packet is charged to, or [`SockId::NONE`].
    #[inline]
    pub fn charge(&self, p: Pkt) -> SockId {
        self.get(p).charge
    }

    /// Whether charges have ended that were not drained.
    #[inline(always)]
    pub fn has_uncharged(&self) -> bool {
        !self.uncharged.is_empty()
    }

    /// The next ended charge. The caller drains ended charges after every event.
    #[inline]
    pub fn pop_uncharged(&mut self) -> Option<(SockId, u32)> {
        self.uncharged.pop()
    }

    /// Number of packets alive.
    pub fn live(&self) -> u64 {
        (self.slots.len() - self.free.len()) as u64 + self.elsewhere
    }

    /// Adds the account of another slab, whose packets stay there.
    pub fn take_over(&mut self, other: &Self) {
        self.elsewhere += other.live();
        self.account.add(&other.account);
    }

    /// The charges of all live packets.
    pub fn live_charges(&self) -> impl Iterator<Item = (SockId, u32)> {
        self.slots
            .iter()
            .filter(|p| p.generation % 2 == 1 && p.charge != SockId::NONE)
            .map(|p| (p.charge, p.truesize))
    }

    /// The account of all packets so far.
    pub fn account(&self) -> &PacketAccount {
        &self.account
    }

    /// The fields of a packet. Panics on a handle whose packet was freed.
    #[inline(always)]
    pub fn get(&self, p: Pkt) -> &Packet {
        let hot = &self.slots[p.slot()];
        assert!(hot.generation == p.generation(), "stale packet handle");
        hot
    }

    /// Whether the handle's packet has not been freed.
    pub fn is_alive(&self, p: Pkt) -> bool {
        let hot = &self.slots[p.slot()];
        hot.generation == p.generation()
    }

    /// The fields of a packet, mutable. Panics on a handle whose packet was freed.
    #[inline]
    pub fn get_mut(&mut self, p: Pkt) -> &mut Packet {
        let hot = &mut self.slots[p.slot()];
        assert!(hot.generation == p.generation(), "stale packet handle");
        hot
    }
}

fn blank() -> Packet {
    Packet {
        t_enqueue: Instant::ZERO,
        t_sent: Instant::ZERO,
        flow: FlowId(0),
        flow_hash: 0,
        len: 0,
        truesize: 0,
        charge: SockId::NONE,
        seq: 0,
        ack: 0,
        src: Addr(0),
        dst: Addr(0),
        segs: 1,
        peer: PeerId(0),
        tos: 0,
        prio: 0,
        tid: 0,
        kind: PacketKind::Udp,
        ttl: TTL,
        airtime: 0,
        follows: false,
        generation: 0,
        msdus: 1,
    }
}

#[cfg(test)]
mod tests;
