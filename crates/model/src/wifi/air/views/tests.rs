use super::*;
use crate::types::Seed;
use crate::wifi::air::audibility::Hearing;
use crate::wifi::air::edca::EdcaParams;
use crate::wifi::air::medium::EdcafId;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

const SIFS: Duration = Duration::from_micros(16);
const SLOT: Duration = Duration::from_micros(9);
const EIFS: Duration = Duration::from_micros(60);
const F: EdcafId = EdcafId(0);

fn us(us: u64) -> Instant {
    Instant::from_nanos(us * 1_000)
}

/// Radios with one function each, which sends once the medium has been idle for 151 us.
fn views(radios: usize, hearing: impl Fn(usize, usize) -> Hearing) -> Views {
    let medium = |radio: usize| {
        let mut medium = Medium::new(SIFS, SLOT);
        let params = EdcaParams { aifsn: 15, cw_min: 0, cw_max: 0, txop: Duration::ZERO };
        medium.add(params, Seed { seed: 1, run: 0 }.stream(&radio.to_string()));
        medium
    };
    let media = (0..radios).map(medium).collect();
    let mut views = Views::new(media, Audibility::new(radios, hearing), EIFS);
    (0..radios).for_each(|radio| views.medium(radio).request(us(0), F));
    views
}

/// A row: each radio hears its neighbours.
fn row(from: usize, to: usize) -> Hearing {
    if from.abs_diff(to) == 1 { Hearing::Clear } else { Hearing::Nothing }
}

/// Planned starts in us.
fn planned(views: &Views) -> Vec<Option<u64>> {
    (0..views.views.len()).map(|n| views.planned(us(0), n).map(|at| at.nanos() / 1_000)).collect()
}

#[test]
fn only_radios_that_hear_a_frame_wait() {
    let mut v = views(4, row);
    assert_eq!(planned(&v), [Some(151); 4]);
    // The first radio sends a response; the second hears it.
    let frame = v.begin(us(100), 0);
    assert_eq!(planned(&v), [None, None, Some(151), Some(151)]);
    assert_eq!(v.received(us(140), frame, 1), Some(&[][..]));
    assert_eq!(v.received(us(140), frame, 2), None);
    v.end(us(140), frame, 0, None, None);
    assert_eq!((planned(&v), v.on_air()), (vec![Some(291), Some(291), Some(151), Some(151)], 0));
    // The last two start at the same instant; the third waits for a response that does not arrive.
    (2..4).for_each(|radio| v.engage(us(151), radio));
    let frame = v.begin(us(151), 2);
    assert_eq!(planned(&v), [Some(291), None, None, None]);
    v.end(us(170), frame, 2, None, None);
    v.release(us(180), 2, us(230));
    assert_eq!(planned(&v), [Some(291), Some(321), Some(381), None]);
}

#[test]
fn a_request_at_the_start_of_a_transmission_does_not_cancel_it() {
    let mut v = views(2, row);
    let more = EdcaParams { aifsn: 2, cw_min: 7, cw_max: 7, txop: Duration::ZERO };
    let second = v.medium(0).add(more, Seed { seed: 1, run: 0 }.stream("second"));
    v.medium(0).request(us(151), second);
    v.plan(us(151));
    assert_eq!([v.planned(us(151), 0), v.next()], [Some(us(151)); 2]);
    v.engage(us(151), 0);
    assert_eq!(v.planned(us(151), 0), None);
    let mut senders = Vec::new();
    v.medium(0).senders(&mut senders);
    assert_eq!(senders, [F]);
}

#[test]
fn hidden_stations_collide_at_the_radio_between_them() {
    // The second radio receives the first frame until the third radio starts at 100 us, and does not receive
    // the third radio's frame.
    let mut v = views(3, row);
    let first = v.begin(us(20), 0);
    let third = v.begin(us(100), 2);
    v.end(us(150), third, 2, None, None);
    assert_eq!(v.received(us(200), first, 1), Some(&[(us(100), us(150))][..]));
    v.end(us(200), first, 0, Some((1, false)), None);
    // The second radio waits EIFS. The others are not affected by frames that they did not hear.
    assert_eq!(planned(&v), [Some(351), Some(200 + 60 + 151), Some(301)]);
}

#[test]
fn an_overlap_that_outlasts_a_frame_ends_with_it() {
    let mut v = views(3, row);
    let first = v.begin(us(20), 0);
    let third = v.begin(us(100), 2);
    assert_eq!(v.received(us(200), first, 1), Some(&[(us(100), us(200))][..]));
    v.end(us(200), first, 0, Some((1, false)), None);
    assert_eq!(planned(&v)[1], None, "it still senses the other");
    assert_eq!(v.received(us(300), third, 1), None, "whose beginning it missed");
    v.end(us(300), third, 2, Some((1, false)), None);
    assert_eq!(planned(&v)[1], Some(300 + 60 + 151));
}

#[test]
fn simultaneous_frames_collide() {
    let mut v = views(3, row);
    let (first, third) = (v.begin(us(20), 0), v.begin(us(20), 2));
    assert_eq!(v.received(us(100), third, 1), None);
    v.end(us(100), third, 2, None, None);
    assert_eq!(v.received(us(100), first, 1), Some(&[(us(20), us(100))][..]));
    // Consecutive frames do not collide.
    v.end(us(100), first, 0, None, None);
    let next = v.begin(us(100), 2);
    assert_eq!(v.received(us(130), next, 1), Some(&[][..]));
}

