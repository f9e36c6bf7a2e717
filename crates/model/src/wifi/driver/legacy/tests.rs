use super::*;
use crate::types::{Fate, PeerId};
use crate::wifi::air::ppdu::Mpdu;
use crate::wifi::config::LegacyParams;
use crate::wifi::testing::{Rig, ms, peer};
use crate::wifi::tx::aggregate::MAX_FRAMES;
use alloc::vec;
use alloc::vec::Vec;

const BEST: &[&str] = &["ht20-mcs15-sgi"];

fn be(peer: u16) -> TidIndex {
    TidIndex::new(PeerId(peer), 0)
}

struct Bench {
    rig: Rig,
    driver: LegacyDriver,
}

impl Bench {
    /// `stations` stations in session, with at most `frames` frames per aggregate.
    fn new(stations: usize, frames: u32) -> Self {
        let mut rig = Rig::in_session((0..stations).map(|_| peer(BEST, frames)));
        rig.tx.looks_before_it_takes();
        Self { driver: LegacyDriver::new(LegacyParams::default(), rig.tx.tids.len()), rig }
    }
    /// Queues frames without filling the hardware.
    fn queue(&mut self, tid: TidIndex, frames: u32) {
        for _ in 0..frames {
            let p = self.rig.packet(tid, 100);
            self.driver.push(p, tid, &mut self.rig.ctx());
        }
    }
    fn fill(&mut self, ac: Ac) -> Vec<u16> {
        let (tx, mut hw, mut ctx) = self.rig.parts();
        self.driver.fill(ms(0), ac, tx, &mut hw, &mut ctx);
        self.rig.hardware(ac)
    }
    /// Completes the first PPDU in the hardware with all frames acknowledged.
    fn done(&mut self, ac: Ac) -> u16 {
        let mut ppdu = self.rig.pop(ms(0), ac);
        let tid = TidIndex::new(ppdu.header.peer, ppdu.header.tid);
        for m in ppdu.mpdus.drain(..) {
            self.rig.packets.free(m.pkt.expect("not handed over"), Fate::Delivered);
            self.rig.tx.tids[tid.index()].complete(m.seq);
            self.driver.completed(ac);
        }
        ppdu.header.peer.0
    }
    fn turns(&self) -> Vec<u16> {
        self.driver.round.turns(Ac::Be).map(|t| t.peer().0).collect()
    }
}

// linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_start, ath_txq_skb_done (4.4) - stop above 123, wake
// below 123.
#[test]
fn stop_above_123_and_wake_below() {
    let mut b = Bench::new(2, MAX_FRAMES);
    b.queue(be(0), 100);
    #[rustfmt::skip]
    let table: &[(i32, u16, u32, bool, bool)] = &[
        // frames in (or completed), station   pending  stopped  woken by it
        (23, 1, 123, false, false),
        (1,  0, 124, true,  false), // one more over all stations of the category
        (-1, 0, 123, true,  false), // 123 is not below 123
        (1,  1, 124, true,  false),
        (1,  1, 125, true,  false), // always accepted
        (-1, 0, 124, true,  false),
        (-1, 0, 123, true,  false),
        (-1, 0, 122, false, true),
        (-1, 0, 121, false, false), // woken once
        (2,  0, 123, false, false), // no hysteresis
        (1,  0, 124, true,  false),
        (-2, 0, 122, false, true),
    ];
    for (row, &(frames, station, pending, stopped, woken)) in table.iter().enumerate() {
        let woke = if frames > 0 {
            b.queue(be(station), frames as u32);
            false
        } else {
            (0..-frames).fold(false, |_, _| b.driver.completed(Ac::Be))
        };
        assert_eq!(
            (b.driver.pending(Ac::Be), b.driver.is_stopped(Ac::Be), woke),
            (pending, stopped, woken),
            "row {row}"
        );
        assert_eq!(
            (b.driver.pending(Ac::Vi), b.driver.is_stopped(Ac::Vi)),
            (0, false),
            "each category counts its own"
        );
    }
}

#[test]
fn frames_in_the_hardware_and_failed_frames_are_counted() {
    let mut b = Bench::new(1, 4);
    b.queue(be(0), 10);
    b.fill(Ac::Be);
    let counts = |b: &Bench| {
        let waiting: Vec<u16> = b.rig.tx.tids[be(0).index()].waiting().map(|m| m.seq.get()).collect();
        (waiting, b.driver.queued(), b.driver.pending(Ac::Be))
    };
    // The first of the two remaining frames did not fit into the second aggregate: it has its number.
    assert_eq!(counts(&b), (vec![8], 1, 10));
    let ppdu = b.rig.pop(ms(0), Ac::Be);
    for m in ppdu.mpdus {
        b.rig.tx.tids[be(0).index()].again(Mpdu { tries: 1, ..m });
    }
    b.driver.schedule(be(0));
    assert_eq!(counts(&b), (vec![0, 1, 2, 3, 8], 1, 10));
    assert_eq!(b.fill(Ac::Be), [0, 0]);
    assert_eq!(counts(&b), (vec![8], 1, 10));
    let order: Vec<u16> = b.rig.radio.ppdus().flat_map(|p| p.mpdus.iter().map(|m| m.seq.get())).collect();
    assert_eq!(order, [4, 5, 6, 7, 0, 1, 2, 3], "retries before what has not been sent");
}

