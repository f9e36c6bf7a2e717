use super::super::testing::{MSS, set_time, sock};
use super::*;

/// Runs slow start on a path of `rtt_us`. All ACKs of a round arrive together, delayed by `queue(window)`.
/// Returns the window at the exit, or `None` if slow start continued to 4,000 segments.
fn exit(params: &HystartParams, rtt_us: u32, queue: impl Fn(u32) -> u32) -> Option<u32> {
    let mut sk = sock();
    let mut hystart = Hystart::default();
    let clock = params.rules.clock;
    let delay_min = clock.delay(rtt_us.into());
    while sk.snd_cwnd < 4_000 {
        let window = sk.snd_cwnd;
        hystart.start_round(params, &sk);
        for _ in 0..window {
            let delay = clock.delay((rtt_us + queue(window)).into());
            hystart.update(params, &mut sk, delay, delay_min);
            if hystart.found {
                assert_eq!(sk.snd_ssthresh, sk.snd_cwnd);
                return Some(sk.snd_cwnd);
            }
            sk.snd_cwnd += 1;
        }
    }
    None
}

fn only(detect: u8, rules: HystartRules) -> HystartParams {
    HystartParams { hystart_detect: detect, rules, ..HystartParams::default() }
}

#[test]
fn delay_grows_by_an_eighth_within_bounds() {
    // minimum RTT in us, largest accepted increase in us
    let table = [
        (1_000, 4_000),
        (32_000, 4_000),
        (40_000, 5_000),
        (80_000, 10_000),
        (128_000, 16_000),
        (300_000, 16_000),
    ];
    for rules in [HystartRules::LINUX_6_1, HystartRules::LINUX_4] {
        let params = only(DELAY, rules);
        let step = match rules.clock {
            DelayClock::Micros => 1,
            DelayClock::Millis => 125,
        };
        for (rtt, accepted) in table {
            // A standing queue appears from the round with 40 segments on.
            let queue = |more: u32| move |window| if window >= 40 { accepted + more } else { 0 };
            assert_eq!(exit(&params, rtt, queue(0)), None, "{rtt}");
            // Detected at the ninth sample of the round with 40 segments.
            assert_eq!(exit(&params, rtt, queue(step)), Some(40 + 8), "{rtt}");
        }
    }
}

#[test]
fn a_train_of_half_a_round_trip_ends_slow_start() {
    // RTT 40 ms, 1 ms per segment. At a pacing rate of 10 MB/s, four TSO packets exceed the 1 ms limit.
    // rules, paced, longest accepted train in us
    let table = [
        (HystartRules::LINUX_6_1, false, 20_500),
        (HystartRules::LINUX_6_1, true, 41_000),
        (HystartRules::LINUX_4, false, 20_000),
        (HystartRules::LINUX_4, true, 20_000),
    ];
    for (rules, paced, accepted) in table {
        let mut sk = sock();
        (sk.needs_pacing, sk.pacing_rate, sk.snd_cwnd) = (paced, 10_000_000, 20);
        let params = only(ACK_TRAIN, rules);
        let mut hystart = Hystart::default();
        set_time(&mut sk, 1_000_000);
        hystart.start_round(&params, &sk);
        let delay_min = rules.clock.delay(40_000);
        let found = (1..).find(|i| {
            set_time(&mut sk, 1_000_000 + i * 500);
            hystart.update(&params, &mut sk, delay_min, delay_min);
            hystart.found
        });
        let step = if rules.clock == DelayClock::Millis { 1_000 } else { 500 };
        assert_eq!(found.map(|i| i * 500), Some(accepted + step), "{rules:?} {paced}");
    }
}

#[test]
fn a_gap_ends_the_train() {
    let params = only(ACK_TRAIN, HystartRules::LINUX_6_1);
    // gap between ACKs in us, recognised as a train
    for (gap, is_train) in [(2_000, true), (2_001, false)] {
        let mut sk = sock();
        sk.snd_cwnd = 20;
        let mut hystart = Hystart::default();
        hystart.start_round(&params, &sk);
        for i in 1..100 {
            set_time(&mut sk, i * gap);
            hystart.update(&params, &mut sk, 40_000, 40_000);
        }
        assert_eq!(hystart.found, is_train, "{gap}");
    }
}

#[test]
fn small_windows_are_ignored() {
    for (cwnd, found) in [(15, false), (16, true)] {
        let mut sk = sock();
        sk.snd_cwnd = cwnd;
        let mut hystart = Hystart::default();
        hystart.start_round(&HystartParams::default(), &sk);
        for _ in 0..20 {
            hystart.update(&HystartParams::default(), &mut sk, 100_000, 40_000);
        }
        assert_eq!(hystart.found, found);
    }
}

#[test]
fn rounds_start_where_the_kernel_checks() {
    // rules, window, true if a sample after the end of a round starts another
    let table = [
        (HystartRules::LINUX_6_1, 10, true),
        (HystartRules::LINUX_6_1, 20, true),
        (HystartRules::LINUX_5_16, 10, false),
        (HystartRules::LINUX_5_16, 20, true),
        (HystartRules::LINUX_5_8, 20, false),
        (HystartRules::LINUX_4, 20, false),
    ];
    for (rules, cwnd, begins) in table {
        let mut sk = sock();
        sk.snd_cwnd = cwnd;
        let params = only(DELAY, rules);
        let mut hystart = Hystart::default();
        hystart.start_round(&params, &sk);
        (sk.snd_una, sk.snd_nxt) = (2 * MSS, 40 * MSS);
        set_time(&mut sk, 7_000);
        hystart.update(&params, &mut sk, 40_000, 40_000);
        assert_eq!(hystart.end_seq == sk.snd_nxt, begins, "{rules:?} {cwnd}");
        let una = sk.snd_una;
        hystart.on_cong_avoid(&params, &sk, una);
        let by_growth = rules.round == RoundStart::CongAvoid;
        assert_eq!(hystart.end_seq == sk.snd_nxt, begins || by_growth, "{rules:?} {cwnd}");
    }
}

#[test]
fn a_late_short_sample_counts_since_5_8() {
    for (rules, found) in [(HystartRules::LINUX_5_8, false), (HystartRules::LINUX_4, true)] {
        let mut sk = sock();
        sk.snd_cwnd = 20;
        let params = only(DELAY, rules);
        let mut hystart = Hystart::default();
        hystart.start_round(&params, &sk);
        let delay = |us| rules.clock.delay(us);
        for _ in 0..8 {
            hystart.update(&params, &mut sk, delay(50_000), delay(50_000));
        }
        // The ninth sample is shorter than all before and lowers the minimum.
        hystart.update(&params, &mut sk, delay(40_000), delay(40_000));
        assert_eq!(hystart.found, found, "{rules:?}");
    }
}
