//! Paths over several hops, on one channel and on one for each hop: the mesh that is shipped.

mod common;

use common::{flow, of, parse, run};

/// The nodes of the mesh that is shipped, with other traffic: UDP without end from its gateway to each of
/// these in a run of its own.
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
    // Where all hear each other, each packet takes the air once for each hop: a half over two hops, a third
    // over three (Jun and Sichitiu, The nominal capacity of wireless mesh networks, IEEE Wireless
    // Communications 10(5), 2003).
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
fn the_first_and_the_third_hop_do_not_hear_each_other() {
    // What the second relay sends destroys, at the first, what the gateway sends: still no two hops are
    // served at once, and not more than a third comes through. The gateway has the losses, which keeps it
    // from filling the relays' queues in vain.
    let one = saturated(&["relay1.up"], &[])[0];
    let hidden = saturated(&["far.up"], &[])[0];
    assert!((0.2..0.35).contains(&(hidden / one)), "{hidden} of {one}");
}
