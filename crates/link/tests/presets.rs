//! Each preset carries a transport's packets both ways, and the same seed gives the same packets.

use std::time::Duration;

use stillair_link::{Enqueue, Link, Mark, Packet, Path, Poll, presets};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Sends 2 Mbit/s each way for 3 s. Returns the arrivals, and a digest of the run.
fn tried(path: &Path, seed: u64) -> (Vec<Packet>, [u64; 2], String) {
    let mut link = path.link(seed).expect("a link");
    let [client, server] = ["client", "server"].map(|name| link.endpoint(name).expect("an endpoint"));
    let (mut came, mut sent) = (Vec::new(), [0; 2]);
    let mut step = |link: &mut Link, until| {
        while let Poll::Packet(packet) = link.poll(until).expect("time goes on") {
            came.push(packet);
        }
    };
    for n in 0..600 {
        let now = ms(n * 5);
        step(&mut link, now);
        for (k, way) in [client.to(server), server.to(client)].into_iter().enumerate() {
            let told = link.send(now, way, 1_200_usize, Mark::ECT_0).expect("a datagram");
            sent[k] += u64::from(told.queue != Enqueue::Dropped);
        }
    }
    step(&mut link, ms(8_000));
    let seen = link.finish().expect("accounts close");
    (came, sent, seen.trace_hash)
}

#[test]
fn each_preset_carries_packets_both_ways() {
    assert!(presets().len() >= 12);
    for preset in presets() {
        let path = Path::preset(preset.name).expect("a preset");
        assert_eq!(path.endpoints().collect::<Vec<_>>(), ["server", "client"], "{}", preset.name);
        let (came, ..) = tried(&path, 1);
        for to in ["client", "server"] {
            let to = path.endpoint(to).expect("an endpoint");
            let mut delays: Vec<_> = came.iter().filter(|p| p.to == to).map(Packet::delay).collect();
            delays.sort();
            // The full modem, the microwave oven and the neighbours cause some losses, never most packets.
            assert!(delays.len() > 400, "{}: {} of 600 to {to:?}", preset.name, delays.len());
            let median = delays[delays.len() / 2];
            assert!(median > ms(4) && median < ms(700), "{}: {median:?} to {to:?}", preset.name);
        }
    }
}

#[test]
fn packets_depend_only_on_the_seed() {
    for name in ["cafe-busy-11n", "home-80211ac-far"] {
        let path = Path::preset(name).expect("a preset");
        let first = tried(&path, 7);
        assert!(first == tried(&path, 7), "{name}");
        assert!(first.2 != tried(&path, 8).2, "{name}");
    }
}

#[test]
fn presets_show_their_effects() {
    let p99 = |name: &str, to: &str| {
        let path = Path::preset(name).expect("a preset");
        let (came, ..) = tried(&path, 1);
        let to = path.endpoint(to).expect("an endpoint");
        let mut delays: Vec<_> = came.iter().filter(|p| p.to == to).map(Packet::delay).collect();
        delays.sort();
        delays[delays.len() * 99 / 100]
    };
    // A full modem's 250 ms, and the rest under cake.
    assert!(p99("home-cable-bloat", "server") > ms(200) && p99("home-cable-cake", "server") < ms(60));
    // The nearer client has no more delay, within 1 ms: both wait for the first Block Ack session.
    let [near, far] = ["home-80211ac-near", "home-80211ac-far"].map(|name| p99(name, "client"));
    assert!(near <= far + ms(1), "{near:?} {far:?}");
    assert!(p99("cafe-busy-11n", "client") > 2 * p99("openwrt-aql", "client"));
}
