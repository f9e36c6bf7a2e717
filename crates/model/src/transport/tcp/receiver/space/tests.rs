//! Buffer growth, initial window and RTT estimate, by kernel.

use super::*;

const ADVMSS: u32 = 1_448;

/// A connection with an RTT of 10 ms whose window is half of its memory.
fn space(rules: RcvbufRules) -> Space {
    let config = TcpConfig {
        rcvbuf: rules,
        scaling_ratio: 128,
        rmem: [4_096, 131_072, 1 << 25],
        ..TcpConfig::default()
    };
    let mut space = Space::new(&config);
    space.open(ADVMSS);
    space.established(0, 0, ADVMSS, 65_536);
    space.rtt_sample(10_000, false, 0);
    space
}

#[test]
fn growth_by_kernel() {
    use RcvbufRules::{Linux4_16, Linux6_16};
    // rules; bytes read in the first and the second RTT, unread, past a hole; buffer
    let table = [
        (Linux4_16, 100_000, 100_000, 0, 0, 5_718_524),
        (Linux6_16, 100_000, 100_000, 0, 0, 5_124_860),
        // Unread data does not count, so the amount has not grown.
        (Linux4_16, 14_480, 20_000, 15_000, 0, 222_656),
        (Linux6_16, 14_480, 20_000, 15_000, 0, 131_072),
        (Linux4_16, 14_480, 20_000, 0, 300_000, 222_656),
        (Linux6_16, 14_480, 20_000, 0, 300_000, 740_992),
    ];
    for (rules, first, second, unread, beyond, rcvbuf) in table {
        let mut s = space(rules);
        s.adjust(10_000, first, 0, 0);
        s.adjust(20_000, first + second, unread, beyond);
        assert_eq!(s.rcvbuf, rcvbuf, "{rules:?} {first} {second} {unread} {beyond}");
    }
}

#[test]
fn growth_in_steps_and_without() {
    use RcvbufRules::{Linux3_13, Linux4_16};
    // rules, bytes read in the RTT after one with 100,000; buffer at 2,920 bytes per segment, window limit
    let table = [
        (Linux3_13, 100_000, 4_096, 2_048),
        (Linux3_13, 124_999, 548_960, 273_166),
        (Linux3_13, 125_000, 823_440, 409_752),
        (Linux3_13, 149_999, 975_280, 484_749),
        (Linux3_13, 150_000, 1_302_320, 646_336),
        // The buffer has a maximum, but with the 3.13 rules the window limit has none.
        (Linux3_13, 20_000_000, 33_554_432, 80_046_336),
        (Linux4_16, 124_999, 823_440, 411_720),
        (Linux4_16, 125_000, 823_440, 411_720),
        (Linux4_16, 150_000, 1_302_320, 651_160),
        (Linux4_16, 20_000_000, 33_554_432, 16_777_216),
    ];
    for (rules, bytes, rcvbuf, clamp) in table {
        let mut s = Space { ratio: 0, rcvbuf: 4_096, window_clamp: 2_048, ..space(rules) };
        s.last.bytes = 100_000;
        s.per_segment = 2_920;
        s.adjust(10_000, bytes, 0, 0);
        assert_eq!((s.rcvbuf, s.window_clamp), (rcvbuf, clamp), "{rules:?} {bytes}");
    }
}

