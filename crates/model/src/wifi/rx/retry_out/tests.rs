use alloc::vec;
use alloc::vec::Vec;
use proptest::prelude::*;

use super::*;
use crate::types::{Ctx, Fate, NewPacket, NoSink, PacketKind, Packets, Pkt, PlaceId, Reason};
use crate::wifi::air::reception::RxOutcome;
use crate::wifi::phy::PhyRate;
use crate::wifi::rx::reorder::Reorder;
use crate::wifi::rx::{Judge, RxTid};
use crate::wifi::testing::{ms, packet, ppdu};

const HERE: PlaceId = PlaceId(0);

struct Bench {
    reorder: Reorder,
    packets: Packets,
    up: Vec<Pkt>,
}

impl Bench {
    fn new(start: u16) -> Self {
        let mut reorder = Reorder::new(Seq::new(start), 64, HERE);
        reorder.count_broken();
        Self { reorder, packets: Packets::new(), up: Vec::new() }
    }
    fn whole(&mut self, seq: u16) {
        let p = packet(&mut self.packets, u32::from(seq), 1500);
        let ctx = &mut Ctx { packets: &mut self.packets, trace: &mut NoSink };
        self.reorder.receive(ms(0), Seq::new(seq), p, &mut self.up, ctx);
    }
    fn broken(&mut self, seq: u16, index: Option<u8>) {
        self.reorder.broken(Seq::new(seq), true, index, &mut self.up);
    }
    fn up(&mut self) -> Vec<u32> {
        let mut seqs = Vec::new();
        for p in core::mem::take(&mut self.up) {
            seqs.push(self.packets.get(p).seq);
            self.packets.free(p, Fate::Delivered);
        }
        seqs
    }
    fn held(&self) -> Vec<u32> {
        self.reorder.held().map(|p| self.packets.get(p).seq).collect()
    }
    fn dropped(&self, reason: Reason) -> u64 {
        self.packets.account().dropped.first().map_or(0, |d| d[reason as usize])
    }
    fn count(&self, seq: u16) -> Option<u8> {
        self.reorder.retry_out().unwrap().count(Seq::new(seq))
    }
}

fn numbers(seqs: &[u16]) -> Vec<u32> {
    seqs.iter().copied().map(u32::from).collect()
}

// paper: retry-out figure 4 and 3.3 - seven A-MPDUs and index 2.
#[test]
fn the_worked_example_of_figure_4() {
    let mut b = Bench::new(1);
    type Seqs = &'static [u16];
    let row =
        |received: Seqs, errors: Seqs, up: Seqs, kept: Seqs| (received, errors, [up, kept].map(numbers));
    #[rustfmt::skip]
    let table = [
        // received          with an error    up             kept so far
        row(&[1, 2, 3, 4, 5], &[2, 4],        &[1],          &[3, 5]),
        row(&[6, 7, 8],       &[6],           &[],           &[3, 5, 7, 8]),
        row(&[2, 4, 9, 10],   &[2, 4, 9, 10], &[],           &[3, 5, 7, 8]),
        row(&[2, 4, 9, 10],   &[4, 10],       &[2, 3, 5],    &[7, 8, 9]),
        row(&[6],             &[],            &[6, 7, 8, 9], &[]),
        row(&[4, 10],         &[4],           &[10],         &[]),
        row(&[4],             &[],            &[],           &[]),
    ];
    let counts: [&[(u16, u8)]; 7] = [
        &[(2, 0), (4, 0)],
        &[(6, 0)],
        &[(2, 1), (4, 1), (9, 0), (10, 0)],
        &[(4, 2), (10, 1)],
        &[],
        &[(4, 3)],
        &[],
    ];
    for (n, ((received, errors, [up, kept]), counts)) in table.into_iter().zip(counts).enumerate() {
        for &seq in received {
            match errors.contains(&seq) {
                true => b.broken(seq, Some(2)),
                false => b.whole(seq),
            }
        }
        assert_eq!(b.up(), up, "A-MPDU {}", n + 1);
        assert_eq!(b.held(), kept, "A-MPDU {}", n + 1);
        for &(seq, count) in counts {
            assert_eq!(b.count(seq), Some(count), "A-MPDU {}, frame {seq}", n + 1);
        }
        assert_eq!(b.dropped(Reason::RetryOut), u64::from(n == 6), "A-MPDU {}", n + 1);
        let lost = b.reorder.retry_out().unwrap().is_lost(Seq::new(4));
        assert_eq!(lost, n >= 3, "A-MPDU {}", n + 1);
    }
    assert_eq!(b.packets.live(), 0);
}

// paper: retry-out figure 3 (b) - index 1.
#[test]
fn the_example_of_figure_3() {
    let mut b = Bench::new(1);
    b.whole(1);
    b.whole(2);
    b.broken(3, Some(1));
    b.whole(4);
    assert_eq!(b.up(), [1, 2]);
    b.broken(3, Some(1));
    assert_eq!(b.up(), [4]);
    b.whole(3);
    assert_eq!((b.up(), b.dropped(Reason::RetryOut), b.dropped(Reason::OldOrDuplicate)), (vec![], 1, 0));
    b.whole(5);
    assert_eq!(b.up(), [5]);
}

