use alloc::vec;
use alloc::vec::Vec;
use proptest::prelude::*;

use super::*;
use crate::types::{Fate, NoSink, Packets};
use crate::wifi::testing::{TRUESIZE, ms, packet};

const HERE: PlaceId = PlaceId(0);

struct Bench {
    reorder: Reorder,
    packets: Packets,
    up: Vec<Pkt>,
}

impl Bench {
    fn new(start: u16) -> Self {
        Self::of(start, 64)
    }
    fn of(start: u16, frames: u16) -> Self {
        Self { reorder: Reorder::new(Seq::new(start), frames, HERE), packets: Packets::new(), up: Vec::new() }
    }
    fn receive(&mut self, at: u64, seq: u16) {
        let p = packet(&mut self.packets, u32::from(seq), 1500);
        let ctx = &mut Ctx { packets: &mut self.packets, trace: &mut NoSink };
        self.reorder.receive(ms(at), Seq::new(seq), p, &mut self.up, ctx);
    }
    fn up(&mut self) -> Vec<u32> {
        let mut seqs = Vec::new();
        for p in core::mem::take(&mut self.up) {
            seqs.push(self.packets.get(p).seq);
            self.packets.free(p, Fate::Delivered);
        }
        seqs
    }
    /// Milliseconds until the next hole is given up.
    fn timeout(&self) -> Option<u64> {
        self.reorder.next_timeout().map(|at| at.nanos() / 1_000_000)
    }
    fn old(&self) -> u64 {
        self.packets.account().dropped.first().map_or(0, |d| d[Reason::OldOrDuplicate as usize])
    }
    fn check_held(&self) {
        assert_eq!(self.reorder.held().count() as u64 + self.up.len() as u64, self.packets.live());
    }
}

#[test]
fn frames_are_delivered_in_order() {
    #[rustfmt::skip]
    let table: &[(u16, &[u32], Option<u64>, u64)] = &[
        // seq    up                    timeout    old or duplicate
        (4094, &[4094],                 None,      0),
        (0,    &[],                     Some(100), 0), // 4095 is missing
        (1,    &[],                     Some(100), 0),
        (1,    &[],                     Some(100), 1), // duplicate
        (4095, &[4095, 0, 1],           None,      1),
        (4094, &[],                     None,      2), // before the window
        (65,   &[],                     Some(100), 2), // the window's last number
        (66,   &[],                     Some(100), 2), // one past the window: 2 is given up
        (3,    &[3],                    Some(100), 2),
        (2,    &[],                     Some(100), 3),
        // Far ahead: all held frames are delivered, and the new frame is the window's last.
        (200,  &[65, 66],               Some(100), 3),
        (136,  &[],                     Some(100), 4),
        (137,  &[137],                  Some(100), 4),
    ];
    let mut b = Bench::new(4094);
    for (row, &(seq, up, timeout, old)) in table.iter().enumerate() {
        b.receive(0, seq);
        b.check_held();
        assert_eq!((b.up().as_slice(), b.timeout(), b.old()), (up, timeout, old), "row {row}");
    }
}

#[test]
fn frames_sent_before_the_session_are_delivered_until_it_starts() {
    let mut b = Bench::new(10);
    for seq in [7, 9, 11] {
        b.receive(0, seq);
    }
    assert_eq!((b.up(), b.old()), (vec![7, 9], 0));
    b.receive(0, 8);
    b.receive(0, 10);
    assert_eq!((b.up(), b.old()), (vec![10, 11], 1));
}

#[test]
fn a_request_moves_the_window() {
    let mut b = Bench::new(0);
    [1, 2, 5, 9].into_iter().for_each(|seq| b.receive(0, seq));
    let bar = |b: &mut Bench, start| {
        b.reorder.move_to(Seq::new(start), &mut b.up);
        b.up()
    };
    assert_eq!(bar(&mut b, 0), [], "it stands there already");
    assert_eq!(bar(&mut b, 1), [1, 2], "what follows the new edge goes up too");
    assert_eq!(bar(&mut b, 4090), [], "never backwards");
    assert_eq!(bar(&mut b, 4), []);
    assert_eq!(bar(&mut b, 7), [5]);
    assert_eq!(bar(&mut b, 1000), [9]);
    b.receive(0, 999);
    b.receive(0, 1000);
    assert_eq!((b.up(), b.old(), b.timeout()), (vec![1000], 1, None));
}