// linux: drivers/net/wireless/ath/ath9k/xmit.c ath_txq_schedule (4.4) - one aggregate each, then to the end,
// also after finding the hardware full.
#[test]
fn a_round_of_three() {
    let mut b = Bench::new(3, 2);
    (0..3).for_each(|s| b.queue(be(s), 40));
    assert_eq!(b.turns(), [0, 1, 2]);
    // Hardware queue, and the round. The first PPDU completes before each later row.
    let table = [
        ([0, 1], [0, 1, 2]), // 2 found it full
        ([1, 0], [2, 0, 1]), // 0 was next, then 1 found it full
        ([0, 2], [1, 2, 0]),
        ([2, 1], [0, 1, 2]),
        ([1, 0], [2, 0, 1]),
        ([0, 2], [1, 2, 0]),
    ];
    for (row, (hardware, turns)) in table.into_iter().enumerate() {
        if row > 0 {
            b.done(Ac::Be);
        }
        assert_eq!((b.fill(Ac::Be), b.turns()), (hardware.to_vec(), turns.to_vec()), "row {row}");
    }
}

#[test]
fn with_two_stations_rotation_serves_one_until_a_frame_arrives() {
    // A full hardware rotates the round by one, like a completion: of two stations, the same one finds room
    // each time, until a new frame rotates the round once more.
    let mut b = Bench::new(2, 2);
    (0..2).for_each(|s| b.queue(be(s), 30));
    b.fill(Ac::Be);
    let served = |b: &mut Bench, n: u32| -> Vec<u16> {
        (0..n)
            .map(|_| {
                b.done(Ac::Be);
                *b.fill(Ac::Be).last().unwrap()
            })
            .collect()
    };
    assert_eq!(served(&mut b, 4), [1, 1, 1, 1]);
    b.queue(be(1), 1);
    b.fill(Ac::Be);
    assert_eq!(served(&mut b, 4), [0, 0, 0, 0]);
}

#[test]
fn two_aggregates_but_eight_single_frames() {
    let mut b = Bench::new(2, MAX_FRAMES);
    let voice = |peer| TidIndex::new(PeerId(peer), 6);
    b.queue(voice(0), 20);
    b.queue(voice(1), 20);
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_form_burst (4.4) - two at a time, each as its own
    // PPDU.
    assert_eq!(b.fill(Ac::Vo), [0, 0, 1, 1, 0, 0, 1, 1]);
    b.done(Ac::Vo);
    // At seven there is room for one, and two are added.
    assert_eq!(b.fill(Ac::Vo).len(), 9);
    b.done(Ac::Vo);
    assert_eq!(b.fill(Ac::Vo).len(), 8);
    b.queue(be(0), 200);
    assert_eq!(b.fill(Ac::Be), [0, 0], "each category has its own room");
}

#[test]
fn a_tid_that_may_not_send_leaves_the_round_unless_its_window_is_closed() {
    let mut b = Bench::new(2, MAX_FRAMES);
    (0..2).for_each(|s| b.queue(be(s), 3));
    b.rig.tx.tids[be(0).index()].session = crate::wifi::tx::tid::BlockAckSession::Asked(ms(1000));
    assert_eq!((b.fill(Ac::Be), b.turns()), (vec![1], vec![]));
    b.rig.tx.tids[be(0).index()].open(64);
    b.driver.schedule(be(0));
    assert_eq!(b.fill(Ac::Be), [1, 0]);
    // 64 frames in flight and unacknowledged: no more may be sent, but the TID stays listed.
    let mut b = Bench::new(1, MAX_FRAMES);
    b.queue(be(0), 100);
    b.fill(Ac::Be);
    let held = [b.rig.pop(ms(0), Ac::Be), b.rig.pop(ms(0), Ac::Be)];
    assert_eq!((held[0].mpdus.len() + held[1].mpdus.len(), b.fill(Ac::Be), b.turns()), (64, vec![], vec![0]));
    b.rig.tx.tids[be(0).index()].complete(held[0].mpdus[0].seq);
    assert_eq!(b.fill(Ac::Be), [0]);
    assert_eq!(b.rig.radio.ppdus().map(|p| p.mpdus.len()).sum::<usize>(), 1);
}
