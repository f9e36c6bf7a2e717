//! Round robin of Linux 4.10: a station that finds the hardware full loses its turn.

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
fn a_station_that_finds_the_hardware_full_loses_its_turn() {
    check(IN_TURN, 3, &[
        (Queue(0, 20), " | o0 | 0 0 0"),
        (Queue(1, 20), " | o0 o1 | 0 0 0"),
        (Queue(2, 3),  " | o0 o1 o2 | 0 0 0"),
        // Two aggregates; no room for station 2.
        (Fill,         "0 1 | o0 o1 o2 | 0 0 0"),
        // Each new packet starts a pass, which rotates the round by one.
        (Fill,         "0 1 | o1 o2 o0 | 0 0 0"),
        (Fill,         "0 1 | o2 o0 o1 | 0 0 0"),
        // Room for 2; the next station finds none.
        (Done(9000),   "1 2 | o1 o2 o0 | 0 0 0"),
        (Done(10),     "2 1 | o0 o1 o2 | 0 0 0"),
    ]);
}

/// State after each pass while the hardware is full and station 2 sends single frames.
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
// aggregates; single frames while fewer than eight PPDUs are queued, two per turn.
#[test]
fn single_frames_pass_aggregates_that_wait_for_room() {
    let (four, six) = ("0 1 2 2 2 2", "0 1 2 2 2 2 2 2");
    assert_eq!(looks(IN_TURN, 9), ["0 1 2 2", "0 1 2 2", four, four, six, six, six, six, six]);
    let kept = Scheduler::RoundRobin(WhenFull::KeepsTurn);
    assert_eq!(looks(kept, 3), ["0 1 2 2"; 3]);
}

/// Closes a station's Block Ack window: its first frame is never acknowledged, the following 63 are, and
/// others wait.
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

// linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_get_tid_subframe, ath_txq_schedule (4.10) - a TID that
// may not send does not end the round, with or without room in the hardware.
#[test]
fn a_closed_window_passes_the_turn_on() {
    let mut b = Bench::new(IN_TURN, 2, 2);
    closed(&mut b, 0);
    // A 65th frame has been dequeued: it did not fit into the second aggregate, and lies beyond the window.
    assert_eq!((b.state().as_str(), b.driver.queued()), (" | o0 | 0 0", 80 - 65));
    b.act(Queue(1, 20));
    // 0 has nothing for the hardware; 1 fills it, and then finds it full.
    b.act(Fill);
    assert_eq!(b.state(), "1 1 | o0 o1 | 0 0");
    // 0 may not send, 1 finds no room. If 0 had ended the round, 1 would be first.
    b.act(Fill);
    assert_eq!(b.state(), "1 1 | o0 o1 | 0 0");
    b.act(Done(10));
    assert_eq!(b.state(), "1 1 | o0 o1 | 0 0");
}

// linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_sched_aggr (4.10) - the dequeued frame waits in
// retry_q.
#[test]
fn a_lost_turn_keeps_the_dequeued_frame() {
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
