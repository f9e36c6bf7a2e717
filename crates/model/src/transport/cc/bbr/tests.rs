use super::super::testing::{MSS, Path};
use super::super::{Cc, Controller};
use super::*;
use alloc::vec::Vec;

/// 50 Mbit/s, 20 ms, and a buffer much larger than BBR needs.
const PATH: Path = Path { rate: 50_000_000, rtt_us: 20_000, limit: 1_000, delayed: false };
/// Payload bytes per second on that path.
const BYTES: u64 = 50_000_000 / 8 * MSS as u64 / 1_514;

fn bbr() -> Cc {
    Cc::by_name("bbr").unwrap()
}

fn state(cc: &Cc) -> &Bbr {
    match cc {
        Cc::Bbr(bbr) => bbr,
        other => panic!("{}", other.name()),
    }
}

#[test]
fn constants_match_the_paper() {
    assert_eq!((HIGH_GAIN, DRAIN_GAIN, CWND_GAIN), (739, 88, 512));
    assert_eq!(PACING_GAIN, [320, 192, 256, 256, 256, 256, 256, 256]);
    // 2 / ln 2 and its inverse, within 1/256.
    let high = 2.0 / libm::log(2.0) * 256.0;
    assert!((f64::from(HIGH_GAIN) - high).abs() <= 1.0);
    assert!((f64::from(DRAIN_GAIN) - 65_536.0 / high).abs() <= 1.0);
}

#[test]
fn startup_doubles_each_round_and_drain_empties_the_queue() {
    let mut rates = Vec::new();
    let mut left = None;
    let mut drained = None;
    let mut rounds = 0;
    PATH.run(bbr(), 0, 2, |cc, sk| {
        let bbr = state(cc);
        match bbr.mode {
            Mode::Startup if bbr.round_start => {
                rates.push(sk.pacing_rate);
                rounds += u32::from(bbr.full_bw_cnt > 0);
            }
            Mode::Startup => {}
            Mode::Drain => {
                left.get_or_insert((sk.in_flight(), bbr.full_bw_cnt));
            }
            Mode::ProbeBw => {
                drained.get_or_insert((sk.in_flight(), bbr.inflight(sk, bbr.bw.get(), UNIT)));
            }
            Mode::ProbeRtt => panic!("too early"),
        }
    });
    // Until the pipe is full the rate nearly doubles; pauses between bursts dilute the samples.
    let growing: Vec<f64> = rates
        .windows(2)
        .map(|w| w[1] as f64 / w[0] as f64)
        .skip(1)
        .take_while(|&ratio| ratio > 1.5)
        .collect();
    assert!(growing.len() >= 2 && growing.iter().all(|ratio| (1.65..2.1).contains(ratio)), "{rates:?}");
    // The third round without growth ends STARTUP.
    assert_eq!(rounds, 2, "{rates:?}");
    let (in_flight, count) = left.expect("DRAIN");
    assert_eq!(count, 3);
    // In flight at the end of STARTUP: 83 segments times the gain of 2.89, plus three TSO packets of 11.
    assert!((240..=280).contains(&in_flight), "{in_flight}");
    let (in_flight, target) = drained.expect("PROBE_BW");
    assert!(in_flight <= target && in_flight + 3 >= target, "{in_flight} {target}");
}

#[test]
fn the_cycle_has_eight_phases_of_a_round_trip() {
    let mut phases: Vec<(u32, u64)> = Vec::new();
    let mut last = None;
    PATH.run(bbr(), 0, 9, |cc, sk| {
        let bbr = state(cc);
        assert_eq!((bbr.mode == Mode::ProbeRtt, bbr.longterm.in_use()), (false, None));
        if bbr.mode == Mode::ProbeBw && sk.now_us > 2_000_000 && last != Some(bbr.cycle_mstamp) {
            last = Some(bbr.cycle_mstamp);
            phases.push((bbr.pacing_gain, sk.now_us));
        }
    });
    let probes: Vec<usize> = (0..phases.len()).filter(|&i| phases[i].0 == 320).collect();
    assert!(probes.len() > 30, "{}", probes.len());
    for pair in probes.windows(2) {
        assert_eq!(pair[1] - pair[0], 8);
        let gains: Vec<u32> = phases[pair[0]..pair[1]].iter().map(|p| p.0).collect();
        assert_eq!(gains, PACING_GAIN);
        let ends = &phases[pair[0]..=pair[1]];
        for (i, w) in ends.windows(2).enumerate() {
            let us = w[1].1 - w[0].1;
            // Phases last a minimum RTT or one ACK more, except: draining ends with the queue, and probing
            // continues until an extra quarter and the allowance for three TSO packets are in flight.
            let within = match i {
                0 => 20_000..=45_000,
                1 => 0..=21_000,
                _ => 20_000..=21_000,
            };
            assert!(within.contains(&us), "phase {i}: {us}");
        }
    }
}

