//! Block Ack sessions between two devices: set-up, its failures, retries, requests that move the receiver.

#[path = "common/pair.rs"]
mod pair;

use pair::{End, Pair, Seen, Try};
use stillair_model::types::{Duration, Instant, PeerId, PlaceId, Reason};
use stillair_model::wifi::air::ppdu::Content;
use stillair_model::wifi::config::{
    AirtimeParams, AirtimeReport, AqlParams, DriverConfig, FirmwareParams, LegacyParams, Mac80211Rules,
    MacFqParams, Scheduler, WhenFirmwareFull, WhenFull,
};
use stillair_model::wifi::tx::tid::{BlockAckSession, Blocked};

const LEGACY: DriverConfig = DriverConfig::Legacy(LegacyParams { qlen: 123 });
/// Four tries for a PPDU.
const RATES: [&str; 2] = ["ht20-mcs15-sgi", "ht20-mcs5-sgi"];

fn pair(retry_limit: u8) -> Pair {
    Pair::new(LEGACY, &RATES, retry_limit)
}

fn offer(pair: &mut Pair, tid: u8, packets: u32) {
    (0..packets).for_each(|_| {
        pair.offer(0, tid, 1500);
    });
}

/// What was on the air since the last call, a letter and the number of frames each: Q request, R response, B
/// Block Ack request, A aggregate, S single frame of a session, s single frame outside.
fn air(pair: &mut Pair) -> String {
    let name = |s: &Seen| match s.content {
        Content::AddbaRequest { .. } => "Q".into(),
        Content::AddbaResponse { .. } => "R".into(),
        Content::Bar { .. } => "B".into(),
        Content::Data { aggregate: true } => format!("A{}", s.frames),
        Content::Data { aggregate: false } => if s.in_session { "S" } else { "s" }.into(),
        _ => unreachable!("nobody sends beacons here, or sleeps"),
    };
    let text: Vec<String> = pair.seen.iter().map(name).collect();
    pair.seen.clear();
    text.join(" ")
}

fn drain(pair: &mut Pair) -> String {
    assert_eq!(pair.run(10_000), End::Drained);
    pair.check_drained();
    air(pair)
}

#[test]
fn frames_wait_for_the_answer() {
    let mut p = pair(10);
    offer(&mut p, 0, 40);
    assert!(matches!(p.session(0, 0), BlockAckSession::Asked(_)));
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_form_aggr (4.4) - at most 32; the rest follows.
    assert_eq!(drain(&mut p), "Q R A18 A18 A4");
    assert_eq!(p.session(0, 0), BlockAckSession::Open);
    // A TID of its own; a frame alone is not aggregated but is of the session.
    offer(&mut p, 3, 1);
    assert_eq!(drain(&mut p), "Q R S");
    offer(&mut p, 0, 1);
    assert_eq!(drain(&mut p), "S");
}

// linux: net/mac80211/agg-rx.c __ieee80211_start_rx_ba_session, agg-tx.c ieee80211_process_addba_resp (6.12).
#[test]
fn a_window_has_what_is_asked_for_and_granted() {
    for (windows, granted) in
        [([256, 256], 256), ([256, 64], 64), ([64, 256], 64), ([200, 130], 130), ([1, 9], 1)]
    {
        let rates = ["he80-mcs11-nss2-gi0.8"];
        let driver = DriverConfig::Legacy(LegacyParams { qlen: 900 });
        let mut p = Pair::new(driver, &rates, 10).with_windows(windows);
        offer(&mut p, 0, 800);
        assert_eq!(p.run(10_000), End::Drained);
        p.check_drained();
        let asked =
            |s: &Seen| matches!(s.content, Content::AddbaRequest { frames, .. } if frames == windows[0]);
        let answered = |s: &Seen| matches!(s.content, Content::AddbaResponse { frames } if frames == granted);
        assert!(p.seen.iter().any(asked) && p.seen.iter().any(answered), "{windows:?}");
        assert_eq!(p.seen.iter().map(|s| s.frames).max(), Some(usize::from(granted)), "{windows:?}");
        assert_eq!(p.up(0, 0).len() + p.up(1, 0).len(), 800);
    }
}

