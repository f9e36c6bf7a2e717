//! mac80211's own scheduler: deficit rounds, virtual time, and airtime queue limits.

use super::*;
use crate::wifi::config::AIRTIME_WEIGHT;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

// linux: net/mac80211/tx.c ieee80211_next_txq (5.18) - skips a station with too much airtime in the hardware,
// even if no other has frames.
#[rustfmt::skip]
#[test]
fn airtime_queue_limits_leave_room_for_others() {
    let aql = AqlParams { low: us(1), high: us(1), threshold: us(24_000), ..AqlParams::default() };
    check(Scheduler::Mac80211(ALL, Some(aql), Mac80211Rules::Rounds), 2, &[
        (Queue(0, 20), " | n0 | 300 300"),
        (Fill, "0 | o0 | 300 300"),
        (Queue(1, 20), "0 | n1 o0 | 300 300"),
        (Fill, "0 1 | o1 o0 | 300 300"),
        (Done(100), "1 0 | o0 o1 | 200 300"),
    ]);
    check(Scheduler::Mac80211(ALL, None, Mac80211Rules::Rounds), 2, &[
        (Queue(0, 20), " | n0 | 300 300"),
        (Fill, "0 | n0 | 300 300"),
        (Fill, "0 0 | n0 | 300 300"),
        (Queue(1, 20), "0 0 | n1 n0 | 300 300"),
    ]);
}

// linux: net/mac80211/tx.c ieee80211_next_txq (5.1), schedule_round - a pass serves each TID once and ends
// when it reaches one again; the next pass continues from there.
#[rustfmt::skip]
#[test]
fn a_pass_serves_each_tid_once() {
    for rules in [Mac80211Rules::Rounds, Mac80211Rules::RoundsWithPending] {
        check(Scheduler::Mac80211(ALL, None, rules), 2, &[
            (Queue(0, 20), " | n0 | 300 300"),
            (Fill,         "0 | n0 | 300 300"),
            // New TIDs are listed first; the other TID of the same station has its own turn.
            (Queue3(0, 20), "0 | n0' n0 | 300 300"),
            (Fill,         "0 0 | n0' n0 | 300 300"),
            (Queue(1, 20), "0 0 | n1 n0' n0 | 300 300"),
            (Done(100),    "0 1 | n1 n0' n0 | 200 300"),
        ]);
    }
    // The head stays in its place after its turn, so the pass ends there although another TID is listed.
    check(Scheduler::Mac80211(ALL, None, Mac80211Rules::Rounds), 2, &[
        (Queue(0, 20), " | n0 | 300 300"),
        (Queue(1, 20), " | n1 n0 | 300 300"),
        (Fill,         "1 | n1 n0 | 300 300"),
        (Done(200),    "1 | n1 n0 | 300 100"),
        (Done(200),    "0 | n0 o1 | 300 200"),
    ]);
}

const RULES: [Mac80211Rules; 3] =
    [Mac80211Rules::Rounds, Mac80211Rules::VirtualTime, Mac80211Rules::RoundsWithPending];

// linux: net/mac80211/tx.c ieee80211_next_txq (5.4) - the weight scales the quantum, or slows the clock; idle
// stations leave.
#[test]
fn airtime_is_shared_by_weight() {
    for rules in RULES {
        let mut b = Bench::new(Scheduler::Mac80211(ALL, Some(AqlParams::default()), rules), 3, 2);
        b.driver.weigh(PeerId(1), 2 * AIRTIME_WEIGHT);
        let mut used = [0; 3];
        for n in 0..600_u64 {
            for tid in [be(0), be(1)] {
                if b.driver.queues.flows.backlog(TinId(tid.0)).0 < 10 {
                    b.queue(ms(n), tid, 10);
                }
            }
            b.fill(ms(n));
            let tid = b.done(ms(n), us(250));
            used[tid.peer().index()] += 250;
        }
        let ratio = used[1] as f64 / used[0] as f64;
        assert!((1.9..2.1).contains(&ratio), "{rules:?} {used:?}");
        // A station with nothing left to send is not listed.
        b.queue(ms(601), be(2), 1);
        while !b.rig.hardware(BE).is_empty() {
            b.done(ms(602), us(250));
        }
        b.fill(ms(602));
        assert_eq!(b.driver.scheduler.listed(BE), [], "{rules:?}: {}", b.state());
    }
}

