//! Series of a run: they add up to its summary, and recording them changes nothing.

use serde_json::Value;
use stillair_model::types::Seed;
use stillair_sim::api::{self, Request};
use stillair_sim::scenario;

const TEXT: &str = include_str!("../../../scenarios/anomaly-udp.toml");

fn sets(sets: &[(&str, &str)]) -> Vec<(String, String)> {
    sets.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
}

/// A run without warm-up, so that summary and series cover the same time.
fn run(overrides: &[(&str, &str)]) -> Value {
    let mut all = sets(&[("duration", "1.5 s"), ("warm_up", "0 s")]);
    all.extend(sets(overrides));
    let scenario = scenario::parse(TEXT, "anomaly-udp.toml", &all).unwrap_or_else(|e| panic!("{e}"));
    let seed = Seed { seed: 7, run: 0 };
    let report = api::run_reported(&scenario, seed, true).expect("a run");
    let without = api::run_once(&scenario, seed).expect("a run");
    assert_eq!(report.summary.trace_hash, without.trace_hash, "series change what happens");
    serde_json::from_str(&report.to_json().expect("JSON")).expect("JSON")
}

fn list<'a>(value: &'a Value, key: &str) -> &'a Vec<Value> {
    value[key].as_array().unwrap_or_else(|| panic!("{key} in {value}"))
}

fn sum(values: &Value) -> u64 {
    values.as_array().expect("a list").iter().map(|n| n.as_u64().expect("a number")).sum()
}

#[test]
fn steps_are_counted_with_the_last_short_one() {
    let run = run(&[]);
    let series = &run["series"];
    let header = ["step_ns", "steps", "duration_ns", "warm_up_ns"].map(|k| series[k].as_u64());
    assert_eq!(header, [Some(200_000_000), Some(8), Some(1_500_000_000), Some(0)]);
    for flow in list(series, "flows").iter().filter(|f| f["kind"] == "udp") {
        assert_eq!(list(flow, "bytes").len(), 8);
    }
}

#[test]
fn flows_stations_and_drops_add_up_to_the_summary() {
    for scheme in ["fifo", "airtime"] {
        let run = run(&[("node.ap.interface.wlan0.scheme", scheme)]);
        let series = &run["series"];
        let flows = list(series, "flows");
        assert_eq!(flows.len(), 6);
        let bytes: u64 = flows.iter().filter(|f| f["kind"] == "udp").map(|f| sum(&f["bytes"])).sum();
        let goodput = run["goodput_total_mbps"].as_f64().expect("a number");
        assert!((bytes as f64 * 8.0 / 1.5e6 - goodput).abs() < 1e-9 * goodput, "{bytes} {goodput}");

        for (name, station) in run["stations"].as_object().expect("stations") {
            let mine = || list(series, "stations").iter().filter(|s| s["name"] == name.as_str());
            for (key, us) in [("airtime_down_ns", "airtime_tx_us"), ("airtime_up_ns", "airtime_rx_us")] {
                let ns: u64 = mine().map(|s| sum(&s[key])).sum();
                assert_eq!(ns as f64 / 1e3, station[us].as_f64().expect("a number"), "{name} {key}");
            }
            let total = |key: &str| mine().map(|s| sum(&s[key])).sum::<u64>() as f64;
            let mean = station["mean_aggregate"].as_f64().expect("a number");
            assert!((total("mpdus_down") / total("ppdus_down") - mean).abs() < 1e-12 * mean);
        }

        let found: Vec<(String, String, u64)> = list(series, "drops")
            .iter()
            .map(|d| {
                let n = list(d, "steps").iter().map(|s| s[1].as_u64().expect("a number")).sum();
                (d["place"].to_string(), d["reason"].to_string(), n)
            })
            .collect();
        let expected: Vec<(String, String, u64)> = list(&run, "drops")
            .iter()
            .map(|d| {
                (d["place"].to_string(), d["reason"].to_string(), d["packets"].as_u64().expect("a number"))
            })
            .collect();
        assert_eq!(found, expected);
        assert!(!found.is_empty(), "the scenario overloads the air");
    }
}

#[test]
fn pings_are_kept_one_by_one() {
    let run = run(&[]);
    let flow = &list(&run["series"], "flows")[3];
    assert_eq!((flow["name"].as_str(), flow["station"].as_str()), (Some("ping-1.fast1"), Some("fast1")));
    let pings = list(flow, "pings");
    let mut rtts: Vec<u64> = pings.iter().map(|p| p[1].as_u64().expect("ns")).collect();
    rtts.sort_unstable();
    let median = run["stations"]["fast1"]["ping_median_ms"].as_f64().expect("ms");
    let between = (rtts[(rtts.len() - 1) / 2] as f64 / 1e6)..=(rtts[rtts.len() / 2] as f64 / 1e6);
    assert!(between.contains(&median), "{median} {between:?}");
    assert!(pings.iter().all(|p| p[0].as_u64() >= p[1].as_u64()), "a reply before its request");
}

#[test]
fn backlogs_distinguish_layers() {
    let layer = |scheme: &str, layer: &str| {
        let run = run(&[("node.ap.interface.wlan0.scheme", scheme)]);
        let queues = list(&run["series"], "queues").clone();
        let found = queues.iter().find(|q| q["interface"] == "ap.wlan0" && q["layer"] == layer);
        found.map(|q| sum(&q["packets"]) / 8)
    };
    // The qdisc holds up to 1000 packets above a driver with short queues.
    assert!(layer("fifo", "qdisc").is_some_and(|mean| mean > 400));
    assert!(layer("fifo", "driver").is_some_and(|mean| (1..=123).contains(&mean)));
    // With queues in the MAC, there is no qdisc.
    assert_eq!(layer("airtime", "qdisc"), None);
    assert!(layer("airtime", "driver").is_some_and(|mean| mean > 100));
    assert!(layer("airtime", "hardware").is_some_and(|mean| (1..=128).contains(&mean)));
}

#[test]
fn a_report_has_series_only_if_asked() {
    let request = |series| Request {
        text: TEXT.to_owned(),
        file: "anomaly-udp.toml".to_owned(),
        overrides: sets(&[("duration", "0.5 s"), ("warm_up", "0 s")]),
        seed: None,
        runs: 2,
        first_run: 0,
        jobs: 1,
        series,
    };
    let runs = |series, keep: bool| {
        let text = api::run(&request(series), &|_, report| {
            assert_eq!(report.series.is_some(), series);
            if !keep {
                report.series = None;
            }
            true
        });
        let all: Value = serde_json::from_str(&text.expect("runs")).expect("JSON");
        list(&all, "runs").iter().map(|r| r.get("series").is_some()).collect::<Vec<_>>()
    };
    assert_eq!(runs(true, true), [true, true]);
    assert_eq!(runs(true, false), [false, false]);
    assert_eq!(runs(false, true), [false, false]);
}
