//! Responsiveness tests: probe times on paths that can be computed by hand, that every connection ends, and
//! the parts of each result.

mod common;

use common::{flow, parse, run};
use stillair_model::types::{Instant, Probe, Seed, Sink, TraceEvent};
use stillair_sim::recorder::{ResponsivenessSummary, RunSummary};
use stillair_sim::world::wire;

/// A client and a server connected by a router, with a round-trip time of 20 ms. The client's link has this
/// rate, and this qdisc at both ends; the server's link is faster.
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

// Each part of a probe takes one round trip of 20 ms plus a short transmission time at 1 Gbit/s: 3000 round
// trips per minute.
#[test]
fn an_idle_wire_has_the_round_trips_of_its_delay() {
    let s = summary(&wired(10, "1 Gbit/s", FQ_CODEL, "load = \"none\""));
    let t = test(&s);
    let rpm = t.rpm.expect("there are probes");
    assert!((2_960.0..3_000.0).contains(&rpm), "{rpm}");
    for (name, probe) in &t.probes {
        // The server's response to a ClientHello is three packets; all other messages are single packets.
        assert!((20.0..20.2).contains(&probe.median_ms), "{name}: {}", probe.median_ms);
    }
    // Exactly the four intervals of a moving average; half of 100 probes per second on new connections.
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

/// All probes of a run, and the load bytes read by the connections.
#[derive(Default)]
struct Probes(Vec<(Instant, Probe, u64)>);

impl Sink for Probes {
    fn event(&mut self, now: Instant, what: &TraceEvent) {
        if let TraceEvent::Probed { probe, took, .. } = what {
            self.0.push((now, *probe, took.nanos()));
        }
    }
}

// A FIFO of 1000 packets at 20 Mbit/s adds up to 600 ms; flow queueing protects new connections from this,
// and CoDel also protects loaded ones. TCP small queues limit an upload's share of its own host's FIFO.
#[test]
fn bufferbloat_appears_where_it_occurs() {
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
    // Without the option, a loaded connection waits in its own socket.
    let [_, in_socket] = rpm(&of("up", FIFO, ""));
    assert!(in_socket < 0.5 * loaded, "{in_socket}, with the option {loaded}");
}

// From the raw probes of the last four intervals, as defined by the draft.
#[test]
fn result_matches_the_raw_probes() {
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

// Apart from its load, the test leaves nothing behind.
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

/// The shipped home, with a responsiveness test on its laptop instead of its traffic.
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

// A modem with 250 ms of upload buffer allows about 220 round trips per minute, fewer on a loaded connection,
// which waits for retransmissions of lost segments. cake in front of it allows almost as many as without an
// upload, where a round trip takes 20 ms on the line and a few ms on Wi-Fi.
#[test]
fn home_with_and_without_a_shaper() {
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
