//! Response functions: the rate of each controller by loss ratio and RTT.

use super::testing::{Lossy, MSS};
use super::*;
use alloc::vec::Vec;

/// A 1 Gbit/s path with an RTT of 10 or 100 ms that loses one segment in `one_in`.
fn path(rtt_ms: u64, one_in: u32) -> Lossy {
    Lossy { rate: 1_000_000_000, rtt_us: rtt_ms * 1_000, one_in, random: false }
}

fn kbps(name: &str, path: Lossy) -> u64 {
    path.kbps(Cc::by_name(name).unwrap())
}

/// Mean window in segments.
fn window(name: &str, rtt_ms: u64, one_in: u32) -> f64 {
    (kbps(name, path(rtt_ms, one_in)) * rtt_ms) as f64 / f64::from(MSS * 8)
}

/// Rates in 100 kbit/s with one loss per 100, 1,000, 10,000 and 100,000 segments, at 10 ms and at 100 ms.
const RATES: &[(&str, [u64; 8])] = &[
    ("bbr", [9889, 9990, 9999, 9556, 9705, 9990, 9949, 9696]),
    ("compound", [127, 688, 4545, 9428, 13, 69, 455, 2914]),
    ("cubic", [107, 405, 1379, 4453, 13, 55, 261, 1252]),
    ("highspeed", [127, 667, 3452, 10000, 13, 67, 346, 2177]),
    ("hybla", [125, 408, 1254, 4462, 40, 159, 517, 1477]),
    ("illinois", [550, 2687, 9453, 10000, 55, 269, 953, 3175]),
    ("nv", [153, 687, 2380, 7684, 15, 69, 238, 793]),
    ("reno", [127, 431, 1402, 4462, 13, 43, 140, 447]),
    ("scalable", [255, 950, 7869, 10000, 25, 95, 788, 7891]),
    ("vegas", [123, 428, 1402, 4467, 12, 43, 140, 447]),
    ("westwood", [537, 2616, 9157, 9970, 26, 218, 988, 7227]),
    ("yeah", [255, 950, 7869, 9970, 25, 95, 788, 7891]),
];

#[test]
fn rates_by_loss_and_round_trip_time() {
    let mut found = Vec::new();
    for &name in NAMES {
        let cells = [10, 100].into_iter().flat_map(|rtt| [100, 1_000, 10_000, 100_000].map(|n| path(rtt, n)));
        let rates: Vec<u64> = cells.map(|path| (kbps(name, path) + 50) / 100).collect();
        found.push((name, <[u64; 8]>::try_from(rates).unwrap()));
    }
    assert_eq!(found, RATES);
}

/// Mean window of an AIMD algorithm that adds `a` segments per RTT and removes the fraction `b` at a loss.
fn aimd(a: f64, b: f64, one_in: u32) -> f64 {
    (a * (2.0 - b) / (2.0 * b) * f64::from(one_in)).sqrt()
}

#[test]
fn windows_follow_the_closed_forms() {
    let reno = |n| aimd(1.0, 0.5, n);
    // spec: rfc9438 4.2, 5.1 - beta 0.7, C 0.4; at least Reno's window.
    let cubic = |rtt_s: f64, n: u32| (1.054 * (rtt_s * f64::from(n)).powf(0.75)).max(reno(n));
    // spec: rfc3649 5 - w = 0.12 / p^0.835.
    let highspeed = |n: u32| 0.12 * f64::from(n).powf(0.835);
    // paper: scalable-tcp (Kelly 2003) - 1 % growth per RTT against 1/8 at a loss: ln(8/7) / ln(1.01) RTTs.
    let scalable = |n: u32| f64::from(n) / ((8.0_f64 / 7.0).ln() / 1.01_f64.ln());
    // paper: hybla (Caini and Firrincieli 2004) - equals Reno at 25 ms, so four times its window at 100 ms.
    // paper: illinois (Liu, Basar and Srikant 2006) - ten segments and 1/8 without queueing delay.
    // paper: compound (Tan, Song, Zhang and Sridharan 2006) - w = 0.255 / p^0.8 without queueing delay.
    let compound = |n: u32| 0.255 * f64::from(n).powf(0.8);
    let cells = [
        ("compound", 10, 1_000, compound(1_000), 0.1),
        ("compound", 10, 10_000, compound(10_000), 0.05),
        ("compound", 100, 10_000, compound(10_000), 0.05),
        ("compound", 100, 100_000, compound(100_000), 0.05),
        ("reno", 10, 1_000, reno(1_000), 0.05),
        ("reno", 10, 10_000, reno(10_000), 0.05),
        ("reno", 10, 100_000, reno(100_000), 0.05),
        ("reno", 100, 10_000, reno(10_000), 0.05),
        ("vegas", 10, 1_000, reno(1_000), 0.05),
        ("vegas", 100, 100_000, reno(100_000), 0.05),
        ("cubic", 10, 1_000, cubic(0.01, 1_000), 0.1),
        ("cubic", 10, 100_000, cubic(0.01, 100_000), 0.05),
        ("cubic", 100, 10_000, cubic(0.1, 10_000), 0.25),
        ("cubic", 100, 100_000, cubic(0.1, 100_000), 0.05),
        ("highspeed", 10, 1_000, aimd(2.0, 0.44, 1_000), 0.05),
        ("highspeed", 10, 10_000, highspeed(10_000), 0.15),
        ("highspeed", 100, 100_000, highspeed(100_000), 0.1),
        ("hybla", 10, 10_000, reno(10_000), 0.15),
        ("hybla", 100, 10_000, 4.0 * reno(10_000), 0.15),
        ("hybla", 100, 1_000, 4.0 * reno(1_000), 0.15),
        ("scalable", 10, 1_000, aimd(1.0, 0.125, 1_000), 0.1),
        ("scalable", 100, 10_000, scalable(10_000), 0.1),
        ("scalable", 100, 100_000, scalable(100_000), 0.1),
        ("yeah", 100, 10_000, scalable(10_000), 0.1),
        ("illinois", 100, 10_000, aimd(10.0, 0.125, 10_000), 0.1),
        ("illinois", 100, 100_000, aimd(10.0, 0.125, 100_000), 0.05),
        ("nv", 10, 10_000, aimd(1.0, 0.2, 10_000), 0.05),
        ("nv", 10, 100_000, aimd(1.0, 0.2, 100_000), 0.05),
    ];
    for (name, rtt_ms, one_in, form, bound) in cells {
        let found = window(name, rtt_ms, one_in);
        assert!((found - form).abs() <= bound * form, "{name} {rtt_ms} ms 1/{one_in}: {found} for {form}");
    }
}

#[test]
fn random_losses_change_little() {
    // Random gaps between losses vary the window; long gaps gain more than short gaps cost.
    for &name in NAMES {
        let periodic = path(10, 1_000);
        let by_chance = kbps(name, Lossy { random: true, ..periodic });
        let ratio = by_chance as f64 / kbps(name, periodic) as f64;
        assert!((0.99..1.25).contains(&ratio), "{name}: {ratio}");
    }
}
