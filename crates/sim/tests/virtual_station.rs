//! Two devices on one radio: each is a separate station at the access point, and both share one set of EDCA
//! functions.

mod common;

use common::{cell, flow, of, parse, run, run_to, station, watched};
use stillair_model::types::{Duration, Instant, PpduKind, Seed, Sink, TraceEvent};
use stillair_sim::world::wire;

const CHANNEL: &str = "band = \"5 GHz\"\nwidth = \"20 MHz\"\nbeacon_interval = \"off\"";

/// An access point, and one station with two interfaces on one radio.
fn virtual_station(path: &str, flows: &str) -> String {
    let second = "interface.wlan1 = { channel = \"wifi\", role = \"station\", ap = \"ap.wlan0\", radio = \"wlan0\", \
                  address = \"10.0.1.99\", rate = \"ht20-mcs15-sgi\" }\n";
    cell("2 s", CHANNEL, "scheme = \"airtime\"")
        + &station("s", 0, &format!("rate = \"ht20-mcs15-sgi\"{path}"))
        + second
        + flows
}

/// Data frames by device: the access point, the station's first interface, its second interface.
#[derive(Default)]
struct Frames([u32; 3]);

impl Sink for Frames {
    fn event(&mut self, _: Instant, what: &TraceEvent) {
        if let TraceEvent::Ppdu(t) = what
            && matches!(t.kind, PpduKind::Single | PpduKind::Aggregate)
        {
            self.0[t.dev.index()] += u32::from(t.received);
        }
    }
}

fn frames(flows: &str) -> [u32; 3] {
    let scenario = parse(&virtual_station("", flows), &[]);
    let mut world = wire(&scenario, Seed { seed: 1, run: 0 }, |_| Frames::default()).world;
    let end = Instant::ZERO + scenario.duration;
    world.run_until(end);
    world.close(end).expect("accounts close");
    world.trace().0
}

#[test]
fn packets_use_the_interface_named_by_a_flow() {
    // Ten pings in each direction.
    let every = "interval = \"0.2 s\"";
    assert_eq!(frames(&flow("ping", "ap", "s", every)), [10, 10, 0]);
    assert_eq!(frames(&flow("ping", "ap", "s.wlan1", every)), [10, 0, 10]);
    assert_eq!(frames(&flow("ping", "s.wlan1", "ap", every)), [10, 0, 10]);
    assert_eq!(frames(&flow("udp_ping", "s.wlan0", "ap.wlan0", every)), [10, 10, 0]);
}

#[test]
fn separate_station_in_results() {
    let down = "rate = \"100 Mbit/s\"\nburst = 8";
    let flows = flow("udp", "ap", "s", down) + &flow("udp", "ap", "s.wlan1", down);
    let s = run(&parse(&virtual_station("", &flows), &[]), 0);
    assert_eq!(s.stations.keys().map(String::as_str).collect::<Vec<_>>(), ["s", "s.wlan1"]);
    for name in ["s", "s.wlan1"] {
        let share = of(&s, name).airtime_share.expect("it was sent something");
        assert!((share - 0.5).abs() < 0.02, "{name} {share}");
    }
}

#[test]
fn one_radio_neither_collides_with_itself_nor_starves_a_device() {
    for scheme in ["fifo", "airtime"] {
        let up = "rate = \"100 Mbit/s\"\nburst = 8";
        let flows = flow("udp", "s", "ap", up) + &flow("udp", "s.wlan1", "ap", up);
        let path = format!(", scheme = {{ kind = \"{scheme}\", hw_aggregates = 1 }}");
        let scenario = parse(&virtual_station(&path, &flows), &[]);
        let mut world = watched(&scenario, 0).world;
        for ms in (100..=2000).step_by(100) {
            run_to(&mut world, Duration::from_millis(ms)).expect("accounts close");
            // One aggregate in the hardware, whichever device it belongs to.
            let in_hardware: u32 = world.books().backlogs().map(|layers| layers[3].packets).sum();
            assert!(in_hardware <= 32, "{in_hardware} frames at {ms} ms");
        }
        assert_eq!(world.trace().collided, 0, "nobody else sends data");
        let [a, b] = [0, 1].map(|flow| world.trace().delivered[flow]);
        assert!(a > 5_000 && a.abs_diff(b) < a / 10, "{scheme} {a} {b}");
    }
}

/// Figure 8: the sparse-station optimisation lowers the pinged station's delay, on average over some runs.
#[test]
fn the_shipped_scenario_runs() {
    let text = include_str!("../../../scenarios/anomaly-sparse.toml");
    let median = |sparse: &str| {
        let set = [("node.ap.interface.wlan0.scheme.sparse", sparse), ("duration", "15 s")];
        let s = run(&parse(text, &set), 0);
        assert_eq!(s.stations.len(), 4);
        of(&s, "fast3").ping_median_ms.expect("replies came")
    };
    let (with, without) = (median("true"), median("false"));
    assert!(with < without, "{with} {without}");
}
