//! Same scenario, seed and version: same trace and same result for any number of workers.

mod common;

use common::{ANOMALY, cell, flow, parse, run, station};
use serde_json::Value;
use stillair_sim::api::{self, Request};

fn request(jobs: usize, seed: Option<u64>, first_run: u32) -> Request {
    let overrides =
        [("duration", "600 ms"), ("warm_up", "100 ms")].map(|(k, v)| (k.to_owned(), v.to_owned()));
    Request {
        text: ANOMALY.to_owned(),
        file: "anomaly-udp.toml".to_owned(),
        overrides: overrides.to_vec(),
        seed,
        runs: 6,
        first_run,
        jobs,
        series: false,
    }
}

fn results(request: &Request) -> String {
    api::run(request, &|_, _| true).expect("a good scenario")
}

fn hashes(text: &str) -> Vec<String> {
    let json: Value = serde_json::from_str(text).expect("JSON");
    let runs = json["runs"].as_array().expect("runs").iter();
    runs.map(|r| r["trace_hash"].as_str().expect("a hash").to_owned()).collect()
}

#[test]
fn results_are_reproducible_for_any_number_of_workers() {
    let one = results(&request(1, None, 0));
    assert_eq!(one, results(&request(1, None, 0)));
    assert_eq!(one, results(&request(4, None, 0)));
}

#[test]
fn runs_and_seeds_are_different_things() {
    let mut all = hashes(&results(&request(2, Some(1), 0)));
    let shifted = hashes(&results(&request(2, Some(1), 3)));
    // Repetitions are numbered: the fourth of one request is the first of another.
    assert_eq!(all[3..], shifted[..3]);
    all.extend(hashes(&results(&request(2, Some(2), 0))));
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 12);
}

/// A cell with errors, collisions and traffic in both directions, which draws from every random stream.
fn busy(scheme: &str, before: &str, after: &str) -> String {
    let path = "rate = \"ht20-mcs7-sgi\", retry_chain = [\"mcs7\", \"mcs3\"], error_rate = 0.2, ack_error_rate = 0.1";
    cell("1 s", "band = \"5 GHz\"\nwidth = \"20 MHz\"", &format!("scheme = \"{scheme}\""))
        + before
        + &station("a", 0, path)
        + &station("b", 1, path)
        + after
        + &flow("udp", "ap", "a", "rate = \"20 Mbit/s\"")
        + &flow("udp", "b", "ap", "rate = \"20 Mbit/s\"\nburst = 4")
        + &flow("ping", "a", "b", "interval = \"10 ms\"\ndscp = \"CS6\"")
}

/// Hashes of whole traces. They change with behaviour and for no other reason; a commit that changes them
/// explains the change in behaviour.
#[test]
fn pinned_traces() {
    let anomaly = |scheme| {
        let sets = [("duration", "300 ms"), ("warm_up", "0 s"), ("node.ap.interface.wlan0.scheme", scheme)];
        run(&parse(ANOMALY, &sets), 0).trace_hash
    };
    let got = [
        ("anomaly fifo", anomaly("fifo")),
        ("anomaly fq_codel", anomaly("fq_codel")),
        ("anomaly fq_mac", anomaly("fq_mac")),
        ("anomaly airtime", anomaly("airtime")),
        ("busy fifo", run(&parse(&busy("fifo", "", ""), &[]), 0).trace_hash),
        ("busy airtime", run(&parse(&busy("airtime", "", ""), &[]), 0).trace_hash),
    ];
    let pinned = [
        ("anomaly fifo", "b85249a2805095a5"),
        ("anomaly fq_codel", "35e2215ff58dc4e1"),
        ("anomaly fq_mac", "72b5bd47ce35898a"),
        ("anomaly airtime", "8e72edc5fb7018e1"),
        ("busy fifo", "035de573c4b4126f"),
        ("busy airtime", "ef6e6ec6840084a2"),
    ];
    assert_eq!(
        got.map(|(name, hash)| format!("{name} {hash}")),
        pinned.map(|(name, hash)| format!("{name} {hash}"))
    );
}

#[test]
fn silent_station_changes_no_random_streams() {
    let idle = station("idle", 9, "rate = \"ht20-mcs0-lgi\"");
    let seen = |before: &str, after: &str| {
        let summary = run(&parse(&busy("airtime", before, after), &[]), 0);
        let mut json = serde_json::to_value(summary).expect("JSON");
        // The hash includes place numbers, and Jain's index counts the silent station.
        for key in ["trace_hash", "jain_airtime"] {
            json[key] = Value::Null;
        }
        json["stations"].as_object_mut().expect("stations").remove("idle");
        json["qdiscs"].as_object_mut().expect("disciplines").remove("idle.wlan0");
        json
    };
    let alone = seen("", "");
    assert!(alone["stations"]["a"]["goodput_mbps"].as_f64().is_some_and(|m| m > 1.0), "{alone}");
    assert_eq!(alone, seen("", &idle));
    assert_eq!(alone, seen(&idle, ""));
}
