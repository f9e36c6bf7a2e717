//! UDP pings: same path as ICMP pings, counted separately, and marked in both directions.

mod common;

use common::{cell, flow, of, parse, run, station};
use stillair_model::types::{Ac, DevId, Instant, PpduKind, Seed, Sink, TraceEvent};
use stillair_sim::world::wire;

const CHANNEL: &str = "band = \"5 GHz\"\nwidth = \"20 MHz\"\nbeacon_interval = \"off\"";

fn pinged(flows: &str) -> String {
    cell("2 s", CHANNEL, "scheme = \"fifo\"") + &station("s", 0, "rate = \"ht20-mcs7-lgi\"") + flows
}

/// Data frames by device, access point first, and category.
#[derive(Default)]
struct Frames([[u32; 4]; 2]);

impl Sink for Frames {
    fn event(&mut self, _: Instant, what: &TraceEvent) {
        if let TraceEvent::Ppdu(t) = what
            && t.kind == PpduKind::Single
        {
            self.0[t.dev.index()][t.ac.index()] += u32::from(t.mpdus);
        }
    }
}

#[test]
fn reply_has_the_mark_of_the_request() {
    let scenario = parse(&pinged(&flow("udp_ping", "ap", "s", "dscp = \"EF\"\ninterval = \"0.1 s\"")), &[]);
    let mut world = wire(&scenario, Seed { seed: 1, run: 0 }, |_| Frames::default()).world;
    let end = Instant::ZERO + scenario.duration;
    world.run_until(end);
    world.close(end).expect("accounts close");
    let frames = world.trace().0;
    for dev in [DevId(0), DevId(1)] {
        let mut want = [0; 4];
        want[Ac::Vi.index()] = 20;
        assert_eq!(frames[dev.index()], want, "{dev:?}");
    }
}

#[test]
fn udp_pings_are_counted_separately() {
    // The default size of a UDP ping is 4 bytes more than that of ICMP; with equal sizes, they take equally
    // long.
    let text = pinged(
        &(flow("udp_ping", "ap", "s", "payload = 56") + &flow("ping", "ap", "s", "start = \"0.1 s\"")),
    );
    let s = run(&parse(&text, &[]), 0);
    let s = of(&s, "s");
    let [udp, icmp] = [s.udp_ping_median_ms, s.ping_median_ms].map(|ms| ms.expect("replies came"));
    assert!((udp - icmp).abs() < 0.2 && udp > 0.1, "{udp} {icmp}");
    assert_eq!(s.goodput_mbps, 0.0);

    let alone = run(&parse(&pinged(&flow("udp_ping", "ap", "s", "")), &[]), 0);
    let alone = of(&alone, "s");
    assert!(alone.udp_ping_p95_ms.is_some());
    assert_eq!((alone.ping_median_ms, alone.ping_p95_ms), (None, None));
}

/// Isochronous: requests are sent on time even if replies take longer than the interval.
#[test]
fn the_next_request_does_not_wait() {
    let text = pinged(
        &(flow("udp_ping", "ap", "s", "interval = \"1 ms\"\nstart = \"1 s\"\nstop = \"1.5 s\"")
            + &flow("udp", "ap", "s", "rate = \"100 Mbit/s\"\nstop = \"1.5 s\"")),
    );
    let s = run(&parse(&text, &[]), 0);
    assert!(of(&s, "s").udp_ping_median_ms.expect("replies came") > 5.0);
    // 500 requests, each answered unless dropped on the path.
    let dropped: u64 = s.drops.iter().map(|d| d.packets).sum();
    assert!(s.packets.consumed <= 500 && s.packets.consumed + dropped >= 500, "{:?}", s.packets);
}