#[test]
fn a_hole_is_given_up_100_ms_after_the_frame_behind_it() {
    let mut b = Bench::new(0);
    // linux: net/mac80211/rx.c ieee80211_sta_reorder_release (4.4) - the lowest number held counts, even if a
    // later number arrived before.
    b.receive(10, 4);
    assert_eq!(b.timeout(), Some(110));
    b.receive(50, 1);
    b.receive(60, 2);
    assert_eq!(b.timeout(), Some(150));
    let at = |b: &mut Bench, t| {
        b.reorder.on_timeout(ms(t), &mut b.up);
        (b.up(), b.timeout())
    };
    assert_eq!(at(&mut b, 149), (vec![], Some(150)));
    // Then 3 is missing, but 4 has exceeded the timeout, too.
    assert_eq!(at(&mut b, 150), (vec![1, 2, 4], None));
    b.receive(151, 0);
    b.receive(151, 3);
    b.receive(151, 5);
    assert_eq!((b.up(), b.old()), (vec![5], 2));
}

#[test]
fn a_frame_that_becomes_the_first_may_be_overdue() {
    let mut b = Bench::new(0);
    b.receive(10, 4);
    b.receive(60, 1);
    b.receive(150, 0);
    assert_eq!((b.up(), b.timeout()), (vec![0, 1], Some(110)));
    b.reorder.on_timeout(ms(150), &mut b.up);
    assert_eq!((b.up(), b.timeout()), (vec![4], None));
}

proptest! {
    /// For random arrivals, packets are delivered in order, each ends exactly once, and handling a timer
    /// clears it.
    #[test]
    fn order_accounting_and_timers(
        start in 0_u16..4096,
        frames in prop_oneof![Just(64_u16), Just(128), Just(256), 1_u16..=256],
        ops in prop::collection::vec((0_u16..300, 0_u64..60, 0_u8..12), 1..300),
    ) {
        let mut b = Bench::of(start, frames);
        b.receive(0, start);
        b.up();
        let (mut now, mut last) = (0, None::<u16>);
        for (step, wait, kind) in ops {
            now += wait;
            while let Some(at) = b.timeout().filter(|&at| at <= now) {
                b.reorder.on_timeout(ms(at), &mut b.up);
                prop_assert!(b.timeout().is_none_or(|next| next > at), "the timer stands still");
            }
            let step = step % (frames + 26);
            let seq = b.reorder.window.start().plus(step).plus(4096 - 10);
            match kind {
                0 => b.reorder.move_to(seq, &mut b.up),
                _ => b.receive(now, seq.get()),
            }
            b.check_held();
            for seq in b.up() {
                let n = Seq::new(seq as u16);
                prop_assert!(last.is_none_or(|l| n.since(Seq::new(l)) - 1 < 2048), "{last:?} then {seq}");
                last = Some(n.get());
            }
            // No deliverable frame is held back.
            prop_assert!(b.reorder.window.marked().next() != Some(0));
        }
        // All held frames are delivered when their timers expire.
        while let Some(at) = b.timeout() {
            prop_assert!(at <= now + 100);
            b.reorder.on_timeout(ms(at), &mut b.up);
            prop_assert!(b.timeout().is_none_or(|next| next > at), "the timer stands still");
            b.up();
        }
        prop_assert_eq!(b.packets.live(), 0);
        let ended = core::iter::from_fn(|| b.packets.pop_uncharged()).filter(|c| c.1 == TRUESIZE).count() as u64;
        prop_assert_eq!(ended, b.packets.account().created);
    }
}
