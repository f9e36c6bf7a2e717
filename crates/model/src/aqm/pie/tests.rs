use proptest::prelude::*;

use super::*;

const P: PieParams = PieParams {
    target: Duration::from_millis(15),
    alpha: 2,
    beta: 20,
    ecn: false,
    bytemode: false,
    dq_rate_estimator: false,
    mtu: 1514,
};

/// Converts a probability into a fraction of `MAX_PROB`.
fn share(p: f64) -> u64 {
    (p * MAX_PROB as f64) as u64
}

fn state(prob: f64, ms: u64, before_ms: u64) -> PieState {
    let of = |ms: u64| ticks(ms * 1_000_000);
    PieState {
        prob: share(prob),
        qdelay: of(ms),
        qdelay_old: of(before_ms),
        burst_time: 0,
        ..PieState::default()
    }
}

fn at(us: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(us)
}

/// The next probability for a delay and the previous delay in seconds, with the RFC's constants and order.
// spec: rfc8033 4.2, 5.1, 5.5.
fn rfc(p: f64, delay: f64, before: f64) -> f64 {
    let scale = match p {
        p if p < 0.000_001 => 2048.0,
        p if p < 0.000_01 => 512.0,
        p if p < 0.000_1 => 128.0,
        p if p < 0.001 => 32.0,
        p if p < 0.01 => 8.0,
        p if p < 0.1 => 2.0,
        _ => 1.0,
    };
    let mut step = (0.125 * (delay - 0.015) + 1.25 * (delay - before)) / scale;
    if p >= 0.1 && step > 0.02 {
        step = 0.02;
    }
    if delay > 0.25 {
        step += 0.02;
    }
    let next = (p + step).max(0.0);
    if delay == 0.0 && before == 0.0 { next * 0.98 } else { next }
}

#[test]
fn steps_are_those_of_the_rfc() {
    for prob in [0.0, 5e-7, 4e-6, 6e-5, 2e-4, 3e-3, 0.04, 0.0999, 0.1, 0.3, 0.9] {
        for (ms, before) in
            [(15, 15), (20, 15), (14, 20), (40, 10), (10, 60), (200, 20), (260, 260), (300, 20)]
        {
            let mut s = state(prob, ms, before);
            s.update(&P, 100_000);
            let expected = rfc(prob, ms as f64 / 1e3, before as f64 / 1e3);
            let found = s.prob as f64 / MAX_PROB as f64;
            // Weights are rounded to 2^-56 per time unit, times to 64 ns.
            let bound = 1e-4 * (expected - prob).abs() + 1e-12;
            assert!((found - expected).abs() <= bound, "{prob} {ms} {before}: {found} {expected}");
            assert_eq!(s.qdelay_old, s.qdelay);
        }
    }
}

#[test]
fn steps_by_hand() {
    // delay and previous delay in ms; probability before and after in millionths
    let table = [
        // (0.125 x 5 + 1.25 x 5) ms at a weight of 1, 1/2, 1/8, 1/32
        (20, 15, 100_000, 106_875),
        (20, 15, 50_000, 53_437),
        (20, 15, 5_000, 5_859),
        (20, 15, 500, 714),
        // at most 2 %, 2 % more above 250 ms, never below zero
        (100, 15, 200_000, 220_000),
        (251, 15, 200_000, 240_000),
        (251, 251, 50_000, 84_750),
        (0, 15, 900, 255),
        (0, 40, 1_000, 0),
        // zero twice: decay to 63/64
        (0, 0, 640_000, 628_154),
    ];
    for (ms, before, prob, after) in table {
        let mut s = state(f64::from(prob) / 1e6, ms, before);
        s.update(&P, 0);
        let found = (s.prob as f64 / MAX_PROB as f64 * 1e6) as u64;
        assert!(found.abs_diff(after) <= 1, "{ms} {before} {prob}: {found}");
    }
    // A delay of zero with packets queued is unknown: no decay.
    let mut s = state(0.64, 0, 0);
    s.update(&P, 1514);
    assert_eq!(s.prob, share(0.64) - (share(0.64) - s.prob));
    assert!((s.prob as f64 / MAX_PROB as f64 - 0.638_125).abs() < 1e-6);
}

#[test]
fn conditions_without_early_drops() {
    let full = 0;
    let against = |s: &mut PieState, backlog| s.drop_early(&P, backlog, 1514, || full);
    let ready = |prob: f64, ms| PieState { accu_prob: MAX_PROB, ..state(prob, ms, ms) };
    // a burst allowance, a delay below half the target with a probability below 0.2, less than two packets
    assert!(!against(&mut PieState { burst_time: 1, ..ready(0.5, 20) }, 100_000));
    assert!(!against(&mut ready(0.199, 7), 100_000));
    assert!(against(&mut ready(0.201, 7), 100_000));
    assert!(against(&mut ready(0.001, 8), 100_000));
    assert!(!against(&mut ready(0.5, 20), 3027));
    assert!(against(&mut ready(0.5, 20), 3028));
}

