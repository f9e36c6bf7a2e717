//! Sampled occupancy of each layer: agrees with the socket samples, the qdisc counters and the steps of the
//! series, and does not change the run.

mod common;

use serde_json::Value;
use stillair_model::types::Seed;
use stillair_sim::api;

/// An upload through a qdisc and a ring, and a download through an access point, over links with a rate.
const TEXT: &str = r#"
name = "layers"
duration = "2 s"
[channel.wifi]
band = "5 GHz"
width = "20 MHz"
[link.lan]
rate = "100 Mbit/s"
delay = "5 ms"
[node.server]
profile = "linux-6.1"
interface.eth0 = { link = "lan", address = "10.0.0.2", qdisc = "fq_codel" }
[node.ap]
profile = "linux-4.6"
forward = true
interface.eth0 = { link = "lan", address = "10.0.0.1" }
interface.wlan0 = { channel = "wifi", role = "ap", scheme = "fifo", address = "10.0.1.1" }
[node.sta]
profile = "linux-6.1"
interface.wlan0 = { channel = "wifi", role = "station", ap = "ap.wlan0", address = "10.0.1.11", rate = "ht20-mcs3-lgi", error_rate = 0.2 }
[[flow]]
kind = "tcp"
name = "down"
from = "server"
to = "sta"
[[flow]]
kind = "tcp"
name = "up"
from = "sta"
to = "server"
[[flow]]
kind = "udp"
name = "flood"
from = "server"
to = "sta"
rate = "20 Mbit/s"
payload = 1472
"#;

fn run(record: &[(&str, &str)]) -> Value {
    let scenario = common::parse(TEXT, record);
    let report = api::run_reported(&scenario, Seed { seed: 3, run: 0 }, true).expect("a run");
    serde_json::from_str(&report.to_json().expect("JSON")).expect("JSON")
}

fn numbers(value: &Value) -> Vec<u64> {
    let all = value.as_array().unwrap_or_else(|| panic!("a list, not {value}"));
    all.iter().map(|n| n.as_u64().expect("a number")).collect()
}

/// Packets and bytes of a layer, by sample.
fn layer(queues: &Value, interface: &str, layer: &str) -> [Vec<u64>; 2] {
    let mut all = queues.as_array().expect("queues").iter();
    let found = all.find(|q| q["interface"] == interface && q["layer"] == layer);
    let found = found.unwrap_or_else(|| panic!("{layer} of {interface} in {queues}"));
    [numbers(&found["packets"]), numbers(&found["bytes"])]
}

#[test]
fn samples_agree_with_other_records() {
    let both = [("record.ss", "20 ms"), ("record.queues", "20 ms")];
    let fine = run(&both);
    let queues = &fine["queues"];
    assert_eq!((&queues["interval_ns"], &queues["samples"]), (&20_000_000.into(), &100.into()));
    let queues = &queues["queues"];
    // A step of the series is ten samples.
    let steps = fine["series"]["queues"].as_array().expect("queues");
    assert!(steps.len() > 8);
    for step in steps {
        let name = [&step["interface"], &step["layer"]].map(|n| n.as_str().expect("a name"));
        for (n, values) in layer(queues, name[0], name[1]).into_iter().enumerate() {
            let tenth: Vec<u64> = values.into_iter().skip(9).step_by(10).collect();
            assert_eq!(numbers(&step[["packets", "bytes"][n]]), tenth, "{name:?}");
        }
    }
    // One flow per interface with sockets.
    for (flow, interface) in [("down.sta", "server.eth0"), ("up.server", "sta.wlan0")] {
        let [packets, bytes] = layer(queues, interface, "socket");
        assert_eq!(bytes, numbers(&fine["sockets"][flow]["notsent"]), "{flow}");
        assert!(bytes.iter().zip(packets).all(|(bytes, n)| n == bytes.div_ceil(1448)));
        assert!(bytes.iter().max() > Some(&20_000));
    }
    let [packets, bytes] = layer(queues, "ap.wlan0", "qdisc").map(|values| values[99]);
    let counters = &fine["qdiscs"]["ap.wlan0"];
    assert_eq!((&counters["backlog_packets"], &counters["backlog_bytes"]), (&packets.into(), &bytes.into()));
    assert!(packets > 0);
    // The old driver stops its queue at 123 frames; retries and two aggregates come on top.
    let [driver, bytes] = layer(queues, "ap.wlan0", "driver");
    assert!(driver.iter().max().is_some_and(|&n| (60..200).contains(&n)), "{driver:?}");
    // Downloads: full frames with an Ethernet header.
    let full = driver.iter().zip(&bytes).filter(|(n, _)| **n > 0).map(|(n, bytes)| bytes / n);
    assert!(full.max() == Some(1514));
    let [hardware, bytes] = layer(queues, "ap.wlan0", "hardware");
    assert!(
        hardware.iter().zip(&bytes).all(|(n, bytes)| *bytes <= 1514 * n) && hardware.iter().max() > Some(&10)
    );
    // 5 ms at the bottleneck rate of the air, about 20 Mbit/s, is a few frames on the wire.
    let [wire, _] = layer(queues, "server.eth0", "wire");
    assert!(wire.iter().any(|&n| (2..=42).contains(&n)) && wire.iter().all(|&n| n <= 42), "{wire:?}");
}

#[test]
fn sampling_changes_nothing_and_is_only_there_if_asked_for() {
    let (with, without) = (run(&[("record.queues", "1 ms")]), run(&[]));
    assert_eq!(with["trace_hash"], without["trace_hash"]);
    assert_eq!(with["queues"]["samples"], 2000);
    assert!(without.get("queues").is_none());
    assert_eq!(with["series"], without["series"]);
}