/// A hole at the left edge closes the window, whatever its size, until the frame comes or is given up.
#[test]
fn a_hole_closes_the_window() {
    for window in [64, 128, 256] {
        let driver = DriverConfig::Legacy(LegacyParams { qlen: 9_000 });
        let mut p = Pair::new(driver, &["he80-mcs11-nss2-gi0.8"], 60).with_windows([window; 2]);
        // Of every PPDU with frame 0 that fails at first the others come.
        p.rule =
            Some(
                |s| if s.first == Some(0) { Try { whole: !1, acked: true, ..Try::FINE } } else { Try::FINE },
            );
        // So many that sequence numbers wrap.
        offer(&mut p, 0, 5_000);
        assert_eq!(p.run(40_000), End::Drained);
        p.check_drained();
        let up = p.up(1, 0);
        assert!(up.is_sorted_by(|a, b| a < b) && up.len() >= 4_998, "{window}: {}", up.len());
        let most = p.seen.iter().map(|s| s.frames).max();
        assert_eq!(most, Some(usize::from(window)), "{window}");
    }
}

#[test]
fn the_host_begins_one_session_after_the_other() {
    let mut p = pair(10).with_work_queues();
    offer(&mut p, 0, 1);
    offer(&mut p, 3, 2);
    // Of the first, frames wait already; those of the one behind it go out alone.
    assert!(matches!(p.session(0, 0), BlockAckSession::Starting(_)), "{:?}", p.session(0, 0));
    assert_eq!(p.session(0, 3), BlockAckSession::Wanted);
    assert_eq!(drain(&mut p), "s s Q R S Q R");
    let ms = p.now.nanos() / 1_000_000;
    assert!((8..25).contains(&ms), "two grace periods of 4 to 12 ms: {ms}");
    offer(&mut p, 3, 2);
    assert_eq!(drain(&mut p), "S S");
}

#[test]
fn the_host_ends_what_nobody_answers_before_it_asks_again() {
    let mut p = pair(10).with_work_queues();
    p.rule = Some(|s| if matches!(s.content, Content::AddbaResponse { .. }) { Try::LOST } else { Try::FINE });
    offer(&mut p, 0, 3);
    let mut seen = Vec::new();
    while p.session(0, 0) != BlockAckSession::Closed {
        let state = p.session(0, 0);
        if seen.last() != Some(&state) {
            seen.push(state);
        }
        assert!(p.step());
    }
    let [BlockAckSession::Starting(asked), BlockAckSession::Asked(until), BlockAckSession::Stopping(ended)] =
        seen[..]
    else {
        panic!("{seen:?}")
    };
    assert!((1_000..1_032).contains(&((until - asked).nanos() / 1_000_000)), "{seen:?}");
    assert!((4..12).contains(&((ended - until).nanos() / 1_000_000)), "{seen:?}");
    assert_eq!((p.now, drain(&mut p).as_str()), (ended, "Q R R R R R R R R R R s s s"));
    p.rule = None;
    offer(&mut p, 0, 1);
    assert_eq!((drain(&mut p).as_str(), p.up(1, 0)), ("Q R S", vec![0, 1, 2, 3]));
}

/// Drivers with mac80211's queues: ath9k in 4.10, 4.11 and 5.1, mt76, and ath10k or ath11k, whose firmware
/// negotiates sessions itself.
fn with_queues() -> Vec<(&'static str, DriverConfig, bool)> {
    let fq = MacFqParams::default();
    let mac80211 = |aql| Scheduler::Mac80211(AirtimeParams::default(), aql, Mac80211Rules::RoundsWithPending);
    let firmware = FirmwareParams {
        frames: 4096,
        full: WhenFirmwareFull::Waits,
        report_frames: 256,
        report_delay: Duration::ZERO,
        airtime: AirtimeReport::Counters,
        amsdu_frames: 1,
        host_joins: false,
        amsdu_bytes: None,
        shares_airtime: false,
        host_sessions: true,
    };
    let below = |params| DriverConfig::Firmware(fq.clone(), mac80211(Some(AqlParams::default())), params);
    vec![
        ("4.10", DriverConfig::Fq(fq.clone(), Scheduler::RoundRobin(WhenFull::LosesTurn)), true),
        ("4.11", DriverConfig::Fq(fq.clone(), Scheduler::Airtime(AirtimeParams::default())), true),
        ("5.1", DriverConfig::Fq(fq.clone(), mac80211(None)), true),
        ("mt76", below(firmware), true),
        ("ath10k", below(FirmwareParams { host_sessions: false, ..firmware }), false),
    ]
}

#[test]
fn mac80211_stops_its_queue_until_the_response() {
    for (name, driver, stops) in with_queues() {
        let mut p = Pair::new(driver, &RATES, 10).with_work_queues();
        offer(&mut p, 0, 5);
        assert_eq!(p.dev(0).blocked(PeerId(0), 0), Some(Blocked::Negotiating), "{name}");
        // The packet that asks for the session has left the queue before it is stopped.
        let air = if stops { "s Q R A4" } else { "Q R A5" };
        assert_eq!(drain(&mut p), air, "{name}");
        assert_eq!((p.up(1, 0), p.dev(0).blocked(PeerId(0), 0)), (vec![0, 1, 2, 3, 4], None), "{name}");
    }
}

