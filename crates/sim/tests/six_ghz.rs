//! Channels at 6 GHz: like 5 GHz, but only with HE rates.

mod common;

use common::{cell, flow, of, parse, run, station};
use stillair_model::types::{Instant, Seed};
use stillair_sim::capture::{Capture, Selection};
use stillair_sim::world;

/// An access point that saturates a station at this rate.
fn flooded(band: &str, more: &str, rate: &str) -> String {
    cell("1 s", &format!("band = \"{band}\"\nwidth = \"80 MHz\"\n{more}"), "scheme = \"ath11k\"")
        .replace("forward = true", "forward = true\nsysctl.\"net.core.wmem_default\" = 4000000")
        + &station("s", 0, &format!("scheme = \"ath11k\", rate = \"{rate}\""))
        + &flow("udp", "ap", "s", "rate = \"2000 Mbit/s\"\nburst = 64")
}

#[test]
fn the_air_is_that_of_5_ghz() {
    let rate = "he80-mcs11-nss2-gi0.8";
    let goodput = |band: &str, more: &str| {
        let text = flooded(band, more, rate);
        of(&run(&parse(&text, &[]), 0), "s").goodput_mbps
    };
    let off = "beacon_interval = \"off\"";
    assert_eq!(goodput("6 GHz", off), goodput("5 GHz", off));
    assert!(goodput("6 GHz", off) > 500.0);
    // A beacon at 6 Mbit/s takes 20 us and the symbols for 22 bits and 149 bytes: 51 of 4 us.
    let text = flooded("6 GHz", "beacon_interval = \"102.4 ms\"", rate);
    let beacon = run(&parse(&text, &[]), 0).air["wifi"]["beacon_us"];
    assert!([9, 10].map(|n| f64::from(n * (20 + 51 * 4))).contains(&beacon), "{beacon}");
}

#[test]
fn features_missing_at_6_ghz_are_rejected() {
    let he = "a fixed rate such as \"he80-mcs11-nss2-gi0.8\"";
    for (rate, why) in [
        (
            "\"ofdm-54\"",
            "found \"ofdm-54\", expected a rate of HE, as all data at 6 GHz, such as \"he80-mcs11-nss2-gi0.8\"",
        ),
        ("\"cck-11\"", "found \"cck-11\", expected a rate of HE"),
        ("\"vht80-mcs9-nss2-sgi\"", "found \"vht80-mcs9-nss2-sgi\", expected a rate of HE"),
        ("\"ht20-mcs7-lgi\"", "found \"ht20-mcs7-lgi\", expected a rate of HE"),
        ("\"minstrel_ht\"", he),
        ("\"minstrel\"", he),
        ("\"ath9k_htc\"", he),
        ("{ kind = \"minstrel_ht\", standard = \"802.11ac\" }", he),
    ] {
        let text = cell("1 s", "band = \"6 GHz\"\nwidth = \"80 MHz\"", "scheme = \"fifo\"")
            + &station("s", 0, &format!("rate = {rate}"));
        let error = stillair_sim::scenario::parse(&text, "test.toml", &[]).unwrap_err().to_string();
        assert!(error.contains(why) && !error.contains('\n'), "{rate}: {error}");
    }
}

#[test]
fn captures_contain_6_ghz() {
    let text = flooded("6 GHz", "", "he80-mcs0-nss1-gi0.8");
    let scenario = parse(&text, &[("duration", "150 ms")]);
    let mut file = Vec::new();
    let selection = Selection { points: Vec::new(), from: Instant::ZERO, until: Instant::NEVER, snaplen: 0 };
    let capture = Capture::new(&scenario, &selection, &mut file).unwrap();
    let mut world = world::wire(&scenario, Seed { seed: 1, run: 0 }, |_| capture).world;
    let end = Instant::ZERO + scenario.duration;
    world.run_until(end);
    world.into_trace().finish(end).unwrap();
    // Radiotap of every frame on the air: 5975 MHz, OFDM at 5 GHz.
    let channel = [0x57, 0x17, 0x40, 0x01];
    assert_eq!(u16::from_le_bytes([channel[0], channel[1]]), 5_975);
    assert!(file.windows(4).filter(|bytes| *bytes == channel).count() > 100);
}