#[test]
fn drops_are_spaced() {
    // 0.1: never before the ninth packet, always from the 85th on.
    let mut s = state(0.1, 20, 20);
    let first = (1..).find(|_| s.drop_early(&P, 100_000, 1514, || 0));
    assert_eq!((first, s.accu_prob), (Some(9), 0));
    let first = (1..).find(|_| s.drop_early(&P, 100_000, 1514, || u64::MAX));
    assert_eq!(first, Some(85));
    // Then every packet, until one is really dropped.
    assert!(s.drop_early(&P, 100_000, 1514, || u64::MAX));
    s.dropped();
    assert!(!s.drop_early(&P, 100_000, 1514, || 0));
    // A packet of a tenth of the size counts as a tenth.
    let bytemode = PieParams { bytemode: true, ..P };
    let mut s = state(0.1, 20, 20);
    assert_eq!((1..).find(|_| s.drop_early(&bytemode, 100_000, 151, || 0)), Some(86));
    let mut s = state(0.1, 20, 20);
    assert_eq!((1..).find(|_| s.drop_early(&bytemode, 100_000, 9000, || 0)), Some(9));
}

#[test]
fn a_burst_of_150_ms_passes_and_the_allowance_is_restored_when_idle() {
    let mut s = PieState::default();
    // The burst allowance decreases from the first departure on.
    for n in 0..=150 {
        assert_eq!(s.burst_time > 0, n < 151, "{n}");
        s.dequeued(&P, at(5_000 + 1000 * n), at(0), 100_000, 1514);
    }
    assert_eq!((s.burst_time, s.qdelay), (0, ticks(155_000_000)));
    // The last packet of the queue has no delay.
    s.dequeued(&P, at(200_000), at(0), 0, 1514);
    assert_eq!(s.qdelay, 0);
    // Two delays below half the target at probability 0 restore the burst allowance.
    for (ms, before, prob, calm) in
        [(7, 7, 0.0, true), (8, 7, 0.0, false), (7, 8, 0.0, false), (7, 7, 0.5, false)]
    {
        let mut s = state(prob, ms, before);
        s.update(&P, 1514);
        assert_eq!((s.burst_time > 0, s.qdelay), (calm, ticks(ms * 1_000_000)), "{ms} {before} {prob}");
    }
}

#[test]
fn the_drain_rate_is_measured_over_16_kib_of_backlog() {
    let p = PieParams { dq_rate_estimator: true, ..P };
    let mut s = PieState::default();
    // 12.112 Mbit/s; at first the backlog is too small.
    for n in 0..20 {
        s.dequeued(&p, at(1000 * n), at(0), 16_383, 1514);
    }
    assert_eq!((s.drain_rate(), s.dq_count), (0, None));
    s.update(&p, 30_000);
    assert_eq!(s.qdelay, 0);
    for n in 20..31 {
        assert_eq!(s.drain_rate(), 0, "{n}");
        s.dequeued(&p, at(1000 * n), at(0), 30_000, 1514);
    }
    // Eleven packets in the time of ten, as the first one counts too.
    assert!(s.drain_rate().abs_diff(1_514_000 * 11 / 10) < 200_000, "{}", s.drain_rate());
    s.update(&p, 30_000);
    let expected = Duration::from_nanos(30_000 * 1_000_000_000 / s.drain_rate());
    assert!(s.qdelay().nanos().abs_diff(expected.nanos()) < 100_000, "{:?}", s.qdelay());
    // The backlog falls below the threshold: the running measurement is finished, and no new one starts.
    let rate = s.avg_dq_rate;
    for n in 31..60 {
        s.dequeued(&p, at(2000 * n), at(0), 1000, 1514);
    }
    assert!(s.avg_dq_rate < rate && s.dq_count.is_none());
}

proptest! {
    /// The probability never wraps, whatever the delays, and falls to zero without delay.
    #[test]
    fn the_probability_stays_within_bounds(delays in prop::collection::vec(0u64..400, 1..300)) {
        let mut s = PieState::default();
        for ms in delays {
            s.qdelay = ticks(ms * 1_000_000);
            s.update(&P, 100_000);
            prop_assert!(s.prob < 8 * MAX_PROB);
        }
        s.qdelay = 0;
        for _ in 0..2000 {
            s.update(&P, 0);
        }
        prop_assert_eq!(s.prob, 0);
    }
}