#[test]
fn a_lost_response_stops_the_queue_for_a_second() {
    for (name, driver, stops) in with_queues() {
        let mut p = Pair::new(driver, &RATES, 10).with_work_queues();
        p.rule =
            Some(|s| if matches!(s.content, Content::AddbaResponse { .. }) { Try::LOST } else { Try::FINE });
        offer(&mut p, 0, 3);
        let mut before = 0;
        while p.session(0, 0) != BlockAckSession::Closed {
            before = p.up(1, 0).len();
            assert!(p.step(), "{name}");
        }
        let ms = p.now.nanos() / 1_000_000;
        // A grace period of 4 to 12 ms, one second, 0 to 32 ms until the timer, another grace period.
        assert!((1_008..1_056).contains(&ms), "{name}: {ms} ms");
        assert_eq!(before, usize::from(stops), "{name}");
        drain(&mut p);
        assert_eq!(p.up(1, 0), [0, 1, 2], "{name}");
    }
}

#[test]
fn voice_is_never_aggregated() {
    let mut p = pair(10);
    offer(&mut p, 6, 5);
    assert_eq!((drain(&mut p).as_str(), p.session(0, 6)), ("s s s s s", BlockAckSession::Never));
}

#[test]
fn a_request_that_fails_is_made_again_for_the_next_packet() {
    let mut p = pair(10);
    p.air = vec![Try::LOST; 10].into();
    offer(&mut p, 0, 2);
    assert_eq!(
        (drain(&mut p).as_str(), p.session(0, 0)),
        ("Q Q Q Q Q Q Q Q Q Q s s", BlockAckSession::Closed)
    );
    offer(&mut p, 0, 2);
    assert_eq!((drain(&mut p).as_str(), p.session(0, 0)), ("Q R A2", BlockAckSession::Open));
    assert_eq!(p.up(1, 0), [0, 1, 2, 3]);
}

#[test]
fn requests_are_spread_out_and_end() {
    // linux: net/mac80211/agg-tx.c ieee80211_start_tx_ba_session (4.4) - four at once, then one in 15 s,
    // sixteen in all.
    let mut p = pair(10);
    p.rule = Some(|s| if matches!(s.content, Content::AddbaRequest { .. }) { Try::LOST } else { Try::FINE });
    let mut asked = Vec::new();
    // A packet every two seconds; the answer to each request is waited for one second.
    for second in (0..260).step_by(2) {
        p.now = p.now.max(Instant::from_nanos(second * 1_000_000_000));
        offer(&mut p, 0, 1);
        if drain(&mut p).contains('Q') {
            asked.push(second);
        }
    }
    assert_eq!(asked, [0, 2, 4, 6, 22, 38, 54, 70, 86, 102, 118, 134, 150, 166, 182, 198]);
}

#[test]
fn a_repeated_request_is_answered_once() {
    let mut p = pair(10);
    p.rule = Some(|s| Try { acked: !matches!(s.content, Content::AddbaRequest { .. }), ..Try::FINE });
    offer(&mut p, 0, 1);
    let air = drain(&mut p);
    assert_eq!((air.matches('Q').count(), air.matches('R').count()), (10, 1), "{air}");
}

#[test]
fn a_lost_block_ack_request_follows_the_next_acknowledgement() {
    let mut p = open(0);
    // The frame is lost and given up, and so are all ten tries of the request that would move the receiver.
    p.rule = Some(|_| Try::LOST);
    offer(&mut p, 0, 1);
    assert_eq!(drain(&mut p), "S S S S B B B B B B B B B B");
    p.rule = None;
    offer(&mut p, 0, 1);
    assert_eq!((drain(&mut p).as_str(), p.up(1, 0)), ("S B", vec![0, 2]));
    assert_eq!(p.timeouts, 0, "the request came in time, not the receiver's own timeout");
}

#[test]
fn an_answer_is_waited_for_one_second() {
    let mut p = pair(10);
    p.rule = Some(|s| if matches!(s.content, Content::AddbaResponse { .. }) { Try::LOST } else { Try::FINE });
    offer(&mut p, 0, 3);
    while matches!(p.session(0, 0), BlockAckSession::Asked(_)) {
        assert!(p.step());
    }
    assert_eq!((p.now.nanos(), p.session(0, 0)), (1_000_000_000, BlockAckSession::Closed));
    assert_eq!(drain(&mut p), "Q R R R R R R R R R R s s s");
    assert_eq!(p.up(1, 0), [0, 1, 2]);
}

