//! Pseudo retry-out in a whole world: TCP uploads at low rates, where a station retries for a long time.

mod common;

use common::{cell, flow, of, parse, run, station};
use serde_json::Value;
use stillair_sim::recorder::RunSummary;

const CHANNEL: &str = "band = \"5 GHz\"\nwidth = \"20 MHz\"";

/// One station with an upload and pings.
fn upload(ap: &str, path: &str, flows: &str) -> String {
    cell("10 s", CHANNEL, &format!("scheme = \"fifo\"{ap}")) + &station("sta", 0, path) + flows
}

/// Runs it with a sender without small queues.
fn outcome(text: &str) -> RunSummary {
    run(&parse(text, &[("node.sta.tcp.tsq", "off")]), 0)
}

fn summary(text: &str) -> Value {
    serde_json::to_value(outcome(text)).expect("a summary is JSON")
}

/// Returns the number of packets dropped for a reason, anywhere.
fn drops(summary: &Value, reason: &str) -> u64 {
    let all = summary["drops"].as_array().expect("a list").iter();
    all.filter(|d| d["reason"] == reason).map(|d| d["packets"].as_u64().expect("a count")).sum()
}

#[test]
fn retry_out_shortens_the_queue_of_a_station_that_retries_for_long() {
    let flows = flow("tcp", "sta", "ap", "") + &flow("ping", "sta", "ap", "interval = \"100 ms\"");
    for (rate, errors, acts) in [("ht20-mcs1-lgi", "0.2", true), ("ht20-mcs15-sgi", "0.2", false)] {
        let path = format!("rate = \"{rate}\", error_rate = {errors}");
        let text = |ap| upload(ap, &path, &flows);
        let [off, on] = [text(""), text(", retry_out = \"by_rate\"")].map(|text| outcome(&text));
        let ping = |summary| of(summary, "sta").ping_median_ms.expect("pings come back");
        if acts {
            assert!(ping(&on) * 5.0 < ping(&off), "{rate}: {} ms and {} ms", ping(&on), ping(&off));
            assert!(on.goodput_total_mbps > 0.85 * off.goodput_total_mbps, "{rate}");
        } else {
            assert_eq!(on.trace_hash, off.trace_hash, "{rate}: from 100 Mbit/s on it does nothing");
        }
    }
}

#[test]
fn station_can_limit_retries_itself() {
    let flows = flow("tcp", "sta", "ap", "");
    let path = "rate = \"ht20-mcs1-lgi\", error_rate = 0.2";
    let off = summary(&upload("", path, &flows));
    let on = summary(&upload("", &format!("{path}, retry_limit_by_rate = true"), &flows));
    assert_eq!((drops(&off, "retry_limit"), drops(&off, "retry_out"), drops(&on, "retry_out")), (0, 0, 0));
    assert!(drops(&on, "retry_limit") > 10, "{}", on["drops"]);
}

#[test]
fn datagrams_are_unchanged() {
    let flows = flow("udp", "sta", "ap", "rate = \"3 Mbit/s\"");
    let path = "rate = \"ht20-mcs1-lgi\", error_rate = 0.4";
    let [off, on] = ["", ", retry_out = { kind = \"index\", index = 0 }"].map(|ap| upload(ap, path, &flows));
    let (off, on) = (summary(&off), summary(&on));
    assert_eq!(off["trace_hash"], on["trace_hash"]);
}
