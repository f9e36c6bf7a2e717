//! Walks through a station's states: what happens, what it does then, whether its frames say that it sleeps,
//! whether it is deaf.

use super::*;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

const OWN: PeerId = PeerId(2);

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

const DYNAMIC: SaverParams = SaverParams {
    timeout: Duration::from_millis(100),
    listen: Listen::Every(1),
    retrieve: Retrieve::Null,
    uapsd: 0,
    max_sp: 2,
    trigger_every: None,
};

fn saver(params: SaverParams) -> Saver {
    Saver::new(Some(params), None)
}

fn tim(count: u32, waits: bool) -> Tim {
    let mut tim = Tim::new(3, 4);
    tim.next(u64::from((3 - count) % 3));
    if waits {
        tim.set(OWN);
    }
    tim
}

/// `act state pm deaf`.
fn shown(saver: &Saver, act: Act) -> String {
    format!("{act:?} {:?} {} {}", saver.state(), u8::from(saver.pm()), u8::from(saver.is_deaf()))
}

#[test]
fn idle_for_a_while_it_sleeps_and_a_beacon_wakes_it() {
    let mut s = saver(DYNAMIC);
    s.used(at(20), Ac::Be);
    assert_eq!(s.next_timer(), Some(at(120)));
    assert_eq!(s.on_timer(at(119), false, false), Act::Nothing);
    // Something waits to be sent: looked at again after the same time.
    assert_eq!(s.on_timer(at(120), true, true), Act::Nothing);
    assert_eq!(s.next_timer(), Some(at(220)));
    let act = s.on_timer(at(220), false, false);
    assert_eq!(shown(&s, act), "Null { pm: true } Entering 0 0");
    let act = s.null_done(at(221), true, true);
    assert_eq!(shown(&s, act), "Nothing Dozing 1 1");
    assert_eq!(s.next_timer(), None);
    let act = s.on_beacon(at(300), OWN, &tim(1, false));
    assert_eq!(shown(&s, act), "Nothing Dozing 1 1");
    let act = s.on_beacon(at(400), OWN, &tim(0, true));
    assert_eq!(shown(&s, act), "Null { pm: false } Awake 0 0");
    assert_eq!(s.next_timer(), Some(at(500)));
    let act = s.received(at(402), Ac::Be, false, false);
    assert_eq!((shown(&s, act), s.next_timer()), (String::from("Nothing Awake 0 0"), Some(at(502))));
    assert_eq!(s.counters(at(600)).dozed, Duration::from_millis(179));
}

#[test]
fn a_null_frame_that_nobody_answers_is_sent_again() {
    let mut s = saver(DYNAMIC);
    assert_eq!(s.on_timer(at(100), false, false), Act::Null { pm: true });
    let act = s.null_done(at(103), true, false);
    assert_eq!((shown(&s, act), s.next_timer()), (String::from("Nothing Awake 0 0"), Some(at(113))));
}

#[test]
fn a_frame_to_send_wakes_it() {
    let mut s = saver(DYNAMIC);
    let _ = s.on_timer(at(100), false, false);
    // One comes while the null frame is on its way: what that said is taken back.
    s.on_push(at(101), Ac::Be);
    assert_eq!(shown(&s, Act::Nothing), "Nothing Awake 0 0");
    assert_eq!(s.null_done(at(102), true, true), Act::Null { pm: false });
    let _ = s.on_timer(at(201), false, false);
    let _ = s.null_done(at(202), true, true);
    s.on_push(at(250), Ac::Be);
    assert_eq!((shown(&s, Act::Nothing), s.next_timer()), (String::from("Nothing Awake 0 0"), Some(at(350))));
}

#[test]
fn asking_for_one_frame_after_the_other() {
    let mut s = saver(SaverParams { timeout: Duration::ZERO, retrieve: Retrieve::PsPoll, ..DYNAMIC });
    assert_eq!(s.on_timer(at(0), false, false), Act::Null { pm: true });
    let _ = s.null_done(at(1), true, true);
    // What it sends does not wake it.
    s.on_push(at(2), Ac::Be);
    assert_eq!(s.state(), State::Dozing);
    let act = s.on_beacon(at(100), OWN, &tim(1, true));
    assert_eq!(shown(&s, act), "Poll Polling 1 0");
    let act = s.received(at(101), Ac::Be, true, false);
    assert_eq!(shown(&s, act), "Poll Polling 1 0");
    let act = s.received(at(102), Ac::Be, false, false);
    assert_eq!(shown(&s, act), "Nothing Dozing 1 1");
    assert_eq!(s.counters(at(102)).polls, 2);
    // What it asked for does not come: with the second beacon from then on it asks again, or sleeps on.
    for (ms, waits, row) in [
        (200, true, "Poll Polling 1 0"),
        (300, true, "Nothing Polling 1 0"),
        (400, true, "Poll Polling 1 0"),
        (500, false, "Nothing Polling 1 0"),
        (600, false, "Nothing Dozing 1 1"),
    ] {
        let act = s.on_beacon(at(ms), OWN, &tim(1, waits));
        assert_eq!(shown(&s, act), row, "{ms}");
    }
}