#[test]
fn a_session_outlives_its_request() {
    // The request arrives each time, its acknowledgement never: the answer comes before the request has
    // failed.
    let mut p = pair(10);
    p.rule = Some(|s| Try { acked: !matches!(s.content, Content::AddbaRequest { .. }), ..Try::FINE });
    offer(&mut p, 0, 3);
    let air = drain(&mut p);
    assert!(air.find('R').is_some_and(|answer| answer < air.rfind('Q').unwrap()), "{air}");
    assert_eq!(air.matches('Q').count(), 10);
    assert_eq!(p.session(0, 0), BlockAckSession::Open);
    offer(&mut p, 0, 5);
    assert_eq!((drain(&mut p).as_str(), p.up(1, 0).len()), ("S S A3", 8));
}

/// A pair whose session is open, and nothing else has happened.
fn open(retry_limit: u8) -> Pair {
    let mut p = pair(retry_limit);
    offer(&mut p, 0, 1);
    assert_eq!(drain(&mut p), "Q R S");
    p
}

#[test]
fn retries_count_hardware_tries() {
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_complete_aggr (4.4) - each PPDU adds its four tries
    // after the count was compared: 0 | 0 4 8 12 | 0 4 .. 32.
    for (limit, ppdus) in [(0, 1), (10, 4), (30, 9)] {
        let mut p = open(limit);
        p.rule = Some(|s| if matches!(s.content, Content::Data { .. }) { Try::LOST } else { Try::FINE });
        offer(&mut p, 0, 1);
        assert_eq!(drain(&mut p), format!("{}B", "S ".repeat(4 * ppdus)), "limit {limit}");
        assert_eq!(p.drops.0, [(1, Reason::RetryLimit, PlaceId(0))]);
    }
    // External a session the driver sends nothing again.
    let mut p = pair(30);
    p.rule = Some(|_| Try::LOST);
    offer(&mut p, 6, 1);
    assert_eq!(drain(&mut p), "s s s s");
}

#[test]
fn giving_up_moves_the_receiver() {
    let mut p = open(10);
    p.rule = Some(|s| Try { whole: if s.first == Some(1) { !1 } else { u64::MAX }, ..Try::FINE });
    offer(&mut p, 0, 5);
    // The first two find room in the hardware, each alone. Frame 1 has had 4 tries, then one in the
    // aggregate, then 4 and 4, which are more than the limit when 4 more fail.
    let before = "S S S S S A4 S S S S S S S S S S S S";
    p.run(before.split(' ').count() as u32);
    assert_eq!((air(&mut p).as_str(), p.up(1, 0)), (before, vec![0]));
    assert_eq!((drain(&mut p).as_str(), p.up(1, 0)), ("B", vec![0, 2, 3, 4, 5]));
    assert_eq!((p.drops.0.as_slice(), p.timeouts), (&[(1, Reason::RetryLimit, PlaceId(0))][..], 0));
    assert_eq!(p.dev(1).rx(PeerId(0), 0).broken, 4 + 1 + 12);
}

#[test]
fn a_lost_block_ack_makes_duplicates_without_handles() {
    let mut p = open(10);
    p.air = vec![Try { acked: false, ..Try::FINE }; 3].into();
    offer(&mut p, 0, 1);
    assert_eq!(drain(&mut p), "S S S S");
    let rx = p.dev(1).rx(PeerId(0), 0);
    assert_eq!((rx.duplicates, rx.broken, p.up(1, 0)), (3, 0, vec![0, 1]));
}

#[test]
fn a_hole_holds_back_later_frames_for_100_ms() {
    for (pause, late) in [(80, false), (120, true)] {
        let mut p = pair(30);
        let pause = Try { pause: Duration::from_millis(pause), ..Try::LOST };
        let hole = Try { whole: !1, ..Try::FINE };
        p.air = [Try::FINE, Try::FINE, hole, pause].into();
        offer(&mut p, 0, 5);
        assert!(drain(&mut p).starts_with("Q R A5 S"), "the fifth is asked for again, alone");
        let want: &[u32] = if late { &[1, 2, 3, 4] } else { &[0, 1, 2, 3, 4] };
        assert_eq!((p.up(1, 0).as_slice(), p.timeouts), (want, u32::from(late)));
        let dropped: Vec<_> = if late { vec![(0, Reason::OldOrDuplicate, PlaceId(1))] } else { vec![] };
        assert_eq!(p.drops.0, dropped);
    }
}
