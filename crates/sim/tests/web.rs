//! Web pages: load times, and that every connection of a load ends.

mod common;

use common::{cell, flow, parse, run, station};
use stillair_model::types::{Instant, PacketKind, Seed, Sink, TraceEvent};
use stillair_sim::recorder::{RunSummary, WebSummary};
use stillair_sim::world::wire;

const CHANNEL: &str = "band = \"5 GHz\"\nwidth = \"20 MHz\"\nbeacon_interval = \"off\"";

/// A client and a server, 10 ms apart at 1 Gbit/s, with a queue of this kind at the server.
fn wired(seconds: u32, qdisc: &str, more: &str) -> String {
    let host = |name: &str, n: u8, qdisc: &str| {
        format!(
            "[node.{name}]\nprofile = \"linux-4.4\"\n\
             interface.eth0 = {{ link = \"lan\", address = \"10.0.0.{n}\"{qdisc} }}\n"
        )
    };
    format!(
        "name = \"web\"\nduration = \"{seconds} s\"\n[link.lan]\nrate = \"1 Gbit/s\"\ndelay = \"5 ms\"\n{}{}{}",
        host("a", 1, ""),
        host("b", 2, qdisc),
        flow("web", "a", "b", more)
    )
}

fn summary(text: &str) -> RunSummary {
    run(&parse(text, &[]), 0)
}

fn page<'a>(s: &'a RunSummary, name: &str) -> &'a WebSummary {
    &s.web[name]
}

#[test]
fn page_load_takes_the_expected_round_trips() {
    for (objects, round_trips) in [
        // Lookup, handshake, list, one object on the same connection.
        ("[1000]", 4),
        // The other connections have their own handshakes.
        ("[1000, 1000]", 5),
        ("[1000, 1000, 1000, 1000]", 5),
        // The first connection is free after four round trips and loads the fifth object; all are free after
        // five.
        ("[1000, 1000, 1000, 1000, 1000]", 5),
        ("[{ count = 6, size = 1000 }]", 6),
        ("[{ count = 9, size = 1000 }]", 6),
        ("[1000, { count = 9, size = 1000 }]", 7),
        // An initial window of ten segments; the rest follows with the next window.
        ("[14000]", 4),
        ("[30000]", 5),
    ] {
        let s = summary(&wired(3, "", &format!("page = {{ list = 100, objects = {objects} }}")));
        let p = page(&s, "web-0.b");
        let mean = p.mean_s.expect("it was loaded");
        let low = 0.010 * f64::from(round_trips);
        assert!((low..low + 0.002).contains(&mean), "{objects}: {mean}");
        assert_eq!((p.loads, p.unfinished_s), (15, None), "{objects}");
        assert_eq!(s.page_load_s, p.mean_s);
    }
}

#[test]
fn the_next_load_waits_for_the_interval_or_for_the_last() {
    let of = |interval: &str| {
        let more = format!("page = {{ list = 100, objects = [1000] }}\ninterval = \"{interval}\"");
        let s = summary(&wired(3, "", &more));
        let p = page(&s, "web-0.b");
        (p.loads, p.unfinished_s.is_some())
    };
    assert_eq!(of("500 ms"), (6, false));
    // 40 ms and a little each.
    assert_eq!(of("1 ms"), (74, true));
    let one = summary(&wired(3, "", "page = \"small\"\nstop = \"100 ms\""));
    assert_eq!(page(&one, "web-0.b").loads, 1);
}

#[test]
fn lost_query_costs_five_seconds_and_an_unfinished_load_is_reported() {
    // The client's first packet is lost on a wire that then stays silent.
    let lossy = ", qdisc = { kind = \"netem\", loss = 1.0 }";
    let s = summary(&wired(8, lossy, "page = \"small\""));
    let p = page(&s, "web-0.b");
    assert_eq!((p.loads, p.mean_s, s.page_load_s), (0, None, None));
    assert!((p.unfinished_s.expect("it never ends") - 8.0).abs() < 1e-9);
    assert_eq!(s.packets.consumed, 2, "asked twice, and both answers lost");
}

#[test]
fn pages_load_despite_loss_and_their_sockets_close() {
    let lossy = ", qdisc = { kind = \"netem\", loss = 0.03 }";
    let text = wired(
        30,
        lossy,
        "page = { list = 200, objects = [{ count = 20, size = \"20 kB\" }] }\nstop = \"20 s\"",
    );
    let scenario = parse(&text, &[]);
    let mut world = wire(&scenario, Seed { seed: 1, run: 0 }, |recorder| recorder).world;
    let end = Instant::ZERO + scenario.duration;
    world.run_until(end);
    world.close(end).expect("accounts close");
    assert_eq!(world.books().charged(), 0, "nothing is left to be sent");
    let loads = world.trace().flows[0].loads.count();
    assert!((20..80).contains(&loads), "{loads}");
    // Bytes read equal the size of the pages: 20 objects and a list, with headers and requests.
    let load = 20 * (20_000 + 270) + 200 + 270 + 21 * 80;
    assert_eq!(world.trace().flows[0].bytes, load * loads as u64);
}

/// Packets by hash of their 5-tuple.
#[derive(Default)]
struct Answers(u32);

impl Sink for Answers {
    fn event(&mut self, _: Instant, what: &TraceEvent) {
        if let TraceEvent::Delivered { kind: PacketKind::Answer, len, .. } = what {
            assert_eq!(*len, 20 + 8 + 49);
            self.0 += 1;
        }
    }
}

#[test]
fn over_the_air_with_a_station_as_client() {
    let text = cell("4 s", CHANNEL, "scheme = \"airtime\"")
        + &station("s", 0, "rate = \"ht20-mcs15-sgi\"")
        + &flow("web", "s", "ap", "page = \"large\"");
    let s = summary(&text);
    let p = page(&s, "web-0.ap");
    // 3 MB at about 100 Mbit/s.
    let mean = p.mean_s.expect("it was loaded");
    assert!((0.2..0.6).contains(&mean) && p.loads >= 6, "{p:?}");
    assert!((30.0..110.0).contains(&s.stations["s"].goodput_mbps));
    let scenario = parse(&text, &[]);
    let mut world = wire(&scenario, Seed { seed: 1, run: 0 }, |_| Answers::default()).world;
    world.run_until(Instant::ZERO + scenario.duration);
    assert!(u64::from(world.trace().0) >= p.loads, "a question for each load");
}
