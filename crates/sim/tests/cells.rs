//! Several cells: on separate channels, on one channel, and in a chain.

mod common;

use common::{flow, of, parse, run};
use stillair_sim::recorder::RunSummary;

/// Two access points, each saturating one station. `channels` are their channels.
fn two_cells(channels: [&str; 2]) -> RunSummary {
    let mut text = "name = \"cells\"\nduration = \"3 s\"\nwarm_up = \"1 s\"\n".to_owned();
    for (name, band, width) in
        [("one", "5 GHz", "20 MHz"), ("two", "5 GHz", "40 MHz"), ("low", "2.4 GHz", "20 MHz")]
    {
        text +=
            &format!("[channel.{name}]\nband = \"{band}\"\nwidth = \"{width}\"\nbasic_rate = \"ofdm-6\"\n");
    }
    for (n, channel) in channels.into_iter().enumerate() {
        text += &format!(
            "[node.ap{n}]\nprofile = \"linux-4.6\"\nforward = true\n\
             interface.wlan0 = {{ channel = \"{channel}\", role = \"ap\", scheme = \"airtime\", address = \"10.0.{n}.1\" }}\n\
             [node.s{n}]\nprofile = \"linux-4.6\"\n\
             interface.wlan0 = {{ channel = \"{channel}\", role = \"station\", ap = \"ap{n}.wlan0\", rate = \"ht20-mcs7-lgi\", \
             address = \"10.0.{n}.2\" }}\n"
        );
    }
    let load = "rate = \"100 Mbit/s\"\nburst = 8";
    for n in 0..2 {
        text += &flow("udp", &format!("ap{n}"), &format!("s{n}"), load);
    }
    run(&parse(&text, &[]), 0)
}

#[test]
fn cells_on_one_channel_share_it_and_others_do_not() {
    let goodput = |s: &RunSummary| ["s0", "s1"].map(|name| of(s, name).goodput_mbps);
    let air = |s: &RunSummary, channel: &str| -> f64 { s.air[channel].values().sum() };
    let alone = goodput(&two_cells(["one", "two"]));
    assert!(alone.iter().all(|mbps| (58.0..62.0).contains(mbps)), "{alone:?}");
    let shared = two_cells(["one", "one"]);
    for mbps in goodput(&shared) {
        // Each gets half, less collisions, which are rare with two senders.
        assert!((0.44..0.52).contains(&(mbps / alone[0])), "{mbps} of {alone:?}");
    }
    assert!(shared.air["one"]["collision_us"] > 0.0);
    // The account of every channel covers the whole run, even of an unused channel.
    let bands = two_cells(["one", "low"]);
    for channel in ["one", "two", "low"] {
        assert!((air(&bands, channel) - 3e6).abs() < 1.0, "{channel} {:?}", bands.air);
    }
    assert_eq!(bands.air["two"]["idle_us"], 3e6);
    // SIFS is shorter at 2.4 GHz, but each PPDU has a signal extension: little difference.
    let [high, low] = goodput(&bands);
    assert_eq!(high, alone[0]);
    assert!((low / high - 1.0).abs() < 0.01, "{low} {high}");
}

/// A gateway, a relay and a station behind it. The relay has one radio for both sides, or one per channel.
fn relayed(channel: &str, radio: &str) -> RunSummary {
    let text = format!(
        r#"
name = "relay"
duration = "3 s"
warm_up = "1 s"
channel.a = {{ band = "5 GHz", width = "20 MHz" }}
channel.b = {{ band = "5 GHz", width = "20 MHz" }}

[node.gateway]
profile = "linux-4.6"
forward = true
interface.wlan0 = {{ channel = "a", role = "ap", scheme = "fq_mac", address = "10.0.0.1" }}

[node.relay]
profile = "linux-4.6"
forward = true
interface.down = {{ channel = "{channel}", role = "ap", scheme = "fq_mac", address = "10.0.1.1" }}
interface.up = {{ channel = "a", role = "station", ap = "gateway.wlan0", scheme = "fq_mac", rate = "ht20-mcs7-lgi", address = "10.0.0.2", {radio} }}

[node.far]
profile = "linux-4.6"
interface.wlan0 = {{ channel = "{channel}", role = "station", ap = "relay.down", rate = "ht20-mcs7-lgi", address = "10.0.1.2" }}
"#
    );
    let load = "rate = \"100 Mbit/s\"\nburst = 8";
    run(&parse(&(text + &flow("udp", "gateway", "far", load)), &[]), 0)
}

#[test]
fn a_relay_with_one_radio_has_half_for_each_side() {
    let one = of(&relayed("a", "radio = \"down\""), "far").goodput_mbps;
    let two = of(&relayed("b", ""), "far").goodput_mbps;
    assert!((58.0..62.0).contains(&two), "{two}");
    // Gateway and relay share the air by EDCA: each has about half, and the throughput is the lower of the
    // two.
    assert!((0.44..0.52).contains(&(one / two)), "{one} of {two}");
}
