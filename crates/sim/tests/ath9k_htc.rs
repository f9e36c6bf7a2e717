//! A complete USB device: use of the air, and flows delayed by a stopped device.

mod common;

use common::{air_permille, cell, flow, of, parse, run, run_to, station, watched};
use stillair_model::types::Duration;

const QUIET: &str = "band = \"2.4 GHz\"\nwidth = \"40 MHz\"\nbeacon_interval = \"off\"";
const RATE: &str = "rate = \"ht40-mcs7-sgi\", scheme = \"ath9k_htc\"";

#[test]
fn the_air_of_a_saturated_station_is_aggregates_of_17_and_16() {
    let text = cell("4 s", QUIET, "scheme = \"ath9k_htc\"")
        + &station("s", 0, RATE)
        // Four sockets, because one send buffer holds fewer datagrams than host and target.
        + &flow("udp", "s", "ap", "rate = \"50 Mbit/s\"\npayload = 1472\nburst = 32").repeat(4);
    let mut world = watched(&parse(&text, &[]), 0).world;
    run_to(&mut world, Duration::from_secs(4)).expect("accounts close");
    let accounts = world.books().air_accounts();
    let [_, contention, data, ack, ..] = air_permille(accounts[0].1);
    // 17 frames: 16 * 1544 + 1542 = 26,246 bytes and 22 bits at 540 bits per symbol: 389 symbols of 3.6 us
    // and a preamble of 36 us, 1446 us on the legacy grid including the 6 us of 2.4 GHz. 16 frames: 367
    // symbols, 1366 us. Plus SIFS and Block Ack 48 us, AIFS and half of 7 slots (not 15) 37 + 31.5 us.
    let parts = [contention, data, ack];
    let whole = (1446.0 + 1366.0) / 2.0 + 48.0 + 68.5;
    let expected = [68.5, (1446.0 + 1366.0) / 2.0, 48.0].map(|part| part * 1000.0 / whole);
    for (got, want) in parts.into_iter().zip(expected) {
        assert!((got as f64 - want).abs() < 6.0, "{parts:?} {expected:?}");
    }
    let frames = world.trace().delivered.iter().sum::<u64>() as f64 / world.trace().tries as f64;
    assert!((frames - 16.5).abs() < 0.1, "{frames}");
}

#[test]
fn background_delays_video() {
    // A single count covers all categories, so queued background frames go first. ath9k has a count per
    // category.
    let delay = |scheme: &str| {
        let path = format!("rate = \"ht40-mcs7-sgi\", scheme = \"{scheme}\"");
        let text = cell("4 s", QUIET, "scheme = \"fifo\"")
            + &station("s", 0, &path)
            + &flow("udp", "s", "ap", "rate = \"60 Mbit/s\"\ndscp = \"CS1\"\nburst = 32").repeat(4)
            + &flow("ping", "s", "ap", "interval = \"20 ms\"\ndscp = \"CS5\"");
        of(&run(&parse(&text, &[("warm_up", "1 s")]), 0), "s").ping_median_ms.expect("replies")
    };
    let [htc, legacy] = ["ath9k_htc", "fifo"].map(delay);
    // 213 frames at about 16.5 in 1.52 ms.
    assert!((15.0..25.0).contains(&htc) && legacy < 6.0, "{htc} {legacy}");
}

/// Median ping in ms between a station and its access point, both with this scheme.
fn ping(scheme: &str) -> f64 {
    let text = cell("4 s", QUIET, &format!("scheme = {scheme}"))
        + &station("s", 0, &format!("rate = \"ht40-mcs7-sgi\", scheme = {scheme}"))
        + &flow("ping", "s", "ap", "interval = \"20 ms\"");
    of(&run(&parse(&text, &[("warm_up", "1 s")]), 0), "s").ping_median_ms.expect("replies")
}

#[test]
fn a_round_trip_passes_four_buses() {
    let without = ping("{ kind = \"ath9k_htc\", usb = false }");
    let with = |start: u32, interrupt: u32, wait: u32| {
        let times = format!(
            "usb_start = \"{start} us\", usb_interrupt = \"{interrupt} us\", usb_rx_wait = \"{wait} us\", usb_packet = \"10 us\""
        );
        1e3 * (ping(&format!("{{ kind = \"ath9k_htc\", {times} }}")) - without)
    };
    // An 84-byte packet is one USB packet. Out: transfer start and packet. In: delay, transfer start, packet,
    // interrupt. A delayed reply finds the medium idle and needs no backoff, unlike without USB.
    let late = with(0, 0, 500);
    assert!((late - 2.0 * (2.0 * 10.0 + 500.0)).abs() < 80.0, "{late}");
    for (start, interrupt, wait) in [(50, 0, 500), (0, 50, 500), (0, 0, 700), (100, 60, 670)] {
        let more = f64::from(2 * (2 * start + interrupt + wait - 500));
        let got = with(start, interrupt, wait) - late;
        assert!((got - more).abs() < 12.0, "{start} {interrupt} {wait}: {got} {more}");
    }
}

#[test]
fn the_firmware_goes_up_to_mcs_7_and_loses_to_two_tries() {
    let text = cell("4 s", QUIET, "scheme = \"ath9k_htc\"")
        + &station("s", 0, "rate = \"ath9k_htc\", scheme = \"ath9k_htc\"")
        + &flow("udp", "s", "ap", "rate = \"50 Mbit/s\"\npayload = 1472\nburst = 32").repeat(4);
    let summary = run(&parse(&text, &[]), 0);
    let rows = &summary.rc_stats["s.wlan0 to ap.wlan0"];
    let chain: Vec<&str> = "ABCD"
        .chars()
        .map(|c| &rows.iter().find(|r| r.best.contains(c)).expect("a place").rate[..])
        .collect();
    assert_eq!(chain, ["ht40-mcs7-sgi", "ht40-mcs7-lgi", "ht40-mcs6-sgi", "ht40-mcs6-lgi"]);
    assert!(summary.goodput_total_mbps > 95.0, "{}", summary.goodput_total_mbps);
}
