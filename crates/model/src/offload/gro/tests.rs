use super::*;
use crate::types::{Addr, FlowId, Instant, NewPacket, PacketAccount, TcpHeader};
use alloc::vec;
use alloc::vec::Vec;

/// A segment of flow `to` with this sequence number and payload, modified by `change`.
fn segment(
    packets: &mut Packets,
    to: u32,
    seq: u32,
    payload: u32,
    change: impl FnOnce(&mut TcpHeader),
) -> Pkt {
    let new = NewPacket {
        now: Instant::ZERO,
        flow: FlowId(to),
        flow_hash: to,
        len: payload + 52,
        truesize: 2304,
        charge: SockId::NONE,
        seq,
        src: Addr(0),
        dst: Addr(1),
        tos: 0,
        kind: PacketKind::Tcp,
    };
    let mut header = TcpHeader { payload, mss: 1448, flags: TcpFlags::ACK, ..TcpHeader::blank(SockId(to)) };
    change(&mut header);
    packets.create_tcp(new, 1, 7, &header)
}

/// Merges a batch. Returns flow, sequence number, segments and payload of each packet.
fn merged(packets: &mut Packets, mut batch: Vec<Pkt>) -> Vec<(u32, u32, u16, u32)> {
    merge(packets, &mut batch);
    let row = |&p: &Pkt| {
        let hot = packets.get(p);
        let payload = if hot.kind == PacketKind::Tcp { packets.tcp(p).payload } else { 0 };
        (hot.flow.0, hot.seq, hot.segs, payload)
    };
    batch.iter().map(row).collect()
}

/// `count` full segments of a flow, starting at `seq`.
fn train(packets: &mut Packets, to: u32, seq: u32, count: u32) -> Vec<Pkt> {
    (0..count).map(|n| segment(packets, to, seq.wrapping_add(n * 1448), 1448, |_| ())).collect()
}

#[test]
fn segments_that_continue_each_other_become_one() {
    let mut ps = Packets::new();
    let batch = train(&mut ps, 1, u32::MAX - 2000, 10);
    let first = batch[0];
    assert_eq!(merged(&mut ps, batch), [(1, u32::MAX - 2000, 10, 14_480)]);
    let hot = ps.get(first);
    assert_eq!((hot.len, hot.truesize, hot.ack), (15_000, 23_040, 7));
    let account = ps.account();
    assert_eq!((account.created, account.merged, ps.live()), (10, 9, 1));
}

#[test]
fn flows_are_separate_and_keep_their_order() {
    let mut ps = Packets::new();
    let (a, b) = (train(&mut ps, 1, 0, 3), train(&mut ps, 2, 500, 3));
    let batch = a.into_iter().zip(b).flat_map(|(a, b)| [a, b]).collect();
    assert_eq!(merged(&mut ps, batch), [(1, 0, 3, 4344), (2, 500, 3, 4344)]);
    // A ninth flow displaces the oldest, whose next segment starts a new packet.
    let mut ps = Packets::new();
    let mut batch: Vec<Pkt> = (0..9).map(|f| segment(&mut ps, f, 0, 1448, |_| ())).collect();
    batch.extend((0..9).map(|f| segment(&mut ps, f, 1448, 1448, |_| ())));
    let segs: Vec<u16> = merged(&mut ps, batch).iter().map(|row| row.2).collect();
    assert_eq!(segs.iter().sum::<u16>(), 18);
    assert_eq!((segs[0], segs[1..9].iter().filter(|&&s| s == 2).count() < 8), (1, true));
}

