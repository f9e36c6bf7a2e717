//! VHT and HE in a world: aggregates, goodput, and frames as a capture has them.

mod common;

use common::{cell, flow, of, parse, run, station};

fn flooded(width: &str, rate: &str) -> f64 {
    let channel = format!("band = \"5 GHz\"\nwidth = \"{width}\"\nbeacon_interval = \"off\"");
    let buffer = "profile = \"linux-4.6\"\nsysctl.\"net.core.wmem_default\" = 4000000";
    let text = cell("1 s", &channel, "scheme = \"airtime\"").replace("profile = \"linux-4.6\"", buffer)
        + &station("s", 0, &format!("rate = \"{rate}\""))
        + &flow("udp", "ap", "s", "rate = \"1500 Mbit/s\"\nburst = 64\npayload = 1470");
    let report = run(&parse(&text, &[]), 0);
    let mean = of(&report, "s").mean_aggregate.expect("it was sent something");
    assert!(mean > 60.0, "{rate}: {mean} frames");
    report.goodput_total_mbps
}

#[test]
fn goodput_follows_the_length_of_the_exchange() {
    // 64 frames of 1,544 bytes. VHT80 MCS 9 with two streams and the short guard interval: 790,512 bits with tails of two encoders
    // are 254 symbols of 3.6 us, 916 us on the grid, and 44 of preamble; SIFS 16, Block Ack 32, AIFS 43, back-off 67.5 us: 1,118 us
    // for 752,640 bits of payload.
    let vht = flooded("80 MHz", "vht80-mcs9-nss2-sgi");
    assert!((vht / 673.0 - 1.0).abs() < 0.02, "{vht}");
    // HE80 MCS 11: 49 symbols of 13.6 us and 50.4 us of preamble: 875 us.
    let he = flooded("80 MHz", "he80-mcs11-nss2-gi0.8");
    assert!((he / 860.0 - 1.0).abs() < 0.02, "{he}");
}
