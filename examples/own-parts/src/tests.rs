//! The parts pass the conformance checks of the built-in parts, and a mistake in their keys gives one clear
//! error.

use stillair_cli::Parts;
use stillair_cli::model::conformance::{self, ServiceOrder};
use stillair_cli::model::qdisc::QdiscConfig;
use stillair_cli::model::qdisc::custom::DisciplineFactory;
use stillair_cli::model::types::{Duration, Seed};
use stillair_cli::sim::run::run_once;
use stillair_cli::sim::scenario::{NoFiles, Reader, Scenario};

use super::{Calm, ShortFirst, register};

const SCENARIO: &str = include_str!("../scenario.toml");

fn read(set: &[(&str, &str)]) -> Result<Scenario, String> {
    let mut parts = Parts::default();
    register(&mut parts).map_err(|e| e.to_string())?;
    let set: Vec<(String, String)> = set.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
    Reader { parts: &parts, files: &NoFiles }
        .parse(SCENARIO, "scenario.toml", &set)
        .map_err(|e| e.to_string())
}

/// All parts, with their defaults.
#[test]
fn parts_pass_the_conformance_checks() {
    let mut parts = Parts::default();
    register(&mut parts).expect("good parts");
    assert_eq!(parts.check(), Ok(()));
}

/// Other options, and an additional guarantee: a discipline that treats all packets as short keeps the order
/// of each flow.
#[test]
fn other_options_pass_too() {
    let all_short = DisciplineFactory::new("short_first", "", |_| Box::new(ShortFirst::new(5, u32::MAX, 1)));
    assert_eq!(conformance::discipline(&QdiscConfig::Custom(all_short), ServiceOrder::Kept), Ok(()));
    assert_eq!(conformance::controller(|| Calm::new(16, 0.1, Duration::from_millis(1))), Ok(()));
}

#[test]
fn the_scenario_runs_with_all_four() {
    let scenario = read(&[("duration", "2 s"), ("warm_up", "1 s")]).expect("a good scenario");
    let seed = Seed { seed: 1, run: 0 };
    let summary = run_once(&scenario, seed).expect("a run whose accounts close");
    let goodput = summary.flows["download.near"].goodput_mbps;
    assert!(goodput > 3.0, "{goodput} Mbit/s");
    assert!(summary.qdiscs.values().any(|qdisc| qdisc.kind == "short_first"));
    let resolved = scenario.resolved();
    for part in ["calm", "short_first", "ramp", "least_used"] {
        assert!(resolved.contains(&format!("\"kind\":\"{part}\"")), "{part}");
    }
}

#[test]
fn mistakes() {
    for (key, value, says) in [
        ("flow.0.congestion_control.gain", "0", "found 0, expected a whole number from 1 to 16"),
        ("flow.0.congestion_control", "clam", "expected a known name; did you mean \"calm\"?"),
        ("node.ap.interface.eth0.qdisc.shrt", "60", "found an unknown key"),
        ("node.ap.interface.wlan0.scheme.aqm.low", "0 s", "expected 1 us to 1 s"),
        (
            "node.ap.interface.wlan0.scheme.aqm",
            "{ kind = \"ramp\", low = \"30 ms\" }",
            "expected low below high",
        ),
        ("node.ap.interface.wlan0.scheme.scheduler.kind", "most_used", "expected \"least_used\""),
        ("node.ap.interface.wlan0.scheme.target", "5 ms", "has no effect under an AQM of a program's own"),
    ] {
        let error = read(&[(key, value)]).expect_err(key);
        assert!(error.contains(key) && error.contains(says), "{error}");
    }
}