#[test]
fn bandwidth_and_round_trip_are_found() {
    let run = PATH.run(bbr(), 2, 9, |cc, sk| {
        let bbr = state(cc);
        if sk.now_us > 1_000_000 {
            let bw = bbr.bandwidth(sk);
            assert!(bw.abs_diff(BYTES) * 100 <= BYTES, "{bw} {BYTES}");
            assert!((20_000..20_600).contains(&bbr.min_rtt_us), "{}", bbr.min_rtt_us);
            // The window is at most two bandwidth-delay products plus allowances.
            let most = 2 * bbr.bdp(bbr.bw.get(), UNIT) + 3 * bbr.tso_segs_goal(sk) + 20;
            assert!(sk.snd_cwnd <= most, "{} {most}", sk.snd_cwnd);
        }
    });
    assert!(run.mean_srtt_ms() < 24.0, "{}", run.mean_srtt_ms());
    assert!(run.delivered * u64::from(MSS) * 100 > BYTES * 7 * 98, "{run:?} {BYTES}");
}

#[test]
fn minimum_rtt_is_probed_every_ten_seconds() {
    let mut stays: Vec<(u64, u64)> = Vec::new();
    let mut before = 0;
    let mut cwnd_after = None;
    PATH.run(bbr(), 0, 35, |cc, sk| {
        let bbr = state(cc);
        if bbr.mode == Mode::ProbeRtt {
            assert!(sk.snd_cwnd <= MIN_CWND);
            match stays.last_mut() {
                Some(stay) if sk.now_us - stay.1 < 100_000 => stay.1 = sk.now_us,
                _ => stays.push((sk.now_us, sk.now_us)),
            }
            cwnd_after = None;
        } else if !stays.is_empty() {
            // The window is restored immediately.
            assert!(*cwnd_after.get_or_insert(sk.snd_cwnd) >= before / 2);
        }
        if bbr.mode == Mode::ProbeBw {
            before = sk.snd_cwnd;
        }
    });
    assert_eq!(stays.len(), 3, "{stays:?}");
    for &(enter, leave) in &stays {
        // At least 200 ms with four segments in flight, after one RTT of draining to that level.
        assert!((200_000..=270_000).contains(&(leave - enter)), "{stays:?}");
    }
    for pair in stays.windows(2) {
        assert!((10_000_000..10_100_000).contains(&(pair[1].0 - pair[0].1)), "{stays:?}");
    }
}

#[test]
fn a_policer_is_detected_and_used_for_48_rounds() {
    let mut sk = super::super::testing::sock();
    let mut longterm = LongTerm::default();
    longterm.reset(&sk);
    // Rounds of 20 ms with 100 segments delivered and 30 lost: above the threshold of 20 %.
    let mut changes = Vec::new();
    for round in 1..=80 {
        sk.delivered += 100;
        sk.lost += 30;
        sk.delivered_mstamp += 20_000;
        let rs = RateSample { losses: 30, delivered: 100, interval_us: 20_000, ..RateSample::default() };
        let change = longterm.sample(&sk, &rs, true, true);
        if change != longterm::Change::None {
            changes.push((round, change));
        }
    }
    // Detection takes two intervals of four rounds, starting at the first loss.
    assert_eq!(changes[..2], [(8, longterm::Change::Policed), (8 + 48, longterm::Change::ProbeAgain)]);
    let mut clean = LongTerm::default();
    clean.reset(&sk);
    for _ in 0..80 {
        sk.delivered += 100;
        // 19 % loss counts as congestion.
        sk.lost += 19;
        sk.delivered_mstamp += 20_000;
        let rs = RateSample { losses: 19, delivered: 100, interval_us: 20_000, ..RateSample::default() };
        assert_eq!(clean.sample(&sk, &rs, true, true), longterm::Change::None);
    }
}

