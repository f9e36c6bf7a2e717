//! Tests of responsiveness: what probes take on paths that can be worked out, that every connection ends, and
//! what a figure is made of.

mod common;

use common::{flow, parse, run};
use stillair_model::types::{Instant, Probe, Seed, Sink, TraceEvent};
use stillair_sim::recorder::{ResponsivenessSummary, RunSummary};
use stillair_sim::world::wire;

/// A client and a server by way of a router, 20 ms there and back. The client's link has this rate, and both
/// its ends this discipline; the server's link is faster.
fn wired(seconds: u32, rate: &str, qdisc: &str, more: &str) -> String {
    let slow = format!("link = \"slow\", qdisc = {qdisc}");
    format!(
        "name = \"rpm\"\nduration = \"{seconds} s\"\n\
         link.slow = {{ rate = \"{rate}\", delay = \"10 ms\", bql = true }}\nlink.fast = {{ rate = \"10 Gbit/s\", delay = \"0 ms\" }}\n\
         node.client = {{ profile = \"linux-6.6\", interface.eth0 = {{ {slow} }} }}\n\
         node.server = {{ profile = \"linux-6.6\", interface.eth0 = {{ link = \"fast\" }} }}\n\
         node.router = {{ profile = \"linux-6.6\", forward = true, interface.wan = {{ link = \"fast\" }}, interface.lan = {{ {slow} }} }}\n{}",
        flow("responsiveness", "client", "server", more)
    )
}

fn summary(text: &str) -> RunSummary {
    run(&parse(text, &[]), 0)
}

fn test(s: &RunSummary) -> &ResponsivenessSummary {
    s.responsiveness.values().next().expect("there is a test")
}

const FQ_CODEL: &str = "\"fq_codel\"";
const FIFO: &str = "{ kind = \"pfifo\", limit = 1000 }";

// By hand: each part of a probe is one round trip of 20 ms and the little that a gigabit takes: 3000 round
// trips a minute.
#[test]
fn an_idle_wire_has_the_round_trips_of_its_delay() {
    let s = summary(&wired(10, "1 Gbit/s", FQ_CODEL, "load = \"none\""));
    let t = test(&s);
    let rpm = t.rpm.expect("there are probes");
    assert!((2_960.0..3_000.0).contains(&rpm), "{rpm}");
    for (name, probe) in &t.probes {
        // A handshake of TLS answers a ClientHello by three packets; the rest are single packets.
        assert!((20.0..20.2).contains(&probe.median_ms), "{name}: {}", probe.median_ms);
    }
    // The four intervals of a moving average and no more, half of 100 a second on new connections.
    assert!((3.9..4.1).contains(&t.took_s), "{}", t.took_s);
    assert!((195..=201).contains(&t.probes["tcp"].count), "{}", t.probes["tcp"].count);
    assert_eq!((t.confidence, t.connections), ("high", 1));
}

#[test]
fn without_tls_a_probe_has_two_round_trips() {
    let s = summary(&wired(10, "1 Gbit/s", FQ_CODEL, "load = \"none\"\ntls = false"));
    let t = test(&s);
    assert_eq!(t.probes.keys().copied().collect::<Vec<_>>(), ["http", "loaded", "tcp"]);
    assert!((2_960.0..3_000.0).contains(&t.rpm.expect("there are probes")));
    assert_eq!((t.rpm_goresponsiveness, t.rpm_goresponsiveness_p90), (None, None));
}

/// All probes of a run, and what the connections read of load.
#[derive(Default)]
struct Probes(Vec<(Instant, Probe, u64)>);

impl Sink for Probes {
    fn event(&mut self, now: Instant, what: &TraceEvent) {
        if let TraceEvent::Probed { probe, took, .. } = what {
            self.0.push((now, *probe, took.nanos()));
        }
    }
}

// A FIFO of 1000 packets at 20 Mbit/s keeps up to 600 ms; flow queueing spares new connections that, CoDel
// loaded ones too. What an upload keeps in its own host's FIFO is bounded by small queues.
#[test]
fn what_bloats_shows_where_it_does() {
    let of = |load: &str, qdisc: &str, more: &str| {
        test(&summary(&wired(60, "20 Mbit/s", qdisc, &format!("load = \"{load}\"\n{more}")))).clone()
    };
    let rpm = |t: &ResponsivenessSummary| {
        assert!((15.0..20.0).contains(&t.goodput_mbps), "{t:?}");
        [t.foreign_rpm, t.loaded_rpm].map(|rpm| rpm.expect("there are probes"))
    };
    const LOWAT: &str = "notsent_lowat = 4096";
    let [foreign, loaded] = rpm(&of("down", FIFO, LOWAT));
    assert!((80.0..160.0).contains(&foreign) && (40.0..160.0).contains(&loaded), "{foreign}, {loaded}");
    let [foreign, loaded] = rpm(&of("down", FQ_CODEL, LOWAT));
    assert!(foreign > 2_000.0 && loaded > 250.0, "{foreign}, {loaded}");
    let [foreign, loaded] = rpm(&of("up", FIFO, LOWAT));
    assert!(foreign > 500.0 && loaded > 200.0, "{foreign}, {loaded}");
    // Without the option a loaded connection waits in its own socket.
    let [_, in_socket] = rpm(&of("up", FIFO, ""));
    assert!(in_socket < 0.5 * loaded, "{in_socket}, with the option {loaded}");
}

