//! Short user networks, as shipped: each is read, and each of its combinations runs for a second.

mod common;

use std::fs;
use std::path::Path;

use stillair_model::types::Duration;
use stillair_sim::recorder::RunSummary;
use stillair_sim::scenario;

/// Files, and their maximum number of lines.
const FILES: [(&str, usize); 9] = [
    ("home", 30),
    ("flat", 25),
    ("office", 30),
    ("cafe", 30),
    ("classroom", 30),
    ("dormitory", 35),
    ("examples/openwrt-20", 25),
    ("examples/upload", 25),
    ("examples/hidden-nodes", 25),
];

#[test]
fn each_is_short_and_runs() {
    for (name, most) in FILES {
        let file = format!("../../scenarios/{name}.toml");
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&file)).expect("a file");
        let lines = text.lines().filter(|line| !line.starts_with('#')).count();
        assert!(lines <= most, "{name}: {lines} lines");
        let question = text.lines().next().is_some_and(|line| line.starts_with("# ") && line.ends_with('?'));
        assert!(question, "{name}: a question comes first");
        for sets in scenario::sweep(&text, name, &[]).unwrap_or_else(|e| panic!("{e}")) {
            let mut scenario = scenario::parse(&text, name, &sets).unwrap_or_else(|e| panic!("{e} {sets:?}"));
            scenario.duration = Duration::from_millis(600);
            (scenario.warm_up, scenario.cool_down) = (Duration::from_millis(300), Duration::ZERO);
            let summary = common::run(&scenario, 0);
            assert!(summary.packets.delivered > 0, "{name} {sets:?}");
        }
    }
}

/// Runs a shipped file with the overrides of one of its combinations.
fn shipped(name: &str, sets: &[(&str, &str)]) -> RunSummary {
    let file = format!("../../scenarios/{name}.toml");
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&file)).expect("a file");
    common::run(&common::parse(&text, sets), 0)
}

fn total(summary: &RunSummary) -> f64 {
    summary.flows.values().map(|flow| flow.goodput_mbps).sum()
}

// The file headers quote results; this test checks their direction and minimum size.
#[test]
fn an_openwrt_access_point_shares_among_twenty() {
    let s = shipped("examples/openwrt-20", &[]);
    let goodputs: Vec<f64> = s.flows.values().map(|flow| flow.goodput_mbps).collect();
    let (least, most) = goodputs.iter().fold((f64::MAX, 0.0_f64), |(l, m), g| (l.min(*g), m.max(*g)));
    assert_eq!(goodputs.len(), 20);
    assert!(least > 0.35 * most && total(&s) > 120.0, "{least} {most} {}", total(&s));
    assert!(s.pings.len() == 20 && s.pings.values().all(|ping| ping.received > 0));
}

#[test]
fn cubic_fills_the_modem_and_bbr_does_not() {
    let run = |control| {
        let s = shipped("examples/upload", &[("flow.0.congestion_control", control)]);
        (total(&s), s.pings.values().next().and_then(|ping| ping.median_ms).expect("replies"))
    };
    let ((cubic, waits), (bbr, less)) = (run("cubic"), run("bbr"));
    assert!(cubic > 44.0 && bbr > 40.0, "{cubic} {bbr}");
    assert!(waits > 100.0 && less < waits / 2.0, "{waits} {less}");
}

#[test]
fn rts_helps_hidden_stations() {
    let run = |threshold| {
        shipped("examples/hidden-nodes", &[("node.left.interface.wlan0.rts_threshold", threshold)])
    };
    let (without, with) = (run("65535"), run("0"));
    let least = |s: &RunSummary| s.flows.values().map(|f| f.goodput_mbps).fold(f64::MAX, f64::min);
    assert!(least(&with) > 1.3 * least(&without), "{} {}", least(&with), least(&without));
    assert!(total(&with) > total(&without), "{} {}", total(&with), total(&without));
}

#[test]
fn a_neighbour_on_the_channel_costs_half_of_it() {
    let run = |channel| {
        let keys = ["node.theirs.interface.wlan0.channel", "node.television.interface.wlan0.channel"];
        let s = shipped("flat", &keys.map(|key| (key, channel)));
        s.flows["tcp-0.laptop"].goodput_mbps
    };
    let (same, other) = (run("low"), run("high"));
    assert!(same < 0.6 * other && same > 0.3 * other, "{same} {other}");
}
