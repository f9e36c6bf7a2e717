use super::*;
use crate::types::{NoSink, Packets, SockId};
use crate::wifi::testing::{TRUESIZE, ms, ppdu, uncharged};
use alloc::vec;
use alloc::vec::Vec;

const HERE: PlaceId = PlaceId(0);

fn receive(rx: &mut RxTid, packets: &mut Packets, ppdu: &mut Ppdu, whole: u64) -> Vec<u32> {
    let mut up = Vec::new();
    let ctx = &mut Ctx { packets, trace: &mut NoSink };
    let got = RxOutcome { whole: Marks::of(whole), readable: ppdu.all() };
    rx.receive(ms(0), ppdu, &got, None, &mut up, ctx);
    up.iter().map(|&p| packets.get(p).seq).collect()
}

#[test]
fn receiver_state_after_each_try() {
    let mut packets = Packets::new();
    let mut rx = RxTid::default();
    rx.open(Seq::new(0), 64, HERE, &mut Vec::new());
    let mut p = ppdu(&mut packets, 0..4);
    #[rustfmt::skip]
    let table: &[(u64, &[u32], u64, u64, u64)] = &[
        // whole  up       received  broken  duplicates
        (0b1010, &[],      0b1010,   2,      0),
        (0b0000, &[],      0b1010,   6,      0), // the scoreboard keeps earlier frames
        (0b1001, &[0, 1],  0b1011,   8,      1),
        (0b1111, &[2, 3],  0b1111,   8,      4),
        (0b0110, &[],      0b1111,   10,     6),
    ];
    for (row, &(whole, up, received, broken, duplicates)) in table.iter().enumerate() {
        assert_eq!(receive(&mut rx, &mut packets, &mut p, whole), up, "row {row}");
        let has = p.held(&Marks::NONE).words()[0];
        assert_eq!((has, rx.broken, rx.duplicates), (received, broken, duplicates), "row {row}");
    }
    // No packet was cloned, and the charges have moved to the sender's entries.
    assert!(p.mpdus.iter().all(|m| m.pkt.is_none() && m.truesize == TRUESIZE));
    assert_eq!([0, 1, 2, 3].map(|n| p.mpdus[n].charge), [0, 1, 2, 3].map(SockId));
    assert_eq!((packets.live(), packets.live_charges().count(), uncharged(&mut packets)), (4, 0, vec![]));
}

#[test]
fn without_a_session_frames_are_delivered_immediately() {
    let mut packets = Packets::new();
    let mut rx = RxTid::default();
    let mut p = ppdu(&mut packets, [5, 3, 4]);
    assert_eq!(receive(&mut rx, &mut packets, &mut p, 0b111), [5, 3, 4]);
    assert_eq!((rx.held().count(), rx.next_timeout()), (0, None));
}

#[test]
fn a_new_request_ends_the_open_session() {
    let mut packets = Packets::new();
    let mut rx = RxTid::default();
    let mut up = Vec::new();
    rx.open(Seq::new(0), 64, HERE, &mut up);
    let mut p = ppdu(&mut packets, [1]);
    receive(&mut rx, &mut packets, &mut p, 1);
    assert_eq!((up.len(), rx.held().count(), rx.next_timeout()), (0, 1, Some(ms(100))));
    rx.open(Seq::new(2), 64, HERE, &mut up);
    assert_eq!((up.len(), rx.held().count(), rx.next_timeout()), (1, 0, None));
}
