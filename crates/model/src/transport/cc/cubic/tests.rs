use super::super::testing::{set_time, sock};
use super::super::{AckSample, CaState, CcEvent, CcSock, Controller};
use super::*;

/// Feeds ACKs for two segments each until `until_us`, at the rate of a sender limited by its window.
fn grow(cubic: &mut Cubic, sk: &mut CcSock, rtt_us: u64, until_us: u64, mut each: impl FnMut(&CcSock)) {
    while sk.now_us < until_us {
        let gap = rtt_us * 2 / u64::from(sk.snd_cwnd);
        let now = sk.now_us + gap;
        set_time(sk, now);
        cubic.pkts_acked(sk, &AckSample { pkts_acked: 2, rtt_us: rtt_us as i64, in_flight: 0 });
        cubic.cong_avoid(sk, 0, 2);
        each(sk);
    }
}

/// A connection that reduced its window from `cwnd` at 1 s.
fn fallen(cubic: &mut Cubic, cwnd: u32) -> CcSock {
    let mut sk = sock();
    set_time(&mut sk, 1_000_000);
    cubic.init(&mut sk);
    sk.snd_cwnd = cwnd;
    sk.snd_ssthresh = cubic.ssthresh(&mut sk);
    sk.snd_cwnd = sk.snd_ssthresh;
    sk
}

fn without_friendliness() -> Cubic {
    Cubic::new(CubicParams { tcp_friendliness: false, ..CubicParams::default() })
}

#[test]
fn cube_roots_of_cubes_and_their_neighbours() {
    for root in 1..1_u64 << 21 {
        let cube = root * root * root;
        assert_eq!(cube_root(cube), root as u32);
        assert_eq!(cube_root(cube - 1), root as u32 - 1);
        assert_eq!(cube_root(cube + 1), root as u32);
    }
    assert_eq!((cube_root(0), cube_root(7), cube_root(u64::MAX)), (0, 1, 2_642_245));
}

#[test]
fn k_is_the_time_back_to_the_old_window() {
    // spec: rfc9438 4.2 - K = cbrt(Wmax (1 - beta) / C), in 2^-10 s.
    // Wmax in segments, K in ms (C = 0.4, window after the loss rounded down to whole segments)
    let table = [(10, 1_957), (100, 4_217), (300, 6_082), (1_000, 9_086), (10_000, 19_572)];
    for (wmax, k_ms) in table {
        let mut cubic = without_friendliness();
        let mut sk = fallen(&mut cubic, wmax);
        cubic.cong_avoid(&mut sk, 0, 1);
        let k = f64::from(cubic.curve.k) / 1.024;
        assert!((k - f64::from(k_ms)).abs() <= 8.0, "{wmax}: {k}");
        let left = wmax * 717 / 1024;
        let exact = libm::cbrt(f64::from(wmax - left) / 0.4) * 1_000.0;
        assert!((k - exact).abs() / exact < 0.001, "{wmax}: {k} {exact}");
    }
}

#[test]
fn window_follows_the_closed_form_after_a_loss() {
    // C (t - K)^3 + Wmax, evaluated one RTT ahead, within 1 % and two segments.
    for (wmax, rtt_us) in [(100, 20_000), (1_000, 80_000), (5_000, 100_000)] {
        let mut cubic = without_friendliness();
        let mut sk = fallen(&mut cubic, wmax);
        let k = libm::cbrt(f64::from(wmax - sk.snd_cwnd) / 0.4);
        let mut compared = 0;
        grow(&mut cubic, &mut sk, rtt_us, 1_000_000 + (1.4e6 * k) as u64, |sk| {
            let t = (sk.now_us - 1_000_000) as f64 / 1e6;
            let w = 0.4 * libm::pow(t - k, 3.0) + f64::from(wmax);
            let is = f64::from(sk.snd_cwnd);
            assert!((is - w).abs() <= 2.0 + 0.01 * w, "Wmax {wmax}, {t} s: {is} instead of {w}");
            compared += 1;
        });
        assert!(compared > 1_000);
    }
}

#[test]
fn small_windows_grow_as_renos_would() {
    // spec: rfc9438 4.3 - alpha = 3 (1 - 0.7) / (1 + 0.7) = 0.529 segments per RTT.
    let mut cubic = Cubic::default();
    let mut sk = fallen(&mut cubic, 40);
    let start = sk.snd_cwnd;
    grow(&mut cubic, &mut sk, 40_000, 3_000_000, |_| ());
    // 50 round trips; the cubic function alone would take 3.1 s to return to 40.
    let reno = cubic.curve.tcp_cwnd - start;
    assert!((26..=27).contains(&reno), "{reno}");
    assert!((24..=reno).contains(&(sk.snd_cwnd - start)), "{}", sk.snd_cwnd);
}

#[test]
fn reductions() {
    // window, last maximum before, threshold, last maximum after
    let table = [
        (100, 0, 70, 100),
        (100, 90, 70, 100),
        (100, 100, 70, 100),
        // Below the last maximum, fast convergence releases bandwidth.
        (100, 101, 70, 85),
        (10, 50, 7, 8),
        (2, 10, 2, 1),
        (1, 0, 2, 1),
    ];
    for (cwnd, before, threshold, after) in table {
        let mut curve = Curve { last_max_cwnd: before, ..Curve::default() };
        assert_eq!(
            (curve.reduce(&CubicParams::default(), cwnd), curve.last_max_cwnd),
            (threshold, after),
            "{cwnd}"
        );
    }
    let slow = CubicParams { fast_convergence: false, ..CubicParams::default() };
    let mut curve = Curve { last_max_cwnd: 101, ..Curve::default() };
    assert_eq!((curve.reduce(&slow, 100), curve.last_max_cwnd), (70, 100));
}

