//! Paths over several hops, on one channel and on one channel per hop: the shipped mesh.

mod common;

use common::{flow, of, parse, run};

/// Goodput of saturating UDP from the gateway of the shipped mesh to each of these nodes, in separate runs.
fn saturated(to: &[&str], sets: &[(&str, &str)]) -> Vec<f64> {
    let shipped = include_str!("../../../scenarios/mesh.toml");
    let (nodes, _) = shipped.split_once("[[flow]]").expect("its flows come last");
    let one = |to: &&str| {
        let more = "rate = \"40 Mbit/s\"\npayload = 1472\nburst = 4";
        let text = nodes.to_owned() + &flow("udp", "gateway", to, more);
        let short = [("duration", "10 s"), ("warm_up", "2 s")];
        let node = to.split('.').next().expect("a node");
        of(&run(&parse(&text, &[&short, sets].concat()), 0), node).goodput_mbps
    };
    to.iter().map(one).collect()
}

#[test]
fn throughput_over_hops_on_one_channel() {
    // If all nodes hear each other, each packet occupies the air once per hop: half the throughput over two
    // hops, a third over three (Jun and Sichitiu, The nominal capacity of wireless mesh networks, IEEE
    // Wireless Communications 10(5), 2003).
    let all = [("channel.one.hidden", "[]")];
    let mbps = saturated(&["relay1.up", "relay2.up", "far.up"], &all);
    assert!((15.0..19.0).contains(&mbps[0]), "{mbps:?}");
    for (hops, tolerance) in [(2, 0.08), (3, 0.12)] {
        let part = mbps[hops - 1] / mbps[0] * hops as f64;
        assert!((part - 1.0).abs() < tolerance, "{hops} hops: {mbps:?}");
    }
}

#[test]
fn throughput_over_hops_on_a_channel_each() {
    let mbps = saturated(&["wide1.up", "wide2.up", "widefar.up"], &[]);
    assert!(mbps[1..].iter().all(|over| (over / mbps[0] - 1.0).abs() < 0.02), "{mbps:?}");
}

#[test]
fn first_and_third_hop_are_hidden_from_each_other() {
    // Frames of the second relay destroy those from the gateway at the first relay: again no two hops are
    // served at the same time, and at most a third gets through. The gateway's losses keep it from filling
    // the relays' queues.
    let one = saturated(&["relay1.up"], &[])[0];
    let hidden = saturated(&["far.up"], &[])[0];
    assert!((0.2..0.35).contains(&(hidden / one)), "{hidden} of {one}");
}