// Of the raw probes of the last four intervals, by the draft's words.
#[test]
fn the_figure_is_that_of_the_raw_probes() {
    let text = wired(60, "20 Mbit/s", FQ_CODEL, "load = \"both\"");
    let scenario = parse(&text, &[]);
    let s = run(&scenario, 0);
    let t = test(&s);
    let mut world = wire(&scenario, Seed { seed: 1, run: 0 }, |_| Probes::default()).world;
    world.run_until(Instant::ZERO + scenario.duration);
    let until = t.took_s;
    let of = |probe: Probe| {
        let inside = |at: &Instant| (until - 4.0..=until).contains(&(at.nanos() as f64 / 1e9));
        let all = world.trace().0.iter().filter(|(at, p, _)| *p == probe && inside(at));
        let mut all: Vec<f64> = all.map(|(.., ns)| *ns as f64 / 1e6).collect();
        all.sort_by(f64::total_cmp);
        let kept = all.len() - all.len() / 20;
        all[..kept].iter().sum::<f64>() / kept as f64
    };
    let foreign = 60_000.0 / ((of(Probe::Tcp) + of(Probe::Tls) + of(Probe::Http)) / 3.0);
    let by_hand = (foreign + 60_000.0 / of(Probe::Loaded)) / 2.0;
    let rpm = t.rpm.expect("there are probes");
    assert!((rpm - by_hand).abs() < 0.01 * by_hand, "{rpm}, by hand {by_hand}");
}

// Apart from what it loads the path with, the test leaves nothing behind.
#[test]
fn all_connections_end() {
    for load in ["down", "up", "both", "none"] {
        let lossy = "{ kind = \"netem\", loss = 0.01 }";
        let text = wired(40, "20 Mbit/s", lossy, &format!("load = \"{load}\"\nstop = \"12 s\""));
        let scenario = parse(&text, &[]);
        let mut world = wire(&scenario, Seed { seed: 1, run: 0 }, |recorder| recorder).world;
        let end = Instant::ZERO + scenario.duration;
        world.run_until(end);
        world.close(end).expect("accounts close");
        assert_eq!(world.books().charged(), 0, "{load}: nothing is left to be sent");
        assert_eq!(world.books().tests(end).count(), 1);
    }
}

/// The home that is shipped, with a test of responsiveness of its laptop in place of its traffic.
fn home(shaper: bool, load: &str) -> ResponsivenessSummary {
    let text = include_str!("../../../scenarios/home.toml");
    let head = text.split("[[flow]]").next().expect("it has flows");
    let text = format!(
        "{head}{}",
        flow("responsiveness", "laptop", "server", &format!("load = \"{load}\"\nnotsent_lowat = 16384"))
    );
    let off = [("duration", "60 s"), ("node.router.interface.wan.shaper", "off")];
    test(&run(&parse(&text, if shaper { &off[..1] } else { &off }), 0)).clone()
}

// A modem with 250 ms of buffer for uploads lets through some 220 round trips a minute, on a loaded
// connection less, as what is behind a lost segment waits for it; cake in front of it lets through nearly as
// many as when nobody uploads, where 20 ms of line and a few of Wi-Fi are one.
#[test]
fn a_home_with_and_without_a_shaper() {
    let all = |t: &ResponsivenessSummary| {
        [t.rpm, t.foreign_rpm, t.loaded_rpm].map(|rpm| rpm.expect("there are probes"))
    };
    let idle = home(true, "none");
    assert!((2_000.0..2_999.0).contains(&all(&idle)[0]), "{idle:?}");
    let bare = home(false, "up");
    let [_, foreign, loaded] = all(&bare);
    assert!((200.0..280.0).contains(&foreign) && (100.0..280.0).contains(&loaded), "{bare:?}");
    let shaped = home(true, "up");
    assert!(all(&shaped)[1] > 0.5 * all(&idle)[1], "{shaped:?}");
    assert!(all(&shaped)[0] > 3.0 * all(&bare)[0], "{shaped:?}");
}