// linux: net/mac80211/tx.c ieee80211_next_txq, ieee80211_schedule_txq (5.15).
#[test]
fn virtual_time_serves_stations_that_are_not_ahead() {
    let mut b = Bench::new(Scheduler::Mac80211(ALL, None, Mac80211Rules::VirtualTime), 3, 2);
    let state = |b: &Bench| {
        let hardware: Vec<String> = b.rig.hardware(BE).iter().map(u16::to_string).collect();
        format!("{} | {}", hardware.join(" "), b.driver.scheduler.clocks(BE))
    };
    b.queue(ms(0), be(0), 40);
    b.queue(ms(0), be(1), 40);
    assert_eq!(state(&b), " | 1:0 0:0 | 0");
    // One aggregate each, the last to arrive first.
    b.fill(ms(0));
    assert_eq!(state(&b), "1 0 | 1:0 0:0 | 0");
    // A station's clock advances by its airtime, the global clock by half of it, as two stations are active.
    b.done(ms(1), us(1000));
    assert_eq!(state(&b), "0 0 | 0:0 1:1000 | 500");
    // A station ahead of the global clock waits. The first one is always served, and moves the global clock
    // to its own.
    b.done(ms(1), us(200));
    assert_eq!(state(&b), "0 0 | 0:200 1:1000 | 600");
    b.done(ms(1), us(900));
    assert_eq!(state(&b), "0 1 | 1:1000 0:1100 | 1050");
    // A third station starts at the global clock, and then shares the airtime.
    b.queue(ms(2), be(2), 1);
    assert_eq!(state(&b), "0 1 | 1:1000 2:1050 0:1100 | 1050");
    b.done(ms(2), us(300));
    assert_eq!(state(&b), "1 1 | 1:1000 2:1050 0:1400 | 1150");
    b.done(ms(2), us(300));
    assert_eq!(state(&b), "1 2 | 1:1300 0:1400 | 1300");
    // Within 100 ms a returning station resumes its own clock, which the others have passed; later it does
    // not.
    b.done(ms(2), us(300));
    b.done(ms(3), us(60));
    b.queue(ms(60), be(2), 1);
    assert!(state(&b).contains(" 2:1110 "), "{}", state(&b));
    b.fill(ms(60));
    b.rig.hardware(BE).iter().for_each(|_| {
        b.done(ms(61), us(90));
    });
    b.queue(ms(400), be(2), 1);
    let all: u64 = state(&b).rsplit(' ').next().unwrap().parse().unwrap();
    assert!(state(&b).contains(&format!("2:{all} ")), "{}", state(&b));
}

// linux: net/mac80211/tx.c ieee80211_sta_deficit (6.0), net/mac80211/sta_info.c
// ieee80211_sta_register_airtime (6.0).
#[rustfmt::skip]
#[test]
fn pending_airtime_counts_since_6_0() {
    let aql = Some(AqlParams::default());
    check(Scheduler::Mac80211(ALL, aql, Mac80211Rules::RoundsWithPending), 2, &[
        (Rx(0, 250),   " | | 300 300"),
        (Queue(0, 20), " | n0 | 300 300"),
        (Queue(1, 20), " | n1 n0 | 300 300"),
        // Two frames take 210 us: with two aggregates queued, the head has used more than its deficit.
        (Fill,         "1 | n1 n0 | 300 300"),
        (Fill,         "1 1 | n0 o1 | 300 600"),
        (Done(210),    "1 0 | n0 o1 | 300 390"),
        (Done(210),    "0 0 | o1 o0 | 600 180"),
    ]);
}

// linux: net/mac80211/tx.c ieee80211_txq_set_active, net/mac80211/sta_info.c ieee80211_sta_register_airtime
// (6.0) - active for 100 ms after being listed, or listed again after its turn; frames that arrive while it
// is listed do not extend this.
#[test]
fn a_station_is_charged_for_100_ms_from_its_listing() {
    let mut b = Bench::new(Scheduler::Mac80211(ALL, None, Mac80211Rules::RoundsWithPending), 2, 2);
    // Event, its time, and the deficit after the station sent for 10 us at that time.
    enum Step {
        Comes,
        Looked,
        Nothing,
    }
    use Step::{Comes, Looked, Nothing};
    let table = [
        (0, Nothing, 300), // never listed
        (10, Comes, 290),
        (100, Comes, 280),
        (110, Nothing, 270),
        (111, Nothing, 270), // more than 100 ms ago; at 100 ms it was already listed
        (120, Looked, 260),  // one turn, with frames left
        (220, Comes, 250),
        (221, Comes, 250),
        (222, Looked, 240),
    ];
    for (row, (at, what, left)) in table.into_iter().enumerate() {
        match what {
            Comes => b.queue(ms(at), be(0), 4),
            Looked => b.fill(ms(at)),
            Nothing => {}
        }
        b.driver.charge(ms(at), be(0), us(10), AirtimeUse::Rx);
        assert_eq!(b.driver.deficit(be(0)) / 1000, left, "row {row}");
    }
}

proptest! {
    // Regardless of the rates, by clocks and by rounds, a station lags the others by at most the airtime
    // queued when it starts.
    #[test]
    fn equal_airtime_by_every_rule_of_mac80211(took in prop::collection::vec(20_u64..4_000, 2..6)) {
        let longest = took.iter().max().unwrap();
        for rules in RULES {
            let used = saturate(Scheduler::Mac80211(ALL, None, rules), &took, 600);
            let (least, most) = (used.iter().map(|u| u.0).min().unwrap(), used.iter().map(|u| u.0).max().unwrap());
            prop_assert!(most - least <= 2 * 300 + 4 * longest, "{rules:?} {used:?}");
        }
    }
}