#[test]
fn the_smoothed_rate_chooses_the_index() {
    let mbps = |n| Rate::from_mbps(n);
    #[rustfmt::skip]
    let rows: &[(u64, u64, Option<u8>)] = &[
        // frame's Mbit/s   smoothed, bit/s   index
        (13,                13_000_000,       Some(2)),
        (13,                13_000_000,       Some(2)),
        (65,                26_000_000,       Some(5)),
        (130,               52_000_000,       Some(8)),
        (300,               114_000_000,      None),
        (6,                 87_000_000,       Some(8)),
    ];
    let mut smoothed = SmoothedRate::default();
    for &(rate, expected, index) in rows {
        smoothed.update(mbps(rate));
        assert_eq!(smoothed.rate(), Rate::from_bps(expected));
        assert_eq!(RetryOutParams::ByRate.index(smoothed), index);
        assert_eq!(RetryOutParams::Index(3).index(smoothed), Some(3));
    }
    let edges = [24_999_999, 25_000_000, 49_999_999, 50_000_000, 99_999_999, 100_000_000];
    let indices = edges.map(|bps| table(Rate::from_bps(bps)).unwrap_or(0));
    assert_eq!(indices, [2, 5, 5, 8, 8, 0]);
}

#[test]
fn only_tcp_segments_are_given_up_and_held_or_skipped_frames_are_only_counted() {
    for (kind, up) in [(PacketKind::Tcp, vec![1]), (PacketKind::Udp, vec![])] {
        let mut packets = Packets::new();
        let mut rx = RxTid::default();
        rx.open(Seq::new(0), 64, HERE, &mut Vec::new());
        rx.count_broken();
        let mut p = ppdu(&mut packets, 0..2);
        for mpdu in &mut p.mpdus {
            let seq = packets.get(mpdu.pkt.unwrap()).seq;
            packets.free(mpdu.pkt.take().unwrap(), Fate::Consumed);
            mpdu.pkt = Some(packets.create(NewPacket { kind, seq, ..NewPacket::PLAIN }));
        }
        let mut smoothed = SmoothedRate::default();
        let mut gone = Vec::new();
        for whole in [0b10, 0b00, 0b00] {
            let rate = PhyRate::parse("ht20-mcs0-lgi").unwrap().rate();
            let judge = Some(Judge { params: RetryOutParams::ByRate, smoothed: &mut smoothed, rate });
            let ctx = &mut Ctx { packets: &mut packets, trace: &mut NoSink };
            let got = RxOutcome { whole: Marks::of(whole), readable: Marks::first(2) };
            rx.receive(ms(0), &mut p, &got, judge, &mut gone, ctx);
        }
        let seqs: Vec<_> = gone.iter().map(|&p| packets.get(p).seq).collect();
        assert_eq!(seqs, up, "{kind:?}");
        // Frame 1 was received intact before it was received with errors twice.
        assert_eq!(rx.session().unwrap().retry_out().unwrap().count(Seq::new(1)), Some(1));
        assert_eq!(smoothed.rate(), Rate::from_bps(6_500_000));
    }
}

#[test]
fn counts_restart_when_numbers_wrap() {
    let mut b = Bench::new(0);
    b.broken(0, Some(1));
    b.broken(0, Some(1));
    assert_eq!(b.count(0), Some(1));
    for seq in 1..64 {
        b.whole(seq);
    }
    // It may still arrive, and is ignored.
    b.whole(0);
    assert_eq!(b.dropped(Reason::RetryOut), 1);
    for seq in 64..4096 {
        b.whole(seq);
    }
    b.whole(0);
    assert_eq!((b.dropped(Reason::RetryOut), b.dropped(Reason::OldOrDuplicate)), (1, 0));
    assert_eq!(b.up().len(), 4096);
}

#[test]
fn a_hole_before_a_lost_frame_is_not_given_up_for_it() {
    let mut b = Bench::new(1);
    b.broken(2, Some(0));
    assert_eq!(b.reorder.next_timeout(), None);
    b.reorder.on_timeout(ms(1000), &mut b.up);
    b.whole(1);
    b.whole(3);
    assert_eq!(b.up(), [1, 3]);
}

proptest! {
    /// For random arrivals, no frame is delivered twice, order is kept, and packets are delivered, dropped or
    /// held.
    #[test]
    fn order_is_kept(frames in prop::collection::vec((0u16..90, any::<bool>(), 0u8..4), 0..600)) {
        let mut b = Bench::new(0);
        let (mut base, mut all) = (0u16, Vec::new());
        for (ahead, whole, index) in frames {
            let seq = (base + ahead.saturating_sub(26)) % 4096;
            match whole {
                true => b.whole(seq),
                false => b.broken(seq, (index > 0).then_some(index)),
            }
            all.extend(b.up());
            base = all.last().map_or(0, |&last| last as u16);
            prop_assert_eq!(b.held().len() as u64, b.packets.live());
        }
        prop_assert!(all.is_sorted_by(|a, b| a < b), "{:?}", all);
    }
}
