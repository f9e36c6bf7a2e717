//! Stations whose rate and loss follow a file.

mod common;

use common::{cell, flow, of, parse, run, station};

const CHANNEL: &str = "band = \"5 GHz\"\nwidth = \"20 MHz\"";

/// Goodput of a station in Mbit/s between two times in ms, with an offered load of 100 Mbit/s.
fn mbps(trace: &str, between: (u64, u64)) -> f64 {
    let path = format!("rate = \"ht20-mcs7-lgi\", trace = {trace}");
    let flows = flow("udp", "ap", "sta", "rate = \"100 Mbit/s\"");
    let text = cell("10 s", CHANNEL, "scheme = \"fifo\"") + &station("sta", 0, &path) + &flows;
    let (from, to) = (format!("{} ms", between.0), format!("{} ms", between.1));
    let scenario = parse(&text, &[("duration", &to), ("warm_up", &from)]);
    of(&run(&scenario, 0), "sta").goodput_mbps
}

/// Returns true if `found` is within 10 %.
fn near(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 0.1 * expected
}

#[test]
fn rates_and_losses_hold_in_their_time() {
    let trace = "{ kind = \"rates\", file = \"tests/traces/walk.csv\" }";
    // 65 Mbit/s, 6.5 Mbit/s with 10 % loss, nothing, 65 Mbit/s again.
    let table = [((100, 1000), 57.0), ((1100, 2000), 4.9), ((3200, 4000), 57.0), ((8000, 9000), 57.0)];
    for (between, expected) in table {
        let found = mbps(trace, between);
        assert!(near(found, expected), "{between:?}: {found}");
    }
    assert!(mbps(trace, (2100, 3000)) < 0.1, "an outage");
}

#[test]
fn trace_repeats_after_its_end() {
    let trace =
        |more: &str| format!("{{ kind = \"mahimahi\", file = \"tests/traces/cell.mahimahi\"{more} }}");
    // 24 Mbit/s is mcs2 (19.5), an outage of one second, 6 Mbit/s is the slowest rate.
    let table = [
        ("", (100, 1000), 17.6),
        ("", (2200, 3000), 5.5),
        ("", (3200, 4000), 17.6),
        (", repeat = false", (3200, 4000), 5.5),
    ];
    for (more, between, expected) in table {
        let found = mbps(&trace(more), between);
        assert!(near(found, expected), "{more} {between:?}: {found}");
    }
    for between in [(1200, 2000), (4300, 5000)] {
        assert!(mbps(&trace(""), between) < 0.1, "{between:?}");
    }
}

#[test]
fn lines_of_theaterq_hold_at_their_end() {
    let trace =
        |more: &str| format!("{{ kind = \"theaterq\", file = \"tests/traces/path.theaterq\"{more} }}");
    // 60 Mbit/s is mcs6 (58.5); 14 Mbit/s is mcs1 (13), with a fifth of the frames lost.
    let table = [
        ("", (100, 1000), 51.5),
        ("", (1100, 2000), 9.2),
        ("", (2100, 3000), 9.2),
        (", repeat = true", (2200, 3000), 51.5),
    ];
    for (more, between, expected) in table {
        let found = mbps(&trace(more), between);
        assert!(near(found, expected), "{more} {between:?}: {found}");
    }
}

#[test]
fn named_files_are_part_of_the_scenario() {
    let path = "rate = \"ht20-mcs7-lgi\", trace = { kind = \"rates\", file = \"tests/traces/walk.csv\" }";
    let text = cell("1 s", CHANNEL, "scheme = \"fifo\"") + &station("sta", 0, path);
    let resolved = parse(&text, &[]).resolved();
    assert!(resolved.contains("[1000000000,\"ht20-mcs0-lgi\",0.1]"), "{resolved}");
}