#[test]
fn recovery_conserves_packets_for_a_round_and_restores_the_window() {
    let mut sk = super::super::testing::sock();
    sk.min_rtt_us = 20_000;
    let mut bbr = Bbr::default();
    bbr.init(&mut sk);
    (sk.snd_cwnd, sk.packets_out, sk.lost_out, sk.delivered) = (100, 100, 10, 500);
    sk.snd_ssthresh = bbr.ssthresh(&mut sk);
    sk.ca_state = CaState::Recovery;
    let sample = |prior_delivered, losses| RateSample {
        prior_delivered,
        losses,
        delivered: 10,
        interval_us: 20_000,
        acked_sacked: 2,
        rtt_us: 20_000,
        ..RateSample::default()
    };
    bbr.cong_control(&mut sk, &sample(0, 10));
    assert_eq!((sk.snd_cwnd, sk.snd_ssthresh), (90 + 2, 0x7fff_ffff));
    sk.ca_state = CaState::Open;
    bbr.cong_control(&mut sk, &sample(0, 0));
    assert!(sk.snd_cwnd >= 100, "{}", sk.snd_cwnd);
    // The window is also restored after a timeout.
    sk.snd_ssthresh = bbr.ssthresh(&mut sk);
    let before = sk.snd_cwnd;
    bbr.set_state(&mut sk, CaState::Loss);
    (sk.ca_state, sk.snd_cwnd, sk.packets_out, sk.lost_out) = (CaState::Loss, 1, 1, 0);
    bbr.cong_control(&mut sk, &sample(0, 0));
    assert!(sk.snd_cwnd < before);
    sk.ca_state = CaState::Open;
    bbr.cong_control(&mut sk, &sample(0, 0));
    assert!(sk.snd_cwnd >= before);
}

#[test]
fn the_first_rate_is_the_window_over_the_round_trip() {
    // smoothed RTT in us, pacing rate in bytes per second: 10 x 1448 x 739/256 x 0.99 / SRTT
    for (srtt_us, rate) in [(20_000_u32, 2_069_000_u64), (100_000, 413_800), (0, 41_381_000)] {
        let mut sk = super::super::testing::sock();
        sk.srtt_us = srtt_us << 3;
        Bbr::default().init(&mut sk);
        assert!(sk.pacing_rate.abs_diff(rate) * 1_000 < rate, "{srtt_us}: {}", sk.pacing_rate);
        assert!(sk.needs_pacing);
    }
}

#[test]
fn application_limited_samples_do_not_lower_the_bandwidth() {
    let mut sk = super::super::testing::sock();
    let mut bbr = Bbr::default();
    bbr.init(&mut sk);
    let mut round = |delivered: i32, is_app_limited, sk: &mut CcSock| {
        let prior_delivered = sk.delivered;
        sk.delivered += delivered as u32;
        sk.delivered_mstamp += 20_000;
        let rs = RateSample {
            prior_delivered,
            delivered,
            interval_us: 20_000,
            acked_sacked: delivered as u32,
            is_app_limited,
            rtt_us: 20_000,
            ..RateSample::default()
        };
        bbr.cong_control(sk, &rs);
        bbr.bandwidth(sk) / (u64::from(MSS) * 50)
    };
    // segments per round, application-limited, bandwidth in segments per round
    assert_eq!(round(81, false, &mut sk), 80);
    for _ in 0..30 {
        assert_eq!(round(10, true, &mut sk), 80);
    }
    assert_eq!(round(101, true, &mut sk), 100);
    // After eleven unlimited rounds the peak has left the filter.
    let last = (0..11).map(|_| round(11, false, &mut sk)).last();
    assert_eq!(last, Some(10));
}

#[test]
fn segments_of_tso_packets() {
    let bbr = Bbr::default();
    let mut sk = super::super::testing::sock();
    // pacing rate in bytes per second, segments in 1 ms at that rate, minimum per TSO packet
    let table =
        [(100_000, 1, 1), (149_999, 1, 1), (150_000, 2, 2), (5_912_500, 3, 2), (1_000_000_000, 45, 2)];
    for (rate, goal, least) in table {
        sk.pacing_rate = rate;
        assert_eq!((bbr.tso_segs_goal(&sk), bbr.min_tso_segs(&sk, 7)), (goal, least), "{rate}");
    }
    assert_eq!(bbr.sndbuf_expand(), 3);
}

// linux: net/ipv4/tcp_bbr.c bbr_packets_in_net_at_edt (6.1), bbr_check_drain (4.19).
#[test]
fn departure_times_count_since_4_20() {
    // One segment per ms, next departure in 10 ms, 50 in flight: pacing gain, estimate since 4.20, before.
    for (gain, since, before) in [(UNIT, 40, 50), (UNIT * 3 / 4, 40, 50), (UNIT * 5 / 4, 42, 50)] {
        let mut sk = super::super::testing::sock();
        (sk.clock_ns, sk.wstamp_ns) = (5_000_000, 15_000_000);
        let of = |departure_times| {
            let mut bbr = Bbr::new(BbrParams { departure_times, ..BbrParams::default() });
            bbr.bw.update(10, 0, (BW_UNIT / 1_000) as u32 + 1);
            bbr.pacing_gain = gain;
            bbr
        };
        sk.pacing_rate = 1_448_000;
        assert_eq!(of(true).in_net_at_departure(&sk, 50), since, "{gain}");
        assert_eq!(of(false).in_net_at_departure(&sk, 50), before, "{gain}");
    }
}