#[test]
fn segments_that_end_a_packet_or_are_not_merged() {
    type Change = fn(&mut TcpHeader);
    let table: [(&str, u32, Change, &[u16]); 12] = [
        ("the same", 1448, |_| (), &[3]),
        ("PSH is merged and ends it", 1448, |h| h.flags = h.flags.with(TcpFlags::PSH), &[2, 1]),
        ("FIN is merged and ends it", 1448, |h| h.flags = h.flags.with(TcpFlags::FIN), &[2, 1]),
        ("a short one is merged and ends it", 1000, |_| (), &[2, 1]),
        ("a pure acknowledgement is not", 0, |_| (), &[1, 1, 1]),
        ("nor is one with CWR", 1448, |h| h.flags = h.flags.with(TcpFlags::CWR), &[1, 1, 1]),
        ("ECE differs, so all that follow too", 1448, |h| h.flags = h.flags.with(TcpFlags::ECE), &[1, 1, 1]),
        ("RST", 1448, |h| h.flags = h.flags.with(TcpFlags::RST), &[1, 1, 1]),
        ("another time stamp", 1448, |h| h.ts_val = 1, &[1, 1, 1]),
        ("another echo", 1448, |h| h.ts_ecr = 1, &[1, 1, 1]),
        ("a SACK block", 1448, |h| h.sacks = 1, &[1, 1, 1]),
        ("another window", 1448, |h| h.window = 1, &[1, 1, 1]),
    ];
    for (what, payload, change, want) in table {
        let mut ps = Packets::new();
        // A full segment, the one under test, and one that continues it.
        let batch = vec![
            segment(&mut ps, 1, 0, 1448, |_| ()),
            segment(&mut ps, 1, 1448, payload, change),
            segment(&mut ps, 1, 1448 + payload, 1448, |_| ()),
        ];
        let segs: Vec<u16> = merged(&mut ps, batch).iter().map(|row| row.2).collect();
        assert_eq!(segs, want, "{what}");
    }
}

#[test]
fn marks_and_gaps_separate() {
    let mut ps = Packets::new();
    let mut batch = train(&mut ps, 1, 0, 6);
    ps.get_mut(batch[2]).tos = 3;
    assert_eq!(merged(&mut ps, batch.clone()).iter().map(|r| r.2).collect::<Vec<_>>(), [2, 1, 3]);
    let mut ps = Packets::new();
    batch = train(&mut ps, 1, 0, 6);
    let lost = batch.remove(3);
    ps.free(lost, Fate::Consumed);
    assert_eq!(merged(&mut ps, batch), [(1, 0, 3, 4344), (1, 5792, 2, 2896)]);
}

#[test]
fn sizes_and_budgets() {
    // 45 segments of 1,448 bytes with one header are below 64 KiB, 46 are not; a poll handles 64 packets.
    for (count, want) in [(45, vec![45]), (46, vec![45, 1]), (64, vec![45, 19]), (70, vec![45, 19, 6])] {
        let mut ps = Packets::new();
        let batch = train(&mut ps, 1, 0, count);
        assert_eq!(merged(&mut ps, batch).iter().map(|r| r.2).collect::<Vec<_>>(), want, "{count}");
    }
    // Small segments of equal size are merged too, but not a larger one.
    let mut ps = Packets::new();
    let batch = vec![
        segment(&mut ps, 1, 0, 100, |_| ()),
        segment(&mut ps, 1, 100, 100, |_| ()),
        segment(&mut ps, 1, 200, 1448, |_| ()),
    ];
    assert_eq!(merged(&mut ps, batch), [(1, 0, 2, 200), (1, 200, 1, 1448)]);
}

#[test]
fn splitting_restores_merged_packets() {
    let mut ps = Packets::new();
    let mut batch = train(&mut ps, 1, 9000, 20);
    batch.push(segment(&mut ps, 1, 9000 + 20 * 1448, 700, |h| h.flags = h.flags.with(TcpFlags::PSH)));
    merge(&mut ps, &mut batch);
    assert_eq!(batch.len(), 1);
    let mut rows = Vec::new();
    crate::offload::gso::split(&mut ps, batch[0], |ps, p| {
        rows.push((ps.get(p).seq, ps.get(p).len, ps.tcp(p).flags.has(TcpFlags::PSH)));
        ps.free(p, Fate::Delivered);
    });
    let full = (0..20).map(|n| (9000 + n * 1448, 1500, false));
    assert_eq!(rows, full.chain([(9000 + 20 * 1448, 752, true)]).collect::<Vec<_>>());
    let &PacketAccount { created, delivered, merged, .. } = ps.account();
    assert_eq!((created, delivered, merged), (41, 21, 20));
}
