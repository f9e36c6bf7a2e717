//! Packets: charges that end once, duplicates, reused memory.

use super::super::fate::Reason;
use super::*;
use crate::types::PlaceId;
use alloc::vec;
use alloc::vec::Vec;

fn packet(charge: SockId) -> NewPacket {
    NewPacket { charge, ..NewPacket::PLAIN }
}

// linux: net/tipc/msg.c - measured on 64 bits by kernel developers: 1,536-byte buffers with their 192 bytes
// of headroom weigh 2,304, one more byte 4,352, and similarly at 512 and 3,584.
#[test]
fn buffers_are_rounded_up_to_the_allocators_sizes() {
    let tipc = [512, 513, 1536, 1537, 3584, 3585].map(|len| buffer_truesize(192 + len));
    assert_eq!(tipc, [1280, 2304, 2304, 4352, 4352, 8448]);
    assert_eq!([28, 128, 1500].map(linear_truesize), [768, 768, 2304]);
}

#[test]
fn a_packet_is_one_cache_line() {
    assert_eq!(size_of::<Packet>(), 64);
    assert_eq!(size_of::<Pkt>(), 4);
    assert_eq!(size_of::<Option<Pkt>>(), 4);
}

#[test]
fn every_end_of_a_charge_is_reported_once() {
    let mut ps = Packets::new();
    let sock = SockId(3);
    let (a, b, c) = (ps.create(packet(sock)), ps.create(packet(sock)), ps.create(packet(sock)));
    ps.free(a, Fate::Dropped(Reason::Codel, PlaceId(1)));
    ps.orphan(b);
    ps.free(b, Fate::Delivered);
    let (who, size) = ps.take_charge(c);
    ps.free(c, Fate::Delivered);
    ps.uncharge(who, size);
    let ended: Vec<_> = core::iter::from_fn(|| ps.pop_uncharged()).collect();
    assert_eq!(ended, vec![(sock, 2304); 3]);
    assert_eq!(ps.live(), 0);
    assert_eq!(ps.account().dropped[1][Reason::Codel as usize], 1);
}

#[test]
fn a_duplicate_is_not_charged() {
    let mut ps = Packets::new();
    let header = TcpHeader { payload: 2896, mss: 1448, ..TcpHeader::blank(SockId(9)) };
    let p = ps.create_tcp(NewPacket { kind: PacketKind::Tcp, ..packet(SockId(3)) }, 2, 77, &header);
    (ps.get_mut(p).tid, ps.get_mut(p).ttl) = (5, 63);
    let copy = ps.duplicate(p);
    let seen = |p| {
        let hot = ps.get(p);
        (hot.segs, hot.ack, hot.tid, hot.ttl, hot.len, hot.truesize, *ps.tcp(p))
    };
    assert_eq!(seen(p), seen(copy));
    assert_eq!((ps.charge(p), ps.charge(copy), ps.live()), (SockId(3), SockId::NONE, 2));
    ps.free(copy, Fate::Merged);
    assert_eq!((ps.pop_uncharged(), ps.account().merged), (None, 1));
}

#[test]
fn a_datagram_travels_in_its_packet_and_its_memory_is_reused() {
    let mut ps = Packets::new();
    let new = NewPacket { kind: PacketKind::Quic, ..packet(SockId::NONE) };
    let mut datagram = Datagram { len: 1350, ecn: 2, bytes: vec![7; 1350], ..Datagram::default() };
    let p = ps.create_quic(new, &mut datagram);
    assert_eq!((datagram.len, datagram.bytes.len()), (0, 0));
    let copy = ps.duplicate(p);
    let mut taken = Datagram { bytes: Vec::with_capacity(2000), ..Datagram::default() };
    ps.take_quic(p, &mut taken);
    assert_eq!((taken.len, taken.ecn, taken.bytes.len(), ps.quic(copy).len), (1350, 2, 1350, 1350));
    ps.free(p, Fate::Delivered);
    // The next packet in that slot returns the memory left there.
    taken.clear();
    ps.create_quic(new, &mut taken);
    assert_eq!(taken.bytes.capacity(), 2000);
}

#[test]
#[should_panic(expected = "stale packet handle")]
fn a_freed_handle_is_refused() {
    let mut ps = Packets::new();
    let p = ps.create(packet(SockId::NONE));
    ps.free(p, Fate::Consumed);
    ps.create(packet(SockId::NONE));
    ps.get(p);
}
