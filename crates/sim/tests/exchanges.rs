//! Every exchange on the air, as recorded for a timeline.

mod common;

use common::{ANOMALY, parse};
use serde_json::Value;
use stillair_model::types::Seed;
use stillair_sim::api;

const UDP: &[(&str, &str)] = &[("duration", "1 s"), ("warm_up", "0 s")];

fn recorded(sets: &[(&str, &str)]) -> Value {
    let scenario = parse(ANOMALY, &[UDP, sets].concat());
    let report = api::run_reported(&scenario, Seed { seed: 1, run: 0 }, false).expect("accounts close");
    serde_json::to_value(report).expect("JSON")
}

fn column<'a>(run: &'a Value, name: &str) -> Vec<&'a Value> {
    run["exchanges"][name].as_array().expect("a column").iter().collect()
}

#[test]
fn the_whole_run_is_the_airtime_of_its_stations() {
    let run = recorded(&[("record.air", "\"0 s..1 s\"")]);
    let names: Vec<&str> =
        run["exchanges"]["interfaces"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
    assert_eq!(names, ["ap.wlan0", "fast1.wlan0", "fast2.wlan0", "slow.wlan0"]);
    let rows = column(&run, "start_ns").len();
    assert!(rows > 400, "{rows}");
    for (number, station) in ["fast1", "fast2", "slow"].iter().enumerate() {
        let mut airtime = [0, 0];
        for row in 0..rows {
            let at = |name: &str| column(&run, name)[row].as_u64();
            let data = matches!(column(&run, "kind")[row].as_str(), Some("single" | "aggregate"));
            let me = Some(number as u64 + 1);
            for (direction, end) in ["to", "from"].iter().enumerate() {
                if data && at(end) == me {
                    airtime[direction] += at("airtime_ns").unwrap();
                }
            }
        }
        let said = &run["stations"][*station];
        // Neither includes exchanges in progress at the end.
        for (found, key) in airtime.into_iter().zip(["airtime_tx_us", "airtime_rx_us"]) {
            assert_eq!(found as f64 / 1e3, said[key].as_f64().unwrap(), "{station} {key}");
        }
    }
    let beacons = column(&run, "kind").iter().filter(|kind| kind.as_str() == Some("beacon")).count();
    assert_eq!(beacons, column(&run, "to").iter().filter(|to| to.is_null()).count());
    assert!(beacons >= 9);
}

#[test]
fn interval_contains_exchanges_started_in_it_and_changes_nothing() {
    let run = recorded(&[("record.air", "\"400 ms .. 450 ms\"")]);
    let starts: Vec<u64> = column(&run, "start_ns").iter().map(|v| v.as_u64().unwrap()).collect();
    assert!(starts.len() > 10 && starts.iter().all(|at| (400_000_000..450_000_000).contains(at)));
    for (end, (start, airtime)) in
        column(&run, "end_ns").iter().zip(starts.iter().zip(column(&run, "airtime_ns")))
    {
        assert!(end.as_u64().unwrap() >= start + airtime.as_u64().unwrap());
    }
    let without = recorded(&[]);
    assert!(without.get("exchanges").is_none());
    assert_eq!(run["trace_hash"], without["trace_hash"]);
}
