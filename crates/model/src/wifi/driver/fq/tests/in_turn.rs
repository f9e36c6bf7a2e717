//! The round of Linux 4.10: who finds the hardware full has had its turn.

use super::*;
use crate::wifi::tx::tid::Session;

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
    b.rig.tx.tids[be(2).index()].session = Session::Never;
    for station in 0..3 {
        b.queue(ms(0), be(station), 20);
    }
    let look = |b: &mut Bench| {
        b.fill(ms(0));
        b.state().split(" |").next().expect("the hardware").to_string()
    };
    (0..times).map(|_| look(&mut b)).collect()
}

// linux: drivers/net/wireless/ath/ath9k/xmit.c ATH_AGGR_MIN_QDEPTH, ATH_NON_AGGR_MIN_QDEPTH (4.10) - two aggregates, frames that go
// alone while there are fewer than eight of both, two of them a turn.
#[test]
fn frames_that_go_alone_pass_those_that_wait_for_room() {
    let (four, six) = ("0 1 2 2 2 2", "0 1 2 2 2 2 2 2");
    assert_eq!(looks(IN_TURN, 9), ["0 1 2 2", "0 1 2 2", four, four, six, six, six, six, six]);
    let kept = Scheduler::RoundRobin(WhenFull::KeepsTurn);
    assert_eq!(looks(kept, 3), ["0 1 2 2"; 3]);
}
