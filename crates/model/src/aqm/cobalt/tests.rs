use super::*;
use crate::types::Seed;
use alloc::vec::Vec;

const AQM: CobaltParams = CobaltParams {
    interval: Duration::from_millis(100),
    target: Duration::from_millis(5),
    mtu_time: Duration::ZERO,
    p_inc: 1 << 24,
    p_dec: 1 << 20,
};

fn ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn chance() -> RandomStream {
    Seed { seed: 1, run: 1 }.stream("cobalt")
}

/// Times in ms of actions on packets that waited for `sojourn`, with one packet per ms from `from` to `to`.
fn acts(aqm: &mut CobaltState, from: u64, to: u64, sojourn: u64) -> Vec<u64> {
    let (waited, mut chance) = (Duration::from_millis(sojourn), chance());
    (from..to).filter(|&t| aqm.judge(&AQM, ms(t), waited, false, 0, &mut chance).drop).collect()
}

#[test]
fn roots_are_those_of_the_counts() {
    for (count, root) in ROOTS.iter().enumerate().skip(1) {
        let exact = ((1u128 << 96) / count as u128).isqrt() >> 16;
        let off = (i128::from(*root) - exact as i128).unsigned_abs();
        assert!(off <= exact / 1000, "{count}: {root} {exact}");
    }
    // Beyond the table, one step per count.
    let mut aqm = CobaltState { root: ROOTS[15], ..CobaltState::default() };
    for count in 16..1000_u32 {
        aqm.set_count(count);
        let exact = ((1u128 << 96) / u128::from(count)).isqrt() >> 16;
        assert!((i128::from(aqm.root) - exact as i128).unsigned_abs() <= exact / 500, "{count}");
    }
}

#[test]
fn the_first_dropping_state_starts_at_once_later_ones_after_an_interval() {
    let mut aqm = CobaltState::default();
    // Gaps of 100 ms over the roots of 2, 3, 4 ..., each from the due time of the previous one.
    assert_eq!(acts(&mut aqm, 1000, 1400, 10), [1001, 1071, 1129, 1179, 1224, 1264, 1302, 1338, 1371]);
    assert_eq!(aqm.count(), 10);
    // Below the target there is no action, and the count falls as fast as it rose.
    assert_eq!(acts(&mut aqm, 1400, 1700, 1), []);
    assert_eq!(aqm.count(), 3);
    assert_eq!(acts(&mut aqm, 1700, 2000, 1), []);
    assert_eq!(aqm.count(), 0);
    assert!(!aqm.is_at_rest(ms(2000)) && aqm.is_at_rest(ms(2100)));
    assert_eq!(acts(&mut aqm, 2000, 2200, 10), [2100, 2171]);
}

#[test]
fn an_empty_queue_decays_slowly() {
    let mut aqm = CobaltState::default();
    acts(&mut aqm, 0, 400, 10);
    assert_eq!(aqm.count(), 10);
    // Found empty every 10 ms: the count falls by one at a time.
    let counts: Vec<u32> = (40..140)
        .map(|t| {
            assert_eq!(aqm.found_empty(&AQM, ms(10 * t)), Blue::Same);
            aqm.count()
        })
        .collect();
    assert!(counts.is_sorted_by(|a, b| a - b <= 1) && counts[0] == 10);
    assert_eq!(counts.iter().position(|&c| c == 0), Some(48));
    assert!(aqm.is_at_rest(ms(1400)));
}

#[test]
fn ecn_capable_packets_are_marked() {
    let mut aqm = CobaltState::default();
    let judge =
        |aqm: &mut CobaltState, t| aqm.judge(&AQM, ms(t), Duration::from_millis(9), true, 0, &mut chance());
    assert_eq!(judge(&mut aqm, 500), CobaltVerdict { drop: false, mark: false });
    assert_eq!(judge(&mut aqm, 501), CobaltVerdict { drop: false, mark: true });
}

#[test]
fn some_full_packets_are_always_acceptable() {
    let slow = CobaltParams { mtu_time: Duration::from_millis(3), ..AQM };
    for (sojourn, bulk, over) in
        [(12, 0, false), (13, 0, true), (13, 3, false), (18, 3, false), (19, 3, true)]
    {
        let mut aqm = CobaltState::default();
        let waited = Duration::from_millis(sojourn);
        let drops = (1..4).map(|t| aqm.judge(&slow, ms(t), waited, false, bulk, &mut chance()).drop);
        assert_eq!(drops.filter(|&d| d).count() > 0, over, "{sojourn} {bulk}");
    }
}

#[test]
fn blue_rises_with_overflows_and_falls_with_idleness() {
    let mut aqm = CobaltState::default();
    // At most one step per target.
    let p: Vec<_> =
        [10, 14, 15, 16, 21, 22].map(|t| (aqm.overflowed(&AQM, ms(t)), aqm.p_drop() >> 24)).into();
    let same = |p| (Blue::Same, p);
    assert_eq!(p, [(Blue::Roused, 1), same(1), same(1), same(2), same(2), same(3)]);
    let mut draws = chance();
    let drops =
        (0..10_000).filter(|_| aqm.judge(&AQM, ms(23), Duration::ZERO, true, 0, &mut draws).drop).count();
    // 3 of 256, marked or not.
    assert!((90..145).contains(&drops), "{drops}");
    let calmed = (0..).find(|n| aqm.found_empty(&AQM, ms(30 + 6 * n)) == Blue::Calmed);
    assert_eq!((calmed, aqm.p_drop()), (Some(3 * 16 - 1), 0));
    // The probability never wraps.
    for n in 0..300 {
        aqm.overflowed(&AQM, ms(1000 + 6 * n));
    }
    assert_eq!(aqm.p_drop(), u32::MAX);
}