#[test]
fn growth_before_the_first_loss_is_five_per_cent_a_round_trip() {
    let mut curve = Curve::default();
    let at = Moment { cwnd: 500, acked: 1, jiffies: 10, hz: 250, delay_min: 0, per_ack: 0 };
    assert_eq!(curve.update(&CubicParams::default(), at), 20);
    // After a loss the same time would be the plateau of the curve.
    let mut curve = Curve { last_max_cwnd: 500, ..Curve::default() };
    assert_eq!(curve.update(&CubicParams::default(), at), 50_000);
}

#[test]
fn growth_is_at_most_one_segment_per_two() {
    let mut curve = Curve { last_max_cwnd: 10, ..Curve::default() };
    let mut at = Moment { cwnd: 10, acked: 1, jiffies: 0, hz: 250, delay_min: 0, per_ack: 0 };
    curve.update(&CubicParams::default(), at);
    at.jiffies = 250 * 60;
    assert_eq!(curve.update(&CubicParams::default(), at), 2);
}

#[test]
fn the_curve_stands_still_while_idle() {
    let params = CubicParams { tcp_friendliness: false, ..CubicParams::default() };
    let mut curve = Curve { last_max_cwnd: 300, ..Curve::default() };
    let at = |jiffies| Moment { cwnd: 210, acked: 1, jiffies, hz: 250, delay_min: 0, per_ack: 0 };
    curve.update(&params, at(1_000));
    let mut other = curve;
    // Ten seconds idle plus one second of growth equal one second of growth without a pause.
    curve.resume(3_500, 1_000);
    assert_eq!(curve.update(&params, at(3_750)), other.update(&params, at(1_250)));
    assert_ne!(other.update(&params, at(3_750)), curve.cnt);
    // The shifted start is clamped to the current time.
    let mut late = Curve { epoch_start: Some(3_400), ..Curve::default() };
    late.resume(3_500, 1_000);
    assert_eq!(late.epoch_start, Some(3_500));
}

#[test]
fn events_and_states_reach_the_curve() {
    let mut cubic = Cubic::default();
    let mut sk = fallen(&mut cubic, 300);
    cubic.cong_avoid(&mut sk, 0, 1);
    let start = cubic.curve.epoch_start;
    sk.lsndtime = sk.jiffies;
    set_time(&mut sk, 3_000_000);
    cubic.cwnd_event(&mut sk, CcEvent::TxStart);
    assert_eq!((start, cubic.curve.epoch_start), (Some(250), Some(750)));
    cubic.set_state(&mut sk, CaState::Recovery);
    assert_eq!(cubic.curve.last_max_cwnd, 300);
    cubic.set_state(&mut sk, CaState::Loss);
    assert_eq!((cubic.curve.last_max_cwnd, cubic.delay_min), (0, 0));
}

#[test]
fn nothing_grows_when_the_window_is_not_the_limit() {
    let mut cubic = Cubic::default();
    let mut sk = fallen(&mut cubic, 300);
    sk.is_cwnd_limited = false;
    cubic.cong_avoid(&mut sk, 0, 200);
    assert_eq!((sk.snd_cwnd, sk.snd_cwnd_cnt), (210, 0));
}

// linux: net/ipv4/tcp_cubic.c bictcp_update, bictcp_acked (3.10).
#[test]
fn acks_count_by_average_coverage_before_4_0() {
    // segments per ACK in 1/16, ACKs per increment: 20 segments before the first loss, at least one ACK
    for (per_ack, acks) in [(0, 20), (16, 20), (32, 10), (40, 8), (320, 1), (512, 1)] {
        let at = Moment { cwnd: 500, acked: 1, jiffies: 10, hz: 250, delay_min: 0, per_ack };
        assert_eq!(Curve::default().update(&CubicParams::default(), at), acks, "{per_ack}");
    }
    let mut cubic = Cubic::default();
    let mut sk = sock();
    sk.growth = GrowthRules::Linux3_13;
    cubic.init(&mut sk);
    // segments acknowledged, resulting average: starts at two, moves by 1/16, at most 32, only in Open
    let table = [(2, 32), (1, 31), (1, 31), (45, 75), (0, 75), (10_000, 512), (1, 481)];
    for (pkts_acked, ratio) in table {
        cubic.pkts_acked(&mut sk, &AckSample { pkts_acked, rtt_us: -1, in_flight: 0 });
        assert_eq!(cubic.delayed_ack, ratio, "{pkts_acked}");
    }
    sk.ca_state = CaState::Disorder;
    cubic.pkts_acked(&mut sk, &AckSample { pkts_acked: 9, rtt_us: -1, in_flight: 0 });
    assert_eq!(cubic.delayed_ack, 481);
    cubic.set_state(&mut sk, CaState::Loss);
    assert_eq!(cubic.delayed_ack, 32);
}