#[test]
fn service_periods() {
    let voice = SaverParams { uapsd: 1 << Ac::Vo.index(), trigger_every: None, ..DYNAMIC };
    let mut s = saver(voice);
    let _ = s.on_timer(at(100), false, false);
    let _ = s.null_done(at(101), true, true);
    s.on_push(at(110), Ac::Vo);
    assert_eq!(shown(&s, Act::Nothing), "Nothing Served 1 0");
    let act = s.received(at(111), Ac::Be, true, false);
    assert_eq!(shown(&s, act), "Nothing Served 1 0");
    let act = s.received(at(112), Ac::Be, false, true);
    assert_eq!(shown(&s, act), "Nothing Dozing 1 1");
    // Frames of other categories wake it.
    s.on_push(at(120), Ac::Be);
    assert_eq!(s.state(), State::Awake);
    // With all categories a beacon makes it ask.
    let mut s =
        saver(SaverParams { uapsd: 0b1111, trigger_every: Some(Duration::from_millis(20)), ..DYNAMIC });
    let _ = s.on_timer(at(100), false, false);
    let _ = s.null_done(at(101), true, true);
    assert_eq!(s.next_timer(), Some(at(121)));
    let act = s.on_timer(at(121), false, false);
    assert_eq!(shown(&s, act), "Trigger Served 1 0");
    let _ = s.received(at(122), Ac::Be, false, true);
    let act = s.on_beacon(at(130), OWN, &tim(0, true));
    assert_eq!(shown(&s, act), "Trigger Served 1 0");
}

#[test]
fn which_beacons_it_hears() {
    let mut rows = Vec::new();
    for listen in [Listen::Every(1), Listen::Every(2), Listen::Dtim] {
        let mut s = saver(SaverParams { listen, ..DYNAMIC });
        let hears = |s: &Saver| -> String {
            (0..6)
                .map(|n| {
                    let mut tim = Tim::new(3, 4);
                    tim.next(n);
                    if s.hears(&tim) { '1' } else { '0' }
                })
                .collect()
        };
        let awake = hears(&s);
        let _ = s.on_timer(at(100), false, false);
        let _ = s.null_done(at(101), true, true);
        rows.push(format!("{awake} {}", hears(&s)));
    }
    assert_eq!(rows, ["111111 111111", "111111 101010", "111111 100100"]);
}

#[test]
fn a_scan_holds_frames_and_tells_the_access_point() {
    let scan = ScanParams {
        start: Duration::from_millis(50),
        interval: None,
        active: (1, Duration::from_millis(60)),
        passive: (1, Duration::from_millis(111)),
        max_off_channel: Duration::from_millis(125),
        home_dwell: Duration::from_millis(200),
        home_dwell_busy: Duration::from_millis(200),
        leave_delay: Duration::ZERO,
    };
    let mut s = Saver::new(None, Some(scan));
    let mut rows = Vec::new();
    let mut row = |s: &Saver, act| rows.push(shown(s, act));
    let act = s.on_timer(at(50), true, true);
    row(&s, act);
    let act = s.flushed(at(52));
    row(&s, act);
    let act = s.null_done(at(53), true, false);
    row(&s, act);
    assert_eq!(s.next_timer(), Some(at(113)));
    let act = s.on_timer(at(113), true, false);
    row(&s, act);
    assert_eq!(s.next_timer(), Some(at(313)));
    assert_eq!(
        rows,
        ["Hold Flushing 0 0", "Null { pm: true } Leaving 1 0", "Nothing Away 1 1", "Release Awake 0 0",]
    );
    // One that sleeps leaves without a word.
    let mut s = Saver::new(Some(DYNAMIC), Some(ScanParams { start: Duration::from_millis(150), ..scan }));
    let _ = s.on_timer(at(100), false, false);
    let _ = s.null_done(at(101), true, true);
    let act = s.on_timer(at(150), false, false);
    assert_eq!(shown(&s, act), "Hold Away 1 1");
    let act = s.on_timer(at(210), false, false);
    assert_eq!(shown(&s, act), "Release Awake 0 0");
}

/// What it says on waking may be lost: with the next beacon it hears that frames wait for it still, and says
/// it once more.
#[test]
fn waking_is_said_again() {
    let mut s = saver(DYNAMIC);
    let _ = s.on_timer(at(100), false, false);
    let _ = s.null_done(at(101), true, true);
    for (ms, waits, row) in [
        (200, true, "Null { pm: false } Awake 0 0"),
        (210, true, "Null { pm: false } Awake 0 0"),
        (220, false, "Nothing Awake 0 0"),
    ] {
        let act = s.on_beacon(at(ms), OWN, &tim(0, waits));
        assert_eq!(shown(&s, act), row, "{ms}");
        assert_eq!(s.null_done(at(ms + 1), false, false), Act::Nothing);
    }
}