#[test]
fn before_4_20_the_window_starts_smaller_and_the_buffer_larger() {
    // segments; tcp_rmem default and maximum, autotuning; SYN window, buffer, initial receive space
    let table = [
        (0, [87_380, 6_291_456], true, 43_440, 87_380, 14_480),
        // 20 segments, eight times 20 packets of 2,280 bytes.
        (20, [87_380, 6_291_456], true, 28_960, 364_800, 28_960),
        (20, [87_380, 6_291_456], false, 28_960, 91_200, 28_960),
        (20, [87_380, 300_000], true, 28_960, 300_000, 28_960),
        (20, [400_000, 6_291_456], true, 28_960, 400_000, 28_960),
        // A window scale with a unit larger than a segment.
        (20, [87_380, 1 << 30], true, 43_440, 364_800, 43_440),
    ];
    for (init_rwnd, [usual, most], moderate_rcvbuf, window, rcvbuf, read) in table {
        let rmem = [4_096, usual, most];
        let mut s = Space::new(&TcpConfig { init_rwnd, rmem, moderate_rcvbuf, ..TcpConfig::default() });
        let offered = s.open(ADVMSS);
        s.established(0, 0, ADVMSS, offered);
        assert_eq!((offered, s.rcvbuf, s.rcv_space()), (window, rcvbuf, read), "{init_rwnd} {rmem:?}");
    }
}

#[test]
fn repeated_echoes_count_only_before_4_16() {
    for (rules, want) in [(RcvbufRules::Linux3_13, 88_000), (RcvbufRules::Linux4_16, 80_000)] {
        let mut s = space(rules);
        s.measure_ts(110, 100, ADVMSS, ADVMSS, 0);
        s.measure_ts(118, 100, ADVMSS, ADVMSS, 0);
        assert_eq!(s.rtt_us(), want, "{rules:?}");
    }
}

#[test]
fn out_of_order_data_grows_the_buffer_immediately() {
    for (rules, rcvbuf) in [(RcvbufRules::Linux4_16, 131_072), (RcvbufRules::Linux6_16, 657_920)] {
        let mut s = space(rules);
        s.out_of_order(300_000);
        assert_eq!(s.rcvbuf, rcvbuf, "{rules:?}");
    }
}

#[test]
fn round_trips_by_kernel() {
    use RcvbufRules::{Linux4_16, Linux6_16};
    // rules, sample after one of 10 ms, unread bytes; RTT in us, times 8
    let table = [
        (Linux4_16, 2_000, 0, 72_000),
        (Linux6_16, 2_000, 0, 16_000),
        (Linux4_16, 18_000, 1, 88_000),
        (Linux6_16, 18_000, 1, 80_000),
        (Linux6_16, 18_000, 0, 88_000),
    ];
    for (rules, sample, unread, want) in table {
        let mut s = space(rules);
        s.rtt_sample(sample, false, unread);
        assert_eq!(s.rtt_us(), want, "{rules:?} {sample} {unread}");
    }
}

/// The memory per segment computed in one step equals the kernel's iterative result.
#[test]
fn the_memory_of_a_segment() {
    let table = [
        (1, ADVMSS, 2_920),
        (2, ADVMSS, 2_280),
        (31, ADVMSS, 2_280),
        (0, ADVMSS, 2_280),
        (-1, ADVMSS, 2_920),
        (-2, ADVMSS, 5_864),
        (-20, ADVMSS, 1_518_338_152),
        // No window from 31 bits of memory holds a segment.
        (-21, ADVMSS, 2_147_483_624),
        (-31, ADVMSS, 2_147_483_624),
        (-31, 1, 2_147_483_585),
    ];
    for (adv_win_scale, advmss, want) in table {
        let mut s = Space::new(&TcpConfig { adv_win_scale, ..TcpConfig::default() });
        let offered = s.open(advmss);
        s.established(0, 0, advmss, offered);
        assert_eq!(s.per_segment, want, "{adv_win_scale} {advmss}");
    }
    for adv_win_scale in -15..=31 {
        for window in [1, 2, 3, 535, 1_447, 1_448, 1_449, 65_535] {
            for ratio in [0, 1, 128, 255] {
                let s = Space { ratio, ..Space::new(&TcpConfig { adv_win_scale, ..TcpConfig::default() }) };
                let memory = s.memory_of(window) as u32;
                assert_eq!(s.window_of(memory), window, "{adv_win_scale} {ratio}: {memory}");
                assert!(s.window_of(memory - 1) < window, "{adv_win_scale} {ratio}: {memory}");
            }
        }
    }
}
