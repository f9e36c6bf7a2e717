//! The round of Linux 4.10: who finds the hardware full has had its turn.

use super::*;
use crate::wifi::tx::tid::BlockAckSession;
use alloc::string::String;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

const IN_TURN: Scheduler = Scheduler::RoundRobin(WhenFull::LosesTurn);

// linux: drivers/net/wireless/ath/ath9k/xmit.c ath_txq_schedule (4.10).
#[rustfmt::skip]
#[test]
fn who_finds_the_hardware_full_has_had_its_turn() {
    check(IN_TURN, 3, &[
        (Queue(0, 20), " | o0 | 0 0 0"),
        (Queue(1, 20), " | o0 o1 | 0 0 0"),
        (Queue(2, 3),  " | o0 o1 o2 | 0 0 0"),
        // Two aggregates, and then there is no room for station 2.
        (Fill,         "0 1 | o0 o1 o2 | 0 0 0"),
        // Each packet that comes makes the driver look, and turns the round by one.
        (Fill,         "0 1 | o1 o2 o0 | 0 0 0"),
        (Fill,         "0 1 | o2 o0 o1 | 0 0 0"),
        // Room for 2; who comes next finds none.
        (Done(9000),   "1 2 | o1 o2 o0 | 0 0 0"),
        (Done(10),     "2 1 | o0 o1 o2 | 0 0 0"),
    ]);
}

/// The state after each look while the hardware is full, where station 2 sends its frames alone.
fn looks(scheduler: Scheduler, times: usize) -> Vec<String> {
    let mut b = Bench::new(scheduler, 3, 2);
    b.rig.tx.tids[be(2).index()].session = BlockAckSession::Never;
    for station in 0..3 {
        b.queue(ms(0), be(station), 20);
    }
    let look = |b: &mut Bench| {
        b.fill(ms(0));
        b.state().split(" |").next().expect("the hardware").to_string()
    };
    (0..times).map(|_| look(&mut b)).collect()
}

// linux: drivers/net/wireless/ath/ath9k/xmit.c ATH_AGGR_MIN_QDEPTH, ATH_NON_AGGR_MIN_QDEPTH (4.10) - two
// aggregates, frames that go alone while there are fewer than eight of both, two of them a turn.
#[test]
fn frames_that_go_alone_pass_those_that_wait_for_room() {
    let (four, six) = ("0 1 2 2 2 2", "0 1 2 2 2 2 2 2");
    assert_eq!(looks(IN_TURN, 9), ["0 1 2 2", "0 1 2 2", four, four, six, six, six, six, six]);
    let kept = Scheduler::RoundRobin(WhenFull::KeepsTurn);
    assert_eq!(looks(kept, 3), ["0 1 2 2"; 3]);
}

/// A station's Block Ack window is closed: its first frame is never acknowledged, and 63 after it are; others
/// wait.
fn closed(b: &mut Bench, station: u16) {
    b.queue(ms(0), be(station), 80);
    b.fill(ms(0));
    while !b.rig.hardware(BE).is_empty() {
        let mut ppdu = b.rig.pop(ms(0), BE);
        for m in ppdu.mpdus.drain(..) {
            b.rig.packets.free(m.pkt.expect("not handed over"), Fate::Delivered);
            if m.seq.get() > 0 {
                b.rig.tx.tids[be(station).index()].complete(m.seq);
            }
        }
        b.rig.radio.recycle(ppdu);
        b.fill(ms(0));
    }
}

// linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_get_tid_subframe, ath_txq_schedule (4.10) - who may
// send nothing does not end the round, with room in the hardware or without.
#[test]
fn a_closed_window_passes_the_turn_on() {
    let mut b = Bench::new(IN_TURN, 2, 2);
    closed(&mut b, 0);
    // Behind the 64 one frame has left its queue: it found the second aggregate full, and lies beyond the
    // window.
    assert_eq!((b.state().as_str(), b.driver.queued()), (" | o0 | 0 0", 80 - 65));
    b.act(Queue(1, 20));
    // 0 has nothing for the hardware; 1 fills it, and then finds it full.
    b.act(Fill);
    assert_eq!(b.state(), "1 1 | o0 o1 | 0 0");
    // A look: 0 may not send, 1 finds no room. Were the first to end the round, 1 would stand before it.
    b.act(Fill);
    assert_eq!(b.state(), "1 1 | o0 o1 | 0 0");
    b.act(Done(10));
    assert_eq!(b.state(), "1 1 | o0 o1 | 0 0");
}

// linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_sched_aggr (4.10) - the frame that was looked at waits
// in retry_q.
#[test]
fn who_loses_its_turn_keeps_the_frame_that_was_looked_at() {
    let mut b = Bench::new(IN_TURN, 2, 2);
    b.act(Queue(0, 10));
    b.act(Fill);
    let waiting = |b: &Bench, station| -> Vec<u16> {
        b.rig.tx.tids[be(station).index()].waiting().map(|m| m.seq.get()).collect()
    };
    assert_eq!(
        (b.state().as_str(), b.driver.queued(), waiting(&b, 0)),
        ("0 0 | o0 | 0 0", 10 - 4 - 1, vec![4])
    );
    b.act(Queue(1, 3));
    for _ in 0..3 {
        b.act(Fill);
    }
    assert_eq!((b.driver.queued(), waiting(&b, 0), waiting(&b, 1)), (5 + 2, vec![4], vec![0]));
}