#[test]
fn a_sending_radio_receives_nothing() {
    let mut v = views(2, |_, _| Hearing::Clear);
    (0..2).for_each(|radio| v.engage(us(43), radio));
    let (a, b) = (v.begin(us(43), 0), v.begin(us(43), 1));
    assert_eq!(v.received(us(90), a, 1), None);
    assert_eq!(v.received(us(90), b, 0), None);
    v.end(us(90), a, 0, Some((1, false)), None);
    v.end(us(120), b, 1, Some((0, false)), None);
    (0..2).for_each(|radio| v.release(us(150), radio, us(150)));
    // Both wait EIFS after the last frame that they sensed.
    assert_eq!(planned(&v), [Some(120 + 60 + 151), Some(90 + 60 + 151)]);
}

#[test]
fn a_faint_frame_is_sensed_but_not_decoded() {
    let mut v = views(2, |_, _| Hearing::Faint);
    let frame = v.begin(us(20), 0);
    assert_eq!(v.received(us(100), frame, 1), None);
    let until = Reservation { until: us(900), by: 0, by_rts: false };
    v.end(us(100), frame, 0, None, Some(until));
    assert_eq!(planned(&v)[1], Some(100 + 60 + 151));
}

#[test]
fn nav_is_set_and_reset() {
    let rts = |by_rts| Some(Reservation { until: us(900), by: 0, by_rts });
    for (by_rts, after) in [(true, 200 + 151), (false, 1_051)] {
        let mut v = views(3, row);
        let frame = v.begin(us(20), 0);
        v.end(us(50), frame, 0, None, rts(by_rts));
        assert_eq!(planned(&v), [Some(201), Some(1_051), Some(151)]);
        assert!(!v.may_answer_rts(us(899), 1) && v.may_answer_rts(us(900), 1) && v.may_answer_rts(us(60), 2));
        v.give_back(us(200), 0);
        assert_eq!(planned(&v)[1], Some(after));
    }
}

#[test]
fn a_decoded_frame_ends_eifs() {
    let mut v = views(3, row);
    let (first, third) = (v.begin(us(20), 0), v.begin(us(30), 2));
    v.end(us(100), first, 0, None, None);
    v.end(us(100), third, 2, None, None);
    assert_eq!(planned(&v)[1], Some(100 + 60 + 151));
    let next = v.begin(us(110), 2);
    v.end(us(130), next, 2, None, None);
    assert_eq!(planned(&v)[1], Some(130 + 151));
}

#[test]
fn a_strong_frame_survives_overlap() {
    // Radios 0 and 2 do not hear each other. Radio 1 receives them at -50 dBm and at `third`.
    let loud = |row: fn(usize, usize) -> Hearing, third: i32| {
        let level = move |from: usize, _: usize| if from == 2 { third } else { -50_000 };
        views(3, row).with_capture(CaptureEffect::new(10_000, 3, level))
    };
    // Start and level of the third radio's frame, which ends first, and the overlaps of either frame.
    for (third_at, third_level, first, third) in [
        (100, -62_000, Some(vec![]), None),
        (100, -58_000, Some(vec![(us(100), us(150))]), None),
        // Strong enough to capture the receiver: the first frame is lost.
        (100, -38_000, None, Some(vec![])),
        // The first frame starts later, and is strong enough to capture the receiver.
        (10, -62_000, Some(vec![]), None),
        (10, -58_000, None, Some(vec![(us(20), us(150))])),
        (20, -62_000, Some(vec![]), None),
    ] {
        let mut v = loud(row, third_level);
        let mut frames = [(20, 0), (third_at, 2)];
        frames.sort_by_key(|f| f.0);
        let ids = frames.map(|(at, radio)| (radio, v.begin(us(at), radio)));
        let id = |radio| ids.iter().find(|f| f.0 == radio).expect("both began").1;
        assert_eq!(v.received(us(150), id(2), 1).map(<[_]>::to_vec), third, "{third_at} {third_level}");
        v.end(us(150), id(2), 2, None, None);
        assert_eq!(v.received(us(200), id(0), 1).map(<[_]>::to_vec), first, "{third_at} {third_level}");
        v.end(us(200), id(0), 0, None, None);
        assert_eq!(v.views[1].loud, 0);
    }
}

#[test]
fn energy_defers_without_eifs() {
    let mut v = views(2, |_, _| Hearing::Clear);
    // The first radio detects energy, the second does not.
    v.energy(us(100), 0, true);
    assert_eq!((planned(&v), v.is_energy_detected()), (vec![None, Some(151)], true));
    v.energy(us(120), 0, true);
    v.energy(us(140), 0, false);
    assert_eq!((planned(&v), v.is_energy_detected()), (vec![Some(291), Some(151)], false));
    // Energy starts during a frame and outlasts it: the wait starts at its end.
    v.engage(us(151), 1);
    let frame = v.begin(us(151), 1);
    v.energy(us(160), 0, true);
    assert_eq!(v.received(us(200), frame, 0), Some(&[][..]));
    v.end(us(200), frame, 1, Some((0, true)), None);
    v.release(us(200), 1, us(200));
    assert_eq!(planned(&v), [None, Some(351)]);
    v.energy(us(230), 0, false);
    assert_eq!(planned(&v), [Some(381), Some(351)]);
}
